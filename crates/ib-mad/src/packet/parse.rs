//! The headers of a packet.
use super::{Bth, Congestion, Deth, Grh, LinkNextHeader, Lrh, Transport, crc::Crc, transport::Extended};
use crate::{DecodeError, MadRef, Qpn, VirtualLane, Wire, wire::Be32};
use core::fmt;
use zerocopy::IntoBytes as _;

/// UDP port of InfiniBand packets over routed Ethernet (`RoCEv2`).
pub const UDP_PORT_ROCE2: u16 = 4791;

/// The headers of a packet, its payload and its CRCs, in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Headers<'a> {
    /// Local route header; absent over Ethernet.
    pub lrh: Option<&'a Lrh>,
    /// IP and UDP headers; only from [`parse_ip`](Self::parse_ip).
    pub ip: Option<&'a [u8]>,
    /// Global route header, if the packet has one.
    pub grh: Option<&'a Grh>,
    /// Base transport header.
    pub bth: &'a Bth,
    /// Extended header of the operation.
    pub transport: Transport<'a>,
    /// Immediate data of the operation, if it has any.
    pub immediate: Option<Be32>,
    /// Bytes of extended header and immediate data, between the base transport header and the payload.
    pub extended: &'a [u8],
    /// Payload of the packet. For an unknown operation it starts with the extended header.
    pub payload: &'a [u8],
    /// Padding of the payload to a multiple of 4 bytes.
    pub padding: &'a [u8],
    /// Invariant CRC (IBTA 7.8.1); `None` if the capture does not have it.
    pub icrc: Option<[u8; 4]>,
    /// Variant CRC (IBTA 7.8.2); `None` over Ethernet, and if the capture does not have it.
    pub vcrc: Option<[u8; 2]>,
}

impl<'a> Headers<'a> {
    /// Parses a packet from its local route header. Bytes after its CRCs are ignored.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the packet ends before its headers do, [`DecodeError::BadValue`] for a raw packet.
    pub fn parse(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let (lrh, after) = Lrh::parse_prefix(packet)?;
        let length = usize::from(lrh.length.packet_length()) * 4;
        let (rest, behind, is_whole) = cut(after, length.saturating_sub(size_of::<Lrh>()));
        let own = match lrh.sl_next.next_header() {
            LinkNextHeader::GRH => {
                let (grh, rest) = Grh::parse_prefix(rest)?;
                Self { grh: Some(grh), ..Self::transport(rest, is_whole)? }
            }
            LinkNextHeader::BTH => Self::transport(rest, is_whole)?,
            other => return Err(DecodeError::BadValue { what: "next_header", value: other.get().into() }),
        };
        Ok(Self { lrh: Some(lrh), vcrc: behind.first_chunk().copied(), ..own })
    }

    /// Parses a packet from its global route header, as in Ethernet frames of type 0x8915 (`RoCEv1`).
    ///
    /// # Errors
    /// Those of [`parse_transport`](Self::parse_transport).
    pub fn parse_global(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let (grh, rest) = Grh::parse_prefix(packet)?;
        let (rest, _, is_whole) = cut(rest, grh.payload_length.get().into());
        Ok(Self { grh: Some(grh), ..Self::transport(rest, is_whole)? })
    }

