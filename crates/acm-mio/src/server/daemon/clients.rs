//! Clients: accepts connections, passes requests to the core in turn, sends responses, closes connections.
use super::{
    super::connection::{Connection, HIGH_WATER, Remote, Turn},
    event_loop::Daemon,
    wait::FIRST_CLIENT,
};
use crate::{
    descriptors,
    log::{Kind, limited},
    peer::Peer,
    stream::{QUEUE, Stream},
};
use acm_sansio::{Account, Input, Time};
use acm_wire::client::{FrameError, Header, SHARED_CACHE, SHARED_CACHE_USE};
use core::time::Duration;
use mio::{Interest, Token};
use std::io;

/// Maximum number of steps in a client's turn: a message, or a read of at most 2,048 bytes.
const STEPS: usize = 8;
/// Maximum number of turns, and of checks for unread responses in an iteration. They delay a client whose event comes
/// during the iteration. Each iteration costs an `epoll_wait`.
const CLIENT_BATCH: usize = 8;
/// Number of checks of a client for unread responses within `client_timeout`.
const CHECKS: u32 = 4;
/// Pause before the next attempt to accept, after accepting has failed: descriptors become free again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Daemon {
    pub(super) fn accept(&mut self, now: Time) {
        self.refused.close_waiting(now, &self.host.closing);
        if self.ready.is_stopping {
            self.ready.listener = false;
            return;
        }
        if self.ready.accept_at.is_some_and(|at| at <= now) {
            self.ready.accept_at = None;
            self.ready.listener = true;
        }
        // A user who was added since may have many uids.
        if self.ready.listener
            && let Some(owners) = self.reload.changed_owners(now)
        {
            self.metrics.set_owners(owners.clone());
        }
        // The kernel queues the clients of all accounts in order of arrival. Accounts take turns as soon as the loop has
        // all of them.
        for _ in 0..QUEUE {
            if !self.refused.is_empty() || !self.ready.listener || self.ready.accept_at.is_some() {
                return;
            }
            let stream = match self.listener.accept() {
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
            let account = self.reload.owners().account_of(account);
            if self.pace.admits(now, account) {
                self.add_client(now, stream, account, peer);
            } else {
                self.refused.close(now, &self.host.closing, account, stream);
            }
        }
    }

    /// Adds a connection and queues it for its first turn, or closes it if it cannot be served.
    pub(super) fn add_client(&mut self, now: Time, mut stream: Stream, account: Account, peer: Peer) {
        let index = self.host.clients.open.vacant_key();
        let token = Token(FIRST_CLIENT + index);
        if let Err(error) = self.host.poll.registry().register(stream.source(), token, Interest::READABLE) {
            limited!(self.host.lines, WARN, "accept", "client refused: {error}");
            return self.refused.close(now, &self.host.closing, account, stream);
        }
        let client = self.host.clients.next_id(index);
        self.host.clients.open.insert(Connection::new(client, stream, account, peer));
        self.input(now, Input::ClientOpened { client, account });
        if let Some(account) = self.acm.account_of(client)
            && let Some(connection) = self.host.clients.open.get_mut(index)
        {
            connection.account = account.index();
            self.host.clients.queue(index);
        } else if let Some((_, stream)) = self.host.take_out(index) {
            // The core has refused it, and there was no room to close it.
            self.refused.close(now, &self.host.closing, account, stream);
        }
    }

    pub(super) fn client_ready(&mut self, index: usize, event: &mio::event::Event) {
        let Some(connection) = self.host.clients.open.get_mut(index) else { return };
        if connection.ending {
            self.host.clients.queue(index);
        } else if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.readable = true;
            let remote = match event {
                event if event.is_write_closed() || event.is_error() => Remote::Gone,
                event if event.is_read_closed() => Remote::SendsNoMore,
                _ => Remote::Open,
            };
            connection.remote = connection.remote.max(remote);
            self.host.clients.queue(index);
        } else if event.is_writable() && connection.unsent() > 0 {
            self.host.clients.queue(index);
        }
    }

    /// Serves up to [`CLIENT_BATCH`] clients that have work to do.
    pub(super) fn serve_clients(&mut self, now: Time) {
        for _ in 0..CLIENT_BATCH {
            let Some(index) = self.host.clients.next_turn() else { return };
            let Some(connection) = self.host.clients.open.get_mut(index) else { continue };
            if connection.ending {
                connection.turn = Turn::None;
                self.close_client(now, index);
                continue;
            }
            connection.begin_turn(now, &mut self.received);
            let has_more = self.read_client(now, index);
            // The turn may have closed the connection.
            if let Some(connection) = self.host.clients.open.get_mut(index) {
                connection.end_turn(&self.received);
                self.send_responses(now, index, has_more);
            }
        }
    }

    /// Handles up to [`STEPS`] messages and reads of one client. Returns `true` if the client has more now.
    pub(super) fn read_client(&mut self, now: Time, index: usize) -> bool {
        let Self { acm, host, received, ready, reload, .. } = self;
        let is_stopping = ready.is_stopping;
        for _ in 0..STEPS {
            let Some(connection) = host.clients.open.get_mut(index) else { return false };
            let client = connection.id;
            connection.held_back = is_held_back(connection);
            if connection.held_back {
                return false;
            }
            let is_bad = match received.next_message() {
                Ok(Some(message)) => {
                    acm.drive(now, Input::ClientMessage { client, message }, |output| host.carry_out(output));
                    continue;
                }
                Ok(None) => false,
                Err(FrameError::Opcode(SHARED_CACHE)) => {
                    host.share(index, descriptors::unread(reload.descriptors));
                    self.close_client(now, index);
                    return false;
                }
                Err(FrameError::Opcode(SHARED_CACHE_USE)) => match received.next_report() {
                    Ok(Some(lookups)) => {
                        host.count_lookups(lookups);
                        continue;
                    }
                    Ok(None) => false,
                    Err(_) => true,
                },
                Err(_) => true,
            };
            if is_bad {
                host.clients.send(now, index);
                // The core counts the message, and closes the connection. The header has the error.
                let message = received.rest().get(..size_of::<Header>()).unwrap_or_else(|| received.rest());
                acm.drive(now, Input::ClientMessage { client, message }, |output| host.carry_out(output));
                return false;
            }
            // What the daemon does not read is for the next one.
            if !connection.readable || is_stopping {
                return false;
            }
            match connection.fill(received) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(reason) => {
                    limited!(host.lines, WARN, "client", "{}: {reason}; closed", connection.peer);
                    host.clients.sent_descriptors += 1;
                    self.close_client(now, index);
                    return false;
                }
            }
        }
        true
    }

    /// Sends the responses of a client with one system call. Then queues the client if it has more work, or closes it
    /// if nothing is left to do for it.
    fn send_responses(&mut self, now: Time, index: usize, has_more: bool) {
        if !self.host.clients.send(now, index) || self.host.watch_room(index).is_err() {
            self.close_client(now, index);
            return;
        }
        let Some(connection) = self.host.clients.open.get(index) else { return };
        if has_more || connection.held_back && !is_held_back(connection) {
            self.host.clients.queue(index);
        } else if connection.is_over(self.acm.has_requests(connection.id)) {
            self.close_client(now, index);
        }
    }

    /// Returns the time of the next check for unread responses.
    pub(super) fn check_due(&self) -> Option<Time> {
        self.host.clients.oldest_check().map(|at| at + self.client_timeout / CHECKS)
    }

    /// Checks up to [`CLIENT_BATCH`] clients, and closes those that have read none of their responses for
    /// `client_timeout`.
    pub(super) fn close_stalled(&mut self, now: Time) {
        let limit = self.client_timeout;
        for _ in 0..CLIENT_BATCH {
            if self.check_due().is_none_or(|at| at > now) {
                return;
            }
            let Some((index, since)) = self.host.clients.check_oldest(now) else { continue };
            let is_ending = self.host.clients.open.get(index).is_some_and(|connection| connection.ending);
            if !is_ending && since + limit > now {
                continue;
            }
            if !is_ending {
                self.count_stalled(index);
            }
            self.close_client(now, index);
        }
    }

    /// Counts a client that takes no responses.
    fn count_stalled(&mut self, index: usize) {
        self.host.clients.stalled += 1;
        let limit = self.client_timeout;
        self.host.lines.limited(Kind::ClientStalled, |line| {
            let name = self.host.clients.open.get(index).map(|client| client.peer.to_string());
            *line = format!("{} takes no answers for {limit:?}: closed", name.unwrap_or_default());
            tracing::info!(target: "client", "{line}");
        });
    }

    /// Closes a connection and notifies the core, or keeps the connection (see `Host::end`).
    pub(super) fn close_client(&mut self, now: Time, index: usize) {
        // A half-closed client may still read responses to the requests that it sent before closing.
        self.host.clients.send(now, index);
        if let Some(closed) = self.host.end(index) {
            self.input(now, closed);
        }
    }
}

/// Reports whether no further requests are read from a client, because of unsent responses. Open requests do not suspend
/// reading: the response to the next request may be cached.
fn is_held_back(connection: &Connection) -> bool {
    connection.unsent() > HIGH_WATER
}
