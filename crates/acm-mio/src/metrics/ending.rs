//! Connections of scrapers that are over, and that cannot be closed yet.
//!
//! The kernel charges unread bytes to the daemon, also after their connection is closed: it is kept until they are read.
use super::connection::{Connection, Rights};
use crate::{closing::Closing, owners::Owners, stream::Stream};
use acm_sansio::{Account, Time};
use core::time::Duration;
use mio::Registry;

/// Number of connections of an account that are kept, at which it gets no further one.
const OF_ACCOUNT: usize = 4;
/// The same for all accounts. Root and the daemon's user are admitted beyond it.
const MOST: usize = 32;
/// Time between two checks whether the bytes are read.
const CHECK: Duration = Duration::from_secs(1);

/// The kept connections.
#[derive(Debug, Default)]
pub(super) struct Ending {
    streams: Vec<(Account, Stream)>,
    check_at: Time,
    /// Threads that close connections.
    pub(super) closing: Closing,
    pub(super) owners: Owners,
}

impl Ending {
    /// Reports whether an account gets a connection.
    pub(super) fn admits(&self, stream: &Stream, rights: Rights) -> bool {
        let account = self.owners.account_of(stream.peer().0);
        let of_account = self.streams.iter().filter(|(of, _)| *of == account).count();
        of_account < OF_ACCOUNT && (self.streams.len() < MOST || rights == Rights::Change)
    }

    /// Closes the connection in a slot as soon as possible.
    pub(super) fn close(&mut self, now: Time, slot: &mut Option<Connection>, registry: &Registry) {
        let Some(mut connection) = slot.take() else { return };
        let _ = registry.deregister(connection.stream.source());
        self.add(now, connection.stream);
    }

    /// Closes a connection as soon as possible.
    pub(super) fn add(&mut self, now: Time, stream: Stream) {
        let account = self.owners.account_of(stream.peer().0);
        if let Some(stream) = self.try_close(account, stream) {
            stream.shutdown();
            self.streams.push((account, stream));
            self.check_at = now + CHECK;
        }
    }

    /// Closes the connections whose bytes were read.
    pub(super) fn close_read(&mut self, now: Time) {
        self.check_at = now + CHECK;
        for (account, stream) in core::mem::take(&mut self.streams) {
            let kept = self.try_close(account, stream);
            self.streams.extend(kept.map(|stream| (account, stream)));
        }
    }

    /// Closes a connection, or returns it if its bytes are not read or a thread has to close it later.
    fn try_close(&self, account: Account, stream: Stream) -> Option<Stream> {
        if stream.unread() > 0 { Some(stream) } else { self.closing.close(account, stream) }
    }

    /// Returns the time of the next check.
    pub(super) fn due(&self) -> Option<Time> {
        (!self.streams.is_empty()).then_some(self.check_at)
    }

    /// Returns the number of kept connections.
    pub(super) const fn count(&self) -> usize {
        self.streams.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::Write};

    #[test]
    fn unread_page_is_charged_to_the_owner_of_the_scrapers_uid() {
        let dir = tempfile::tempdir().unwrap();
        let subuid = dir.path().join("subuid");
        fs::write(&subuid, format!("7:{}:1\n", nix::unistd::getuid())).unwrap();
        let owners = Owners::read_from(&subuid, &dir.path().join("passwd"), &mut Vec::new());
        let mut ending = Ending { owners, ..Ending::default() };
        let (ours, theirs) = mio::net::UnixStream::pair().unwrap();
        let mut stream = Stream::from(ours);
        stream.write_all(b"page").unwrap();
        ending.add(Time::ZERO, stream);
        assert_eq!(ending.streams[0].0, Account::User(7));
        drop(theirs);
    }
}
