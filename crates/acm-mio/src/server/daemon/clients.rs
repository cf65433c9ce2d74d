//! Clients: accepted, listened to in turn, answered, closed.
use super::super::{
    FIRST_CLIENT,
    connection::{Connection, HIGH_WATER, Read1},
};
use super::{Daemon, Host, OTHERS_TURN, STALL, State};
use crate::log;
use acm_sansio::{ClientId, Input, Time};
use core::time::Duration;
use mio::{Interest, Token};
use std::io;

/// Messages of one client that are handled before it is another's turn.
const TURN: usize = 32;
/// How long nobody is accepted after the file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Daemon {
    pub(super) fn accept(&mut self, now: Time) {
        if self.host.state.accept_at.is_some_and(|at| at <= now) {
            self.host.state.accept_at = None;
            self.host.state.acceptable = true;
        }
        for _ in 0..OTHERS_TURN {
            if !self.host.state.acceptable || self.host.state.accept_at.is_some() {
                return;
            }
            let mut stream = match self.listener.accept() {
                Ok(stream) => stream,
                Err(error) => {
                    match error.kind() {
                        io::ErrorKind::WouldBlock => self.host.state.acceptable = false,
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                        // Most likely no file descriptor is left. The edge is not told again: ask again later.
                        _ => {
                            tracing::warn!(target: "accept", "{error}; accepting again in {ACCEPT_PAUSE:?}");
                            self.host.state.accept_at = Some(now + ACCEPT_PAUSE);
                        }
                    }
                    continue;
                }
            };
            let account = stream.account();
            let index = self.host.state.clients.vacant_key();
            let token = Token(FIRST_CLIENT + index);
            let interest = Interest::READABLE | Interest::WRITABLE;
            if let Err(error) = self.host.poll.registry().register(stream.source(), token, interest) {
                tracing::warn!(target: "accept", "client refused: {error}");
                continue;
            }
            let id = self.host.state.client_id(index);
            self.host.state.clients.insert(Connection::new(id, stream));
            self.host.state.backlog.insert(index);
            self.input(now, Input::ClientOpened { client: id, account });
        }
    }

    pub(super) fn client_ready(&mut self, index: usize, event: &mio::event::Event) {
        let Some(connection) = self.host.state.clients.get_mut(index) else { return };
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.readable = true;
            connection.closing |= event.is_read_closed() || event.is_error();
            connection.hung_up |= event.is_write_closed() || event.is_error();
            self.host.state.backlog.insert(index);
        }
        if event.is_writable() && connection.untaken() > 0 {
            self.host.state.dirty.insert(index);
        }
    }

    /// Reads from every client that has something to say, each its turn.
    pub(super) fn read_clients(&mut self, now: Time) {
        for _ in 0..self.host.state.backlog.len() {
            let Some(index) = self.host.state.backlog.pop() else { return };
            if self.read_client(now, index) {
                self.host.state.backlog.insert(index);
            }
        }
    }

    /// One client's turn; whether it has more to say now.
    pub(super) fn read_client(&mut self, now: Time, index: usize) -> bool {
        for _ in 0..TURN {
            let Some(connection) = self.host.state.clients.get_mut(index) else { return false };
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
                Read1::More | Read1::End => {}
                Read1::Dry => return false,
            }
        }
        true
    }

    /// Sends all answers, those of one client in one call.
    pub(super) fn flush(&mut self, now: Time) {
        while let Some(index) = self.host.state.dirty.pop() {
            let Some(connection) = self.host.state.clients.get_mut(index) else { continue };
            let alive = connection.flush(now);
            let (untaken, stalled) = (connection.untaken(), connection.stalled_since.is_some());
            if !alive {
                self.gone(now, index);
                continue;
            }
            if stalled {
                self.host.state.stalled.insert(index);
            } else {
                self.host.state.stalled.remove(&index);
            }
            // What was not read because of these answers.
            if untaken <= HIGH_WATER {
                self.host.state.backlog.insert(index);
            }
        }
        if self.host.state.stalled.is_empty() {
            return;
        }
        let over = |index: &usize| {
            let since = self.host.state.clients.get(*index).and_then(|connection| connection.stalled_since);
            since.is_some_and(|since| since + STALL <= now)
        };
        let stalled: Vec<usize> = self.host.state.stalled.iter().copied().filter(over).collect();
        for index in stalled {
            tracing::info!(target: "client", "client {index} takes no answers: closed");
            self.gone(now, index);
        }
    }

    /// A connection is over; the core is told.
    pub(super) fn gone(&mut self, now: Time, index: usize) {
        // Requests that came before the end may have their answers already: a client that only writes no more takes them.
        if let Some(connection) = self.host.state.clients.get_mut(index) {
            connection.flush(now);
        }
        if let Some(id) = self.host.remove(index) {
            self.input(now, Input::ClientGone(id));
        }
    }
}

impl Host {
    /// The core wants a connection closed.
    pub(super) fn close(&mut self, client: ClientId) {
        if let Some(index) = self.state.index_of(client) {
            self.remove(index);
        }
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<ClientId> {
        let mut connection = self.state.clients.try_remove(index)?;
        self.state.stalled.remove(&index);
        let _ = self.poll.registry().deregister(connection.stream.source());
        Some(connection.id)
    }
}

impl State {
    pub(super) fn client_id(&mut self, index: usize) -> ClientId {
        if self.generations.len() <= index {
            self.generations.resize(index + 1, 0);
        }
        let generation = self.generations.get_mut(index).map_or(0, |generation| {
            *generation = generation.wrapping_add(1);
            *generation
        });
        ClientId::new(u32::try_from(index).unwrap_or(u32::MAX), generation)
    }

    pub(super) fn index_of(&self, client: ClientId) -> Option<usize> {
        let index = client.index() as usize;
        self.clients.get(index).filter(|connection| connection.id == client).map(|_| index)
    }

    pub(super) fn reply(&mut self, client: ClientId, bytes: &[u8]) {
        if let Some(index) = self.index_of(client)
            && let Some(connection) = self.clients.get_mut(index)
        {
            connection.push(bytes);
            self.dirty.insert(index);
        }
    }
}
