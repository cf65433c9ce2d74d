//! Splitting of a byte stream into messages.
use super::{
    Header, Opcode, Operation,
    entry::ENTRY_SIZE,
    header::{CONDITIONAL, HEADER_SIZE, SHARED, VERSION},
};
use ib_mad::Wire;

/// Size of the longest request in bytes: a header and eight entries.
pub const MAX_REQUEST_LENGTH: usize = HEADER_SIZE + 8 * ENTRY_SIZE;
const _: () = assert!(MAX_REQUEST_LENGTH == 592);

/// A whole message with a valid header, a known opcode and a body of the length in the header.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Header of the message.
    pub header: &'a Header,
    /// Operation of the header's opcode; the same in a request and its response.
    pub operation: Operation,
    /// Bytes after the header.
    pub body: &'a [u8],
}

impl Frame<'_> {
    /// Returns the size of the message with its header, in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        HEADER_SIZE + self.body.len()
    }

    /// Returns the transaction id that the client chose; the same in a request and its response.
    #[must_use]
    pub const fn tid(&self) -> [u8; 8] {
        self.header.tid.0
    }

    /// Reports whether the path of a RESOLVE response has the conditions of the request. C ibacm ignores conditions.
    #[must_use]
    pub const fn is_conditional(&self) -> bool {
        self.header.data2 & CONDITIONAL != 0
    }

    /// Reports whether the daemon that sent this response has a cache that clients read without a request.
    #[must_use]
    pub const fn has_shared_cache(&self) -> bool {
        self.header.data2 & SHARED != 0
    }
}

/// Error of bytes that are not a message. The start of the next message is unknown, so the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FrameError {
    /// The first byte is not a known version.
    #[error("version {0} is not 1")]
    Version(u8),
    /// The second byte is not the opcode of a request.
    #[error("opcode {0:#04x} is not RESOLVE, PERF or EP")]
    Opcode(u8),
    /// The length is less than the size of a header, or greater than the maximum size of a message.
    #[error("length {0} is not in 16..=592")]
    Length(u16),
}

/// Returns the first message of a daemon's receive buffer; `None` until the message is complete.
///
/// Checks each byte as soon as it is received: a wrong first byte is reported before the second byte arrives.
///
/// # Errors
/// [`FrameError`] if the bytes are not a message.
pub fn next_frame(bytes: &[u8]) -> Result<Option<Frame<'_>>, FrameError> {
    cut(bytes, Operation::of, MAX_REQUEST_LENGTH)
}

/// Returns the first message of a client's receive buffer; `None` until the message is complete. The response bit of
/// the opcode is not required. An EP response may have up to 65,535 bytes.
///
/// # Errors
/// [`FrameError`] if the bytes are not a response.
pub fn next_response(bytes: &[u8]) -> Result<Option<Frame<'_>>, FrameError> {
    cut(bytes, |opcode| Operation::of(opcode.base()), usize::from(u16::MAX))
}

fn cut(bytes: &[u8], known: fn(Opcode) -> Option<Operation>, max: usize) -> Result<Option<Frame<'_>>, FrameError> {
    let mut start = bytes.iter();
    match start.next() {
        None => return Ok(None),
        Some(&VERSION) => {}
        Some(&other) => return Err(FrameError::Version(other)),
    }
    let Some(&opcode) = start.next() else { return Ok(None) };
    let operation = known(Opcode::new(opcode)).ok_or(FrameError::Opcode(opcode))?;
    let Ok((header, rest)) = Header::parse_prefix(bytes) else { return Ok(None) };
    let length = usize::from(header.length());
    if !(HEADER_SIZE..=max).contains(&length) {
        return Err(FrameError::Length(header.length()));
    }
    Ok(rest.get(..length - HEADER_SIZE).map(|body| Frame { header, operation, body }))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::client::ClientStatus;
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    fn message(opcode: Opcode, length: u16) -> Vec<u8> {
        let mut bytes = ib_mad::as_bytes(&Header::new(opcode, ClientStatus::SUCCESS, length, [7; 8])).to_vec();
        bytes.resize(usize::from(length).max(16), 0);
        bytes
    }

    #[test]
    fn byte_order_of_the_length_follows_the_opcode() {
        assert_eq!(message(Opcode::RESOLVE, 0x0110)[6..8], 0x0110_u16.to_ne_bytes());
        assert_eq!(message(Opcode::PERF, 0x0110)[6..8], [1, 0x10]);
        assert_eq!(message(Opcode::EP, 0x0110)[6..8], [1, 0x10]);
        assert_eq!(message(Opcode::EP.ack(), 0x0110)[6..8], [1, 0x10]);
    }

    #[test]
    fn values_outside_limits_are_rejected() {
        for opcode in [Opcode::RESOLVE, Opcode::PERF, Opcode::EP] {
            for bad in [0, 15, 593, 65535] {
                assert_eq!(next_frame(&message(opcode, bad)).unwrap_err(), FrameError::Length(bad));
            }
            for good in [16, 17, 591, 592] {
                assert_eq!(next_frame(&message(opcode, good)).unwrap().unwrap().length(), usize::from(good));
            }
        }
        assert_eq!(next_frame(&[2]).unwrap_err(), FrameError::Version(2));
        for bad in [0, 4, 0x11, 0x81, 0xff] {
            assert_eq!(next_frame(&[1, bad]).unwrap_err(), FrameError::Opcode(bad));
        }
        assert!(next_response(&message(Opcode::EP.ack(), 65535)).unwrap().is_some());
    }

    proptest! {
        #[test]
        fn any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
            if let Ok(Some(frame)) = next_frame(&bytes) {
                prop_assert!(frame.length() <= bytes.len() && frame.length() <= 592);
            }
            let _ = next_response(&bytes);
        }

        /// The messages do not depend on how the stream is cut into reads.
        // docs/deviations.md: one-read
        #[test]
        fn partial_and_coalesced_reads_give_the_same_messages(
            lengths in proptest::collection::vec(16_u16..=592, 1..6),
            cuts in proptest::collection::vec(1_usize..80, 1..100),
        ) {
            let stream: Vec<u8> = lengths.iter().flat_map(|length| message(Opcode::RESOLVE, *length)).collect();
            let (mut buffer, mut seen, mut rest) = (vec![], vec![], stream.as_slice());
            let mut cuts = cuts.iter().cycle();
            while !rest.is_empty() {
                let (now, later) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                buffer.extend_from_slice(now);
                rest = later;
                while let Some(frame) = next_frame(&buffer).unwrap() {
                    let length = frame.length();
                    seen.push(u16::try_from(length).unwrap());
                    buffer.drain(..length);
                }
            }
            prop_assert!(buffer.is_empty());
            prop_assert_eq!(seen, lengths);
        }
    }
}
