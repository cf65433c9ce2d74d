//! Deadlines, in order.
use crate::{
    Time,
    id::{RequestId, SaRequestId},
    provider::Token,
};
use alloc::collections::{BTreeMap, BTreeSet};

/// Why the core wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerKey {
    /// A request to subnet administration: due when it was in flight for longer than its sender could take, or when a
    /// busy administration may be asked again.
    Sa(SaRequestId),
    /// A request of the kernel: due when the kernel must have an answer, whatever it is.
    Kernel(RequestId),
    /// The provider's own.
    Provider(Token),
    /// Shutdown: due when groups that are being left have had their time.
    Shutdown,
}

/// One deadline per key at most.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    by_time: BTreeSet<(Time, TimerKey)>,
    by_key: BTreeMap<TimerKey, Time>,
}

impl Timers {
    /// Sets the key's deadline in place of an earlier one.
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

    pub(crate) fn next(&self) -> Option<(Time, TimerKey)> {
        self.by_time.first().copied()
    }

    /// Takes the first deadline that is due.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<TimerKey> {
        let (at, key) = self.next()?;
        if at > now {
            return None;
        }
        self.clear(key);
        Some(key)
    }
}
