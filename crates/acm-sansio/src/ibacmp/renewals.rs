//! Destinations that are to be asked for anew, in the order in which that is done.
use super::token::DestId;
use crate::Time;
use alloc::collections::VecDeque;

/// No more than so many of what strangers claim are begun at a time.
const CLAIMED_EACH_TICK: usize = 2;

/// Why a destination is to be asked for anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It was used while it was in doubt.
    Used,
    /// A peer says that it is elsewhere.
    Claimed,
    /// The sweep found that it ends soon, or is in doubt.
    Found,
}

/// Destinations that are to be asked for anew.
#[derive(Debug, Default)]
pub(super) struct Renewals {
    used: VecDeque<DestId>,
    claimed: VecDeque<DestId>,
    found: VecDeque<DestId>,
    /// None is begun before.
    pub(super) not_before: Option<Time>,
    /// How often in a row subnet administration was silent.
    pub(super) failures: u32,
}

impl Renewals {
    pub(super) const fn line(&mut self, why: Why) -> &mut VecDeque<DestId> {
        match why {
            Why::Used => &mut self.used,
            Why::Claimed => &mut self.claimed,
            Why::Found => &mut self.found,
        }
    }

    /// How many wait, at most in one line.
    pub(super) fn longest(&self) -> usize {
        self.used.len().max(self.claimed.len()).max(self.found.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.longest() == 0
    }

    /// The next of a tick; what is used and what was found by turn.
    pub(super) fn next(&mut self, number: usize) -> Option<DestId> {
        let claimed = if number < CLAIMED_EACH_TICK { self.claimed.pop_front() } else { None };
        claimed.or_else(|| match number % 2 {
            0 => self.used.pop_front().or_else(|| self.found.pop_front()),
            _ => self.found.pop_front().or_else(|| self.used.pop_front()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn two_of_a_tick_are_claims_and_the_others_take_turns() {
        let mut renewals = Renewals::default();
        assert!(renewals.is_empty());
        let dest = |number| DestId::new(number, 0);
        for (why, first) in [(Why::Used, 10), (Why::Claimed, 20), (Why::Found, 30)] {
            renewals.line(why).extend((first..first + 3).map(dest));
        }
        assert!(!renewals.is_empty());
        let tick: Vec<_> = (0..9).map_while(|number| renewals.next(number)).collect();
        assert_eq!(tick, [20, 21, 10, 30, 11, 31, 12, 32].map(dest));
        assert_eq!((renewals.longest(), renewals.next(0)), (1, Some(dest(22))));
    }
}
