//! Headers between the base transport header and the payload, by operation (IBTA 9.2.1, 9.3).
use super::{Aeth, Deth, OpCode, Reth};
use crate::{DecodeError, Wire, wire::Be32};
use core::fmt;

/// The extended header of a packet's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport<'a> {
    /// Header of a datagram.
    Datagram(&'a Deth),
    /// Header of the first packet of an RDMA WRITE, or of an RDMA READ request.
    Rdma(&'a Reth),
    /// Header of an acknowledgement, or of an RDMA READ or atomic response. The payload of an atomic response is the
    /// original value.
    Ack(&'a Aeth),
    /// No extended header: a middle or last packet, or a SEND over a connection. Also used for an unknown operation,
    /// whose extended header is at the start of the payload.
    Other,
}

/// An extended header followed by immediate data.
pub(super) struct Extended<'a> {
    pub(super) transport: Transport<'a>,
    pub(super) immediate: Option<Be32>,
    /// Bytes of header and immediate data.
    pub(super) bytes: &'a [u8],
    pub(super) rest: &'a [u8],
}

impl<'a> Extended<'a> {
    /// Splits the bytes after the base transport header.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the packet ends within a header of its operation.
    pub(super) fn parse(op_code: OpCode, after_base: &'a [u8]) -> Result<Self, DecodeError> {
        let (transport, rest) = match kind(op_code) {
            Kind::Datagram => Deth::parse_prefix(after_base).map(|(own, rest)| (Transport::Datagram(own), rest))?,
            Kind::Rdma => Reth::parse_prefix(after_base).map(|(own, rest)| (Transport::Rdma(own), rest))?,
            Kind::Ack => Aeth::parse_prefix(after_base).map(|(own, rest)| (Transport::Ack(own), rest))?,
            Kind::Other => (Transport::Other, after_base),
        };
        let (immediate, rest) = match has_immediate(op_code) {
            true => Be32::parse_prefix(rest).map(|(own, rest)| (Some(*own), rest))?,
            false => (None, rest),
        };
        let bytes = after_base.get(..after_base.len() - rest.len()).unwrap_or_default();
        Ok(Self { transport, immediate, bytes, rest })
    }
}

enum Kind {
    Datagram,
    Rdma,
    Ack,
    Other,
}

/// Returns the kind of extended header. The upper three bits of the code are the service: reliable connection 0,
/// unreliable connection 1, datagram 3. Reliable datagrams and shared queues (2, 5) are not supported.
fn kind(op_code: OpCode) -> Kind {
    match (op_code.get() >> 5, op_code.get() & 0x1f) {
        (3, 0x04 | 0x05) => Kind::Datagram,
        (0 | 1, 0x06 | 0x0a | 0x0b) | (0, 0x0c) => Kind::Rdma,
        (0, 0x0d | 0x0f..=0x12) => Kind::Ack,
        _ => Kind::Other,
    }
}

/// True if 4 bytes of immediate data precede the payload: in last and only packets of SEND and RDMA WRITE.
fn has_immediate(op_code: OpCode) -> bool {
    matches!((op_code.get() >> 5, op_code.get() & 0x1f), (0 | 1, 0x03 | 0x05 | 0x09 | 0x0b) | (3, 0x05))
}

impl fmt::Display for Transport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datagram(deth) => write!(f, "from QP {}, Q_Key {}", deth.src_qp.get(), deth.qkey),
            Self::Rdma(reth) => {
                let (address, length) = (reth.virtual_address.get(), reth.dma_length.get());
                write!(f, "{length} bytes at {address:#x}, R_Key {:#x}", reth.remote_key.get())
            }
            Self::Ack(aeth) => {
                write!(f, "{} of message {}", aeth.syndrome.kind(), aeth.msn.get())?;
                aeth.syndrome.nak().map_or(Ok(()), |nak| write!(f, ": {nak}"))
            }
            Self::Other => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::packet::{AckKind, AethSyndrome, NakCode};
    use proptest::prelude::*;
    use std::{format, vec::Vec};

    /// Returns the sizes of extended header and immediate data, in bytes.
    fn lengths(op_code: u8) -> (usize, usize) {
        let extended = match op_code {
            0x64 | 0x65 => 8,
            0x06 | 0x0a | 0x0b | 0x0c | 0x26 | 0x2a | 0x2b => 16,
            0x0d | 0x0f | 0x10 | 0x11 | 0x12 => 4,
            _ => 0,
        };
        let immediate = matches!(op_code, 0x03 | 0x05 | 0x09 | 0x0b | 0x23 | 0x25 | 0x29 | 0x2b | 0x65);
        (extended, if immediate { 4 } else { 0 })
    }

    #[test]
    fn every_operation_code_is_parsed() {
        let bytes: Vec<u8> = (1..=40).collect();
        for op_code in 0..=255 {
            let own = Extended::parse(OpCode::new(op_code), &bytes).unwrap();
            let (extended, immediate) = lengths(op_code);
            assert_eq!((own.bytes, own.rest), bytes.split_at(extended + immediate), "{op_code:#x}");
            assert_eq!(own.immediate.is_some(), immediate != 0, "{op_code:#x}");
            if let Some(own) = own.immediate {
                assert_eq!(crate::as_bytes(&own), &bytes[extended..extended + 4]);
            }
            let short = Extended::parse(OpCode::new(op_code), &bytes[..(extended + immediate).saturating_sub(1)]);
            assert_eq!(short.is_err(), extended + immediate > 0, "{op_code:#x}");
        }
    }

    #[test]
    fn connection_headers_are_read_and_printed() {
        let bytes = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 16, 0, 9];
        let own = Extended::parse(OpCode::new(0x0a), &bytes).unwrap();
        assert_eq!(format!("{}", own.transport), "4096 bytes at 0x100000002, R_Key 0x3");
        let syndrome = AethSyndrome::default().with_kind(AckKind::NAK).with_value(2);
        assert_eq!((crate::as_bytes(&syndrome), syndrome.nak()), (&[0x62][..], Some(NakCode::REMOTE_ACCESS_ERROR)));
        let own = Extended::parse(OpCode::new(0x11), &[0x62, 0, 0, 7]).unwrap();
        assert_eq!(format!("{}", own.transport), "NAK of message 7: remote access error");
        let own = Extended::parse(OpCode::new(0x11), &[0x1f, 0, 1, 0]).unwrap();
        assert_eq!(format!("{}", own.transport), "ACK of message 256");
    }

    proptest! {
        #[test]
        fn any_transport_prints_ascii(op_code in any::<u8>(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(own) = Extended::parse(OpCode::new(op_code), &bytes) {
                prop_assert_eq!(&[own.bytes, own.rest].concat(), &bytes);
                let text = format!("{}", own.transport);
                prop_assert!(text.is_ascii(), "{}", text);
            }
        }
    }
}
