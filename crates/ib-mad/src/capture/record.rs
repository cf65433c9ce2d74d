//! A record at the start of some bytes, and numbers in the byte order of a file.
use super::CapturedPacket;

/// The record at the start of some bytes.
pub(super) enum Next {
    /// The record is at least so long.
    Needs(usize),
    /// A packet, in a record of `length` bytes.
    Packet { length: usize, packet: CapturedPacket },
    /// A record without a packet, of this length.
    Other(usize),
    /// A packet that cannot be read, in a record of `length` bytes.
    Invalid { length: usize, what: &'static str },
    /// No record. The next one has to be searched.
    Bad(&'static str),
}

/// Byte order of a file.
#[derive(Clone, Copy)]
pub(super) enum Words {
    Big,
    Little,
}

impl Words {
    /// Returns the 32-bit number at an offset.
    pub(super) fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Self::Big => u32::from_be_bytes(bytes),
            Self::Little => u32::from_le_bytes(bytes),
        })
    }

    /// Returns the 16-bit number at an offset.
    pub(super) fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let bytes = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Self::Big => u16::from_be_bytes(bytes),
            Self::Little => u16::from_le_bytes(bytes),
        })
    }
}
