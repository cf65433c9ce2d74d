//! Routes of a path dump, from this node's ports to all LIDs.
use alloc::boxed::Box;
use ib_mad::{Guid, Lid, Mtu, Rate, ServiceLevel, id::Lmc};

/// The way to a LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Route {
    /// Where it leads: a unicast LID.
    pub dlid: Lid,
    /// Service level that packets on the way must have.
    pub sl: ServiceLevel,
    /// The largest MTU on the way.
    pub mtu: Mtu,
    /// The lowest rate on the way.
    pub rate: Rate,
}

/// A port of the subnet. The LID is its first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Port {
    pub(super) lid: Lid,
    pub(super) guid: Guid,
    pub(super) lmc: Lmc,
}

/// The routes that begin at a port, when it has this LID.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Section {
    pub(super) guid: Guid,
    pub(super) lid: Lid,
    /// In the order of their destination LIDs.
    pub(super) routes: Box<[Route]>,
}

/// Routes of a path dump. Found by LID or port GUID in a number of steps that grows with the logarithm of their number.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Routes {
    /// By LID; empty if nothing begins here.
    pub(super) ports: Box<[Port]>,
    /// The same by GUID.
    pub(super) by_guid: Box<[(Guid, Lid)]>,
    /// By GUID and LID.
    pub(super) sections: Box<[Section]>,
    pub(super) counts: RouteCounts,
}

/// What was counted while a table of routes was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RouteCounts {
    /// Ports that were named.
    pub ports: usize,
    /// Ports that were named with the LID of another: the first one counts.
    pub duplicate_lids: usize,
    /// Sections that were there before with the same port and LID, or were too many; left out.
    pub sections_left_out: usize,
    /// Destinations of all sections that can be reached.
    pub routes: usize,
    /// Of these, LIDs whose port was not named, so that they have no GID. With an LMC that the file does not say, all
    /// LIDs but the first of each port.
    pub nameless: usize,
}

impl Routes {
    /// What was counted while it was filled.
    #[must_use]
    pub const fn counts(&self) -> RouteCounts {
        self.counts
    }

    /// How many destinations are known from a port: 0 if there is no section for it with this LID.
    #[must_use]
    pub fn destinations(&self, guid: Guid, base_lid: Lid) -> usize {
        self.section(guid, base_lid).map_or(0, |section| section.routes.len())
    }

    /// Every section: the port and the LID that it had, and how many destinations it knows.
    pub fn sections(&self) -> impl Iterator<Item = (Guid, Lid, usize)> {
        self.sections.iter().map(|section| (section.guid, section.lid, section.routes.len()))
    }

    /// The way from a port, by its GUID and its first LID, to a LID.
    #[must_use]
    pub fn route(&self, guid: Guid, base_lid: Lid, dlid: Lid) -> Option<Route> {
        let routes = &self.section(guid, base_lid)?.routes;
        let index = routes.binary_search_by_key(&dlid, |route| route.dlid).ok()?;
        routes.get(index).copied()
    }

    /// The first LID of the port with a GUID.
    #[must_use]
    pub fn lid_of(&self, guid: Guid) -> Option<Lid> {
        let index = self.by_guid.binary_search_by_key(&guid, |(guid, _)| *guid).ok()?;
        self.by_guid.get(index).map(|(_, lid)| *lid)
    }

    /// The port that has a LID. OpenSM's dumps name the first LID of a port and not how many it has: then `lmc` says it,
    /// which is the same in most of a subnet.
    #[must_use]
    pub fn guid_of(&self, lid: Lid, lmc: Lmc) -> Option<Guid> {
        let behind = self.ports.partition_point(|port| port.lid <= lid);
        let port = self.ports.get(behind.checked_sub(1)?)?;
        let has = |lmc: Lmc| lid.base(lmc) == port.lid;
        (port.lid == lid || has(port.lmc) || has(lmc)).then_some(port.guid)
    }

    fn section(&self, guid: Guid, base_lid: Lid) -> Option<&Section> {
        let index =
            self.sections.binary_search_by_key(&(guid, base_lid), |section| (section.guid, section.lid)).ok()?;
        self.sections.get(index)
    }
}
