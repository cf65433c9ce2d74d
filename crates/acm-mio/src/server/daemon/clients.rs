//! Clients: accepts connections, passes requests to the core in turn, sends responses, closes connections.
use super::{
    super::connection::{Connection, HIGH_WATER},
    event_loop::{Daemon, SOURCE_BATCH},
    wait::FIRST_CLIENT,
};
use crate::log::{Kind, limited};
use acm_sansio::{Event, Input, Time};
use core::time::Duration;
use mio::{Interest, Token};
use std::io;

/// Maximum number of messages of one client that are handled before the next client is served, so that a client with
/// many requests does not delay other clients.
const CLIENT_BATCH: usize = 8;
/// Maximum number of clients that are served in an iteration before the fabric, the kernel and new clients.
const CLIENTS_BATCH: usize = 64;
/// Number of checks of a client for unread responses within `client_timeout`.
const CHECKS: u32 = 4;
/// Pause before the next attempt to accept, after accepting has failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Daemon {
    pub(super) fn accept(&mut self, now: Time) {
        if self.ready.accept_at.is_some_and(|at| at <= now) {
            self.ready.accept_at = None;
            self.ready.listener = true;
        }
        for _ in 0..SOURCE_BATCH {
            if !self.ready.listener || self.ready.accept_at.is_some() {
                return;
            }
            let mut stream = match self.listener.accept() {
                Ok(stream) => stream,
                Err(error) => {
                    match error.kind() {
                        io::ErrorKind::WouldBlock => self.ready.listener = false,
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                        // Usually no file descriptor is left. epoll does not report the edge again: retry later.
                        _ => {
                            self.host.lines.limited(Kind::AcceptFailed, |line| {
                                tracing::warn!(target: "accept", "{error}; trying again every {ACCEPT_PAUSE:?}");
                                *line = error.to_string();
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
        if event.is_writable() && connection.unsent() > 0 {
            self.host.clients.to_send.insert(index);
        }
    }

    /// Serves the clients in the backlog. The responses of a client are sent at the end of its turn, so that the client
    /// can continue while other clients are served.
    pub(super) fn serve_clients(&mut self, now: Time) {
        for _ in 0..self.host.clients.backlog.len().min(CLIENTS_BATCH) {
            let Some(index) = self.host.clients.backlog.pop() else { return };
            let Some(connection) = self.host.clients.open.get_mut(index) else { continue };
            connection.begin_turn(&mut self.received);
            let has_more = self.serve_client(now, index);
            // The turn may have closed the connection.
            if let Some(connection) = self.host.clients.open.get_mut(index) {
                connection.end_turn(&self.received);
            }
            if has_more {
                self.host.clients.backlog.insert(index);
            }
            self.send_responses(now);
        }
    }

    /// Handles up to [`CLIENT_BATCH`] messages of one client. Returns `true` if the client has more work now.
    fn serve_client(&mut self, now: Time, index: usize) -> bool {
        let Self { acm, host, received, .. } = self;
        for _ in 0..CLIENT_BATCH {
            let Some(connection) = host.clients.open.get_mut(index) else { return false };
            let client = connection.id;
            connection.held_back = connection.unsent() > HIGH_WATER || !acm.takes_requests(client);
            if connection.held_back {
                // The client has closed both directions and does not read responses.
                if connection.hung_up {
                    self.close_client(now, index);
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
                    host.log_event(&Event::BadFrame(client, error));
                    self.close_client(now, index);
                    return false;
                }
            }
            if !connection.readable {
                // A half-closed client still receives its responses.
                let waits = connection.unsent() > 0 || acm.has_requests(client);
                if connection.ended && (connection.hung_up || !waits) {
                    self.close_client(now, index);
                }
                return false;
            }
            if !connection.fill(received) && !connection.ended {
                return false;
            }
        }
        true
    }

    /// Sends all queued responses, with one system call for each client.
    pub(super) fn send_responses(&mut self, now: Time) {
        while let Some(index) = self.host.clients.to_send.pop() {
            if !self.host.clients.send(now, index) || self.host.watch_room(index).is_err() {
                self.close_client(now, index);
                continue;
            }
            // Reading from the client may continue. A half-closed client may have received its last response.
            if let Some(connection) = self.host.clients.open.get(index)
                && (connection.held_back || connection.ended)
            {
                self.host.clients.backlog.insert(index);
            }
        }
    }

    /// Returns the time of the next check for unread responses.
    pub(super) fn check_due(&self) -> Option<Time> {
        self.host.clients.oldest_check().map(|at| at + self.client_timeout / CHECKS)
    }

    /// Closes clients that have read none of their responses for `client_timeout`.
    pub(super) fn close_stalled(&mut self, now: Time) {
        let limit = self.client_timeout;
        while self.check_due().is_some_and(|at| at <= now) {
            let Some((index, since)) = self.host.clients.check_oldest(now) else { continue };
            if since + limit > now {
                continue;
            }
            self.host.lines.limited(Kind::ClientStalled, |line| {
                let name = self.host.clients.open.get(index).map(|client| client.peer.to_string());
                *line = format!("{} takes no answers for {limit:?}: closed", name.unwrap_or_default());
                tracing::info!(target: "client", "{line}");
            });
            self.close_client(now, index);
        }
    }

    /// Closes a connection and notifies the core.
    fn close_client(&mut self, now: Time, index: usize) {
        // A half-closed client may still read responses to the requests that it sent before closing.
        self.host.clients.send(now, index);
        if let Some(id) = self.host.remove(index) {
            self.input(now, Input::ClientClosed(id));
        }
    }
}
