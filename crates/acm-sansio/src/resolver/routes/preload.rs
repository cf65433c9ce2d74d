//! Preloaded routes and hosts, which are used before a multicast request or a query to the subnet administrator.
//!
//! A preloaded entry becomes an ordinary destination, which is evicted and recreated like any other. It does not
//! expire, but the next load invalidates it. The fabric takes precedence: an entry whose port or address is found
//! elsewhere, or with other values, is ignored until the next load. Routes are valid only while the local port has the
//! LID that the table has for it.
use crate::{
    api::{
        PathOrigin, ResolverEvent, SaError, config::RouteProtocol, id::EndpointId, port::PortAttributes, preload::Route,
    },
    provider::{Context, Resolution},
    resolver::{
        dest::{DestKey, DestState, History, Origin, Ready, Remote, RouteKey},
        state::Ibacmp,
        token::DestId,
    },
};
use acm_wire::{Address, client::Counter};
use ib_mad::{
    Gid, PacketLifeTime, Pkey, Selected,
    sa::{PathRecord, QosSl, ReversiblePaths},
};

/// Returns the path for a route of a dump, completed with the attributes that all paths of the port share.
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
    /// Returns the result for a local request, if the tables contain it.
    pub(crate) fn preloaded_resolution(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
    ) -> Option<Resolution> {
        let path = self.preloaded(cx, id, endpoint)?;
        cx.count(endpoint, Counter::RouteCache);
        Some(Resolution::Ready(path))
    }

    /// Fills a destination from the tables. Returns the path if it is complete; otherwise, at most the location is set.
    fn preloaded(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) -> Option<PathRecord> {
        if self.preload.is_empty() {
            return None;
        }
        let dest = self.cache.at(id);
        let (remote, addr_until, path) = match (&dest.state, &dest.key) {
            (DestState::Unknown, DestKey::Route(key)) => (None, None, self.preloaded_path(cx, endpoint, key)?),
            (DestState::Unknown, DestKey::Address(address)) => {
                let gid = self.preload.gid_of(address)?;
                self.cache.at_mut(id).origin = Origin::Asked;
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
                // A table of hosts has no LIDs.
                let lmc = cx.port_of(endpoint)?.lmc;
                (Some(remote.at_end_of(&path, lmc)), *addr_until, path)
            }
            _ => return None,
        };
        let preloaded = Some(self.preload.loads());
        let history = History::new(PathOrigin::File, cx.now());
        let ready = Ready { addr_until, preloaded, history, ..Ready::new(remote, path, self.epoch(endpoint)) };
        self.cache.enter(id, DestState::Ready(ready));
        self.stats.preload_used += 1;
        cx.log(ResolverEvent::Preloaded(endpoint, self.cache.at(id).name()).into());
        Some(path)
    }

    /// Returns the path for a request by LID or GID.
    pub(super) fn preloaded_path(&self, cx: &Context, endpoint: EndpointId, key: &RouteKey) -> Option<PathRecord> {
        let (here, port) = (cx.endpoint(endpoint)?, cx.port_of(endpoint)?);
        let key = RouteKey { service_id: self.id_in_tables(cx, endpoint, key.service_id), ..*key };
        let (dgid, route) = self.preload.route(port, &key)?;
        Some(path(port, here.pkey, dgid, &route)).filter(|path| !port.is_too_much(path))
    }

    /// Returns the path to a location from the fabric or from the table of hosts. Returns `None` if the table of routes
    /// has another LID for it.
    pub(crate) fn preloaded_path_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<PathRecord> {
        // With `route_prot acm`, paths come from the shared group, if there is one.
        if cx.config().route_protocol == RouteProtocol::Acm && !remote.group.is_zero() {
            return None;
        }
        let path = self.preloaded_path(cx, endpoint, &RouteKey { dgid: remote.gid, ..RouteKey::default() })?;
        let lmc = cx.port_of(endpoint)?.lmc;
        (remote.lid.is_zero() || remote.lid.base(lmc) == path.dlid.base(lmc)).then_some(path)
    }

    /// Reports whether a remote host claims an address that the table of hosts has at another GID. The claim is then
    /// verified, as if a local user had requested the address.
    pub(crate) fn is_listed_elsewhere(&mut self, cx: &mut Context, id: DestId, claimed: &Remote) -> bool {
        let dest = self.cache.at(id);
        let DestKey::Address(address) = &dest.key else { return false };
        let endpoint = dest.endpoint;
        if self.preload.gid_of(address).is_none_or(|gid| gid == claimed.gid) {
            return false;
        }
        // The table may contain an address whose lookup failed before.
        if matches!(dest.state, DestState::Failed(_)) {
            self.cache.enter(id, DestState::Unknown);
        }
        self.preloaded(cx, id, endpoint);
        true
    }

    /// Compares the table of hosts with the GID that a multicast response contained.
    pub(crate) fn compare_host(&mut self, address: &Address, gid: Gid) {
        if self.preload.gid_of(address).is_some_and(|listed| listed != gid) && self.preload.refute_host(address) {
            self.stats.preload_refuted += 1;
        }
    }

    /// Compares the tables with a response of the subnet administrator. Returns `true` if an entry is newly found
    /// wrong.
    pub(crate) fn compare_path(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<&Remote>,
        result: Result<&PathRecord, SaError>,
    ) -> bool {
        if self.preload.is_empty() {
            return false;
        }
        let dest = self.cache.at(id);
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
            // The port does not exist; a multicast request may find the address elsewhere.
            news |= self.preload.gid_of(&name) == Some(key.dgid) && self.preload.refute_host(&name);
        }
        if news {
            self.stats.preload_refuted += 1;
            cx.log(ResolverEvent::PreloadRefuted(endpoint, name).into());
        }
        news
    }
}
