//! When everything is asked for: at the start, when messages were lost, when the kernel says that a dump is of two times.
use super::message::Dump;
use acm_sansio::Time;
use core::time::Duration;

/// Between two beginnings: a storm of changes must not make a storm of dumps. Twice as long after each that came to
/// nothing, up to 2^5 times.
const PAUSE: Duration = Duration::from_millis(200);
const MOST_DOUBLINGS: u32 = 5;
/// A dump that is not complete by then is asked for again.
const LIMIT: Duration = Duration::from_secs(5);

/// Which dump is under way, and whether another is due.
#[derive(Debug)]
pub(super) struct Dumps {
    under_way: Option<UnderWay>,
    sequence: u32,
    /// Something is amiss, and what is under way gives is of two times or not all: from the start again.
    wanted: bool,
    /// The next series of dumps does not begin before this.
    not_before: Time,
    /// Dumps in a row that came to nothing.
    in_vain: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UnderWay {
    dump: Dump,
    sequence: u32,
    until: Time,
}

/// What follows from the end of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    /// The other half.
    Ask(Dump, u32),
    /// Both halves are complete, and of one time: what they did not name is not there.
    Complete,
}

impl Default for Dumps {
    fn default() -> Self {
        Self { under_way: None, sequence: 0, wanted: true, not_before: Time::ZERO, in_vain: 0 }
    }
}

impl Dumps {
    /// Another dump is needed.
    pub(super) const fn want(&mut self) {
        self.wanted = true;
    }

    /// What a dump gives is of two times.
    pub(super) fn interrupted(&mut self, sequence: u32) {
        if self.under_way.is_some_and(|under_way| under_way.sequence == sequence) {
            self.want();
        }
    }

    /// When [`Self::due`] must be asked.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match self.under_way {
            Some(under_way) => Some(under_way.until),
            None => self.wanted.then_some(self.not_before),
        }
    }

    /// The dump to ask for now, and its number.
    pub(super) fn due(&mut self, now: Time) -> Option<(Dump, u32)> {
        if self.poll_timeout()? > now {
            return None;
        }
        self.wanted = false;
        self.not_before = now + PAUSE * (1 << self.in_vain.min(MOST_DOUBLINGS));
        self.in_vain = self.in_vain.saturating_add(1);
        Some(self.begin(now, Dump::Links))
    }

    fn begin(&mut self, now: Time, dump: Dump) -> (Dump, u32) {
        // Messages that nobody asked for have number 0.
        self.sequence = self.sequence.wrapping_add(1).max(1);
        self.under_way = Some(UnderWay { dump, sequence: self.sequence, until: now + LIMIT });
        (dump, self.sequence)
    }

    /// The kernel is done with the dump of this number.
    pub(super) fn done(&mut self, now: Time, sequence: u32, failed: bool) -> Next {
        let Some(under_way) = self.under_way.filter(|under_way| under_way.sequence == sequence) else {
            return Next::Nothing;
        };
        self.under_way = None;
        if failed {
            self.wanted = true;
            return Next::Nothing;
        }
        match under_way.dump {
            Dump::Links => {
                let (dump, sequence) = self.begin(now, Dump::Addresses);
                Next::Ask(dump, sequence)
            }
            Dump::Addresses if self.wanted => Next::Nothing,
            Dump::Addresses => {
                self.in_vain = 0;
                Next::Complete
            }
        }
    }

    /// Whether links are being asked for, so that addresses will be.
    pub(super) fn asks_links(&self) -> bool {
        self.under_way.is_some_and(|under_way| under_way.dump == Dump::Links)
    }

    /// A request for a dump could not be sent.
    pub(super) const fn not_sent(&mut self) {
        self.under_way = None;
        self.wanted = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn links_then_addresses_then_nothing() {
        let mut dumps = Dumps::default();
        assert_eq!(dumps.due(at(0)), Some((Dump::Links, 1)));
        assert_eq!(dumps.due(at(1)), None);
        assert_eq!(dumps.done(at(2), 7, false), Next::Nothing, "somebody else's");
        assert_eq!(dumps.done(at(2), 1, false), Next::Ask(Dump::Addresses, 2));
        assert_eq!(dumps.done(at(3), 2, false), Next::Complete);
        assert_eq!(dumps.poll_timeout(), None);
    }

    #[test]
    fn what_is_lost_or_of_two_times_is_asked_for_again_and_not_too_soon() {
        let spoils: [fn(&mut Dumps); 2] = [Dumps::want, |dumps| dumps.interrupted(1)];
        for spoil in spoils {
            let mut dumps = Dumps::default();
            dumps.due(at(0));
            dumps.interrupted(9);
            spoil(&mut dumps);
            assert_eq!(dumps.done(at(1), 1, false), Next::Ask(Dump::Addresses, 2));
            assert_eq!(dumps.done(at(2), 2, false), Next::Nothing, "nothing is swept away by it");
            assert_eq!((dumps.poll_timeout(), dumps.due(at(199))), (Some(at(200)), None));
            assert_eq!(dumps.due(at(200)), Some((Dump::Links, 3)));
            dumps.done(at(201), 3, false);
            assert_eq!(dumps.done(at(202), 4, false), Next::Complete);
        }
    }

    #[test]
    fn what_interrupts_another_dump_does_not_count() {
        let mut dumps = Dumps::default();
        dumps.due(at(0));
        dumps.interrupted(9);
        assert_eq!(dumps.done(at(1), 1, false), Next::Ask(Dump::Addresses, 2));
        assert_eq!(dumps.done(at(2), 2, false), Next::Complete);
    }

    #[test]
    fn a_dump_that_fails_or_never_ends_is_asked_for_again() {
        let mut dumps = Dumps::default();
        dumps.due(at(0));
        assert_eq!(dumps.done(at(1), 1, true), Next::Nothing);
        assert_eq!(dumps.due(at(300)), Some((Dump::Links, 2)));
        assert_eq!(dumps.poll_timeout(), Some(at(5300)));
        assert_eq!(dumps.due(at(5300)), Some((Dump::Links, 3)));
        assert_eq!(dumps.done(at(5301), 2, false), Next::Nothing, "the one that was given up");
        dumps.not_sent();
        assert_eq!(dumps.poll_timeout(), Some(at(6100)), "200 ms, 400 ms, 800 ms ...");
        let mut now = at(6100);
        for _ in 0..20 {
            assert!(dumps.due(now).is_some());
            dumps.not_sent();
            now = dumps.poll_timeout().unwrap();
        }
        assert!(dumps.due(now).is_some());
        dumps.not_sent();
        assert_eq!(dumps.poll_timeout().unwrap().since(now), Duration::from_millis(6400));
    }
}
