//! What the administrator knows.
use super::{Group, reports::Reports};
use crate::PortId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::{Gid, Lid, notice::TrapNumber};

/// The first LID of the multicast range.
pub(super) const FIRST_MLID: Lid = Lid::new(0xc000);

/// What the administrator knows.
#[derive(Debug)]
pub(crate) struct Sa {
    pub(crate) groups: BTreeMap<Gid, Group>,
    pub(super) next_mlid: Lid,
    pub(crate) busy_until: Duration,
    pub(super) subscribed: BTreeSet<(TrapNumber, PortId)>,
    pub(super) reports: Reports,
    pub(super) reports_made: u64,
}

impl Default for Sa {
    fn default() -> Self {
        Self {
            groups: BTreeMap::new(),
            next_mlid: FIRST_MLID,
            busy_until: Duration::ZERO,
            subscribed: BTreeSet::new(),
            reports: Reports::new(),
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

    /// Takes a port out of every group; the groups that went with it.
    pub(crate) fn forget(&mut self, port: PortId) -> Vec<Gid> {
        for group in self.groups.values_mut() {
            group.members.remove(&port);
        }
        let gone = self.groups.values().filter(|group| !group.lives()).map(|group| group.mgid).collect();
        self.groups.retain(|_, group| group.lives());
        gone
    }

    /// Ends the subscriptions of a port that is gone.
    pub(crate) fn unsubscribe(&mut self, port: PortId) {
        self.subscribed.retain(|(_, subscriber)| *subscriber != port);
    }
}
