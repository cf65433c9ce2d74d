//! What was loaded from files: looked at before the group or subnet administration is asked.
//!
//! It becomes an ordinary destination, which is evicted like any other and found again. It does not expire, and is
//! taken back when another table is loaded. What the fabric says counts more: a port that it has elsewhere, or with other
//! values, and an address that it has elsewhere, are not taken from the table any more until the next one comes. Routes
//! count only while the port has the LID that the table has for it.
use super::{
    dest::{DestKey, DestState, Ready, RouteKey},
    endpoint::EndpointState,
    event::Event,
    remote::Remote,
    state::Ibacmp,
    token::DestId,
};
use crate::{
    Time,
    config::RouteProtocol,
    context::Context,
    id::EndpointId,
    port::PortAttributes,
    preload::{Hosts, Preload, Route, Routes},
    provider::Answer,
    sa::SaError,
};
use acm_wire::{Address, client::Counter};
use alloc::{collections::BTreeSet, sync::Arc};
use core::fmt;
use ib_mad::{
    Gid, Guid, PacketLifeTime, Pkey, Selected, Status,
    sa::{PathRecord, QosSl, ReversiblePaths},
};

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
    const fn is_empty(&self) -> bool {
        self.routes.is_none() && self.hosts.is_none()
    }

    /// The number of the tables that count now.
    pub(super) const fn loads(&self) -> u32 {
        self.loads
    }

    /// Takes a table. If it says the same as the one before, nothing changes, and what was wrong is wrong still.
    fn take(&mut self, preload: Preload) {
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
    fn gid_of(&self, address: &Address) -> Option<Gid> {
        let gid = self.hosts.as_deref()?.gid_of(address)?;
        (!self.wrong_hosts.contains(&address.canonical())).then_some(gid)
    }

    /// The way that a request asks for, and the GID of the port at its end. A dump has one way to each LID: to what asks
    /// for another one it says nothing. Service ids count for nothing here, as in C ibacm.
    fn route(&self, port: &PortAttributes, key: &RouteKey) -> Option<(Gid, Route)> {
        let (routes, own) = (self.routes.as_deref()?, port.gid());
        let elsewhere = (!key.sgid.is_zero() && key.sgid != own) || (!key.slid.is_zero() && key.slid != port.lid);
        if elsewhere || key.traffic_class != 0 || key.qos_class != 0 {
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
    fn refute_port(&mut self, guid: Guid) -> bool {
        // What the table does not have takes no room here.
        self.routes.as_deref().is_some_and(|routes| routes.lid_of(guid).is_some()) && self.wrong_ports.insert(guid)
    }

    /// An address is elsewhere; whether that is news.
    fn refute_host(&mut self, address: &Address) -> bool {
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

/// The path of a route in a dump: what it says, and what holds for all paths of the port.
fn path(port: &PortAttributes, pkey: Pkey, dgid: Gid, route: &Route) -> PathRecord {
    let life = if route.dlid == port.lid { 0 } else { port.subnet_timeout };
    PathRecord {
        dgid,
        sgid: port.gid(),
        dlid: route.dlid,
        slid: port.lid,
        reversible_paths: ReversiblePaths::default().with_reversible(true).with_num_path(1),
        pkey,
        qos_sl: QosSl::default().with_sl(route.sl),
        mtu: Selected::exactly(route.mtu),
        rate: Selected::exactly(route.rate),
        packet_life_time: Selected::exactly(PacketLifeTime::new(life)),
        ..PathRecord::default()
    }
}

impl Ibacmp {
    /// Takes a table in place of the one before. What that one made is made anew when it is used next.
    pub(super) fn load(&mut self, preload: Preload) {
        self.preload.take(preload);
        self.stats.preload_loads += 1;
    }

    /// The answer to somebody here, if the tables have it.
    pub(super) fn preloaded_answer(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) -> Option<Answer> {
        let path = self.preloaded(cx, id, endpoint)?;
        cx.count(endpoint, Counter::RouteCache);
        Some(Answer::Ready(path))
    }

    /// Makes a destination ready, or says at least where it is, if the tables know; its path if it is ready now.
    fn preloaded(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) -> Option<PathRecord> {
        if self.preload.is_empty() {
            return None;
        }
        let dest = self.cache.get(id)?;
        let (remote, addr_until, path) = match (&dest.state, &dest.key) {
            (DestState::Unknown, DestKey::Route(key)) => (None, None, self.preloaded_path(cx, endpoint, key)?),
            (DestState::Unknown, DestKey::Address(address)) => {
                let gid = self.preload.gid_of(address)?;
                let path = self.preloaded_path(cx, endpoint, &RouteKey { dgid: gid, ..RouteKey::default() });
                let lid = path.as_ref().map(|path| path.dlid).unwrap_or_default();
                let remote = Remote { gid, lid, ..Remote::default() };
                let Some(path) = path else {
                    self.cache.enter(id, DestState::Known { remote, addr_until: None });
                    return None;
                };
                (Some(remote), None, path)
            }
            (DestState::Known { remote, addr_until }, _) => {
                (Some(*remote), *addr_until, self.preloaded_way(cx, endpoint, remote)?)
            }
            _ => return None,
        };
        self.preload_ready(id, endpoint, remote, addr_until, path);
        if let Some(dest) = self.cache.get(id) {
            cx.log(Event::Preloaded(endpoint, dest.name()).into());
        }
        Some(path)
    }

    fn preload_ready(
        &mut self,
        id: DestId,
        endpoint: EndpointId,
        remote: Option<Remote>,
        addr_until: Option<Time>,
        path: PathRecord,
    ) {
        let epoch = self.endpoints.get(&endpoint).map_or(0, EndpointState::epoch);
        let (route_until, claim, no_claim_until, preloaded) = (None, None, None, Some(self.preload.loads));
        let ready = Ready { remote, path, addr_until, route_until, epoch, claim, no_claim_until, preloaded };
        self.cache.enter(id, DestState::Ready(ready));
        self.stats.preload_used += 1;
    }

    /// The path that a request asks for.
    fn preloaded_path(&self, cx: &Context, endpoint: EndpointId, key: &RouteKey) -> Option<PathRecord> {
        let (here, port) = (cx.endpoint(endpoint)?, cx.port_of(endpoint)?);
        let (dgid, route) = self.preload.route(port, key)?;
        Some(path(port, here.pkey, dgid, &route)).filter(|path| !port.is_too_much(path))
    }

    /// The path to where the fabric, or the table of hosts, has an address. If they do not agree where that is, none.
    pub(super) fn preloaded_way(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<PathRecord> {
        // Routes are the shared group's then, unless there is none yet.
        if cx.config().route_protocol == RouteProtocol::Acm && !remote.group.is_zero() {
            return None;
        }
        let path = self.preloaded_path(cx, endpoint, &RouteKey { dgid: remote.gid, ..RouteKey::default() })?;
        let lmc = cx.port_of(endpoint)?.lmc;
        (remote.lid.is_zero() || remote.lid.base(lmc) == path.dlid.base(lmc)).then_some(path)
    }

    /// Notes that a destination is ready by the tables.
    pub(super) fn note_preloaded(&mut self, id: DestId) {
        let load = self.preload.loads;
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                (ready.preloaded, ready.route_until) = (Some(load), None);
            }
        });
        self.stats.preload_used += 1;
    }

    /// Whether a stranger claims an address that the table of hosts has elsewhere. What the table says is then as good as
    /// if somebody here had asked for it: the claim is checked.
    pub(super) fn is_listed_elsewhere(&mut self, cx: &mut Context, id: DestId, claimed: &Remote) -> bool {
        let Some(dest) = self.cache.get(id) else { return false };
        let DestKey::Address(address) = &dest.key else { return false };
        let endpoint = dest.endpoint;
        if self.preload.gid_of(address).is_none_or(|gid| gid == claimed.gid) {
            return false;
        }
        self.preloaded(cx, id, endpoint);
        true
    }

    /// The group says that an address is at this GID.
    pub(super) fn compare_host(&mut self, address: &Address, gid: Gid) {
        if self.preload.gid_of(address).is_some_and(|known| known != gid) && self.preload.refute_host(address) {
            self.stats.preload_refuted += 1;
        }
    }

    /// Subnet administration answered the question for a destination: whether the tables say the same.
    pub(super) fn compare_path(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<&Remote>,
        answer: Result<&PathRecord, SaError>,
    ) {
        if self.preload.is_empty() {
            return;
        }
        let Some(dest) = self.cache.get(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let asked = match (&dest.key, remote) {
            (DestKey::Route(key), _) => *key,
            (DestKey::Address(_), Some(remote)) => RouteKey { dgid: remote.gid, ..RouteKey::default() },
            (DestKey::Address(_), None) => return,
        };
        let Some(port) = cx.port_of(endpoint) else { return };
        let mut news = false;
        if let Some((gid, route)) = self.preload.route(port, &asked) {
            let differs = match answer {
                Ok(path) => {
                    let lmc = port.lmc;
                    (path.dlid.base(lmc), path.qos_sl.sl(), path.mtu.value(), path.rate.value())
                        != (route.dlid.base(lmc), route.sl, route.mtu, route.rate)
                }
                Err(error) => error == SaError::Status(Status::SA_NO_RECORDS),
            };
            news = differs && self.preload.refute_port(gid.interface_id());
        }
        if answer.is_err_and(|error| error == SaError::Status(Status::SA_NO_RECORDS)) {
            // Nothing is there: the group may know better.
            news |= self.preload.gid_of(&name) == Some(asked.dgid) && self.preload.refute_host(&name);
        }
        if news {
            self.stats.preload_refuted += 1;
            cx.log(Event::PreloadRefuted(endpoint, name).into());
        }
    }
}
