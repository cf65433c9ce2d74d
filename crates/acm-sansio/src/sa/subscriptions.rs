//! State of a port's subscriptions to notices.
use crate::api::{
    SaError, Time,
    id::{PortId, SaQueryId},
};
use alloc::collections::BTreeMap;
use core::time::Duration;
use ib_mad::notice::TrapNumber;

/// The subscribed trap numbers, in the order of subscription.
pub(super) const TRAPS: [TrapNumber; 4] =
    [TrapNumber::GID_OUT_OF_SERVICE, TrapNumber::GID_IN_SERVICE, TrapNumber::MGID_DESTROYED, TrapNumber::MGID_CREATED];
/// The time in which the report budget refills completely.
const REFILL: Duration = Duration::from_secs(4);

/// The subscriptions of all ports.
pub(crate) type Notices = BTreeMap<PortId, PortNotices>;

/// The subscriptions of a port.
#[derive(Debug, Default)]
pub(crate) struct PortNotices {
    /// By index in [`TRAPS`]: `true` if it is to be requested in this round.
    pub(super) due: [bool; TRAPS.len()],
    /// By index in [`TRAPS`]: `true` if it was ever granted and must be ended.
    pub(super) granted: [bool; TRAPS.len()],
    /// The subscription in flight: its index in [`TRAPS`] and its query.
    pub(super) pending: Option<(usize, SaQueryId)>,
    /// `true` if the subnet manager may have lost the subscription in flight.
    pub(super) restart: bool,
    /// The first error of this round.
    pub(super) error: Option<SaError>,
    /// Number of failed rounds in a row.
    pub(super) failures: u32,
    /// `true` if the failure was logged.
    pub(super) failure_logged: bool,
    pub(super) budget: ReportBudget,
}

/// The number of reports that may still be accepted.
#[derive(Debug, Default)]
pub(super) struct ReportBudget {
    taken: u32,
    since: Time,
}

impl ReportBudget {
    /// Takes one from the budget. Returns `false` if it is used up.
    pub(super) fn take(&mut self, now: Time, most: u32) -> bool {
        let whole = u64::try_from(REFILL.as_millis()).unwrap_or(u64::MAX).max(1);
        let waited = u64::try_from(now.since(self.since).as_millis()).unwrap_or(u64::MAX);
        let again = u32::try_from(waited.saturating_mul(most.into()) / whole).unwrap_or(u32::MAX);
        if again > 0 || self.taken == 0 {
            self.taken = self.taken.saturating_sub(again);
            self.since = now;
        }
        let free = self.taken < most;
        self.taken += u32::from(free);
        free
    }
}

impl PortNotices {
    /// Reports whether the first round of subscriptions after a change is not over.
    pub(super) fn is_first_round(&self) -> bool {
        self.due != [false; TRAPS.len()] && self.failures == 0
    }

    /// Reports whether a subscription is due and none is in flight.
    pub(crate) fn waits(&self) -> bool {
        self.due != [false; TRAPS.len()] && self.pending.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // docs/deadlines.md: reports
    #[test]
    fn report_budget_refills_with_time() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut budget = ReportBudget::default();
        let mut taken = |millis| (0..100).filter(|_| budget.take(at(millis), 8)).count();
        assert_eq!([taken(0), taken(499), taken(500), taken(900), taken(1000)], [8, 0, 1, 0, 1]);
        assert_eq!([taken(3000), taken(60_000)], [4, 8]);
    }
}
