//! One client's connection: what it sent and is not read yet, what it has not taken yet.
use super::listener::Stream;
use acm_sansio::{ClientId, Time};
use acm_wire::client::{FrameError, next_frame};
use std::io::{self, Read, Write};

/// Bytes of requests that are kept: several of the longest.
const RECEIVE: usize = 4096;
/// Answers that a client may leave untaken before nothing is read from it any more.
pub(super) const HIGH_WATER: usize = 64 * 1024;

/// One client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ClientId,
    pub(super) stream: Stream,
    received: Box<[u8; RECEIVE]>,
    filled: usize,
    /// What has been handed to the core already, at the start of `received`.
    taken: usize,
    out: Vec<u8>,
    sent: usize,
    /// The socket may hold more: edges are told once.
    pub(super) readable: bool,
    /// Nothing more will come.
    pub(super) ended: bool,
    /// The other side writes no more: the end is to be read, and is not told again.
    pub(super) closing: bool,
    /// The other side reads no more, either.
    pub(super) hung_up: bool,
    /// Since when the client has taken nothing of what is there for it.
    pub(super) stalled_since: Option<Time>,
}

/// What reading gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// More bytes.
    More,
    /// None now.
    Dry,
    /// None any more.
    End,
}

impl Connection {
    pub(super) fn new(id: ClientId, stream: Stream) -> Self {
        Self {
            id,
            stream,
            received: Box::new([0; RECEIVE]),
            filled: 0,
            taken: 0,
            out: Vec::new(),
            sent: 0,
            readable: true,
            ended: false,
            closing: false,
            hung_up: false,
            stalled_since: None,
        }
    }

    /// Reads once.
    pub(super) fn fill(&mut self) -> Received {
        self.received.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        let room = self.received.get_mut(self.filled..).unwrap_or_default();
        let room_len = room.len();
        if room.is_empty() {
            return Received::More;
        }
        match self.stream.read(room) {
            Ok(0) => {
                self.ended = true;
                self.readable = false;
                Received::End
            }
            Ok(count) => {
                // Less than there was room for: the socket is empty (epoll(7)), and asking again would only say so. Its
                // end may have been told with the bytes.
                self.readable = count == room_len || self.closing;
                self.filled += count;
                Received::More
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Received::Dry
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Received::More,
            Err(_) => {
                self.ended = true;
                self.hung_up = true;
                self.readable = false;
                Received::End
            }
        }
    }

    /// The next whole message. It counts as taken.
    pub(super) fn next_message(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let start = self.taken;
        let Some(frame) = next_frame(self.received.get(start..self.filled).unwrap_or_default())? else {
            return Ok(None);
        };
        let end = start + frame.length();
        self.taken = end;
        Ok(self.received.get(start..end))
    }

    /// Puts an answer behind those that wait.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Bytes that the client has not taken.
    pub(super) fn untaken(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Writes what the client takes now, in one call if it takes all; whether the connection still works.
    pub(super) fn flush(&mut self, now: Time) -> bool {
        let mut progress = false;
        while self.untaken() > 0 {
            match self.stream.write(self.out.get(self.sent..).unwrap_or_default()) {
                Ok(0) => return false,
                Ok(count) => {
                    self.sent += count;
                    progress = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if progress || self.stalled_since.is_none() {
                        self.stalled_since = Some(now);
                    }
                    // A client that is always behind a little never takes all.
                    if self.sent > HIGH_WATER {
                        self.out.drain(..self.sent);
                        self.sent = 0;
                    }
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        // The room is kept for the next answers, unless it became large.
        self.out.clear();
        self.out.shrink_to(HIGH_WATER);
        self.sent = 0;
        self.stalled_since = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_is_always_behind_costs_no_more_than_it_is_behind() {
        let (ours, mut theirs) = mio::net::UnixStream::pair().unwrap();
        let mut connection = Connection::new(ClientId::new(0, 0), Stream::Unix(ours));
        let mut piece = [0; 4096];
        while connection.stalled_since.is_none() {
            connection.push(&piece);
            assert!(connection.flush(Time::ZERO));
        }
        connection.push(&[0; 8 * HIGH_WATER]);
        let behind = connection.out.len();
        for _ in 0..1000 {
            connection.push(&piece);
            let mut taken = 0;
            while taken < piece.len() {
                let Some(room) = piece.get_mut(taken..) else { break };
                taken += theirs.read(room).unwrap();
            }
            assert!(connection.flush(Time::ZERO));
            assert!(connection.untaken() > 0);
        }
        assert!(connection.out.len() < behind + 2 * HIGH_WATER, "{}", connection.out.len());
    }
}
