//! The end of the service, and what the next daemon takes over from it under systemd.
//!
//! librdmacm opens one connection for the life of a program, and sends without `MSG_NOSIGNAL`: if the daemon closes the
//! connection, the next request ends the program. So systemd keeps the connections while it restarts the daemon
//! (`FDSTORE` of sd_notify(3), `FileDescriptorStoreMax=` of the unit). Requests that arrive meanwhile stay in them.
use super::{event_loop::Daemon, systemd::CLIENTS};
use crate::{server::connection::Connection, stream::Stream};
use acm_sansio::{Acm, Input, Time};
use core::{cmp::Reverse, time::Duration};
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
/// Maximum number of connections that are left to the next daemon. systemd compares each one with all others, which took
/// up to 1.3 us for each pair on a busy machine: 0.65 s for all, in which systemd does nothing else.
const MOST: usize = 1_000;

impl Daemon {
    /// Begins the end of the service: closes the listener, and reads no more requests. With systemd, requests that
    /// were read get [`FINISH`]. The second signal ends that time.
    pub(super) fn stop(&mut self, now: Time) {
        let is_first = !core::mem::replace(&mut self.ready.is_stopping, true);
        self.listener.close();
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
        let mut kept = Vec::new();
        if self.systemd.keeps_connections() {
            let idle = self.host.clients.open.iter().filter(|(_, connection)| !waits(connection) && !connection.ended);
            let idle: Vec<_> = idle.map(|(index, connection)| (connection.account, connection.used, index)).collect();
            let number = idle.len();
            kept = in_turn(idle);
            let streams = kept.iter().filter_map(|index| self.host.clients.open.get(*index));
            let left = self.systemd.keep(streams.map(|connection| connection.stream.as_fd()));
            self.host.clients.not_left += number.saturating_sub(left) as u64;
            tracing::info!(target: "main", "connections: {left} left to the next daemon, {} closed", self.host.clients.open.len() - left);
        }
        // A shutdown would reach the next daemon.
        for index in kept {
            if let Some((client, _)) = self.host.take_out(index) {
                self.input(now, Input::ClientClosed(client));
            }
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
            let account = self.reload.owners().account_of(account);
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

/// Returns the indices of the connections to leave, from account, time of the last use, and index. If there are too
/// many, the accounts take turns, each with the connection that it used last.
fn in_turn(mut connections: Vec<(u32, Time, usize)>) -> Vec<usize> {
    connections.sort_unstable_by_key(|&(_, used, index)| (Reverse(used), index));
    let mut numbers = BTreeMap::<u32, usize>::new();
    let mut turns: Vec<(usize, usize)> = connections
        .into_iter()
        .map(|(account, _, index)| {
            let number = numbers.entry(account).or_default();
            *number += 1;
            (*number, index)
        })
        .collect();
    // Within a turn, the order of use stays.
    turns.sort_by_key(|&(number, _)| number);
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
        return stream.set_nonblocking(true).ok().map(|()| UnixStream::from_std(stream).into());
    }
    let stream = net::TcpStream::from(take(libc::AF_INET)?);
    stream.set_nonblocking(true).ok().map(|()| Stream::Tcp(TcpStream::from_std(stream)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u32) -> Time {
        Time::ZERO + Duration::from_secs(number.into())
    }

    // docs/deviations.md: handover
    // docs/deadlines.md: left-connections
    #[test]
    fn connections_of_one_user_leave_room_for_those_of_others() {
        let many = (0..MOST).map(|index| (7, second(2), index));
        let others = (0..500).map(|account| (10 + account, second(1), MOST + account as usize));
        let kept = in_turn(many.chain(others).collect());
        assert_eq!(kept.len(), 1_000);
        assert_eq!(kept.iter().filter(|index| **index >= MOST).count(), 500, "one of each other user");
    }

    // docs/deadlines.md: left-connections
    #[test]
    fn connections_that_were_used_last_are_left() {
        let connections = (0..2000).map(|index| (7, second(index % 1999), index as usize)).collect();
        let kept = in_turn(connections);
        assert_eq!(kept.first(), Some(&1998));
        assert!(kept.iter().all(|index| (999..1999).contains(index)), "{kept:?}");
        // Each user's own connections are compared, so that a busy user takes nothing from others.
        assert_eq!(in_turn(vec![(7, second(9), 0), (7, second(8), 1), (8, second(1), 2)]), [0, 2, 1]);
    }

    // docs/deadlines.md: left-connections
    #[test]
    fn unit_lets_systemd_keep_so_many_connections() {
        let unit = include_str!("../../../dist/acm-mio.service");
        assert!(unit.lines().any(|line| line == "FileDescriptorStoreMax=1000"), "{unit}");
    }
}
