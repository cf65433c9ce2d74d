//! Clients: accepted, listened to in turn, answered, closed.
use super::{
    super::{
        connection::{Connection, HIGH_WATER, Received},
        tokens::FIRST_CLIENT,
    },
    turn::{Daemon, OTHERS_TURN, STALL},
};
use crate::log;
use acm_sansio::{Input, Time};
use core::time::Duration;
use mio::{Interest, Token};
use std::io;

/// Messages of one client that are handled before it is another's turn.
const TURN: usize = 32;
/// How long nobody is accepted after the file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Daemon {
    pub(super) fn accept(&mut self, now: Time) {
        if self.ready.accept_at.is_some_and(|at| at <= now) {
            self.ready.accept_at = None;
            self.ready.listener = true;
        }
        for _ in 0..OTHERS_TURN {
            if !self.ready.listener || self.ready.accept_at.is_some() {
                return;
            }
            let mut stream = match self.listener.accept() {
                Ok(stream) => stream,
                Err(error) => {
                    match error.kind() {
                        io::ErrorKind::WouldBlock => self.ready.listener = false,
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                        // Most likely no file descriptor is left. The edge is not told again: ask again later.
                        _ => {
                            tracing::warn!(target: "accept", "{error}; accepting again in {ACCEPT_PAUSE:?}");
                            self.ready.accept_at = Some(now + ACCEPT_PAUSE);
                        }
                    }
                    continue;
                }
            };
            let account = stream.account();
            let index = self.host.clients.open.vacant_key();
            let token = Token(FIRST_CLIENT + index);
            let interest = Interest::READABLE | Interest::WRITABLE;
            if let Err(error) = self.host.poll.registry().register(stream.source(), token, interest) {
                tracing::warn!(target: "accept", "client refused: {error}");
                continue;
            }
            let id = self.host.clients.next_id(index);
            self.host.clients.open.insert(Connection::new(id, stream));
            self.host.clients.backlog.insert(index);
            self.input(now, Input::ClientOpened { client: id, account });
        }
    }

    pub(super) fn client_ready(&mut self, index: usize, event: &mio::event::Event) {
        let Some(connection) = self.host.clients.open.get_mut(index) else { return };
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.readable = true;
            connection.closing |= event.is_read_closed() || event.is_error();
            connection.hung_up |= event.is_write_closed() || event.is_error();
            self.host.clients.backlog.insert(index);
        }
        if event.is_writable() && connection.untaken() > 0 {
            self.host.clients.answered.insert(index);
        }
    }

    /// Reads from every client that has something to say, each its turn.
    pub(super) fn read_clients(&mut self, now: Time) {
        for _ in 0..self.host.clients.backlog.len() {
            let Some(index) = self.host.clients.backlog.pop() else { return };
            if self.read_client(now, index) {
                self.host.clients.backlog.insert(index);
            }
        }
    }

    /// One client's turn; whether it has more to say now.
    pub(super) fn read_client(&mut self, now: Time, index: usize) -> bool {
        for _ in 0..TURN {
            let Some(connection) = self.host.clients.open.get_mut(index) else { return false };
            // Who does not take answers, or has too many open, is not listened to; `flush` and answers wake it up.
            if connection.untaken() > HIGH_WATER || !self.acm.takes_requests(connection.id) {
                return false;
            }
            let client = connection.id;
            match connection.next_message() {
                Ok(Some(message)) => {
                    self.acm.handle_input(now, Input::ClientMessage { client, message });
                    self.drain(now);
                    continue;
                }
                Ok(None) => {}
                Err(error) => {
                    log::event(&acm_sansio::Event::BadFrame(client, error));
                    self.gone(now, index);
                    return false;
                }
            }
            if !connection.readable {
                // Who only writes no more is there for its answers.
                let waits = connection.untaken() > 0 || self.acm.has_requests(client);
                if connection.ended && (connection.hung_up || !waits) {
                    self.gone(now, index);
                }
                return false;
            }
            match connection.fill() {
                Received::More | Received::End => {}
                Received::Dry => return false,
            }
        }
        true
    }

    /// Sends all answers, those of one client in one call.
    pub(super) fn flush(&mut self, now: Time) {
        while let Some(index) = self.host.clients.answered.pop() {
            let Some(connection) = self.host.clients.open.get_mut(index) else { continue };
            let alive = connection.flush(now);
            let (untaken, stalled) = (connection.untaken(), connection.stalled_since.is_some());
            if !alive {
                self.gone(now, index);
                continue;
            }
            if stalled {
                self.host.clients.stalled.insert(index);
            } else {
                self.host.clients.stalled.remove(&index);
            }
            // What was not read because of these answers.
            if untaken <= HIGH_WATER {
                self.host.clients.backlog.insert(index);
            }
        }
        if self.host.clients.stalled.is_empty() {
            return;
        }
        let over = |index: &usize| {
            let since = self.host.clients.open.get(*index).and_then(|connection| connection.stalled_since);
            since.is_some_and(|since| since + STALL <= now)
        };
        let stalled: Vec<usize> = self.host.clients.stalled.iter().copied().filter(over).collect();
        for index in stalled {
            tracing::info!(target: "client", "client {index} takes no answers: closed");
            self.gone(now, index);
        }
    }

    /// A connection is over; the core is told.
    pub(super) fn gone(&mut self, now: Time, index: usize) {
        // Requests that came before the end may have their answers already: a client that only writes no more takes them.
        if let Some(connection) = self.host.clients.open.get_mut(index) {
            connection.flush(now);
        }
        if let Some(id) = self.host.remove(index) {
            self.input(now, Input::ClientGone(id));
        }
    }
}
