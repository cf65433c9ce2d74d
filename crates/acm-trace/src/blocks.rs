//! Splits a file into its pcapng blocks. The crate `pcap-file` parses their content.
use crate::error::{Damage, TraceError};
use std::io::{ErrorKind, Read};

/// Maximum length of a block, in bytes. A greater length is treated as damage, so that it does not exhaust the memory.
const LONGEST: u32 = 1 << 28;

/// A whole block.
pub(crate) struct Raw {
    /// Offset of the block in the file, in bytes.
    pub(crate) offset: u64,
    /// The pcapng block type.
    pub(crate) number: u32,
    /// All bytes of the block.
    pub(crate) bytes: Vec<u8>,
}

impl Raw {
    pub(crate) const SECTION: u32 = 0x0a0d_0d0a;
    pub(crate) const INTERFACE: u32 = 1;
    pub(crate) const PACKET: u32 = 6;
}

/// The blocks of a file.
pub(crate) struct Blocks<R> {
    input: R,
    offset: u64,
    big: bool,
    partial: bool,
}

impl<R: Read> Blocks<R> {
    pub(crate) const fn new(input: R) -> Self {
        Self { input, offset: 0, big: false, partial: false }
    }

    /// Returns the number of bytes in the blocks that were read.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Reports whether the file ends at the end of a block.
    pub(crate) const fn is_at_end(&self) -> bool {
        !self.partial
    }

    fn number(&self, bytes: [u8; 4]) -> u32 {
        if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// Reads until `bytes` has `total` bytes. Returns `false` if the file ends before.
    fn fill(&mut self, bytes: &mut Vec<u8>, total: usize) -> Result<bool, TraceError> {
        let missing = total.saturating_sub(bytes.len());
        let more = (&mut self.input).take(missing as u64).read_to_end(bytes);
        match more {
            Ok(more) => Ok(more == missing),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(source) => Err(TraceError::Read { offset: self.offset + bytes.len() as u64, source }),
        }
    }

    /// Returns the next block; `None` at the end of the file, also if the last block is incomplete.
    pub(crate) fn next(&mut self) -> Result<Option<Raw>, TraceError> {
        let offset = self.offset;
        let mut bytes = Vec::new();
        // In a section header, the byte order follows the length. Every block has at least 12 bytes.
        let whole = self.fill(&mut bytes, 12)?;
        let (Some([kind, length, order]), true) = (words(&bytes), whole) else {
            let is_pcapng = offset > 0 || Raw::SECTION.to_le_bytes().iter().zip(&bytes).all(|(a, b)| a == b);
            self.partial = !bytes.is_empty();
            return if is_pcapng { Ok(None) } else { Err(TraceError::NotATrace { offset }) };
        };
        if u32::from_le_bytes(kind) == Raw::SECTION {
            self.big = match u32::from_be_bytes(order) {
                0x1a2b_3c4d => true,
                0x4d3c_2b1a => false,
                _ => return Err(TraceError::NotATrace { offset }),
            };
        } else if offset == 0 {
            return Err(TraceError::NotATrace { offset });
        }
        let number = self.number(kind);
        let total = self.number(length);
        if !total.is_multiple_of(4) || !(12..=LONGEST).contains(&total) {
            return Err(TraceError::Damaged { offset, damage: Damage::BlockLength(total.into()) });
        }
        if !self.fill(&mut bytes, usize::try_from(total).unwrap_or(usize::MAX))? {
            self.partial = true;
            return Ok(None);
        }
        let again = bytes.last_chunk().map(|last| self.number(*last)).unwrap_or_default();
        if again != total {
            return Err(TraceError::Damaged { offset, damage: Damage::Lengths(total, again) });
        }
        self.offset += u64::from(total);
        Ok(Some(Raw { offset, number, bytes }))
    }
}

fn words(bytes: &[u8]) -> Option<[[u8; 4]; 3]> {
    let (a, rest) = bytes.split_first_chunk()?;
    let (b, rest) = rest.split_first_chunk()?;
    let (c, _) = rest.split_first_chunk()?;
    Some([*a, *b, *c])
}
