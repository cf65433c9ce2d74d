//! The order in which event sources are read: in turns with small quotas, urgent ones first.
//!
//! A fabric has two kinds of sources. Responses of the subnet administrator and port events are few and short; they are
//! [`Lane::Urgent`]. Queues of datagrams are as long as remote hosts make them; they are [`Lane::Bulk`]. In each round,
//! every urgent source that is ready is read up to its quota; then one bulk source is read up to its quota. Therefore:
//!
//! - a flood of datagrams delays an urgent source by at most one bulk quota, however many sources are flooded;
//! - a bulk source waits at most for the urgent quotas and for the quotas of the other bulk sources;
//! - urgent sources that are always ready do not stop the bulk sources.
//!
//! The type has no descriptors and no time. The caller reports a source with data with [`Turns::ready`], reads one item
//! at a time from the source that [`Turns::next`] returns, and calls [`Turns::dry`] if the source had none.
use alloc::{collections::BTreeSet, collections::VecDeque};
use core::num::NonZeroU32;

/// The priority of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Read before the next bulk source.
    Urgent,
    /// Read after each round of urgent sources, one source at a time.
    Bulk,
}

/// The number of items that a source may deliver in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quotas {
    /// Quota of an urgent source.
    pub urgent: NonZeroU32,
    /// Quota of a bulk source: the longest wait of an urgent source.
    pub bulk: NonZeroU32,
}

impl Default for Quotas {
    /// Returns 32 and 16: an urgent source waits for well under a millisecond of the core's work.
    fn default() -> Self {
        const fn number(value: u32) -> NonZeroU32 {
            // Both values are written below, and neither is zero.
            match NonZeroU32::new(value) {
                Some(number) => number,
                None => NonZeroU32::MIN,
            }
        }
        Self { urgent: number(32), bulk: number(16) }
    }
}

/// The sources that may have data, in the order of their turns.
///
/// ```
/// use acm_sansio::turns::{Lane, Turns};
/// let mut turns = Turns::default();
/// turns.ready("datagrams", Lane::Bulk);
/// turns.ready("answers", Lane::Urgent);
/// assert_eq!(turns.next(), Some("answers"));
/// turns.dry("answers");
/// assert_eq!(turns.next(), Some("datagrams"));
/// ```
#[derive(Clone, Debug)]
pub struct Turns<S> {
    quotas: Quotas,
    /// All sources. Each is in exactly one of the three queues.
    sources: BTreeSet<S>,
    /// Urgent sources of this round; the first is read next.
    now: VecDeque<S>,
    /// Urgent sources of the next round.
    later: VecDeque<S>,
    /// Bulk sources; the first is read in this turn or in the next.
    bulk: VecDeque<S>,
    /// Items that the current source has delivered in this turn.
    given: u32,
    /// `true` if a bulk source is read before the next round begins.
    bulk_turn: bool,
}

impl<S: Copy + Ord> Default for Turns<S> {
    fn default() -> Self {
        Self::new(Quotas::default())
    }
}

impl<S: Copy + Ord> Turns<S> {
    /// Creates an empty set of sources.
    #[must_use]
    pub fn new(quotas: Quotas) -> Self {
        Self {
            quotas,
            sources: BTreeSet::new(),
            now: VecDeque::new(),
            later: VecDeque::new(),
            bulk: VecDeque::new(),
            given: 0,
            bulk_turn: false,
        }
    }

    /// Adds a source that may have data. Does nothing if it was added before.
    pub fn ready(&mut self, source: S, lane: Lane) {
        if self.sources.insert(source) {
            match lane {
                Lane::Urgent => self.later.push_back(source),
                Lane::Bulk => self.bulk.push_back(source),
            }
        }
    }

    /// Reports whether no source may have data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns the source to read one item from, or `None` if none is ready.
    #[must_use = "a turn is counted, whether it is used or not"]
    #[expect(clippy::should_implement_trait, reason = "calls in between change the order")]
    pub fn next(&mut self) -> Option<S> {
        loop {
            if let Some(source) = self.now.front().copied() {
                self.given += 1;
                if self.given >= self.quotas.urgent.get() {
                    self.given = 0;
                    self.now.pop_front();
                    self.later.push_back(source);
                }
                return Some(source);
            }
            if self.bulk_turn
                && let Some(source) = self.bulk.front().copied()
            {
                self.given += 1;
                if self.given >= self.quotas.bulk.get() {
                    self.given = 0;
                    self.bulk.rotate_left(1);
                    self.bulk_turn = false;
                }
                return Some(source);
            }
            // The next ready source is served at once, urgent ones first.
            self.bulk_turn = false;
            if self.sources.is_empty() {
                return None;
            }
            core::mem::swap(&mut self.now, &mut self.later);
            self.bulk_turn = true;
        }
    }

