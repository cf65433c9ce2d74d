//! The preloaded tables.
use super::dest::{DestKey, RouteKey};
use crate::api::{
    port::PortAttributes,
    preload::{Hosts, Preload, Route, Routes},
};
use acm_wire::Address;
use alloc::{collections::BTreeSet, sync::Arc};
use core::fmt;
use ib_mad::{Gid, Guid};

/// The tables, and the entries that the fabric contradicted.
#[derive(Debug, Default)]
pub(crate) struct Preloaded {
    routes: Option<Arc<Routes>>,
    hosts: Option<Arc<Hosts>>,
    /// Number of loads. A destination from an earlier load is recreated.
    loads: u32,
    /// Ports in `routes` whose LID or route values are wrong.
    wrong_ports: BTreeSet<Guid>,
    /// Addresses in `hosts` whose GID is wrong, in canonical form.
    wrong_hosts: BTreeSet<Address>,
}

impl Preloaded {
    pub(crate) const fn is_empty(&self) -> bool {
        self.routes.is_none() && self.hosts.is_none()
    }

    /// Returns the number of the current load.
    pub(crate) const fn loads(&self) -> u32 {
        self.loads
    }

    /// Replaces a table. An identical table changes nothing, including the wrong entries.
    pub(crate) fn take(&mut self, preload: Preload) {
        match preload {
            Preload::Routes(routes) if self.routes.as_ref() != Some(&routes) => {
                self.routes = Some(routes);
                self.wrong_ports.clear();
            }
            Preload::Hosts(hosts) if self.hosts.as_ref() != Some(&hosts) => {
                self.hosts = Some(hosts);
                self.wrong_hosts.clear();
            }
            Preload::Routes(_) | Preload::Hosts(_) => return,
        }
        self.outdate();
    }

    /// Makes all destinations from the tables be recreated.
    pub(crate) const fn outdate(&mut self) {
        self.loads = self.loads.wrapping_add(1);
    }

    /// Returns the GID of an address.
    pub(crate) fn gid_of(&self, address: &Address) -> Option<Gid> {
        let gid = self.hosts.as_deref()?.gid_of(address)?;
        (!self.wrong_hosts.contains(&address.canonical())).then_some(gid)
    }

    /// Reports whether the table of hosts has an address at this GID.
    pub(crate) fn has(&self, key: &DestKey, gid: Gid) -> bool {
        matches!(key, DestKey::Address(address) if self.gid_of(address) == Some(gid))
    }

    /// Returns the route for a request and the GID of its destination port. A dump has one route to each LID, so a
    /// request with other restrictions finds none.
    pub(crate) fn route(&self, port: &PortAttributes, key: &RouteKey) -> Option<(Gid, Route)> {
        let (routes, own) = (self.routes.as_deref()?, port.gid());
        let other_source = (!key.sgid.is_zero() && key.sgid != own) || (!key.slid.is_zero() && key.slid != port.lid);
        let plain = RouteKey { dgid: key.dgid, sgid: key.sgid, dlid: key.dlid, slid: key.slid, ..RouteKey::default() };
        if other_source || *key != plain {
            return None;
        }
        let (guid, dlid) = if key.dgid.is_zero() {
            (routes.guid_of(key.dlid, port.lmc)?, key.dlid)
        } else {
            let guid = Some(key.dgid.interface_id()).filter(|_| key.dgid.prefix() == own.prefix())?;
            let lid = routes.lid_of(guid)?;
            if !key.dlid.is_zero() && routes.guid_of(key.dlid, port.lmc) != Some(guid) {
                return None;
            }
            (guid, if key.dlid.is_zero() { lid } else { key.dlid })
        };
        if self.wrong_ports.contains(&guid) {
            return None;
        }
        let route = routes.route(own.interface_id(), port.lid, dlid)?;
        Some((Gid::from_parts(own.prefix(), guid), route))
    }

    /// Marks the entry of a port as wrong. Returns `true` if it was not marked before.
    pub(crate) fn refute_port(&mut self, guid: Guid) -> bool {
        // A port that is not in the table takes no memory here.
        self.routes.as_deref().is_some_and(|routes| routes.lid_of(guid).is_some()) && self.wrong_ports.insert(guid)
    }

    /// Marks the entry of an address as wrong. Returns `true` if it was not marked before.
    pub(crate) fn refute_host(&mut self, address: &Address) -> bool {
        self.hosts.as_deref().is_some_and(|hosts| hosts.gid_of(address).is_some())
            && self.wrong_hosts.insert(address.canonical())
    }
}

impl fmt::Display for Preloaded {
    /// Writes one line for each table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(routes) = &self.routes {
            let (counts, wrong) = (routes.counts(), self.wrong_ports.len());
            let sections = routes.sections().count();
            writeln!(
                f,
                "preload: sections {sections} destinations {} ports {} wrong {wrong}",
                counts.routes, counts.ports
            )?;
        }
        if let Some(hosts) = &self.hosts {
            writeln!(f, "preload: hosts {} wrong {}", hosts.len(), self.wrong_hosts.len())?;
        }
        Ok(())
    }
}
