//! Table of routes from this node's ports to all LIDs.
use alloc::boxed::Box;
use ib_mad::{Guid, Lid, Mtu, Rate, ServiceLevel, id::Lmc};

/// The route to a LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Route {
    /// The destination: a unicast LID.
    pub dlid: Lid,
    /// The service level of packets on the route.
    pub sl: ServiceLevel,
    /// The largest MTU on the route.
    pub mtu: Mtu,
    /// The lowest rate on the route.
    pub rate: Rate,
}

/// A port of the subnet, with its base LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Port {
    pub(super) lid: Lid,
    pub(super) guid: Guid,
    pub(super) lmc: Lmc,
}

/// The routes that begin at a port while it has this base LID.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Section {
    pub(super) guid: Guid,
    pub(super) lid: Lid,
    /// By destination LID.
    pub(super) routes: Box<[Route]>,
}

/// The routes of a path dump. Lookup by LID or port GUID takes logarithmic time.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Routes {
    /// By LID; empty if there are no sections.
    pub(super) ports: Box<[Port]>,
    /// The ports by GUID.
    pub(super) by_guid: Box<[(Guid, Lid)]>,
    /// By GUID and LID.
    pub(super) sections: Box<[Section]>,
    pub(super) counts: RouteCounts,
}

/// Counts from building a table of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RouteCounts {
    /// Ports in the file.
    pub ports: usize,
    /// Ports with the LID of another port; the first port is kept.
    pub duplicate_lids: usize,
    /// Sections that were left out: repeated for the same port and LID, or too many.
    pub sections_left_out: usize,
    /// Reachable destinations of all sections.
    pub routes: usize,
    /// Destinations among them whose port is not in the file, so that they have no GID. If the file does not contain
    /// LMCs, these are all LIDs of a port except the first.
    pub nameless: usize,
}

impl Routes {
    /// Returns the counts from building the table.
    #[must_use]
    pub const fn counts(&self) -> RouteCounts {
        self.counts
    }

    /// Returns the number of destinations from a port, or 0 if there is no section for the port with this LID.
    #[must_use]
    pub fn destinations(&self, guid: Guid, base_lid: Lid) -> usize {
        self.section(guid, base_lid).map_or(0, |section| section.routes.len())
    }

    /// Returns every section: the port's GUID, its LID in the file, and the number of destinations.
    pub fn sections(&self) -> impl Iterator<Item = (Guid, Lid, usize)> {
        self.sections.iter().map(|section| (section.guid, section.lid, section.routes.len()))
    }

    /// Returns the route from a port, given by GUID and base LID, to a LID.
    #[must_use]
    pub fn route(&self, guid: Guid, base_lid: Lid, dlid: Lid) -> Option<Route> {
        let routes = &self.section(guid, base_lid)?.routes;
        let index = routes.binary_search_by_key(&dlid, |route| route.dlid).ok()?;
        routes.get(index).copied()
    }

    /// Returns the base LID of the port with a GUID.
    #[must_use]
    pub fn lid_of(&self, guid: Guid) -> Option<Lid> {
        let index = self.by_guid.binary_search_by_key(&guid, |(guid, _)| *guid).ok()?;
        self.by_guid.get(index).map(|(_, lid)| *lid)
    }

    /// Returns the port that has a LID. OpenSM's dumps contain only the base LID of each port; in that case `lmc`
    /// determines its LIDs. Usually all ports of a subnet have the same LMC.
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
