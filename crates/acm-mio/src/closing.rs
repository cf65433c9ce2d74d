//! Threads that close connections in whose queue a client may have left descriptors: such a close may take long (see
//! [`crate::stream::Unix`]), and the loop must not wait.
//!
//! A socket with SO_LINGER waits as long as the client chooses, but only until its thread gets a signal. What is left is
//! work of the kernel, such as freeing the client's memory. One thread is never an account's, so that these connections
//! delay its account only. The loop does not wait for the lock of the threads, either: without it, there is no room.
mod refused;

pub(crate) use refused::Refused;

use crate::stream::Stream;
use acm_sansio::Account;
use core::{
    ops::Bound,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use nix::{
    sys::{
        signal::{SigEvent, SigevNotify, Signal},
        time::TimeSpec,
        timer::{Expiration, Timer, TimerSetTimeFlags},
    },
    time::ClockId,
    unistd::gettid,
};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
};

/// Maximum number of threads. They start when they are needed.
const THREADS: usize = 4;
/// Maximum number of threads that close connections of one account at the same time.
const THREADS_OF_ACCOUNT: usize = THREADS - 1;
/// The longest time that a close waits for the other end of a socket. The kernel's queue of new clients waits for 129 of
/// them at most.
const LONGEST_WAIT: Duration = Duration::from_micros(100);
/// Maximum number of connections of an account that wait to be closed, or are being closed.
const OF_ACCOUNT: usize = 256;
/// The same for all accounts. These descriptors are in addition to those of clients.
pub(crate) const MOST: usize = 512;

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
    /// Number of those that are being closed.
    busy: usize,
}

impl OfAccount {
    fn len(&self) -> usize {
        self.waiting.len() + self.busy
    }
}

/// A signal to this thread that comes again and again while a connection is closed, and ends each wait.
///
/// It has a handler that does nothing. Without the handler, the system ignores SIGURG, and the close waits.
#[derive(Debug)]
struct Alarm(Option<Timer>);

