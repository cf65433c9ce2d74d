//! What the administrator knows.
use super::Group;
use crate::PortId;
use alloc::collections::BTreeMap;
use core::time::Duration;
use ib_mad::{Gid, Lid};

/// The first LID of the multicast range.
pub(super) const FIRST_MLID: Lid = Lid::new(0xc000);

/// What the administrator knows.
#[derive(Debug)]
pub(crate) struct Sa {
    pub(crate) groups: BTreeMap<Gid, Group>,
    pub(super) next_mlid: Lid,
    pub(crate) busy_until: Duration,
}

impl Default for Sa {
    fn default() -> Self {
        Self { groups: BTreeMap::new(), next_mlid: FIRST_MLID, busy_until: Duration::ZERO }
    }
}

impl Sa {
    pub(crate) fn restart(&mut self, first_mlid: Option<Lid>) {
        self.groups.clear();
        self.next_mlid = first_mlid.filter(|lid| lid.is_multicast()).unwrap_or(FIRST_MLID);
    }

    /// Takes a port out of every group.
    pub(crate) fn forget(&mut self, port: PortId) {
        for group in self.groups.values_mut() {
            group.members.remove(&port);
        }
        self.groups.retain(|_, group| group.lives());
    }
}
