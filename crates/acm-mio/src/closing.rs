//! Threads that close connections in whose queue a client may have left descriptors: such a close may take as long as
//! the client chooses (see [`crate::stream::Unix`]), and the loop must not wait.
//!
//! One connection of an account is closed at a time, so that a connection that takes long delays its account only. The
//! loop does not wait for the lock of the threads, either: without it, there is no room.
use crate::stream::Stream;
use acm_sansio::Account;
use core::{
    ops::Bound,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
};

/// Maximum number of threads. They start when they are needed.
const THREADS: usize = 4;
/// Maximum number of connections of an account that wait to be closed, or are being closed.
const OF_ACCOUNT: usize = 32;
/// The same for all accounts. These descriptors are in addition to those of clients.
pub(crate) const MOST: usize = 128;

/// The connections that wait to be closed, and the threads. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closing(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    /// Number of connections of all accounts.
    count: AtomicUsize,
}

/// Room for one more connection of an account.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    state: MutexGuard<'a, State>,
    shared: &'a Shared,
    account: Account,
}

impl Room<'_> {
    /// Closes a connection in a thread.
    pub(crate) fn close(mut self, stream: Stream) {
        self.shared.count.fetch_add(1, Ordering::Relaxed);
        self.state.accounts.entry(self.account).or_default().waiting.push_back(stream);
        drop(self.state);
        self.shared.work.notify_one();
    }
}

#[derive(Debug, Default)]
struct State {
    accounts: BTreeMap<Account, OfAccount>,
    threads: usize,
    /// The account that had the last turn.
    last: Option<Account>,
}

/// The connections of an account.
#[derive(Debug, Default)]
struct OfAccount {
    waiting: VecDeque<Stream>,
    /// True if one more is being closed.
    is_busy: bool,
}

impl OfAccount {
    fn len(&self) -> usize {
        self.waiting.len() + usize::from(self.is_busy)
    }
}

impl Closing {
    /// Returns room for one more connection of an account; `None` if there is none now.
    pub(crate) fn room(&self, account: Account) -> Option<Room<'_>> {
        let mut state = match self.0.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let held = state.accounts.get(&account).map_or(0, OfAccount::len);
        let has_room = held < OF_ACCOUNT && self.count() < MOST && self.start_thread(&mut state).is_ok();
        has_room.then_some(Room { state, shared: &self.0, account })
    }

    /// Returns the number of connections that are not closed yet.
    pub(crate) fn count(&self) -> usize {
        self.0.count.load(Ordering::Relaxed)
    }

    /// Starts a thread if each has an account. Fails if there is none.
    fn start_thread(&self, state: &mut State) -> io::Result<()> {
        if state.accounts.len() < state.threads || state.threads == THREADS {
            return Ok(());
        }
        let shared = Arc::clone(&self.0);
        match thread::Builder::new().name("closing".into()).spawn(move || run(&shared)) {
            Ok(_) => state.threads += 1,
            Err(error) if state.threads == 0 => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }
}

impl State {
    /// Takes a connection of the next account of which none is being closed.
    fn next(&mut self) -> Option<(Account, Stream)> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let in_turn = self.accounts.range((after, Bound::Unbounded)).chain(&self.accounts);
        let account = in_turn.filter(|(_, of_account)| !of_account.is_busy).map(|(account, _)| *account).next()?;
        let of_account = self.accounts.get_mut(&account)?;
        let stream = of_account.waiting.pop_front()?;
        of_account.is_busy = true;
        self.last = Some(account);
        Some((account, stream))
    }

    fn closed(&mut self, account: Account) {
        let Some(of_account) = self.accounts.get_mut(&account) else { return };
        of_account.is_busy = false;
        if of_account.waiting.is_empty() {
            self.accounts.remove(&account);
        }
    }
}

