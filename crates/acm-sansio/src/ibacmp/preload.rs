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
    preload::{Preload, Route},
    provider::Resolution,
    sa::SaError,
};
use acm_wire::{Address, client::Counter};
use alloc::vec::Vec;
use ib_mad::{
    Gid, PacketLifeTime, Pkey, Selected,
    sa::{PathRecord, QosSl, ReversiblePaths},
};

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
        packet_life_time: Selected::exactly(PacketLifeTime::masked(life)),
        ..PathRecord::default()
    }
}

impl Ibacmp {
    /// Takes a table in place of the one before. What that one made is made anew when it is used next.
    pub(super) fn load(&mut self, preload: Preload) {
        self.preload.take(preload);
        let endpoints: Vec<EndpointId> = self.endpoints.keys().copied().collect();
        endpoints.into_iter().for_each(|endpoint| self.clear_failures(endpoint));
        self.stats.preload_loads += 1;
    }

    /// The answer to somebody here, if the tables have it.
    pub(super) fn preloaded_resolution(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
    ) -> Option<Resolution> {
        let path = self.preloaded(cx, id, endpoint)?;
        cx.count(endpoint, Counter::RouteCache);
        Some(Resolution::Ready(path))
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
                    self.cache.enter(id, DestState::Located { remote, addr_until: None });
                    return None;
                };
                (Some(remote), None, path)
            }
            (DestState::Located { remote, addr_until }, _) => {
                let path = self.preloaded_path_to(cx, endpoint, remote)?;
                // A table of hosts does not know the LID.
                let lmc = cx.port_of(endpoint)?.lmc;
                (Some(remote.at_end_of(&path, lmc)), *addr_until, path)
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
        let preloaded = Some(self.preload.loads());
        let ready = Ready { addr_until, preloaded, ..Ready::new(remote, path, epoch) };
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
    pub(super) fn preloaded_path_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<PathRecord> {
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
        let load = self.preload.loads();
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
        // What failed before is in the table now.
        if matches!(dest.state, DestState::Failed(_)) {
            self.cache.enter(id, DestState::Unknown);
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

    /// Subnet administration answered the question for a destination: whether it is news that the tables are wrong.
    pub(super) fn compare_path(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<&Remote>,
        result: Result<&PathRecord, SaError>,
    ) -> bool {
        if self.preload.is_empty() {
            return false;
        }
        let Some(dest) = self.cache.get(id) else { return false };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let key = match (&dest.key, remote) {
            (DestKey::Route(key), _) => *key,
            (DestKey::Address(_), Some(remote)) => RouteKey { dgid: remote.gid, ..RouteKey::default() },
            (DestKey::Address(_), None) => return false,
        };
        let Some(port) = cx.port_of(endpoint) else { return false };
        let mut news = false;
        if let Some((gid, route)) = self.preload.route(port, &key) {
            let differs = match result {
                Ok(path) => {
                    let lmc = port.lmc;
                    (path.dlid.base(lmc), path.qos_sl.sl(), path.mtu.value(), path.rate.value())
                        != (route.dlid.base(lmc), route.sl, route.mtu, route.rate)
                }
                Err(error) => error.is_no_path(),
            };
            news = differs && self.preload.refute_port(gid.interface_id());
        }
        if result.is_err_and(SaError::is_no_path) {
            // Nothing is there: the group may know better.
            news |= self.preload.gid_of(&name) == Some(key.dgid) && self.preload.refute_host(&name);
        }
        if news {
            self.stats.preload_refuted += 1;
            cx.log(Event::PreloadRefuted(endpoint, name).into());
        }
        news
    }
}
