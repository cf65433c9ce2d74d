//! The end of the service, and what the next daemon takes over from it under systemd.
//!
//! librdmacm opens one connection for the life of a program, and sends without `MSG_NOSIGNAL`: if the daemon closes the
//! connection, the next request ends the program. So systemd keeps the connections while it restarts the daemon
//! (`FDSTORE` of sd_notify(3), `FileDescriptorStoreMax=` of the unit). Requests that arrive meanwhile stay in them.
use super::{event_loop::Daemon, systemd::CLIENTS};
use crate::{server::connection::Connection, stream::Stream};
use acm_sansio::{Acm, Input, Time};
use core::time::Duration;
use listenfd::ListenFd;
use mio::net::{TcpStream, UnixStream};
use nix::libc;
use std::{
    collections::BTreeMap,
    env, net,
    os::{
        fd::{AsFd, OwnedFd},
        unix,
    },
};

/// Time for requests that were read, before their connections are closed. Most need no more than a query.
const FINISH: Duration = Duration::from_millis(250);
/// Number of connections that are left to the next daemon. systemd passes their names in one variable of its
/// environment, for which the kernel has 128 KiB (`MAX_ARG_STRLEN`).
const MOST: usize = 16_384;

impl Daemon {
    /// Begins the end of the service: accepts no more clients, and reads no more requests. With systemd, requests that
    /// were read get [`FINISH`]. The second signal ends that time.
    pub(super) fn stop(&mut self, now: Time) {
        let is_first = !core::mem::replace(&mut self.ready.is_stopping, true);
        let finish = if is_first && self.systemd.keeps_connections() { FINISH } else { Duration::ZERO };
        self.ready.serves_until = Some(now + finish);
        self.end_service(now);
    }

    /// Ends the service if no request is open, or if their time is over: leaves the connections to the next daemon, and
    /// lets the core leave its groups.
    ///
    /// A client with an open request gets no response. Its connection is closed, and it repeats the request after a
    /// restart; an error would be its result.
    pub(super) fn end_service(&mut self, now: Time) {
        let Some(until) = self.ready.serves_until else { return };
        let waits = |connection: &Connection| is_open(&self.acm, connection);
        if now < until && self.host.clients.open.iter().any(|(_, connection)| waits(connection)) {
            return;
        }
        self.ready.serves_until = None;
        if self.systemd.keeps_connections() {
            let idle = self.host.clients.open.iter().filter(|(_, connection)| !waits(connection) && !connection.ended);
            let kept = in_turn(idle.map(|(index, connection)| (connection.account, index)));
            let streams = kept.iter().filter_map(|index| self.host.clients.open.get(*index));
            let left = self.systemd.keep(streams.map(|connection| connection.stream.as_fd()));
            tracing::info!(target: "main", "connections: {left} left to the next daemon, {} closed", self.host.clients.open.len() - left);
        }
        let open: Vec<usize> = self.host.clients.open.iter().map(|(index, _)| index).collect();
        open.into_iter().for_each(|index| self.close_client(now, index));
        self.input(now, Input::Shutdown);
    }

    /// Serves the connections that the previous daemon left.
    pub(crate) fn take_over(&mut self, now: Time, connections: Vec<Stream>) {
        if connections.is_empty() {
            return;
        }
        tracing::info!(target: "main", "{} connections of the previous daemon", connections.len());
        for stream in connections {
            let (account, peer) = stream.peer();
            self.add_client(now, stream, account, peer);
        }
        // They end with this daemon from now on.
        self.systemd.drop_connections();
    }
}

/// Reports whether a client waits for a response, or has sent a part of a message.
fn is_open(acm: &Acm, connection: &Connection) -> bool {
    connection.unsent() > 0 || connection.has_unhandled() || acm.has_requests(connection.id)
}

/// Returns the indices of the connections to leave, from pairs of account and index. If there are too many, the accounts
/// are served in turn.
fn in_turn(connections: impl Iterator<Item = (u32, usize)>) -> Vec<usize> {
    let mut numbers = BTreeMap::<u32, usize>::new();
    let mut turns: Vec<(usize, usize)> = connections
        .map(|(account, index)| {
            let number = numbers.entry(account).or_default();
            *number += 1;
            (*number, index)
        })
        .collect();
    turns.sort_unstable();
    turns.truncate(MOST);
    turns.into_iter().map(|(_, index)| index).collect()
}

/// Takes the connections that the previous daemon left with systemd. They must not be taken for the listening socket.
pub(crate) fn connections_of(passed: &mut ListenFd) -> Vec<Stream> {
    let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
    let indices = names.split(':').enumerate().filter(|(_, name)| *name == CLIENTS).map(|(index, _)| index);
    indices.filter_map(|index| connection(passed, index)).collect()
}

fn connection(passed: &mut ListenFd, index: usize) -> Option<Stream> {
    let mut take =
        |family| passed.take_custom::<OwnedFd>(index, family, libc::SOCK_STREAM, "connection").ok().flatten();
    if let Some(fd) = take(libc::AF_UNIX) {
        let stream = unix::net::UnixStream::from(fd);
        return stream.set_nonblocking(true).ok().map(|()| Stream::Unix(UnixStream::from_std(stream)));
    }
    let stream = net::TcpStream::from(take(libc::AF_INET)?);
    stream.set_nonblocking(true).ok().map(|()| Stream::Tcp(TcpStream::from_std(stream)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_one_user_leave_room_for_those_of_others() {
        let many = (0..MOST).map(|index| (7, index));
        let others = (0..1000).map(|account| (10 + account, MOST + account as usize));
        let kept = in_turn(many.chain(others));
        assert_eq!(kept.len(), 16_384);
        assert_eq!(kept.iter().filter(|index| **index >= MOST).count(), 1000, "one of each other user");
    }

    #[test]
    fn names_of_all_connections_fit_into_a_variable() {
        const MAX_ARG_STRLEN: usize = 32 * 4096;
        assert!("LISTEN_FDNAMES=acm-mio.socket:acm-mio.socket".len() + MOST * (CLIENTS.len() + 1) < MAX_ARG_STRLEN);
    }
}
