//! Schedule of retries: after a second, then after twice the time, up to a minute.
use acm_sansio::{Time, retry::DEVICE};
use core::time::Duration;
use std::collections::BTreeMap;

/// Failed work with the times of its retries. All failures of devices are scheduled here.
#[derive(Clone, Debug)]
pub(super) struct Retries<K> {
    failed: BTreeMap<K, Failed>,
}

#[derive(Clone, Copy, Debug)]
struct Failed {
    /// Duration of the last pause.
    delay: Duration,
    /// Time of the next retry; `None` while a retry is in progress.
    due: Option<Time>,
}

impl<K> Default for Retries<K> {
    fn default() -> Self {
        Self { failed: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Retries<K> {
    /// Schedules a retry of failed work. Returns `true` if the failure is new. Does not change a retry that is already
    /// scheduled.
    pub(super) fn failed(&mut self, now: Time, work: K) -> bool {
        let Some(known) = self.failed.get_mut(&work) else {
            self.failed.insert(work, Failed { delay: DEVICE.first, due: Some(now + DEVICE.first) });
            return true;
        };
        if known.due.is_none() {
            known.delay = known.delay.saturating_mul(2).min(DEVICE.longest);
            known.due = Some(now + known.delay);
        }
        false
    }

    /// Ends the retries of work that has succeeded or is not needed. Returns `true` if the work had failed before.
    pub(super) fn clear(&mut self, work: &K) -> bool {
        self.failed.remove(work).is_some()
    }

    /// Ends the retries of all work for which `keep` returns `false`.
    pub(super) fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        self.failed.retain(|work, _| keep(work));
    }

    /// Returns the time of the next retry.
    pub(super) fn next(&self) -> Option<Time> {
        self.failed.values().filter_map(|failed| failed.due).min()
    }

    /// Returns work whose retry is due. The caller retries it, and calls `failed` or `clear`.
    pub(super) fn take_due(&mut self, now: Time) -> Option<K> {
        let (work, failed) = self.failed.iter_mut().find(|(_, failed)| failed.due.is_some_and(|due| due <= now))?;
        failed.due = None;
        Some(work.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_to_a_minute_and_start_again_after_success() {
        let mut retries = Retries::default();
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for round in 0..8 {
            assert_eq!(retries.failed(now, "rxe0"), round == 0);
            // Further reports of the same failure do not matter.
            assert!(!retries.failed(now + Duration::from_millis(500), "rxe0"));
            let due = retries.next().unwrap();
            assert_eq!(retries.take_due(now), None);
            waits.push(due.since(now).as_secs());
            now = due;
            assert_eq!(retries.take_due(now), Some("rxe0"));
            assert_eq!((retries.next(), retries.take_due(now)), (None, None));
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert!(retries.clear(&"rxe0") && !retries.clear(&"rxe0"));
        assert!(retries.failed(now, "rxe0"));
        assert_eq!(retries.next(), Some(now + DEVICE.first));
        retries.retain(|name| *name != "rxe0");
        assert_eq!(retries.next(), None);
    }
}
