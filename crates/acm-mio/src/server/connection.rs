//! The connection of one client, with unhandled received bytes and unsent responses.
use super::receive::{ReceiveBuffer, Received};
use crate::{
    peer::Peer,
    stream::{SentDescriptors, Stream},
};
use acm_sansio::{Account, ClientId, Time, fair::Position};
use std::io::{self, Write};

/// Number of bytes of unsent responses above which no further requests are read from the client.
pub(super) const HIGH_WATER: usize = 2048;
/// Capacity for responses that an idle connection keeps, in bytes: a few responses.
const IDLE_ROOM: usize = 512;

/// The place of a connection among those with work to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// The connection has nothing to do.
    None,
    /// The connection waits for its turn.
    Queued(Position),
    /// It is the connection's turn.
    Now,
}

/// A check for unread responses, which are in the daemon or in the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    /// Time of the check.
    pub(super) at: Time,
    /// Time of the first of the consecutive checks with these numbers.
    since: Time,
    /// Number of bytes that the socket has accepted, and kernel memory of unread responses. Both are constant while the
    /// client reads nothing.
    numbers: (u64, u32),
}

/// The halves of a connection that the client has closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remote {
    Open,
    /// The sending half. The end of the stream must then be read without a further event.
    SendsNoMore,
    /// Both halves.
    Gone,
}

/// The connection of one client.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ClientId,
    /// Index of the client's account.
    pub(super) account: u32,
    /// Time of the client's last turn.
    pub(super) used: Time,
    /// The client's account.
    pub(super) owner: Account,
    pub(super) turn: Turn,
    pub(super) stream: Stream,
    /// The program at the other end.
    pub(super) peer: Peer,
    /// Unhandled bytes of the last turn: the start of a message, or messages for the next turn.
    kept: Vec<u8>,
    out: Vec<u8>,
    sent: usize,
    /// True if the socket may hold unread data, because epoll reports each edge only once.
    pub(super) readable: bool,
    /// True if the end of the stream was read, or reading failed.
    pub(super) ended: bool,
    pub(super) remote: Remote,
    /// True if the connection only waits to be closed.
    pub(super) ending: bool,
    /// True if the response contains a descriptor.
    pub(super) has_descriptor: bool,
    /// True if reading from the client is suspended because of unsent responses.
    pub(super) held_back: bool,
    /// True if an event for room in the socket is requested. This is the case only while responses wait, because
    /// otherwise each response that the client reads would cause an event.
    pub(super) waits_for_room: bool,
    /// Number of bytes of responses that the socket has accepted, modulo 2^64.
    sent_in_all: u64,
    /// Last check for unread responses; `None` if there are no unread responses.
    pub(super) checked: Option<Check>,
}

impl Connection {
    pub(super) fn new(id: ClientId, stream: Stream, owner: Account, peer: Peer) -> Self {
        Self {
            id,
            account: 0,
            used: Time::ZERO,
            owner,
            turn: Turn::None,
            stream,
            peer,
            kept: Vec::new(),
            out: Vec::new(),
            sent: 0,
            readable: true,
            ended: false,
            remote: Remote::Open,
            ending: false,
            has_descriptor: false,
            held_back: false,
            waits_for_room: false,
            sent_in_all: 0,
            checked: None,
        }
    }

    /// Begins the client's turn with the shared buffer.
    pub(super) fn begin_turn(&mut self, now: Time, buffer: &mut ReceiveBuffer) {
        self.turn = Turn::Now;
        self.used = now;
        buffer.begin(&self.kept);
    }

    /// Ends the client's turn, and stores the unhandled bytes of the buffer.
    pub(super) fn end_turn(&mut self, buffer: &ReceiveBuffer) {
        self.turn = Turn::None;
        let rest = buffer.rest();
        if rest.is_empty() {
            self.kept = Vec::new();
        } else {
            self.kept.clear();
            self.kept.extend_from_slice(rest);
        }
    }

    /// Reads once. Returns `true` if the buffer may hold new bytes.
    pub(super) fn fill(&mut self, buffer: &mut ReceiveBuffer) -> Result<bool, SentDescriptors> {
        match buffer.read_from(&mut self.stream) {
            Ok(Received::Bytes { short }) => {
                // A short read means an empty socket. The end of the stream may have been reported with the bytes.
                self.readable = !short || self.remote > Remote::Open;
                return Ok(true);
            }
            Ok(Received::Nothing) => self.readable = false,
            Ok(Received::End) => self.stop_reading(),
            Err(error) if error.get_ref().is_some_and(|reason| reason.is::<SentDescriptors>()) => {
                return Err(SentDescriptors);
            }
            Err(_) => {
                self.stop_reading();
                self.remote = Remote::Gone;
            }
        }
        Ok(false)
    }