    /// Removes a source that has no data or was closed. Its turn ends.
    pub fn dry(&mut self, source: S) {
        if !self.sources.remove(&source) {
            return;
        }
        if self.now.front() == Some(&source) {
            self.given = 0;
        } else if self.now.is_empty() && self.bulk_turn && self.bulk.front() == Some(&source) {
            self.given = 0;
            self.bulk_turn = false;
        }
        for queue in [&mut self.now, &mut self.later, &mut self.bulk] {
            // The source that was read last is at one end of its queue.
            if queue.front() == Some(&source) {
                queue.pop_front();
            } else if queue.back() == Some(&source) {
                queue.pop_back();
            } else {
                queue.retain(|other| *other != source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeMap, vec::Vec};
    use proptest::prelude::*;

    const fn quotas(urgent: u32, bulk: u32) -> Quotas {
        Quotas { urgent: NonZeroU32::new(urgent).unwrap(), bulk: NonZeroU32::new(bulk).unwrap() }
    }

    fn take(turns: &mut Turns<char>, count: usize) -> Vec<char> {
        (0..count).map_while(|_| turns.next()).collect()
    }

    #[test]
    fn urgent_sources_come_first_and_bulk_sources_in_turn() {
        let mut turns = Turns::new(quotas(2, 3));
        for (source, lane) in [('a', Lane::Bulk), ('b', Lane::Bulk), ('U', Lane::Urgent), ('V', Lane::Urgent)] {
            turns.ready(source, lane);
            turns.ready(source, lane);
        }
        assert_eq!(take(&mut turns, 14), "UUVVaaaUUVVbbb".chars().collect::<Vec<_>>());
    }

    #[test]
    fn default_quotas_are_32_and_16() {
        let mut turns = Turns::default();
        turns.ready('a', Lane::Bulk);
        turns.ready('U', Lane::Urgent);
        let round = "U".repeat(32) + &"a".repeat(16);
        assert_eq!(take(&mut turns, 96), round.repeat(2).chars().collect::<Vec<_>>());
    }

    #[test]
    fn dry_source_passes_its_turn_on() {
        let mut turns = Turns::new(quotas(2, 3));
        turns.ready('a', Lane::Bulk);
        turns.ready('b', Lane::Bulk);
        assert_eq!(turns.next(), Some('a'));
        turns.dry('a');
        turns.dry('a');
        assert_eq!(take(&mut turns, 4), ['b'; 4]);
        turns.dry('b');
        assert_eq!(turns.next(), None);
        assert!(turns.is_empty());
        // The full quota, not the rest of an ended turn.
        turns.ready('a', Lane::Bulk);
        turns.ready('b', Lane::Bulk);
        assert_eq!(take(&mut turns, 6), ['a', 'a', 'a', 'b', 'b', 'b']);
    }

    #[test]
    fn urgent_source_waits_at_most_one_bulk_quota() {
        let mut turns = Turns::new(quotas(2, 3));
        ('a'..='z').for_each(|source| turns.ready(source, Lane::Bulk));
        for already in 0..40 {
            assert_eq!(take(&mut turns, already).len(), already);
            turns.ready('U', Lane::Urgent);
            let waits = take(&mut turns, 4).iter().position(|source| *source == 'U');
            assert!(waits.is_some_and(|waits| waits <= 3), "{waits:?} after {already}");
            turns.dry('U');
        }
    }

    #[test]
    fn returning_urgent_sources_do_not_stop_bulk_sources() {
        let mut turns = Turns::new(quotas(4, 3));
        turns.ready('a', Lane::Bulk);
        let mut bulk = 0;
        for _ in 0..100 {
            turns.ready('U', Lane::Urgent);
            match turns.next() {
                Some('U') => turns.dry('U'),
                _ => bulk += 1,
            }
        }
        assert_eq!(bulk, 75, "three of four");
    }

    proptest! {
        /// Each ready source gets its turn within one round of all sources.
        #[test]
        fn no_source_starves(
            steps in proptest::collection::vec((0..12u8, any::<bool>()), 1..200),
            urgent in 1..5u32,
            bulk in 1..5u32,
        ) {
            let mut turns = Turns::new(quotas(urgent, bulk));
            // Turns of other sources since each ready source was read.
            let mut waits: BTreeMap<u8, u32> = BTreeMap::new();
            for (source, ends) in steps {
                turns.ready(source, if source < 4 { Lane::Urgent } else { Lane::Bulk });
                waits.entry(source).or_default();
                let next = turns.next();
                prop_assert!(next.is_some_and(|next| waits.contains_key(&next)));
                for (waiting, since) in &mut waits {
                    *since += 1;
                    let most = if *waiting < 4 { 2 * (4 * urgent + bulk) } else { 9 * (4 * urgent + bulk) };
                    prop_assert!(*since <= most, "{waiting} waits for {since}");
                }
                let Some(next) = next else { continue };
                waits.insert(next, 0);
                if ends {
                    turns.dry(next);
                    waits.remove(&next);
                }
            }
            prop_assert_eq!(turns.is_empty(), waits.is_empty());
        }
    }

    /// While urgent sources are read, a dry bulk source ends only its own turn.
    #[test]
    fn dry_source_ends_no_other_turn() {
        let mut turns = Turns::new(quotas(3, 3));
        turns.ready('a', Lane::Bulk);
        turns.ready('b', Lane::Bulk);
        turns.ready('U', Lane::Urgent);
        assert_eq!(take(&mut turns, 2), ['U', 'U']);
        turns.dry('a');
        assert_eq!(take(&mut turns, 5), ['U', 'b', 'b', 'b', 'U']);
        let mut turns = Turns::new(quotas(3, 3));
        ('a'..='c').for_each(|source| turns.ready(source, Lane::Bulk));
        assert_eq!(take(&mut turns, 2), ['a', 'a']);
        turns.dry('b');
        assert_eq!(take(&mut turns, 2), ['a', 'c'], "it continues with its quota");
    }
}
