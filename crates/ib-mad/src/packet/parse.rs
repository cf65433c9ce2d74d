//! The headers of one datagram's packet.
use super::{Bth, Deth, Grh, LinkNextHeader, Lrh, OpCode};
use crate::{DecodeError, Wire};
use core::fmt;

/// The UDP port of InfiniBand packets over routed Ethernet (`RoCEv2`).
pub const UDP_PORT_ROCE2: u16 = 4791;

/// The headers of a datagram's packet and its payload, in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headers<'a> {
    /// Local route; not over Ethernet.
    pub lrh: Option<&'a Lrh>,
    /// Global route; not in every packet.
    pub grh: Option<&'a Grh>,
    /// Transport.
    pub bth: &'a Bth,
    /// Datagram.
    pub deth: &'a Deth,
    /// What the datagram carries, with any check sums that the capture kept at its end.
    pub payload: &'a [u8],
}

impl<'a> Headers<'a> {
    /// The headers of a packet from its local route header on.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the packet ends before its headers, [`DecodeError::BadValue`] if it is a raw packet
    /// or no datagram.
    pub fn parse(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let (lrh, rest) = Lrh::parse_prefix(packet)?;
        let own = match lrh.sl_next.next_header() {
            LinkNextHeader::GRH => {
                let (grh, rest) = Grh::parse_prefix(rest)?;
                Self { grh: Some(grh), ..Self::parse_transport(rest)? }
            }
            LinkNextHeader::BTH => Self::parse_transport(rest)?,
            other => return Err(DecodeError::BadValue { what: "next_header", value: other.get().into() }),
        };
        Ok(Self { lrh: Some(lrh), ..own })
    }

    /// The headers of a packet from its base transport header on, as UDP port [`UDP_PORT_ROCE2`] carries it.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the packet ends before its headers, [`DecodeError::BadValue`] if it is no datagram.
    pub fn parse_transport(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let (bth, rest) = Bth::parse_prefix(packet)?;
        if bth.op_code != OpCode::UD_SEND_ONLY {
            return Err(DecodeError::BadValue { what: "op_code", value: bth.op_code.get().into() });
        }
        let (deth, payload) = Deth::parse_prefix(rest)?;
        Ok(Self { lrh: None, grh: None, bth, deth, payload })
    }
}

impl fmt::Display for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(lrh) = self.lrh {
            write!(f, "LID {} > {}, SL {}, ", lrh.slid, lrh.dlid, lrh.sl_next.sl())?;
        }
        if let Some(grh) = self.grh {
            write!(f, "GID {} > {}, ", grh.sgid, grh.dgid)?;
        }
        write!(f, "QP {} > {}, P_Key {}", self.deth.src_qp.get(), self.bth.dest_qp.get(), self.bth.pkey)
    }
}
