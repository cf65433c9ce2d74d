//! Progress of the confirmation of paths in use: a hand that passes over the cache again and again.
use crate::{
    api::Time,
    retry,
    shared::random::{Purpose, Random, Seed},
};
use core::time::Duration;

/// The shortest time for one pass over the cache.
pub(crate) const PASS: Duration = Duration::from_secs(30);

/// The hand that passes over the cache. It rests while no path is used.
#[derive(Debug)]
pub(crate) struct Hand {
    /// The current pass.
    pass: Option<Pass>,
    random: Random,
}

#[derive(Clone, Copy, Debug)]
struct Pass {
    next_slot: usize,
    since: Time,
    /// `true` if a path in use was found.
    found: bool,
}

impl Hand {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { pass: None, random: Random::new(seed, Purpose::Confirmations) }
    }

    /// Returns a random time around a pause, because other nodes may begin at the same time.
    pub(crate) fn jitter(&mut self, around: Duration) -> Duration {
        retry::jitter(around, self.random.next())
    }

    /// Reports whether it waits for the next use of a path.
    pub(crate) const fn rests(&self) -> bool {
        self.pass.is_none()
    }

    /// Reports whether a pass has begun.
    pub(crate) fn is_under_way(&self) -> bool {
        self.pass.is_some_and(|pass| pass.next_slot > 0)
    }

    /// Begins a pass at this time.
    pub(crate) const fn start(&mut self, since: Time) {
        self.pass = Some(Pass { next_slot: 0, since, found: false });
    }

    /// Returns the next slot of this pass over `slots` slots, or `None` at its end.
    pub(crate) fn next(&mut self, slots: usize) -> Option<usize> {
        let pass = self.pass.as_mut().filter(|pass| pass.next_slot < slots)?;
        pass.next_slot += 1;
        Some(pass.next_slot - 1)
    }

    /// Records that a path in use was found.
    pub(crate) const fn found(&mut self) {
        if let Some(pass) = &mut self.pass {
            pass.found = true;
        }
    }

    /// Begins the next pass and returns its time, or rests if no path in use was found.
    pub(crate) fn end_pass(&mut self, now: Time) -> Option<Time> {
        let pass = self.pass.take().filter(|pass| pass.found)?;
        let since = now.max(pass.since + PASS);
        self.start(since);
        Some(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_passes_each_slot_once_in_a_pass_and_rests_without_a_path_in_use() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let mut hand = Hand::new(1.into());
        assert!(hand.rests() && hand.next(3).is_none());
        hand.start(at(5));
        assert_eq!([(); 4].map(|()| hand.next(3)), [Some(0), Some(1), Some(2), None]);
        assert_eq!(hand.next(4), Some(3), "the cache has grown");
        hand.found();
        assert_eq!(hand.end_pass(at(7)), Some(at(35)), "30 s after the beginning of the last pass");
        hand.found();
        assert_eq!((hand.next(1), hand.end_pass(at(99))), (Some(0), Some(at(99))), "the last pass took longer");
        assert_eq!((hand.next(1), hand.end_pass(at(129)), hand.rests()), (Some(0), None, true));
    }
}
