//! The receive buffer that all clients share.
use acm_wire::client::{FrameError, Header, next_frame};
use ib_mad::Wire as _;
use std::io::{self, Read};

/// Size of the buffer in bytes: three of the longest requests, which have 592 bytes. A connection from which reading is
/// suspended stores at most this number of bytes.
const SIZE: usize = 2048;

/// One buffer, which all clients use in turns. A connection stores only the unhandled bytes of its turn, so that
/// thousands of idle connections need little memory.
#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    bytes: Box<[u8; SIZE]>,
    filled: usize,
    /// Number of handled bytes at the start of `bytes`.
    taken: usize,
}

/// Result of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// Bytes were read.
    Bytes {
        /// Fewer bytes were read than requested, which means that a stream socket is empty (epoll(7)).
        short: bool,
    },
    /// No bytes are available.
    Nothing,
    /// The end of the stream.
    End,
}

impl Default for ReceiveBuffer {
    fn default() -> Self {
        Self { bytes: Box::new([0; SIZE]), filled: 0, taken: 0 }
    }
}

impl ReceiveBuffer {
    /// Begins a turn with the rest of the client's last turn.
    pub(super) fn begin(&mut self, kept: &[u8]) {
        self.taken = 0;
        self.filled = 0;
        if let Some(start) = self.bytes.get_mut(..kept.len()) {
            start.copy_from_slice(kept);
            self.filled = kept.len();
        }
    }

    /// Reads once. Call this function after [`Self::next_message`] returned `None`, because the buffer then has room.
    pub(super) fn read_from(&mut self, source: &mut impl Read) -> io::Result<Received> {
        self.bytes.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        let room = self.bytes.get_mut(self.filled..).unwrap_or_default();
        let room_len = room.len();
        match source.read(room) {
            Ok(0) => Ok(Received::End),
            Ok(count) => {
                self.filled += count;
                Ok(Received::Bytes { short: count < room_len })
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Received::Nothing),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Received::Bytes { short: false }),
            Err(error) => Err(error),
        }
    }

    /// Returns the next complete message, and marks it as handled.
    pub(super) fn next_message(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let start = self.taken;
        let Some(frame) = next_frame(self.rest())? else { return Ok(None) };
        let end = start + frame.length();
        self.taken = end;
        Ok(self.bytes.get(start..end))
    }

    /// Returns the number in a report with the opcode [`SHARED_CACHE_USE`], and marks the report as handled. Returns
    /// `None` until the report is complete.
    ///
    /// [`SHARED_CACHE_USE`]: acm_wire::client::SHARED_CACHE_USE
    pub(super) fn next_report(&mut self) -> Result<Option<u64>, FrameError> {
        let Ok((header, _)) = Header::parse_prefix(self.rest()) else { return Ok(None) };
        if usize::from(header.length()) != size_of::<Header>() {
            return Err(FrameError::Length(header.length()));
        }
        let lookups = u64::from_be_bytes(header.tid.0);
        self.taken += size_of::<Header>();
        Ok(Some(lookups))
    }

    /// Returns the bytes that are not handled.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.taken..self.filled).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::client::{ClientStatus, Opcode, SHARED_CACHE_USE, perf_request};

    // docs/deviations.md: shared-cache
    #[test]
    fn report_is_handled_once_it_is_complete() {
        let report = Header::new(Opcode::new(SHARED_CACHE_USE), ClientStatus::SUCCESS, 16, 77_u64.to_be_bytes());
        let bytes = [ib_mad::as_bytes(&report), &perf_request(0, [7; 8])].concat();
        let mut buffer = ReceiveBuffer::default();
        buffer.begin(&bytes[..15]);
        assert_eq!(buffer.next_message(), Err(FrameError::Opcode(SHARED_CACHE_USE)));
        assert_eq!(buffer.next_report(), Ok(None));
        buffer.begin(&bytes);
        assert_eq!(buffer.next_report(), Ok(Some(77)));
        assert_eq!(buffer.next_message().unwrap().unwrap(), &bytes[16..]);
        let long = Header::new(Opcode::new(SHARED_CACHE_USE), ClientStatus::SUCCESS, 17, [0; 8]);
        buffer.begin(ib_mad::as_bytes(&long));
        assert_eq!(buffer.next_report(), Err(FrameError::Length(17)));
    }

    #[test]
    fn message_split_over_two_turns_is_complete_in_the_second() {
        let request = perf_request(0, [7; 8]);
        let bytes = [&request[..], &request[..5]].concat();
        let mut buffer = ReceiveBuffer::default();
        buffer.begin(&[]);
        assert_eq!(buffer.read_from(&mut &bytes[..]).unwrap(), Received::Bytes { short: true });
        assert_eq!(buffer.next_message().unwrap().unwrap(), &request[..]);
        assert_eq!(buffer.next_message(), Ok(None));
        let kept = buffer.rest().to_vec();
        assert_eq!(kept, &request[..5]);
        // The turn of another client, whose bytes are all handled.
        buffer.begin(&[]);
        assert_eq!(buffer.read_from(&mut &[0xff; SIZE + 1][..]).unwrap(), Received::Bytes { short: false });
        buffer.begin(&kept);
        assert_eq!(buffer.read_from(&mut &request[5..]).unwrap(), Received::Bytes { short: true });
        assert_eq!(buffer.next_message().unwrap().unwrap(), &request[..]);
        assert!(buffer.rest().is_empty());
        assert_eq!(buffer.read_from(&mut &[][..]).unwrap(), Received::End);
    }
}