/// Closes connections until the process ends.
fn run(shared: &Shared) {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match state.next() {
            None => state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some((account, stream)) => {
                drop(state);
                drop(stream);
                state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.closed(account);
                shared.count.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
impl Closing {
    /// Takes the lock of the threads, so that there is no room.
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        self.0.state.lock().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{send_with, slow_to_close, until, wait_until};
    use acm_sansio::Acm;
    use core::iter;
    use rustix::net::SendFlags;
    use std::net::TcpStream;

    /// Returns a connection whose close waits, and the socket that ends the wait when it is dropped.
    fn slow() -> (Stream, TcpStream) {
        let (theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        let (socket, reader) = slow_to_close();
        send_with(&theirs, &[1], socket, SendFlags::empty()).unwrap();
        (mio::net::UnixStream::from_std(ours).into(), reader)
    }

    /// Returns the room of an account; `None` if it is full, not if a thread has the lock.
    fn room(closing: &Closing, user: u32) -> Option<Room<'_>> {
        let user = Account::User(user);
        until("room, or an account without it", || {
            let room = closing.room(user);
            let is_full = || {
                let held = closing.0.state.lock().unwrap().accounts.get(&user).map_or(0, OfAccount::len);
                held == OF_ACCOUNT || closing.count() == MOST
            };
            (room.is_some() || is_full()).then_some(room)
        })
    }

    /// Fills the room of an account. Returns the number of its connections.
    fn fill(closing: &Closing, user: u32, readers: &mut Vec<TcpStream>) -> usize {
        iter::from_fn(|| {
            room(closing, user).map(|room| {
                let (stream, reader) = slow();
                room.close(stream);
                readers.push(reader);
            })
        })
        .count()
    }

    #[test]
    fn loop_does_not_wait_for_the_lock_of_the_threads() {
        let closing = Closing::default();
        let held = closing.0.state.lock().unwrap();
        assert!(closing.room(Account::User(1)).is_none());
        drop(held);
        assert!(closing.room(Account::User(1)).is_some());
    }

    #[test]
    fn unit_has_room_for_39_threads_and_those_of_providers() {
        let unit = include_str!("../../../dist/acm-mio.service");
        // The loop, the reader of preload files and the writer of a recording.
        let threads = 3 + THREADS + 2 * usize::from(Acm::MAX_PROVIDERS);
        assert_eq!(threads, 39);
        assert!(unit.lines().any(|line| line == "TasksMax=64"), "{unit}");
    }

    #[test]
    fn connection_that_takes_long_delays_its_account_only() {
        let (closing, mut readers) = (Closing::default(), Vec::new());
        assert_eq!(fill(&closing, 1, &mut readers), 32);
        let (theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        room(&closing, 2).unwrap().close(mio::net::UnixStream::from_std(ours).into());
        wait_until(|| closing.count() == 32);
        drop(theirs);
        readers.clear();
        wait_until(|| closing.count() == 0);
    }

    // docs/deadlines.md: closing
    #[test]
    fn connections_that_wait_to_be_closed_are_limited_for_each_account_and_in_all() {
        let (closing, mut readers) = (Closing::default(), Vec::new());
        let counts: Vec<usize> = (1..6).map(|user| fill(&closing, user, &mut readers)).collect();
        assert_eq!((counts, closing.count()), (vec![32, 32, 32, 32, 0], 128));
        assert_eq!(closing.0.state.lock().unwrap().threads, 4, "each waits for one connection");
        readers.clear();
        wait_until(|| closing.count() == 0);
    }

    #[test]
    fn accounts_take_turns() {
        let mut state = State::default();
        let mut readers = Vec::new();
        for user in [1, 1, 2, 3] {
            let (stream, reader) = slow();
            readers.push(reader);
            state.accounts.entry(Account::User(user)).or_default().waiting.push_back(stream);
        }
        // Their files are closed quickly.
        readers.clear();
        let mut next = || state.next().map(|(account, _)| account);
        assert_eq!(
            [(); 4].map(|()| next()),
            [Some(Account::User(1)), Some(Account::User(2)), Some(Account::User(3)), None]
        );
        state.closed(Account::User(1));
        assert_eq!(state.next().map(|(account, _)| account), Some(Account::User(1)));
    }
}