    /// Parses a packet from its IPv4 or IPv6 header (`RoCEv2`). IPv6 extension headers are not supported.
    ///
    /// # Errors
    /// Those of [`parse_transport`](Self::parse_transport); [`DecodeError::BadValue`] if the packet is not to UDP port
    /// [`UDP_PORT_ROCE2`].
    pub fn parse_ip(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let too_short = |need| DecodeError::TooShort { what: "IP and UDP headers", need, got: packet.len() };
        let byte = |at: usize| packet.get(at).copied().ok_or(too_short(at + 1));
        let (version, protocol, ip_length) = match byte(0)? >> 4 {
            4 => (4, byte(9)?, usize::from(byte(0)? & 15) * 4),
            version => (version, byte(6)?, 40),
        };
        if !matches!(version, 4 | 6) {
            return Err(DecodeError::BadValue { what: "IP version", value: version.into() });
        }
        if protocol != UDP {
            return Err(DecodeError::BadValue { what: "IP protocol", value: protocol.into() });
        }
        let (ip, rest) = packet.split_at_checked(ip_length + UDP_LENGTH).ok_or(too_short(ip_length + UDP_LENGTH))?;
        let udp =
            |at: usize| byte(ip_length + at).and_then(|high| Ok(u16::from_be_bytes([high, byte(ip_length + at + 1)?])));
        let port = udp(2)?;
        if port != UDP_PORT_ROCE2 {
            return Err(DecodeError::BadValue { what: "UDP port", value: port.into() });
        }
        let (rest, _, is_whole) = cut(rest, usize::from(udp(4)?).saturating_sub(UDP_LENGTH));
        Ok(Self { ip: Some(ip), ..Self::transport(rest, is_whole)? })
    }

    /// Parses a packet from its base transport header to the end of its invariant CRC, which is the payload of UDP port
    /// [`UDP_PORT_ROCE2`].
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the packet ends before its headers do. An unknown operation is no error; its
    /// headers have [`Transport::Other`].
    pub fn parse_transport(packet: &'a [u8]) -> Result<Self, DecodeError> {
        Self::transport(packet, true)
    }

    /// Parses a packet. A truncated packet has no padding and no CRC.
    fn transport(packet: &'a [u8], is_whole: bool) -> Result<Self, DecodeError> {
        let (bth, rest) = Bth::parse_prefix(packet)?;
        let (rest, icrc) = match rest.split_last_chunk() {
            Some((rest, icrc)) if is_whole => (rest, Some(*icrc)),
            _ => (rest, None),
        };
        let Extended { transport, immediate, bytes: extended, rest } = Extended::parse(bth.op_code, rest)?;
        let padding = if icrc.is_some() { bth.flags.pad_count() } else { 0 };
        let length = rest.len().saturating_sub(padding.into());
        let (payload, padding) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let (lrh, ip, grh, vcrc) = (None, None, None, None);
        Ok(Self { lrh, ip, grh, bth, transport, immediate, extended, payload, padding, icrc, vcrc })
    }

    /// Returns the datagram header, if the packet is a datagram; management datagrams are.
    #[must_use]
    pub const fn deth(&self) -> Option<&'a Deth> {
        if let Transport::Datagram(deth) = self.transport { Some(deth) } else { None }
    }

    /// Returns the management datagram: the payload of a datagram to queue pair 0 or 1, if it has at least the common
    /// header. For datagrams that a class redirected to another queue pair, use [`payload`](Self::payload).
    #[must_use]
    pub fn mad(&self) -> Option<MadRef<'a>> {
        self.deth().filter(|_| self.bth.dest_qp.get() <= Qpn::GSI)?;
        MadRef::new(self.payload).ok()
    }

    /// Computes the invariant CRC of the packet: a CRC-32 of all bytes before the CRC field, with ones in place of
    /// fields that may change on the path (IBTA 7.8.1). Over Ethernet, ones replace the local route header (IBTA
    /// A16.5.1, A17.3.3).
    ///
    /// Returns `None` if headers are missing, as after [`parse_transport`](Self::parse_transport).
    #[must_use]
    pub fn computed_icrc(&self) -> Option<[u8; 4]> {
        let mut crc = Crc::new();
        match self.lrh {
            Some(lrh) => {
                let vl_version = lrh.vl_version.with_vl(VirtualLane::MANAGEMENT);
                crc = crc.add(Lrh { vl_version, ..*lrh }.as_bytes());
            }
            None => crc = crc.add(&[ONES; size_of::<Lrh>()]),
        }
        match (self.grh, self.ip) {
            // The header has the layout of an IPv6 header.
            (Some(grh), _) => crc = masked(crc, grh.as_bytes(), ipv6_may_change),
            (None, Some(ip)) => {
                let (ip, udp) = ip.split_at_checked(ip.len().checked_sub(UDP_LENGTH)?)?;
                let is_ipv4 = ip.first().is_some_and(|byte| byte >> 4 == 4);
                crc = masked(crc, ip, if is_ipv4 { ipv4_may_change } else { ipv6_may_change });
                crc = masked(crc, udp, |at| if matches!(at, 6 | 7) { ONES } else { 0 });
            }
            (None, None) if self.lrh.is_none() => return None,
            (None, None) => {}
        }
        let bth = Bth { congestion: Congestion::ONES, ..*self.bth };
        let crc = crc.add(bth.as_bytes()).add(self.extended).add(self.payload).add(self.padding);
        Some(crc.bytes())
    }

    /// True if the invariant CRC is correct; `None` if the packet has none, or headers are missing.
    #[must_use]
    pub fn icrc_is_right(&self) -> Option<bool> {
        Some(self.icrc? == self.computed_icrc()?)
    }
}

