//! What ends a wait in time.
use crate::clock::Clock;
use acm_sansio::Time;
use core::{fmt, time::Duration};
use mio::{Interest, Registry, Token, unix::SourceFd};
use nix::sys::{
    time::TimeSpec,
    timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
};
use std::{
    io,
    os::fd::{AsFd, AsRawFd},
};

/// A timer of the system that is set only when a deadline comes before the one that it is set for. A wait with a
/// time-out sets one up and takes it down each time.
pub(crate) struct Alarm {
    timer: TimerFd,
    /// When it rings, at the latest; `None` after it has rung.
    set_for: Option<Time>,
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").field("set_for", &self.set_for).finish_non_exhaustive()
    }
}

impl Alarm {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        registry.register(&mut SourceFd(&timer.as_fd().as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { timer, set_for: None })
    }

    /// The time-out with which to wait until a deadline. It may ring early, for a deadline that is no more.
    pub(crate) fn wait_for(&mut self, due: Option<Time>, clock: Clock) -> Option<Duration> {
        let due = due?;
        if self.set_for.is_some_and(|at| at <= due) {
            return None;
        }
        let timeout = due.since(clock.now());
        if timeout.is_zero() || self.timer.set(once(timeout), TimerSetTimeFlags::empty()).is_err() {
            return Some(timeout);
        }
        self.set_for = Some(due);
        None
    }

    /// It has rung.
    pub(crate) fn rung(&mut self) {
        // What it has to say is how often.
        let _ = self.timer.wait();
        self.set_for = None;
    }
}

fn once(after: Duration) -> Expiration {
    Expiration::OneShot(TimeSpec::from_duration(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};

    const ALARM: Token = Token(3);

    #[test]
    fn it_rings_for_the_earliest_deadline_and_again_for_the_next() {
        let mut poll = Poll::new().unwrap();
        let mut alarm = Alarm::new(poll.registry(), ALARM).unwrap();
        let mut events = Events::with_capacity(4);
        let clock = Clock::start();
        let hour = Duration::from_secs(3600);
        for _ in 0..3 {
            let soon = clock.now() + Duration::from_millis(100);
            assert_eq!(alarm.wait_for(Some(soon + hour), clock), None);
            assert_eq!(alarm.wait_for(Some(soon), clock), None);
            // It stays set for the earlier one, and rings for nobody.
            assert_eq!(alarm.wait_for(Some(soon + hour), clock), None);
            assert_eq!(alarm.set_for, Some(soon));
            poll.poll(&mut events, None).unwrap();
            assert!(events.iter().all(|event| event.token() == ALARM));
            assert!(clock.now() >= soon);
            alarm.rung();
            assert_eq!(alarm.set_for, None);
        }
        assert_eq!(alarm.wait_for(None, clock), None);
        assert_eq!(alarm.wait_for(Some(Time::ZERO), clock), Some(Duration::ZERO), "it is past");
    }
}