    fn stop_reading(&mut self) {
        self.ended = true;
        self.readable = false;
    }

    /// Ends the service of the client, which can still read the responses that were sent.
    pub(super) fn end(&mut self) {
        self.stop_reading();
        self.ending = true;
        (self.kept, self.out, self.sent) = (Vec::new(), Vec::new(), 0);
        self.stream.shutdown();
    }

    /// Reports whether received bytes wait for a turn, or for the rest of their message.
    pub(super) const fn has_unhandled(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Appends a response to the waiting responses, unless the connection is ending.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.ending {
            return;
        }
        self.out.extend_from_slice(bytes);
    }

    /// Returns the number of bytes that are not sent yet.
    pub(super) fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Sends as much as the socket accepts, with one system call if the socket accepts all bytes. Returns `false` if
    /// the connection has failed.
    pub(super) fn flush(&mut self) -> bool {
        while self.unsent() > 0 {
            match self.stream.write(self.out.get(self.sent..).unwrap_or_default()) {
                Ok(0) => return false,
                Ok(count) => {
                    self.sent += count;
                    self.sent_in_all = self.sent_in_all.wrapping_add(count as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.out.drain(..self.sent);
                    self.out.shrink_to_fit();
                    self.sent = 0;
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        // The capacity is kept for the next responses, up to a limit.
        self.out.clear();
        self.out.shrink_to(IDLE_ROOM);
        self.sent = 0;
        true
    }

    /// Checks for unread responses. If there are any, or if the connection is ending, returns the time since which the
    /// client has read nothing.
    pub(super) fn check(&mut self, now: Time) -> Option<Time> {
        let unread = self.stream.unread();
        let numbers = (self.sent_in_all, unread);
        let same = self.checked.filter(|check| check.numbers == numbers);
        let since = same.map_or(now, |check| check.since);
        self.checked = (unread > 0 || self.unsent() > 0 || self.ending).then_some(Check { at: now, since, numbers });
        self.checked.map(|check| check.since)
    }

    /// Reports whether the connection can be closed: the client is gone, or has all responses after it has closed its
    /// sending half. It may still have requests in the core.
    pub(super) fn is_over(&self, has_requests: bool) -> bool {
        let is_answered = self.unsent() == 0 && !has_requests;
        self.remote == Remote::Gone && self.held_back || self.ended && (self.remote == Remote::Gone || is_answered)
    }

    /// Schedules a check of the responses that are sent now.
    pub(super) fn check_later(&mut self, now: Time) {
        // The numbers differ from those of the first check, so the client has read responses.
        self.checked.get_or_insert(Check { at: now, since: now, numbers: (self.sent_in_all, 0) });
    }
}

#[cfg(test)]
impl Connection {
    /// Returns the memory of unread responses in bytes, in the kernel and in this connection.
    pub(super) fn memory(&self) -> usize {
        self.stream.unread() as usize + self.out.capacity() + self.kept.capacity() + size_of::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use std::io::Read;

    #[test]
    fn buffer_of_a_client_that_lags_does_not_grow_without_bound() {
        let (ours, mut theirs) = mio::net::UnixStream::pair().unwrap();
        let mut connection = Connection::new(ClientId::new(0, 0), ours.into(), Account::User(1), Peer::Unknown);
        let mut piece = [0; 4096];
        while connection.unsent() == 0 {
            connection.push(&piece);
            assert!(connection.flush());
        }
        connection.push(&vec![0; 512 * 1024]);
        let behind = connection.out.len();
        for _ in 0..1000 {
            connection.push(&piece);
            let mut taken = 0;
            while taken < piece.len() {
                let Some(room) = piece.get_mut(taken..) else { break };
                taken += theirs.read(room).unwrap();
            }
            assert!(connection.flush());
            assert!(connection.unsent() > 0);
        }
        assert!(connection.out.len() < behind + 2 * HIGH_WATER, "{}", connection.out.len());
    }

    #[test]
    fn client_has_unread_responses_while_some_are_unsent() {
        let (ours, mut theirs) = mio::net::UnixStream::pair().unwrap();
        let mut connection = Connection::new(ClientId::new(0, 0), ours.into(), Account::User(1), Peer::Unknown);
        let (first, later) = (Time::ZERO, Time::ZERO + Duration::from_secs(1));
        assert_eq!(connection.check(first), None);
        while connection.unsent() == 0 {
            connection.push(&[0; 4096]);
            assert!(connection.flush());
        }
        assert_eq!([first, later].map(|now| connection.check(now)), [Some(first); 2]);
        // The client has read the responses in the kernel. The others are not sent yet.
        while theirs.read(&mut [0; 4096]).is_ok() {}
        assert_eq!((connection.stream.unread(), connection.check(later)), (0, Some(later)));
    }
}
