//! What is to happen when.
use alloc::collections::BTreeMap;
use core::time::Duration;

/// Things by the time at which they are due; things of one time in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct Schedule<T> {
    due: BTreeMap<(Duration, u64), T>,
    added: u64,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), added: 0 }
    }
}

impl<T> Schedule<T> {
    pub(crate) fn add(&mut self, at: Duration, what: T) {
        self.due.insert((at, self.added), what);
        self.added += 1;
    }

    pub(crate) fn next(&self) -> Option<Duration> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the first thing that is due at `now` with its time.
    pub(crate) fn take(&mut self, now: Duration) -> Option<(Duration, T)> {
        let first = self.due.first_entry()?;
        (first.key().0 <= now).then(|| first.remove_entry()).map(|((at, _), what)| (at, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_time_then_by_order() {
        let mut schedule = Schedule::default();
        let ms = Duration::from_millis;
        for (at, what) in [(2, "c"), (1, "a"), (2, "d"), (1, "b"), (3, "e")] {
            schedule.add(ms(at), what);
        }
        assert_eq!(schedule.next(), Some(ms(1)));
        let taken: alloc::vec::Vec<_> = core::iter::from_fn(|| schedule.take(ms(2))).collect();
        assert_eq!(taken, [(ms(1), "a"), (ms(1), "b"), (ms(2), "c"), (ms(2), "d")]);
        assert_eq!(schedule.next(), Some(ms(3)));
    }
}
