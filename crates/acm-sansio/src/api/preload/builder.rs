//! Builder of route tables.
use super::routes::{Port, Route, RouteCounts, Routes, Section};
use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};
use ib_mad::{Guid, Lid, id::Lmc};

/// The maximum number of sections. A port has one for each LID that it had, and a node has few ports.
const MAX_SECTIONS: usize = 256;

/// A builder of [`Routes`]. It is limited to what a subnet can have: 49,151 ports, and as many destinations in each of
/// at most 256 sections.
#[derive(Debug, Default)]
pub struct RoutesBuilder {
    ports: BTreeMap<Lid, (Guid, Lmc)>,
    sections: BTreeMap<(Guid, Lid), Box<[Route]>>,
    /// The section that is being filled. The last route to a LID wins.
    open: Option<((Guid, Lid), BTreeMap<Lid, Route>)>,
    counts: RouteCounts,
}

impl RoutesBuilder {
    /// Adds a port of the subnet: its first LID, and its LMC if known.
    pub fn port(&mut self, guid: Guid, lid: Lid, lmc: Lmc) {
        if !lid.is_unicast() {
            return;
        }
        match self.ports.entry(lid) {
            alloc::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert((guid, lmc));
            }
            alloc::collections::btree_map::Entry::Occupied(_) => self.counts.duplicate_lids += 1,
        }
    }

    /// Begins a section: the routes that follow begin at this local port while it has this base LID.
    pub fn section(&mut self, guid: Guid, lid: Lid) {
        self.close();
        let key = (guid, lid);
        if self.sections.contains_key(&key) || self.sections.len() >= MAX_SECTIONS {
            self.counts.sections_left_out += 1;
        } else {
            self.open = Some((key, BTreeMap::new()));
        }
    }

    /// Adds a route to the current section. A route before the first section, or to a LID that is no port's, is left
    /// out.
    pub fn route(&mut self, route: Route) {
        if let Some((_, routes)) = &mut self.open
            && route.dlid.is_unicast()
        {
            routes.insert(route.dlid, route);
        }
    }

    fn close(&mut self) {
        if let Some((key, routes)) = self.open.take() {
            self.sections.insert(key, routes.into_values().collect());
        }
    }

    /// Returns the finished table.
    #[must_use]
    pub fn finish(mut self) -> Routes {
        self.close();
        let Self { ports, sections, mut counts, .. } = self;
        counts.ports = ports.len();
        let section = |((guid, lid), routes)| Section { guid, lid, routes };
        let sections: Box<[Section]> = sections.into_iter().map(section).collect();
        let mut routes = Routes { ports: Box::default(), by_guid: Box::default(), sections, counts };
        // The ports are useless without routes.
        if !routes.sections.is_empty() {
            routes.ports = ports.into_iter().map(|(lid, (guid, lmc))| Port { lid, guid, lmc }).collect();
            let mut by_guid: Vec<(Guid, Lid)> = routes.ports.iter().map(|port| (port.guid, port.lid)).collect();
            by_guid.sort_unstable();
            by_guid.dedup_by_key(|(guid, _)| *guid);
            routes.by_guid = by_guid.into_boxed_slice();
        }
        let dlids = || routes.sections.iter().flat_map(|section| section.routes.iter()).map(|route| route.dlid);
        (counts.routes, counts.nameless) =
            (dlids().count(), dlids().filter(|dlid| routes.guid_of(*dlid, Lmc::ZERO).is_none()).count());
        routes.counts = counts;
        routes
    }
}

impl Routes {
    /// Returns an empty builder.
    #[must_use]
    pub fn builder() -> RoutesBuilder {
        RoutesBuilder::default()
    }
}
