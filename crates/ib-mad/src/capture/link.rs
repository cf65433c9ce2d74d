//! The headers in front of an InfiniBand packet, by link type.
use super::CapturedPacket;
use crate::packet::Headers;

impl CapturedPacket {
    /// Returns the headers of an InfiniBand or RoCE packet. Returns `None` for other packets and other link types.
    #[must_use]
    pub fn headers(&self) -> Option<Headers<'_>> {
        match self.link_type {
            247 => Headers::parse(&self.data).ok(),
            197 => Headers::parse(erf(&self.data)?).ok(),
            1 => {
                let (kind, packet) = ethernet(&self.data)?;
                match kind {
                    [0x08, 0x00] | [0x86, 0xdd] => Headers::parse_ip(packet).ok(),
                    [0x89, 0x15] => Headers::parse_global(packet).ok(),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Returns the packet in an ERF record of type InfiniBand (21), behind the record's header and extension headers.
pub(super) fn erf(record: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = record.split_first_chunk::<16>()?;
    let mut kind = header[8];
    if kind & 0x7f != 21 {
        return None;
    }
    // The upper bit of the type, and of the first byte of each extension header, announces another header.
    while kind & 0x80 != 0 {
        let (extension, behind) = rest.split_first_chunk::<8>()?;
        (kind, rest) = (extension[0], behind);
    }
    Some(rest)
}

/// Returns the EtherType and the payload of a frame, behind its VLAN tags.
pub(super) fn ethernet(frame: &[u8]) -> Option<([u8; 2], &[u8])> {
    let mut rest = frame.get(12..)?;
    loop {
        let (kind, payload) = rest.split_first_chunk::<2>()?;
        match kind {
            [0x81, 0x00] | [0x88, 0xa8] => rest = payload.get(2..)?,
            kind => return Some((*kind, payload)),
        }
    }
}
