//! The wait for events: tokens of the poll set, a timer for the next deadline, and a short busy poll before the loop
//! sleeps.
use crate::{clock::Clock, metrics};
use acm_sansio::Time;
use core::{fmt, time::Duration};
use mio::{Events, Interest, Poll, Registry, Token, unix::SourceFd};
use nix::sys::{
    time::TimeSpec,
    timerfd::{self, ClockId, Expiration, TimerFlags, TimerSetTimeFlags},
};
use std::{
    io,
    os::fd::{AsFd, AsRawFd},
};

pub(crate) const LISTENER: Token = Token(0);
pub(crate) const SIGNALS: Token = Token(1);
/// Wake-ups by other threads: the preload loader has a table, or a provider has a message.
pub(super) const WOKEN: Token = Token(2);
pub(crate) const KERNEL: Token = Token(3);
pub(crate) const TIMER: Token = Token(14);
pub(crate) const INTERFACES: Token = Token(15);
pub(crate) const HOST_NAME: Token = Token(16);
// Tokens of the metrics server lie between those of the kernel and of interfaces.
const _: () = assert!(KERNEL.0 < metrics::TOKENS.start && metrics::TOKENS.end <= INTERFACES.0);
/// The token of client 0; client N has the N-th token after it.
pub(super) const FIRST_CLIENT: usize = 17;
/// The first token of the fabric, which uses as many after it as it needs.
pub(crate) const FABRIC: Token = Token(usize::MAX / 2);

/// Duration of a busy poll: about the cost of a sleep and a wake-up for the loop and the client that wakes it.
const BUSY_POLL: Duration = Duration::from_micros(20);
/// Maximum number of consecutive failures that are counted. After this number, one short sleep in 64 is followed by
/// another busy poll.
const MAX_FAILURES: u32 = 6;

/// A timerfd in the poll set. The timer is set only for a deadline before its current expiration, whereas each poll
/// with a time-out would set and cancel a kernel timer.
pub(crate) struct TimerFd {
    timer: timerfd::TimerFd,
    /// Time of the expiration; `None` if the timer has expired.
    set_for: Option<Time>,
}

impl fmt::Debug for TimerFd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerFd").field("set_for", &self.set_for).finish_non_exhaustive()
    }
}

impl TimerFd {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = timerfd::TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        registry.register(&mut SourceFd(&timer.as_fd().as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { timer, set_for: None })
    }

    /// Sets the timer so that it expires at or before the deadline `due`. If the deadline has passed or setting the
    /// timer fails, returns the time-out for the poll instead.
    pub(crate) fn arm(&mut self, due: Option<Time>, clock: Clock) -> Option<Duration> {
        let due = due?;
        if self.set_for.is_some_and(|at| at <= due) {
            return None;
        }
        let timeout = due.since(clock.now());
        let expiration = Expiration::OneShot(TimeSpec::from_duration(timeout));
        if timeout.is_zero() || self.timer.set(expiration, TimerSetTimeFlags::empty()).is_err() {
            return Some(timeout);
        }
        self.set_for = Some(due);
        None
    }

    /// Clears the expiration after an event of the timer.
    pub(crate) fn acknowledge(&mut self) {
        // The read value, the number of expirations, is not needed.
        let _ = self.timer.wait();
        self.set_for = None;
    }
}

/// Decides whether a wait begins with a busy poll: a poll without sleeping for [`BUSY_POLL`]. A busy poll follows only
/// a sleep that was shorter than [`BUSY_POLL`]. Rare requests therefore cause no busy polls, and the end of a burst
/// causes one. If the client needs the same processor, busy polls fail and become less and less frequent.
#[derive(Debug, Default)]
pub(crate) struct BusyPoll {
    /// The next wait begins with a busy poll.
    pays: bool,
    failures: u32,
    /// Short sleeps before the next busy poll.
    pause: u32,
}

