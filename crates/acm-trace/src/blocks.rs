//! Blocks out of a file, whole and with their places. What is in them is the business of `pcap-file`.
use crate::error::{Damage, TraceError};
use std::io::{ErrorKind, Read};

/// A block of more bytes is taken for damage: a length that is wrong must not fill the memory.
const LONGEST: u32 = 1 << 28;

/// A whole block.
pub(crate) struct Raw {
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// Its pcapng block type.
    pub(crate) number: u32,
    /// All of it.
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

    /// Bytes of the whole blocks that were read.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the file ends behind a whole block.
    pub(crate) const fn is_at_end(&self) -> bool {
        !self.partial
    }

    fn number(&self, bytes: [u8; 4]) -> u32 {
        if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// Reads up to `total` bytes of the block; whether they are all there.
    fn fill(&mut self, bytes: &mut Vec<u8>, total: usize) -> Result<bool, TraceError> {
        let missing = total.saturating_sub(bytes.len());
        let more = (&mut self.input).take(missing as u64).read_to_end(bytes);
        match more {
            Ok(more) => Ok(more == missing),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(source) => Err(TraceError::Read { offset: self.offset + bytes.len() as u64, source }),
        }
    }

    /// The next block; `None` at the end of the file, in the middle of a block or behind one.
    pub(crate) fn next(&mut self) -> Result<Option<Raw>, TraceError> {
        let offset = self.offset;
        let mut bytes = Vec::new();
        // A section's header says the byte order behind its length; no block is shorter than that.
        let whole = self.fill(&mut bytes, 12)?;
        let (Some([kind, length, order]), true) = (words(&bytes), whole) else {
            let known = offset > 0 || Raw::SECTION.to_le_bytes().iter().zip(&bytes).all(|(a, b)| a == b);
            self.partial = !bytes.is_empty();
            return if known { Ok(None) } else { Err(TraceError::NotATrace { offset }) };
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
