//! Cached failures: a request for a destination that failed recently fails at once with the same reason.
//!
//! All failures are cached for the same time, so that they expire in the order in which they came. Each failed lookup
//! was charged to its account. Beyond the limit the oldest failure is dropped, which costs the next request one lookup.
use crate::{
    api::{
        Time,
        failure::{Attempt, Failure, FailureKind},
        id::EndpointId,
    },
    provider::Context,
    resolver::{
        dest::{DestState, Failed},
        state::Ibacmp,
        token::{DestId, Task},
    },
};

/// Reports whether a failure is a property of the destination and not of the moment.
fn is_cacheable(failure: Failure) -> bool {
    matches!(failure.kind(), FailureKind::NoAnswer | FailureKind::NoPath)
}

impl Ibacmp {
    /// Caches the failure of a destination without other cached data.
    pub(crate) fn cache_failure(&mut self, cx: &mut Context, id: DestId, attempt: Attempt) {
        let Some(timeout) = cx.shared.config().negative_timeout.filter(|_| is_cacheable(attempt.failure)) else {
            return;
        };
        let endpoint = self.cache.at(id).endpoint;
        let epoch = self.endpoints.at(endpoint).failures_epoch();
        let until = cx.shared.now() + timeout;
        self.cache.enter(id, DestState::Failed(Failed { attempt, until, epoch }));
        if self.negatives.len() >= cx.shared.config().limits.negatives
            && let Some((until, oldest)) = self.negatives.pop_front()
        {
            self.stats.negatives_evicted += u64::from(self.remove_failed(oldest, until));
        }
        self.negatives.push_back((until, id));
        self.schedule_negatives(cx);
    }

    /// Invalidates the cached failures of an endpoint, after an event that may let lookups succeed.
    pub(crate) fn clear_failures(&mut self, endpoint: EndpointId) {
        if let Some(state) = self.endpoints.get_mut(endpoint) {
            state.retry_failed();
        }
    }

    /// Removes a destination whose failure expired, unless its state has changed. Returns `true` if it was removed.
    fn remove_failed(&mut self, id: DestId, ended: Time) -> bool {
        let state = self.cache.get(id).map(|dest| &dest.state);
        let is_over = matches!(state, Some(DestState::Failed(failed)) if failed.until <= ended);
        if is_over {
            self.cache.remove(id);
        } else {
            // An event may have ended the failure early.
            self.cache.remove_if_not_found(id);
        }
        is_over
    }

    fn schedule_negatives(&mut self, cx: &mut Context) {
        let token = Task::Negatives.token();
        match self.negatives.front() {
            Some((until, _)) if cx.shared.timer(token).is_none() => cx.shared.set_timer(token, *until),
            _ => {}
        }
    }

    /// Removes expired failures.
    pub(crate) fn negatives_due(&mut self, cx: &mut Context) {
        while let Some((until, id)) = self.negatives.front().copied()
            && until <= cx.shared.now()
        {
            self.negatives.pop_front();
            self.remove_failed(id, until);
        }
        self.schedule_negatives(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::{
            SaError,
            config::{Config, Limits},
        },
        resolver::dest::{DestKey, EvictionClass},
    };
    use acm_wire::Address;
    use core::time::Duration;
    use ib_mad::Status;

    const HERE: EndpointId = EndpointId::new(0, 0);

    fn fail(ibacmp: &mut Ibacmp, cx: &mut Context, name: &str, failure: Failure) -> DestId {
        let key = DestKey::Address(Address::from_text(name));
        let id = ibacmp.cache.insert(HERE, key, EvictionClass::Requested);
        ibacmp.cache_failure(cx, id, failure.into());
        id
    }

    fn is_failed(ibacmp: &Ibacmp, id: DestId) -> bool {
        matches!(ibacmp.cache.get(id).map(|dest| &dest.state), Some(DestState::Failed(_)))
    }

    #[test]
    fn only_failures_of_the_destination_are_cached() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let table = [
            (Failure::NoResponse, true),
            (Failure::Sa(SaError::Status(Status::SA_NO_RECORDS)), true),
            (Failure::Sa(SaError::Status(Status::SA_INVALID_GID)), true),
            (Failure::Sa(SaError::Status(Status::SA_NO_RESOURCES)), false),
            (Failure::Sa(SaError::TimedOut), false),
            (Failure::NoTurn, false),
            (Failure::EndpointClosed, false),
        ];
        for (failure, expected) in table {
            let id = fail(&mut ibacmp, &mut cx, "a", failure);
            assert_eq!(is_failed(&ibacmp, id), expected, "{failure}");
            ibacmp.cache.remove(id);
        }
        let mut cx = Context::new(Config { negative_timeout: None, ..Config::default() }, 1.into());
        let id = fail(&mut ibacmp, &mut cx, "a", Failure::NoResponse);
        assert!(!is_failed(&ibacmp, id), "disabled");
    }

    #[test]
    fn failures_expire_and_the_oldest_is_dropped_beyond_the_limit() {
        let limits = Limits { negatives: 2, ..Limits::default() };
        let (mut cx, mut ibacmp) = (Context::new(Config { limits, ..Config::default() }, 1.into()), Ibacmp::new(1));
        let failure = Failure::NoResponse;
        let ids = ["a", "b", "c"].map(|name| {
            cx.shared.now = cx.shared.now + Duration::from_millis(100);
            fail(&mut ibacmp, &mut cx, name, failure)
        });
        assert_eq!((ibacmp.cache.get(ids[0]).is_none(), ibacmp.negatives.len()), (true, 2));
        assert_eq!(ibacmp.stats.negatives_evicted, 1);
        // The state of the second one has changed: it stays.
        ibacmp.cache.enter(ids[1], DestState::Unknown);
        cx.shared.now = Time::ZERO + Duration::from_millis(1200);
        ibacmp.negatives_due(&mut cx);
        assert!(ibacmp.cache.get(ids[1]).is_some() && is_failed(&ibacmp, ids[2]));
        cx.shared.now = Time::ZERO + Duration::from_millis(1300);
        ibacmp.negatives_due(&mut cx);
        assert!(ibacmp.cache.get(ids[2]).is_none() && ibacmp.negatives.is_empty());
        assert_eq!(ibacmp.stats.negatives_evicted, 1, "expired failures are not counted as evicted");
    }
}