const ONES: u8 = 0xff;
const UDP: u8 = 17;
const UDP_LENGTH: usize = 8;

/// Returns the first `length` bytes, the bytes after them, and `true` if there are at least `length` bytes.
fn cut(bytes: &[u8], length: usize) -> (&[u8], &[u8], bool) {
    bytes.split_at_checked(length).map_or((bytes, &[], false), |(first, rest)| (first, rest, true))
}

/// Adds a header to a CRC, with ones for the bits that `may_change` returns for the offset of a byte.
fn masked(crc: Crc, header: &[u8], may_change: fn(usize) -> u8) -> Crc {
    header.iter().enumerate().fold(crc, |crc, (at, byte)| crc.add(&[byte | may_change(at)]))
}

/// Returns the bits of an IPv4 header that may change on the path: type of service, time to live, checksum.
const fn ipv4_may_change(at: usize) -> u8 {
    if matches!(at, 1 | 8 | 10 | 11) { ONES } else { 0 }
}

/// Returns the bits of an IPv6 header that may change on the path: traffic class, flow label, hop limit.
const fn ipv6_may_change(at: usize) -> u8 {
    match at {
        0 => 0x0f,
        1..=3 | 7 => ONES,
        _ => 0,
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
        let (dest_qp, pkey) = (self.bth.dest_qp.get(), self.bth.pkey);
        match self.transport {
            Transport::Datagram(deth) => write!(f, "QP {} > {dest_qp}, P_Key {pkey}", deth.src_qp.get()),
            Transport::Other => write!(f, "to QP {dest_qp}, P_Key {pkey}, operation {}", self.bth.op_code),
            other => write!(f, "to QP {dest_qp}, P_Key {pkey}, {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Returns a packet with 3 bytes of payload: LRH, BTH, DETH, payload, a byte of padding, ICRC, VCRC.
    fn packet() -> Vec<u8> {
        let lrh = [0xf0, 0x02, 0, 1, 0, 9, 0, 2];
        let bth = [0x64, 0x10, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 7];
        let deth = [0x80, 1, 0, 0, 0, 0, 0, 1];
        let mut packet = [&lrh[..], &bth, &deth, &[1, 2, 3, 0]].concat();
        // The CRC is zlib's crc32 of these bytes with 0xff at byte 12.
        packet.extend(ICRC);
        packet.extend([0xaa, 0xbb]);
        packet
    }
    const ICRC: [u8; 4] = [0x42, 0xc0, 0xee, 0x53];

    #[test]
    fn payload_ends_before_padding_and_crcs() {
        let packet = packet();
        // An Ethernet frame or an ERF record may have more bytes after the packet.
        for behind in 0..5 {
            let bytes = [packet.as_slice(), &[0xee; 4][..behind]].concat();
            let headers = Headers::parse(&bytes).unwrap();
            assert_eq!((headers.payload, headers.padding), (&[1, 2, 3][..], &[0][..]));
            assert_eq!((headers.icrc, headers.vcrc), (Some(ICRC), Some([0xaa, 0xbb])));
            assert_eq!(headers.icrc_is_right(), Some(true));
        }
        // A truncated packet has no CRCs, and the end of its payload is unknown.
        let cut = Headers::parse(&packet[..packet.len() - 2]).unwrap();
        assert_eq!((cut.icrc, cut.vcrc), (Some(ICRC), None));
        let cut = Headers::parse(&packet[..packet.len() - 3]).unwrap();
        assert_eq!((cut.payload.len(), cut.icrc, cut.vcrc, cut.icrc_is_right()), (7, None, None, None));
    }

    #[test]
    fn udp_header_is_behind_the_options_of_ipv4() {
        let packet = packet();
        let transport = &packet[8..packet.len() - 2];
        for words in 5..=15 {
            let mut ip = std::vec![1; usize::from(words) * 4];
            (ip[0], ip[9]) = (0x40 | words, UDP);
            let length = u8::try_from(UDP_LENGTH + transport.len()).unwrap();
            let udp = [0xc0, 0, 0x12, 0xb7, 0, length, 0, 0];
            let bytes = [&ip[..], &udp, transport].concat();
            let headers = Headers::parse_ip(&bytes).unwrap();
            assert_eq!(headers.ip.map(<[u8]>::len), Some(ip.len() + UDP_LENGTH), "{words} words");
            assert_eq!((headers.payload, headers.icrc), (&[1, 2, 3][..], Some(ICRC)));
            assert!(Headers::parse_ip(&bytes[..ip.len() + 4]).is_err());
        }
    }

    #[test]
    fn only_datagrams_to_queue_pairs_0_and_1_are_management_datagrams() {
        let header = [1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0x10, 0, 0, 0, 0, 0, 0];
        for (op_code, qp, is_mad) in [(0x64, 0, true), (0x64, 1, true), (0x64, 2, false), (0x04, 1, false)] {
            let base = [op_code, 0, 0xff, 0xff, 0, 0, 0, qp, 0, 0, 0, 7];
            let bytes = [&base[..], &[0; 8], &header, &ICRC].concat();
            let mad = Headers::parse_transport(&bytes).unwrap().mad();
            assert_eq!(mad.map(|mad| mad.as_bytes()), is_mad.then_some(&header[..]), "{op_code:#x} to {qp}");
        }
        let packet = packet();
        let short = Headers { payload: &header[1..], ..Headers::parse(&packet).unwrap() };
        assert_eq!(short.mad(), None);
    }

    #[test]
    fn unknown_operation_is_not_an_error() {
        let good = packet();
        for op_code in 0..=255 {
            let mut bytes = good.clone();
            bytes[8] = op_code;
            let Ok(headers) = Headers::parse(&bytes) else {
                // The packet ends within the extended header of its operation.
                assert!(matches!(op_code, 0x06 | 0x0a..=0x0c | 0x26 | 0x2a | 0x2b), "{op_code:#x}");
                continue;
            };
            assert_eq!(
                (headers.deth().is_some(), headers.bth.op_code.get()),
                (matches!(op_code, 0x64 | 0x65), op_code)
            );
            let padded = headers.payload.len() + headers.padding.len();
            assert_eq!(headers.extended.len() + padded, 12, "{op_code:#x}");
            assert!(headers.transport != Transport::Other || headers.extended.len() <= 4);
            assert!(std::format!("{headers}").contains("> 0x1, ") || headers.deth().is_none());
            assert_eq!(headers.icrc_is_right(), Some(op_code == 0x64));
        }
    }

    #[test]
    fn icrc_covers_every_invariant_bit_and_no_other() {
        let good = packet();
        for bit in 0..(good.len() - 6) * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            let Ok(headers) = Headers::parse(&bytes) else { continue };
            // The virtual lane and the congestion marks may change; a changed length moves the CRC.
            let may_change = matches!(bit, 0..=3 | 96..=103);
            assert_eq!(headers.icrc_is_right().unwrap_or(false), may_change, "bit {bit}");
        }
    }
}
