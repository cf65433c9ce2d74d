//! Timers of the core.
use crate::api::{
    Time,
    id::{EndpointId, PortId, RequestId, SaQueryId, Token},
};
use alloc::collections::{BTreeMap, BTreeSet};

/// The subject of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerKey {
    /// A query to the subnet administrator: it waited too long for its turn, its pause after BUSY is over, or it was in
    /// flight for longer than its sender can take.
    SaQuery(SaQueryId),
    /// The end of the pause in a port's queries.
    SaTurn(PortId),
    /// The deadline of a kernel request.
    Kernel(RequestId),
    /// The next attempt to open an endpoint.
    Endpoint(EndpointId),
    /// The next subscription to notices of a port.
    Notices(PortId),
    /// The summary of failed requests for the log.
    Failures,
    /// A timer of a provider.
    Provider(Token),
    /// The time-out for leaving groups at shutdown.
    Shutdown,
}

/// All timers, at most one per key.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    by_time: BTreeSet<(Time, TimerKey)>,
    by_key: BTreeMap<TimerKey, Time>,
}

impl Timers {
    /// Sets a timer, replacing an earlier setting.
    pub(crate) fn set(&mut self, key: TimerKey, at: Time) {
        self.clear(key);
        self.by_key.insert(key, at);
        self.by_time.insert((at, key));
    }

    pub(crate) fn clear(&mut self, key: TimerKey) {
        if let Some(at) = self.by_key.remove(&key) {
            self.by_time.remove(&(at, key));
        }
    }

    /// Returns the time at which a timer is due, if it is set.
    pub(crate) fn get(&self, key: TimerKey) -> Option<Time> {
        self.by_key.get(&key).copied()
    }

    /// Returns the next timer. Timers at the same instant are ordered by key.
    pub(crate) fn next(&self) -> Option<(Time, TimerKey)> {
        self.by_time.first().copied()
    }

    /// Removes and returns the first timer that is due.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<TimerKey> {
        let (at, key) = self.next()?;
        if at > now {
            return None;
        }
        self.clear(key);
        Some(key)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.by_key.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::time::Duration;

    const A: TimerKey = TimerKey::SaQuery(SaQueryId::new(1, 0));
    const B: TimerKey = TimerKey::Endpoint(EndpointId::new(0, 0));

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn later_setting_replaces_an_earlier_one() {
        let mut timers = Timers::default();
        timers.set(A, at(10));
        timers.set(A, at(20));
        timers.set(B, at(15));
        assert_eq!((timers.len(), timers.get(A), timers.next()), (2, Some(at(20)), Some((at(15), B))));
        assert_eq!(timers.pop_due(at(14)), None);
        assert_eq!([timers.pop_due(at(20)), timers.pop_due(at(20)), timers.pop_due(at(20))], [Some(B), Some(A), None]);
        assert_eq!(timers.len(), 0);
    }

    #[test]
    fn cleared_timer_is_not_due() {
        let mut timers = Timers::default();
        timers.set(A, at(10));
        timers.set(B, at(10));
        timers.clear(A);
        timers.clear(A);
        assert_eq!((timers.get(A), timers.pop_due(at(10)), timers.next()), (None, Some(B), None));
    }

    #[test]
    fn timers_at_one_instant_are_ordered_by_key() {
        let mut timers = Timers::default();
        for key in [TimerKey::Shutdown, B, A] {
            timers.set(key, at(1));
        }
        let due: Vec<TimerKey> = core::iter::from_fn(|| timers.pop_due(at(1))).collect();
        assert_eq!(due, [A, B, TimerKey::Shutdown]);
    }
}
