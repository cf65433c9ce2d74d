//! The tables that were loaded from files.
use super::dest::{DestKey, RouteKey};
use crate::{
    port::PortAttributes,
    preload::{Hosts, Preload, Route, Routes},
};
use acm_wire::Address;
use alloc::{collections::BTreeSet, sync::Arc};
use core::fmt;
use ib_mad::{Gid, Guid};

/// The tables, and what the fabric has said against them.
#[derive(Debug, Default)]
pub(super) struct Preloaded {
    routes: Option<Arc<Routes>>,
    hosts: Option<Arc<Hosts>>,
    /// How often a table took another's place: a destination that is from before that is made anew.
    loads: u32,
    /// Ports in `routes` that are elsewhere, or are reached otherwise.
    wrong_ports: BTreeSet<Guid>,
    /// Addresses in `hosts` that are elsewhere, in canonical form.
    wrong_hosts: BTreeSet<Address>,
}

impl Preloaded {
    pub(super) const fn is_empty(&self) -> bool {
        self.routes.is_none() && self.hosts.is_none()
    }

    /// The number of the tables that count now.
    pub(super) const fn loads(&self) -> u32 {
        self.loads
    }

    /// Takes a table. If it says the same as the one before, nothing changes, and what was wrong is wrong still.
    pub(super) fn take(&mut self, preload: Preload) {
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
        self.loads = self.loads.wrapping_add(1);
    }

    /// The GID of an address.
    pub(super) fn gid_of(&self, address: &Address) -> Option<Gid> {
        let gid = self.hosts.as_deref()?.gid_of(address)?;
        (!self.wrong_hosts.contains(&address.canonical())).then_some(gid)
    }

    /// Whether the table of hosts has an address at this GID.
    pub(super) fn has(&self, key: &DestKey, gid: Gid) -> bool {
        matches!(key, DestKey::Address(address) if self.gid_of(address) == Some(gid))
    }

    /// The way that a request asks for, and the GID of the port at its end. A dump has one way to each LID: to what asks
    /// for another one it says nothing.
    pub(super) fn route(&self, port: &PortAttributes, key: &RouteKey) -> Option<(Gid, Route)> {
        let (routes, own) = (self.routes.as_deref()?, port.gid());
        let elsewhere = (!key.sgid.is_zero() && key.sgid != own) || (!key.slid.is_zero() && key.slid != port.lid);
        let plain = RouteKey { dgid: key.dgid, sgid: key.sgid, dlid: key.dlid, slid: key.slid, ..RouteKey::default() };
        if elsewhere || *key != plain {
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

    /// A port is not as the table has it; whether that is news.
    pub(super) fn refute_port(&mut self, guid: Guid) -> bool {
        // What the table does not have takes no room here.
        self.routes.as_deref().is_some_and(|routes| routes.lid_of(guid).is_some()) && self.wrong_ports.insert(guid)
    }

    /// An address is elsewhere; whether that is news.
    pub(super) fn refute_host(&mut self, address: &Address) -> bool {
        self.hosts.as_deref().is_some_and(|hosts| hosts.gid_of(address).is_some())
            && self.wrong_hosts.insert(address.canonical())
    }
}

impl fmt::Display for Preloaded {
    /// A line for each table.
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
