//! The bytes of a file that were read, and not yet used.
use std::{
    io::{self, Read},
    vec::Vec,
};

/// Bytes of one read: enough for many packets.
const READ: usize = 64 << 10;

pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Number of bytes at the start of the buffer that were used.
    used: usize,
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), used: 0 }
    }

    /// Returns the next bytes: at least `length`, or fewer if the file ends before. Reads no more than necessary, so
    /// that a packet of a live capture does not wait for the next one.
    pub(super) fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        while self.buffer.len().saturating_sub(self.used) < length {
            self.buffer.drain(..self.used);
            self.used = 0;
            let before = self.buffer.len();
            self.buffer.resize(before.saturating_add(READ), 0);
            let read = self.reader.read(self.buffer.get_mut(before..).unwrap_or_default());
            self.buffer.truncate(before.saturating_add(*read.as_ref().unwrap_or(&0)));
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.buffer.get(self.used..).unwrap_or_default())
    }

    /// Marks bytes as used.
    pub(super) fn skip(&mut self, length: usize) {
        self.used = self.used.saturating_add(length).min(self.buffer.len());
    }
}
