//! The administrator's mode and data.
use super::Group;
use crate::id::PortId;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::{Gid, Lid, notice::TrapNumber, sa::SaMad};

/// A report that waits for its response.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) port: PortId,
    pub(super) mad: Box<SaMad>,
    /// Transmissions left.
    pub(super) left: u32,
}

/// The first LID of the multicast range.
pub(super) const FIRST_MLID: Lid = Lid::new(0xc000);

/// The administrator's data.
#[derive(Debug)]
pub(crate) struct Sa {
    pub(crate) groups: BTreeMap<Gid, Group>,
    pub(super) next_mlid: Lid,
    /// End of the service time of the last request.
    pub(crate) busy_until: Duration,
    pub(super) subscribed: BTreeSet<(TrapNumber, PortId)>,
    /// Reports without a response by transaction id.
    pub(super) reports: BTreeMap<u64, Report>,
    pub(super) reports_made: u64,
}

impl Default for Sa {
    fn default() -> Self {
        Self {
            groups: BTreeMap::new(),
            next_mlid: FIRST_MLID,
            busy_until: Duration::ZERO,
            subscribed: BTreeSet::new(),
            reports: BTreeMap::new(),
            reports_made: 0,
        }
    }
}

impl Sa {
    pub(crate) fn restart(&mut self, first_mlid: Option<Lid>) {
        self.groups.clear();
        self.subscribed.clear();
        self.reports.clear();
        self.next_mlid = first_mlid.filter(|lid| lid.is_multicast()).unwrap_or(FIRST_MLID);
    }

    /// Removes a port from every group. Returns the groups that were deleted with it.
    pub(crate) fn remove_memberships(&mut self, port: PortId) -> Vec<Gid> {
        for group in self.groups.values_mut() {
            group.members.remove(&port);
        }
        let deleted = self.groups.values().filter(|group| !group.lives()).map(|group| group.mgid).collect();
        self.groups.retain(|_, group| group.lives());
        deleted
    }

    /// Ends the subscriptions of a port.
    pub(crate) fn unsubscribe(&mut self, port: PortId) {
        self.subscribed.retain(|(_, subscriber)| *subscriber != port);
    }
}
