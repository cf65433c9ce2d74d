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
    fn two_claims_each_tick_and_then_the_others_by_turn() {
        let mut renewals = Renewals::default();
        assert!(renewals.is_empty());
        for (why, numbers) in [(Why::Used, 0..2), (Why::Claimed, 10..13), (Why::Found, 20..23)] {
            numbers.for_each(|number| renewals.line(why).push_back(DestId::new(number, 0)));
        }
        assert_eq!((renewals.longest(), renewals.is_empty()), (3, false));
        let mut tick = |count: usize| -> Vec<u32> {
            (0..count).filter_map(|number| renewals.next(number)).map(DestId::index).collect()
        };
        assert_eq!(tick(4), [10, 11, 0, 20]);
        assert_eq!(tick(4), [12, 21, 1, 22]);
        assert_eq!(tick(4), []);
    }
}