impl BusyPoll {
    /// Waits for events, at most `timeout`. Returns the times at its begin and at its end.
    pub(super) fn wait(
        &mut self,
        poll: &mut Poll,
        events: &mut Events,
        timeout: Option<Duration>,
        clock: Clock,
    ) -> io::Result<(Time, Time)> {
        if timeout.is_some_and(|timeout| timeout < BUSY_POLL) {
            poll.poll(events, timeout)?;
            // The wait is so short that its begin needs no other reading of the clock.
            let now = clock.now();
            return Ok((now, now));
        }
        let start = clock.now();
        let mut now = start;
        if self.pays {
            while now.since(start) < BUSY_POLL {
                poll.poll(events, Some(Duration::ZERO))?;
                now = clock.now();
                if !events.is_empty() {
                    self.failures = 0;
                    return Ok((start, now));
                }
            }
            self.failed();
        }
        poll.poll(events, timeout)?;
        let end = clock.now();
        self.slept(end.since(now));
        Ok((start, end))
    }

    fn failed(&mut self) {
        self.failures = (self.failures + 1).min(MAX_FAILURES);
        self.pause = (1 << self.failures) - 1;
        self.pays = false;
    }

    fn slept(&mut self, time: Duration) {
        if time >= BUSY_POLL {
            return;
        }
        match self.pause.checked_sub(1) {
            Some(pause) => self.pause = pause,
            None => self.pays = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::net::UnixStream;
    use std::io::Write;

    const SHORT: Duration = Duration::from_micros(19);

    #[test]
    fn timer_expires_at_the_earliest_deadline_and_again_at_the_next() {
        let mut poll = Poll::new().unwrap();
        let mut timer = TimerFd::new(poll.registry(), TIMER).unwrap();
        let mut events = Events::with_capacity(4);
        let clock = Clock::start();
        let hour = Duration::from_secs(3600);
        for _ in 0..3 {
            assert_eq!(timer.arm(Some(clock.now() + 2 * hour), clock), None);
            // On a busy machine a deadline may have passed before the timer is set.
            let mut deadlines = (1..).map(|times| clock.now() + times * Duration::from_millis(50));
            let soon = deadlines.find(|soon| timer.arm(Some(*soon), clock).is_none()).unwrap();
            // A later deadline does not change the timer.
            assert_eq!(timer.arm(Some(soon + hour), clock), None);
            assert_eq!(timer.set_for, Some(soon));
            poll.poll(&mut events, None).unwrap();
            assert!(events.iter().all(|event| event.token() == TIMER));
            assert!(clock.now() >= soon);
            timer.acknowledge();
            assert_eq!(timer.set_for, None);
        }
        assert_eq!(timer.arm(None, clock), None);
        assert_eq!(timer.arm(Some(Time::ZERO), clock), Some(Duration::ZERO), "the deadline has passed");
    }

    #[test]
    fn busy_poll_follows_a_short_sleep_only() {
        let mut busy_poll = BusyPoll::default();
        busy_poll.slept(BUSY_POLL);
        assert!(!busy_poll.pays);
        busy_poll.slept(SHORT);
        assert!(busy_poll.pays);
    }

    #[test]
    fn failed_busy_polls_double_the_pause_up_to_64_sleeps() {
        let mut busy_poll = BusyPoll::default();
        let next_try = |busy_poll: &mut BusyPoll| {
            let mut sleeps = 0;
            while !busy_poll.pays {
                busy_poll.slept(SHORT);
                sleeps += 1;
            }
            busy_poll.failed();
            sleeps
        };
        let sleeps: Vec<u32> = (0..8).map(|_| next_try(&mut busy_poll)).collect();
        assert_eq!(sleeps, [1, 2, 4, 8, 16, 32, 64, 64]);
    }

    #[test]
    fn busy_poll_returns_an_event_and_sleeps_without_one() {
        let clock = Clock::start();
        let mut poll = Poll::new().unwrap();
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        poll.registry().register(&mut ours, Token(7), Interest::READABLE).unwrap();
        let mut events = Events::with_capacity(4);
        let mut busy_poll = BusyPoll { pays: true, failures: 3, pause: 0 };
        theirs.write_all(&[1]).unwrap();
        busy_poll.wait(&mut poll, &mut events, None, clock).unwrap();
        assert_eq!(events.iter().map(|event| event.token()).collect::<Vec<_>>(), [Token(7)]);
        assert_eq!((busy_poll.pays, busy_poll.failures), (true, 0));
        // Without a further event, the busy poll fails, and the wait ends at its time-out.
        busy_poll.wait(&mut poll, &mut events, Some(BUSY_POLL), clock).unwrap();
        assert!(events.is_empty());
        assert_eq!((busy_poll.pays, busy_poll.failures, busy_poll.pause), (false, 1, 1));
    }
}