impl Alarm {
    fn of_this_thread() -> Self {
        let signal = Signal::SIGURG;
        let _ = signal_hook::flag::register(signal as i32, Arc::default());
        let to = SigevNotify::SigevThreadId { signal, thread_id: gettid().as_raw(), si_value: 0 };
        Self(Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::new(to)).ok())
    }

    /// Drops a connection.
    fn close(&mut self, stream: Stream) {
        self.set(Expiration::Interval(TimeSpec::from_duration(LONGEST_WAIT)));
        drop(stream);
        self.set(Expiration::OneShot(TimeSpec::from_duration(Duration::ZERO)));
    }

    fn set(&mut self, expiration: Expiration) {
        if let Some(timer) = &mut self.0 {
            let _ = timer.set(expiration, TimerSetTimeFlags::empty());
        }
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

    /// Closes a connection, in a thread if its close may wait. Returns the connection if there is no room now.
    pub(crate) fn close(&self, account: Account, stream: Stream) -> Option<Stream> {
        if stream.ends_with_descriptors() {
            let Some(room) = self.room(account) else { return Some(stream) };
            // The client is notified now.
            stream.shutdown();
            room.close(stream);
        }
        None
    }

    /// Returns the number of connections that are not closed yet.
    pub(crate) fn count(&self) -> usize {
        self.0.count.load(Ordering::Relaxed)
    }

    /// Starts a thread if each has a connection. Fails if there is none.
    fn start_thread(&self, state: &mut State) -> io::Result<()> {
        if self.count() < state.threads || state.threads == THREADS {
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
    /// Takes a connection of the next account that may have a further thread.
    fn next(&mut self) -> Option<(Account, Stream)> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let in_turn = self.accounts.range((after, Bound::Unbounded)).chain(&self.accounts);
        let mut free = in_turn.filter(|(_, held)| held.busy < THREADS_OF_ACCOUNT && !held.waiting.is_empty());
        let account = *free.next()?.0;
        let of_account = self.accounts.get_mut(&account)?;
        let stream = of_account.waiting.pop_front()?;
        of_account.busy += 1;
        self.last = Some(account);
        Some((account, stream))
    }

    fn closed(&mut self, account: Account) {
        let Some(of_account) = self.accounts.get_mut(&account) else { return };
        of_account.busy -= 1;
        if of_account.len() == 0 {
            self.accounts.remove(&account);
        }
    }
}

/// Closes connections until the process ends.
fn run(shared: &Shared) {
    let mut alarm = Alarm::of_this_thread();
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match state.next() {
            None => state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some((account, stream)) => {
                drop(state);
                alarm.close(stream);
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

    /// Has no threads, so that each connection waits.
    fn without_threads() -> Self {
        let closing = Self::default();
        closing.0.state.lock().unwrap().threads = THREADS;
        closing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::MAX_DEVICES;
    use crate::testing::{in_time, send_with, slow_to_close, wait_until};
    use acm_sansio::Acm;
    use core::iter;
    use rustix::net::SendFlags;
    use std::os::unix::net::UnixStream;

    fn stream() -> (UnixStream, Stream) {
        let (theirs, ours) = UnixStream::pair().unwrap();
        (theirs, mio::net::UnixStream::from_std(ours).into())
    }

    /// Fills the room of an account. Returns the number of its connections.
    fn fill(closing: &Closing, user: u32) -> usize {
        iter::from_fn(|| closing.room(Account::User(user)).map(|room| room.close(stream().1))).count()
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
    fn close_of_a_socket_that_lingers_for_ten_minutes_ends_at_the_signal() {
        let (slow, reader) = slow_to_close();
        let (theirs, ours) = stream();
        // Several in one connection: the signal is for all of them.
        let (other, other_reader) = slow_to_close();
        send_with(&theirs, &[1], slow, SendFlags::empty()).unwrap();
        send_with(&theirs, &[1], other, SendFlags::empty()).unwrap();
        let closing = Closing::default();
        closing.room(Account::User(1)).unwrap().close(ours);
        wait_until(|| closing.count() == 0);
        drop((reader, other_reader));
    }

    #[test]
    fn unit_has_room_for_167_threads_and_those_of_providers() {
        let unit = include_str!("../dist/acm-mio.service");
        // The loop, the reader of preload files and the writer of a recording.
        let threads = 3 + THREADS + 2 * usize::from(Acm::MAX_PROVIDERS) + MAX_DEVICES;
        assert_eq!(threads, 167);
        assert!(unit.lines().any(|line| line == "TasksMax=192"), "{unit}");
    }

    // docs/deadlines.md: closing
    #[test]
    fn connections_that_wait_to_be_closed_are_limited_for_each_account_and_in_all() {
        let closing = Closing::without_threads();
        let counts: Vec<usize> = (1..4).map(|user| fill(&closing, user)).collect();
        assert_eq!((counts, closing.count()), (vec![256, 256, 0], 512));
    }

    #[test]
    fn four_threads_start_as_they_are_needed() {
        let closing = Closing::default();
        let mut state = closing.0.state.lock().unwrap();
        let started = [0, 0, 1, 2, 9, 9].map(|count| {
            closing.0.count.store(count, Ordering::Relaxed);
            closing.start_thread(&mut state).unwrap();
            state.threads
        });
        assert_eq!(started, [1, 1, 2, 3, 4, 4]);
        closing.0.count.store(0, Ordering::Relaxed);
        drop(state);
        fill(&closing, 1);
        let closing = in_time(move || {
            wait_until(|| closing.count() == 0);
            closing
        });
        assert!(closing.0.state.lock().unwrap().accounts.is_empty());
    }

    #[test]
    fn accounts_take_turns_and_one_has_three_of_four_threads_at_most() {
        let mut state = State::default();
        let add = |state: &mut State, user: u32, count| {
            let of_account = state.accounts.entry(Account::User(user)).or_default();
            of_account.waiting.extend(iter::repeat_with(|| stream().1).take(count));
        };
        let next = |state: &mut State| state.next().map(|(account, _)| account);
        add(&mut state, 1, 9);
        assert_eq!(
            [(); 4].map(|()| next(&mut state)),
            [Some(1), Some(1), Some(1), None].map(|user| user.map(Account::User))
        );
        add(&mut state, 2, 2);
        assert_eq!(next(&mut state), Some(Account::User(2)));
        state.closed(Account::User(1));
        assert_eq!([(); 3].map(|()| next(&mut state)), [Some(1), Some(2), None].map(|user| user.map(Account::User)));
    }
}
