//! When to try again what failed: after a second, then after twice as long each time, up to a minute.
use acm_sansio::{Time, retry::DEVICE};
use core::time::Duration;
use std::collections::BTreeMap;

/// What failed, and when it is tried again. Each kind of failure of this fabric waits here and nowhere else.
#[derive(Clone, Debug)]
pub(super) struct Retries<K> {
    failed: BTreeMap<K, Failed>,
}

#[derive(Clone, Copy, Debug)]
struct Failed {
    /// How long the last wait was.
    delay: Duration,
    /// `None`: it is being tried.
    due: Option<Time>,
}

impl<K> Default for Retries<K> {
    fn default() -> Self {
        Self { failed: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Retries<K> {
    /// Something failed; whether that is new. One that waits already waits no longer for it.
    pub(super) fn failed(&mut self, now: Time, what: K) -> bool {
        let Some(known) = self.failed.get_mut(&what) else {
            self.failed.insert(what, Failed { delay: DEVICE.first, due: Some(now + DEVICE.first) });
            return true;
        };
        if known.due.is_none() {
            known.delay = known.delay.saturating_mul(2).min(DEVICE.longest);
            known.due = Some(now + known.delay);
        }
        false
    }

    /// Something works, or need not; whether it had failed.
    pub(super) fn settled(&mut self, what: &K) -> bool {
        self.failed.remove(what).is_some()
    }

    /// Forgets all that need not be tried any more.
    pub(super) fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        self.failed.retain(|what, _| keep(what));
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.failed.values().filter_map(|failed| failed.due).min()
    }

    /// One that is due, to be tried now: it fails again, or is settled.
    pub(super) fn take_due(&mut self, now: Time) -> Option<K> {
        let (what, failed) = self.failed.iter_mut().find(|(_, failed)| failed.due.is_some_and(|due| due <= now))?;
        failed.due = None;
        Some(what.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_minute_and_begin_anew_after_success() {
        let mut retries = Retries::default();
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for round in 0..8 {
            assert_eq!(retries.failed(now, "rxe0"), round == 0);
            // Further signs of the same failure.
            assert!(!retries.failed(now + Duration::from_millis(500), "rxe0"));
            let due = retries.next().unwrap();
            assert_eq!(retries.take_due(now), None);
            waits.push(due.since(now).as_secs());
            now = due;
            assert_eq!(retries.take_due(now), Some("rxe0"));
            assert_eq!((retries.next(), retries.take_due(now)), (None, None));
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert!(retries.settled(&"rxe0") && !retries.settled(&"rxe0"));
        assert!(retries.failed(now, "rxe0"));
        assert_eq!(retries.next(), Some(now + DEVICE.first));
        retries.retain(|name| *name != "rxe0");
        assert_eq!(retries.next(), None);
    }
}
