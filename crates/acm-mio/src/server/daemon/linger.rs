//! Whether to stay awake a little before the loop sleeps.
use crate::clock::Clock;
use acm_sansio::Time;
use core::time::Duration;
use mio::{Events, Poll};
use std::io;

/// How long: about what falling asleep and being woken costs the loop and the client that wakes it.
const LINGER: Duration = Duration::from_micros(20);
/// After so many failures in a row, one short sleep in 64 is followed by another try.
const MOST_FAILURES: u32 = 6;

/// Stays awake where that pays: where the last sleep was shorter than what is spent on being awake. A client that asks
/// now and then costs nothing more, the end of a burst costs [`LINGER`], and where the client needs this processor to
/// go on, a try is made ever more seldom.
#[derive(Debug, Default)]
pub(crate) struct Linger {
    pays: bool,
    failures: u32,
    /// Short sleeps before the next try.
    pause: u32,
}

impl Linger {
    /// Waits for events, so long at most; what time it is then.
    pub(super) fn wait(
        &mut self,
        poll: &mut Poll,
        events: &mut Events,
        timeout: Option<Duration>,
        clock: Clock,
    ) -> io::Result<Time> {
        if timeout.is_some_and(|timeout| timeout < LINGER) {
            poll.poll(events, timeout)?;
            return Ok(clock.now());
        }
        let start = clock.now();
        let mut now = start;
        if self.pays {
            while now.since(start) < LINGER {
                poll.poll(events, Some(Duration::ZERO))?;
                now = clock.now();
                if !events.is_empty() {
                    self.failures = 0;
                    return Ok(now);
                }
            }
            self.failed();
        }
        poll.poll(events, timeout)?;
        let end = clock.now();
        self.slept(end.since(now));
        Ok(end)
    }

    fn failed(&mut self) {
        self.failures = (self.failures + 1).min(MOST_FAILURES);
        self.pause = (1 << self.failures) - 1;
        self.pays = false;
    }

    fn slept(&mut self, time: Duration) {
        if time >= LINGER {
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
    use mio::{Interest, Token, net::UnixStream};
    use std::io::Write;

    const SHORT: Duration = Duration::from_micros(19);

    #[test]
    fn it_pays_after_a_short_sleep_only() {
        let mut linger = Linger::default();
        linger.slept(LINGER);
        assert!(!linger.pays);
        linger.slept(SHORT);
        assert!(linger.pays);
    }

    #[test]
    fn who_fails_tries_ever_more_seldom() {
        let mut linger = Linger::default();
        let tries = |linger: &mut Linger| {
            let mut sleeps = 0;
            while !linger.pays {
                linger.slept(SHORT);
                sleeps += 1;
            }
            linger.failed();
            sleeps
        };
        let sleeps: Vec<u32> = (0..8).map(|_| tries(&mut linger)).collect();
        assert_eq!(sleeps, [1, 2, 4, 8, 16, 32, 64, 64]);
    }

    #[test]
    fn what_comes_while_awake_is_found_and_sleep_comes_after_the_end() {
        let clock = Clock::start();
        let mut poll = Poll::new().unwrap();
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        poll.registry().register(&mut ours, Token(7), Interest::READABLE).unwrap();
        let mut events = Events::with_capacity(4);
        let mut linger = Linger { pays: true, failures: 3, pause: 0 };
        theirs.write_all(&[1]).unwrap();
        linger.wait(&mut poll, &mut events, None, clock).unwrap();
        assert_eq!(events.iter().map(|event| event.token()).collect::<Vec<_>>(), [Token(7)]);
        assert_eq!((linger.pays, linger.failures), (true, 0));
        // Nothing more comes: it is given up, and the time-out holds.
        linger.wait(&mut poll, &mut events, Some(LINGER), clock).unwrap();
        assert!(events.is_empty());
        assert_eq!((linger.pays, linger.failures, linger.pause), (false, 1, 1));
    }
}
