//! Timers.
use alloc::collections::BTreeMap;
use core::time::Duration;

/// Identifies an entry of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerKey {
    at: Duration,
    order: u64,
}

/// Entries in the order of their times. Entries with the same time are in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct Schedule<T> {
    timers: BTreeMap<TimerKey, T>,
    added: u64,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self { timers: BTreeMap::new(), added: 0 }
    }
}

impl<T> Schedule<T> {
    pub(crate) fn add(&mut self, at: Duration, entry: T) -> TimerKey {
        let key = TimerKey { at, order: self.added };
        self.added += 1;
        self.timers.insert(key, entry);
        key
    }

    pub(crate) fn cancel(&mut self, key: TimerKey) {
        self.timers.remove(&key);
    }

    pub(crate) fn next(&self) -> Option<Duration> {
        self.timers.first_key_value().map(|(key, _)| key.at)
    }

    /// Removes and returns the first entry that is due at `now`, with its time.
    pub(crate) fn pop_due(&mut self, now: Duration) -> Option<(Duration, T)> {
        let first = self.timers.first_entry()?;
        (first.key().at <= now).then(|| first.remove_entry()).map(|(key, entry)| (key.at, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_due_by_time_then_by_order() {
        let mut schedule = Schedule::default();
        let ms = Duration::from_millis;
        let added = [(2, "c"), (1, "a"), (2, "x"), (2, "d"), (1, "b"), (3, "e")];
        let added = added.map(|(at, entry)| schedule.add(ms(at), entry));
        schedule.cancel(added[2]);
        assert_eq!(schedule.next(), Some(ms(1)));
        let due: alloc::vec::Vec<_> = core::iter::from_fn(|| schedule.pop_due(ms(2))).collect();
        assert_eq!(due, [(ms(1), "a"), (ms(1), "b"), (ms(2), "c"), (ms(2), "d")]);
        assert_eq!(schedule.next(), Some(ms(3)));
    }
}
