//! Schedules dumps: at the start, after lost messages, and after a dump that the kernel reports as inconsistent.
use super::message::Dump;
use acm_sansio::Time;
use core::time::Duration;

/// Minimum time between the starts of two dumps, so that many changes do not cause many dumps. The time doubles after
/// each failed dump, up to 2^5 times.
const PAUSE: Duration = Duration::from_millis(200);
const MOST_DOUBLINGS: u32 = 5;
/// Time after which an incomplete dump is aborted and started again. The kernel may be busy.
const LIMIT: Duration = Duration::from_secs(5);

/// The running dump, and whether another dump is due.
#[derive(Debug)]
pub(super) struct Dumps {
    running: Option<Running>,
    sequence: u32,
    /// A dump is to be started from the beginning: data was lost, or the running dump is inconsistent.
    requested: bool,
    /// Earliest start of the next dump.
    not_before: Time,
    /// Failed dumps in a row.
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Running {
    dump: Dump,
    sequence: u32,
    until: Time,
}

/// Step that follows the end of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    /// Request the second half.
    Send(Dump, u32),
    /// Both halves are complete and consistent. Links and addresses that are in neither half do not exist.
    Complete,
}

impl Default for Dumps {
    fn default() -> Self {
        Self { running: None, sequence: 0, requested: true, not_before: Time::ZERO, failures: 0 }
    }
}

impl Dumps {
    /// Requests another dump.
    pub(super) const fn request(&mut self) {
        self.requested = true;
    }

    /// Marks the dump as inconsistent: the kernel's tables changed while it was made.
    pub(super) fn interrupted(&mut self, sequence: u32) {
        if self.running.is_some_and(|running| running.sequence == sequence) {
            self.request();
        }
    }

    /// Returns the time at which [`Self::start_due`] must be called.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match self.running {
            Some(running) => Some(running.until),
            None => self.requested.then_some(self.not_before),
        }
    }

    /// Starts a dump if one is due. Returns the half to request, and its sequence number.
    pub(super) fn start_due(&mut self, now: Time) -> Option<(Dump, u32)> {
        if self.poll_timeout()? > now {
            return None;
        }
        self.requested = false;
        self.not_before = now + PAUSE * (1 << self.failures.min(MOST_DOUBLINGS));
        self.failures = self.failures.saturating_add(1);
        Some(self.begin(now, Dump::Links))
    }

    fn begin(&mut self, now: Time, dump: Dump) -> (Dump, u32) {
        // Messages that are not part of a dump have number 0.
        self.sequence = self.sequence.wrapping_add(1).max(1);
        self.running = Some(Running { dump, sequence: self.sequence, until: now + LIMIT });
        (dump, self.sequence)
    }

    /// Handles the end of the dump with this number. `failed` is true if the kernel rejected the dump.
    pub(super) fn done(&mut self, now: Time, sequence: u32, failed: bool) -> Next {
        let Some(running) = self.running.filter(|running| running.sequence == sequence) else {
            return Next::Nothing;
        };
        self.running = None;
        if failed {
            self.requested = true;
            return Next::Nothing;
        }
        match running.dump {
            Dump::Links => {
                let (dump, sequence) = self.begin(now, Dump::Addresses);
                Next::Send(dump, sequence)
            }
            Dump::Addresses if self.requested => Next::Nothing,
            Dump::Addresses => {
                self.failures = 0;
                Next::Complete
            }
        }
    }

    /// Reports whether the dump of links is running, which precedes the dump of addresses.
    pub(super) fn is_dumping_links(&self) -> bool {
        self.running.is_some_and(|running| running.dump == Dump::Links)
    }

    /// Handles a request for a dump that could not be sent.
    pub(super) const fn send_failed(&mut self) {
        self.running = None;
        self.requested = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn dump_of_links_is_followed_by_addresses() {
        let mut dumps = Dumps::default();
        assert_eq!(dumps.start_due(at(0)), Some((Dump::Links, 1)));
        assert_eq!(dumps.start_due(at(1)), None);
        assert_eq!(dumps.done(at(2), 7, false), Next::Nothing, "another socket's dump");
        assert_eq!(dumps.done(at(2), 1, false), Next::Send(Dump::Addresses, 2));
        assert_eq!(dumps.done(at(3), 2, false), Next::Complete);
        assert_eq!(dumps.poll_timeout(), None);
    }

    #[test]
    fn inconsistent_dump_is_repeated_after_a_pause() {
        let spoils: [fn(&mut Dumps); 2] = [Dumps::request, |dumps| dumps.interrupted(1)];
        for spoil in spoils {
            let mut dumps = Dumps::default();
            dumps.start_due(at(0));
            dumps.interrupted(9);
            spoil(&mut dumps);
            assert_eq!(dumps.done(at(1), 1, false), Next::Send(Dump::Addresses, 2));
            assert_eq!(dumps.done(at(2), 2, false), Next::Nothing, "an inconsistent dump removes nothing");
            assert_eq!((dumps.poll_timeout(), dumps.start_due(at(199))), (Some(at(200)), None));
            assert_eq!(dumps.start_due(at(200)), Some((Dump::Links, 3)));
            dumps.done(at(201), 3, false);
            assert_eq!(dumps.done(at(202), 4, false), Next::Complete);
        }
    }

    #[test]
    fn interruption_of_another_dump_is_ignored() {
        let mut dumps = Dumps::default();
        dumps.start_due(at(0));
        dumps.interrupted(9);
        assert_eq!(dumps.done(at(1), 1, false), Next::Send(Dump::Addresses, 2));
        assert_eq!(dumps.done(at(2), 2, false), Next::Complete);
    }

    #[test]
    fn failed_or_endless_dump_is_repeated_with_growing_pauses() {
        let mut dumps = Dumps::default();
        dumps.start_due(at(0));
        assert_eq!(dumps.done(at(1), 1, true), Next::Nothing);
        assert_eq!(dumps.start_due(at(300)), Some((Dump::Links, 2)));
        assert_eq!(dumps.poll_timeout(), Some(at(5300)));
        assert_eq!(dumps.start_due(at(5300)), Some((Dump::Links, 3)));
        assert_eq!(dumps.done(at(5301), 2, false), Next::Nothing, "the end of the dump that was given up");
        dumps.send_failed();
        assert_eq!(dumps.poll_timeout(), Some(at(6100)), "pauses of 200 ms, 400 ms, 800 ms ...");
        let mut now = at(6100);
        for _ in 0..20 {
            assert!(dumps.start_due(now).is_some());
            dumps.send_failed();
            now = dumps.poll_timeout().unwrap();
        }
        assert!(dumps.start_due(now).is_some());
        dumps.send_failed();
        assert_eq!(dumps.poll_timeout().unwrap().since(now), Duration::from_millis(6400));
    }

    #[test]
    fn pauses_begin_again_after_a_complete_dump() {
        let mut dumps = Dumps::default();
        let mut now = at(0);
        for _ in 0..4 {
            dumps.start_due(now).unwrap();
            dumps.send_failed();
            now = dumps.poll_timeout().unwrap();
        }
        let (_, sequence) = dumps.start_due(now).unwrap();
        assert_eq!(dumps.done(now, sequence, false), Next::Send(Dump::Addresses, sequence + 1));
        assert_eq!(dumps.done(now, sequence + 1, false), Next::Complete);
        dumps.request();
        let next = dumps.poll_timeout().unwrap();
        dumps.start_due(next).unwrap();
        dumps.send_failed();
        assert_eq!(dumps.poll_timeout().unwrap().since(next), Duration::from_millis(200));
    }
}
