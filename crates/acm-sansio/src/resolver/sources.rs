//! Paths that need no query: from the table of all paths, from files, from another destination at the same GID, or from
//! the parameters of the shared group. Nothing here changes anything.
use super::{
    dest::{Dest, DestKey, DestState, EvictionClass, Lookup, Remote, RouteKey},
    paths::{self, Known, PathSource},
    state::Ibacmp,
    token::DestId,
};
use crate::{
    api::{
        config::{Prefetch, RouteProt, ServiceIds},
        id::EndpointId,
    },
    provider::Context,
};
use ib_mad::ServiceId;

/// The way to get the path to a location.
pub(crate) enum Way {
    /// It is known.
    Known(Known),
    /// It is being queried at this destination, for a response to the host.
    Queried(DestId),
    /// The subnet administrator must be queried.
    Query,
    /// Paths come from the shared group, and none is shared.
    NoGroup,
}

impl Ibacmp {
    /// Returns the way to get the path to a location for a lookup.
    pub(crate) fn way_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote, lookup: &Lookup) -> Way {
        let listed = || self.table_path_to(cx, endpoint, remote).or_else(|| self.file_path_to(cx, endpoint, remote));
        let copy = || self.copied_path_to(cx, endpoint, remote).filter(|known| !known.is_stale);
        let is_by_sa = cx.shared.config().route_prot == RouteProt::Sa;
        if let Some(known) = listed().or_else(|| copy().filter(|_| is_by_sa)) {
            return Way::Known(known);
        }
        if lookup.is_needed()
            && let Some(by_gid) = self.cache.find(endpoint, &self.key_to(endpoint, remote))
            && let Dest { class: EvictionClass::Unsolicited, state: DestState::Routing(_), .. } = self.cache.at(by_gid)
        {
            return Way::Queried(by_gid);
        }
        if !is_by_group(cx, remote) {
            return Way::Query;
        }
        self.group_path_to(cx, endpoint, remote).map_or(Way::NoGroup, Way::Known)
    }

    /// Returns the path to a remote host for a response, if it needs no query. It may be stale.
    pub(crate) fn response_path_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<Known> {
        if let Some(known) = self.file_path_to(cx, endpoint, remote) {
            return Some(known);
        }
        if cx.shared.config().route_prot == RouteProt::Acm {
            return self.group_path_to(cx, endpoint, remote);
        }
        self.table_path_to(cx, endpoint, remote).or_else(|| self.copied_path_to(cx, endpoint, remote))
    }

    /// Returns the location of a destination of which no path is cached, and the path to it, from the table of all paths
    /// or from files. A port given by LID or GID has no location.
    pub(crate) fn listed(&self, cx: &Context, dest: &Dest) -> Option<(Option<Remote>, Option<Known>)> {
        let endpoint = dest.endpoint;
        match (&dest.state, &dest.key) {
            (DestState::Unknown, DestKey::Route(key)) => {
                // The table may be older than the datagram that contradicted the path.
                let table = || self.table_path(cx, endpoint, key).filter(|_| !dest.doubts.are_open());
                let known = table().or_else(|| self.file_path(cx, endpoint, key))?;
                Some((None, Some(known)))
            }
            (DestState::Unknown, DestKey::Address(address)) => {
                let gid = self.preload.gid_of(address)?;
                let known = self.file_path(cx, endpoint, &RouteKey { dgid: gid, ..RouteKey::default() });
                let lid = known.map(|known| known.path.dlid).unwrap_or_default();
                Some((Some(Remote { gid, lid, ..Remote::default() }), known))
            }
            (DestState::Located { remote, .. }, _) => {
                let known = self.file_path_to(cx, endpoint, remote)?;
                // A table of hosts has no LIDs.
                Some((Some(remote.at_end_of(&known.path, cx.lmc_of(endpoint))), Some(known)))
            }
            _ => None,
        }
    }

    /// Returns the path for a request by LID or GID from the endpoint's table of all paths.
    pub(crate) fn table_path(&self, cx: &Context, endpoint: EndpointId, key: &RouteKey) -> Option<Known> {
        if cx.shared.config().prefetch == Prefetch::Off {
            return None;
        }
        let port = cx.port_of(endpoint)?;
        let table = self.endpoints.get(endpoint)?.prefetch.table(cx.shared.now())?;
        let path = table.paths.path(key).filter(|path| !port.is_too_much(path))?;
        Some(Known::new(path, PathSource::Table(table.route_until)))
    }

    /// Returns the path to a location that the fabric or a file of hosts has, unless the table has another LID for it.
    pub(crate) fn table_path_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<Known> {
        if is_by_group(cx, remote) {
            return None;
        }
        let known = self.table_path(cx, endpoint, &self.endpoints.at(endpoint).route_key_to(remote.gid))?;
        remote.may_be_at_end_of(&known.path, cx.lmc_of(endpoint)).then_some(known)
    }

    /// Returns the path for a request by LID or GID from the file of routes.
    pub(crate) fn file_path(&self, cx: &Context, endpoint: EndpointId, key: &RouteKey) -> Option<Known> {
        let (here, port) = (cx.endpoint(endpoint)?, cx.port_of(endpoint)?);
        // A file has no partitions.
        let key = RouteKey { service_id: self.id_in_files(cx, endpoint, key.service_id), choice: None, ..*key };
        let (dgid, route) = self.preload.route(port, &key)?;
        let path = paths::from_file(port, here.pkey, dgid, &route);
        (!port.is_too_much(&path)).then(|| Known::new(path, PathSource::File))
    }

    /// Returns the path to a location that the fabric or a file of hosts has, unless the file has another LID for it.
    pub(crate) fn file_path_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<Known> {
        if is_by_group(cx, remote) {
            return None;
        }
        let known = self.file_path(cx, endpoint, &RouteKey { dgid: remote.gid, ..RouteKey::default() })?;
        remote.may_be_at_end_of(&known.path, cx.lmc_of(endpoint)).then_some(known)
    }

    /// Returns the cached path to a location, which was found for its GID or for another of its addresses, without other
    /// conditions.
    fn copied_path_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<Known> {
        let by_gid = self.cache.find(endpoint, &self.key_to(endpoint, remote));
        let mut all = [by_gid, self.cache.first_address_at(endpoint, remote.gid)].into_iter().flatten();
        all.find_map(|id| {
            let dest = self.cache.at(id);
            let ready = dest.state.ready().filter(|ready| self.is_served(cx, dest, ready))?;
            let is_stale = ready.freshness.stale || self.endpoints.at(endpoint).is_stale(ready.freshness.epoch);
            let source = PathSource::Copy { of: id, until: ready.freshness.route_until };
            let leads_there = remote.is_at_end_of(&ready.path, cx.lmc_of(endpoint));
            leads_there.then_some(Known { path: ready.path, source, is_stale })
        })
    }

    /// Returns the path to a location from the parameters of the shared group.
    fn group_path_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<Known> {
        let path = self.endpoints.path_by_group(cx, endpoint, remote)?;
        Some(Known::new(path, PathSource::Group))
    }

    /// Returns the key of the path to a location, without other conditions.
    pub(crate) fn key_to(&self, endpoint: EndpointId, remote: &Remote) -> DestKey {
        DestKey::Route(self.endpoints.at(endpoint).route_key_to(remote.gid))
    }

    /// Returns the service id that a path of the files, which have none, must be for. While the subnet administrator is
    /// silent, the files have the only paths, and any id gets them.
    fn id_in_files(&self, cx: &Context, endpoint: EndpointId, id: ServiceId) -> ServiceId {
        match (&cx.shared.config().path_service_ids, self.endpoints.get(endpoint)) {
            (ServiceIds::Auto, Some(state)) if state.id_rules.is_silent() => ServiceId::default(),
            _ => id,
        }
    }
}

/// Reports whether the path to a location comes from the shared group (`route_prot acm`). A location from a file has no
/// group.
fn is_by_group(cx: &Context, remote: &Remote) -> bool {
    cx.shared.config().route_prot == RouteProt::Acm && !remote.is_from_file()
}
