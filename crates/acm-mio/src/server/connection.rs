//! One client's connection: what it sent and is not handled yet, what it has not taken yet.
use super::receive::{ReceiveBuffer, Received};
use crate::{peer::Peer, stream::Stream};
use acm_sansio::{ClientId, Time};
use std::io::{self, Write};

/// Answers that a client may leave untaken before nothing is read from it any more.
pub(super) const HIGH_WATER: usize = 64 * 1024;
/// Room for answers that a connection keeps while it is idle: a few of them.
const IDLE_ROOM: usize = 512;

/// One client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ClientId,
    pub(super) stream: Stream,
    /// Who is at its other end.
    pub(super) peer: Peer,
    /// What its last turn left over: the start of a message, or messages that wait for the next turn.
    kept: Vec<u8>,
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
    /// It is not listened to, because of untaken answers or open requests. It is looked at again with each answer.
    pub(super) held_back: bool,
    /// The system tells when it takes more. Only then: it would tell with every answer that a client takes.
    pub(super) waits_for_room: bool,
    /// Since when the client has taken nothing of what is there for it.
    pub(super) stalled_since: Option<Time>,
}

impl Connection {
    pub(super) fn new(id: ClientId, stream: Stream, peer: Peer) -> Self {
        Self {
            id,
            stream,
            peer,
            kept: Vec::new(),
            out: Vec::new(),
            sent: 0,
            readable: true,
            ended: false,
            closing: false,
            hung_up: false,
            held_back: false,
            waits_for_room: false,
            stalled_since: None,
        }
    }

    /// Begins its turn at the buffer.
    pub(super) fn begin_turn(&mut self, buffer: &mut ReceiveBuffer) {
        buffer.begin(&self.kept);
    }

    /// Ends its turn: keeps what is left in the buffer.
    pub(super) fn end_turn(&mut self, buffer: &ReceiveBuffer) {
        let rest = buffer.rest();
        if rest.is_empty() {
            self.kept = Vec::new();
        } else {
            self.kept.clear();
            self.kept.extend_from_slice(rest);
        }
    }

    /// Reads once; whether something may be in the buffer that was not there before.
    pub(super) fn fill(&mut self, buffer: &mut ReceiveBuffer) -> bool {
        match buffer.read_from(&mut self.stream) {
            Ok(Received::Bytes { short }) => {
                // An empty socket would only say so. Its end may have been told with the bytes.
                self.readable = !short || self.closing;
                return true;
            }
            Ok(Received::Nothing) => self.readable = false,
            Ok(Received::End) => self.end(),
            Err(_) => {
                self.end();
                self.hung_up = true;
            }
        }
        false
    }

    fn end(&mut self) {
        self.ended = true;
        self.readable = false;
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
        self.out.shrink_to(IDLE_ROOM);
        self.sent = 0;
        self.stalled_since = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_client_that_is_always_behind_costs_no_more_than_it_is_behind() {
        let (ours, mut theirs) = mio::net::UnixStream::pair().unwrap();
        let mut connection = Connection::new(ClientId::new(0, 0), Stream::Unix(ours), Peer::Unknown);
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
