//! Clients: accepted, listened to in turn, answered, closed.
use super::{
    super::{
        connection::{Connection, HIGH_WATER},
        tokens::FIRST_CLIENT,
    },
    turn::{Daemon, OTHERS_TURN},
};
use crate::log::{Kind, limited};
use acm_sansio::{Input, Time};
use core::time::Duration;
use mio::{Interest, Token};
use std::io;

/// Messages of one client that are handled before it is another's turn: who sends many at once has its answers a few
/// at a time, and others do not wait for all of them.
const TURN: usize = 8;
/// Clients that have their turn before the fabric, the kernel and new clients have theirs.
const CLIENTS_TURN: usize = 64;
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
                            self.host.lines.limited(Kind::AcceptFailed, |said| {
                                tracing::warn!(target: "accept", "{error}; trying again every {ACCEPT_PAUSE:?}");
                                *said = error.to_string();
                            });
                            self.ready.accept_at = Some(now + ACCEPT_PAUSE);
                        }
                    }
                    continue;
                }
            };
            let (account, peer) = stream.peer();
            let index = self.host.clients.open.vacant_key();
            let token = Token(FIRST_CLIENT + index);
            if let Err(error) = self.host.poll.registry().register(stream.source(), token, Interest::READABLE) {
                limited!(self.host.lines, WARN, "accept", "client refused: {error}");
                continue;
            }
            let id = self.host.clients.next_id(index);
            self.host.clients.open.insert(Connection::new(id, stream, peer));
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

    /// Gives every client that has something to say its turn. Its answers leave when its turn ends: it may go on while
    /// others have theirs.
    pub(super) fn serve_clients(&mut self, now: Time) {
        for _ in 0..self.host.clients.backlog.len().min(CLIENTS_TURN) {
            let Some(index) = self.host.clients.backlog.pop() else { return };
            let Some(connection) = self.host.clients.open.get_mut(index) else { continue };
            connection.begin_turn(&mut self.received);
            let has_more = self.serve_client(now, index);
            // Unless it is gone.
            if let Some(connection) = self.host.clients.open.get_mut(index) {
                connection.end_turn(&self.received);
            }
            if has_more {
                self.host.clients.backlog.insert(index);
            }
            self.send_answers(now);
        }
    }

    /// One client's turn; whether it has more to say now.
    fn serve_client(&mut self, now: Time, index: usize) -> bool {
        let Self { acm, host, received, .. } = self;
        for _ in 0..TURN {
            let Some(connection) = host.clients.open.get_mut(index) else { return false };
            let client = connection.id;
            connection.held_back = connection.untaken() > HIGH_WATER || !acm.takes_requests(client);
            if connection.held_back {
                // Nobody is there to take answers.
                if connection.hung_up {
                    self.gone(now, index);
                }
                return false;
            }
            match received.next_message() {
                Ok(Some(message)) => {
                    acm.drive(now, Input::ClientMessage { client, message }, |output| host.carry_out(output));
                    continue;
                }
                Ok(None) => {}
                Err(error) => {
                    let event = acm_sansio::Event::BadFrame(client, error);
                    host.say(&event);
                    self.gone(now, index);
                    return false;
                }
            }
            if !connection.readable {
                // Who only writes no more is there for its answers.
                let waits = connection.untaken() > 0 || acm.has_requests(client);
                if connection.ended && (connection.hung_up || !waits) {
                    self.gone(now, index);
                }
                return false;
            }
            if !connection.fill(received) && !connection.ended {
                return false;
            }
        }
        true
    }

    /// Sends all answers, those of one client in one call.
    pub(super) fn send_answers(&mut self, now: Time) {
        while let Some(index) = self.host.clients.answered.pop() {
            if !self.host.clients.send(now, index) || self.host.watch_room(index).is_err() {
                self.gone(now, index);
                continue;
            }
            // Who was not listened to may be now; who only waited for its answers may go.
            if let Some(connection) = self.host.clients.open.get(index)
                && (connection.held_back || connection.ended)
            {
                self.host.clients.backlog.insert(index);
            }
        }
    }

    /// Closes who has not taken anything for too long.
    pub(super) fn close_stalled(&mut self, now: Time) {
        let limit = self.client_timeout;
        while let Some((since, index)) = self.host.clients.longest_stalled()
            && since + limit <= now
        {
            self.host.lines.limited(Kind::ClientStalled, |said| {
                let name = self.host.clients.open.get(index).map(|client| client.peer.to_string());
                *said = format!("{} takes no answers for {limit:?}: closed", name.unwrap_or_default());
                tracing::info!(target: "client", "{said}");
            });
            self.gone(now, index);
        }
    }

    /// A connection is over; the core is told.
    fn gone(&mut self, now: Time, index: usize) {
        // Requests that came before the end may have their answers already: a client that only writes no more takes them.
        self.host.clients.send(now, index);
        if let Some(id) = self.host.remove(index) {
            self.input(now, Input::ClientClosed(id));
        }
    }
}
