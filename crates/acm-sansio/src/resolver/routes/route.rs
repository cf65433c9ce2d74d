//! Paths to located addresses and to ports.
use crate::{
    Time,
    api::{
        ResolverEvent, SaError,
        config::RouteProtocol,
        failure::{Attempt, AttemptDetails, Bound, Failure, MulticastAttempt},
        id::EndpointId,
    },
    provider::{Context, Need, Resolution},
    resolver::{
        dest::{Dest, DestKey, DestState, EvictionClass, Lookup, Ready, Remote, RouteKey, Routing},
        endpoint::EndpointState,
        paths,
        state::Ibacmp,
        token::{DestId, Task},
    },
    sa::SaQuery,
};
use acm_wire::client::Counter;
use ib_mad::sa::{PathRecord, SaMad};

impl Ibacmp {
    /// Returns the path to a port given by LID or GID, or starts a lookup.
    pub(crate) fn resolve_route(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        path: &PathRecord,
        need: Need,
    ) -> Resolution {
        let key = RouteKey {
            service_id: self.id_to_query(cx, endpoint, path.service_id, need),
            dgid: path.dgid,
            sgid: path.sgid,
            dlid: path.dlid,
            slid: path.slid,
            traffic_class: path.traffic_class,
            qos_class: path.qos_sl.qos_class(),
            sl: path.qos_sl.sl(),
            mtu: path.mtu,
            rate: path.rate,
            packet_life_time: path.packet_life_time,
        };
        let Some(id) = self.acquire(cx, endpoint, DestKey::Route(key)) else {
            return Failure::TooMany(Bound::Destinations).into();
        };
        if let Some(resolution) = self.cached_resolution(cx, id, endpoint, need) {
            return resolution;
        }
        if let Some(resolution) = self.prefetched_resolution(cx, id, endpoint) {
            return resolution;
        }
        if let Some(resolution) = self.preloaded_resolution(cx, id, endpoint) {
            return resolution;
        }
        match Lookup::begin(cx, need) {
            Ok(lookup) => {
                let addr_until = Self::addr_end(cx);
                self.query_route(cx, id, None, addr_until, lookup);
                self.note_undecided(cx, endpoint, key.service_id, id);
            }
            Err(failure) => {
                self.cache.remove_if_not_found(id);
                return failure.into();
            }
        }
        self.current_resolution(id)
    }

    /// Completes a destination whose location is known, or queries the subnet administrator for the path.
    pub(crate) fn find_route(&mut self, cx: &mut Context, id: DestId, remote: Remote, lookup: Lookup) {
        let Some(endpoint) = self.cache.get(id).map(|dest| dest.endpoint) else {
            lookup.end(cx);
            return;
        };
        let addr_until = Self::addr_end(cx);
        if let Some(found) = self.prefetched_to(cx, endpoint, &remote) {
            self.make_ready(cx, id, Some(remote), addr_until, found.path, lookup);
            return self.note_prefetched(id, found);
        }
        if let Some(path) = self.preloaded_path_to(cx, endpoint, &remote) {
            self.make_ready(cx, id, Some(remote), addr_until, path, lookup);
            return self.note_preloaded(id);
        }
        if cx.config().route_protocol == RouteProtocol::Sa
            && let Some(&Ready { path, route_until, .. }) =
                self.path_of_gid(cx, endpoint, &remote).filter(|ready| !ready.stale)
        {
            self.make_ready(cx, id, Some(remote), addr_until, path, lookup);
            return self.expire_route_at(id, route_until);
        }
        if lookup.is_needed()
            && let Some(by_gid) = self.cache.find(endpoint, &self.key_of_gid(endpoint, remote.gid))
            && let Some(Dest { class: EvictionClass::Unsolicited, state: DestState::Routing(_), .. }) =
                self.cache.get(by_gid)
        {
            return self.take_over_query(cx, id, by_gid, remote, lookup);
        }
        // The shared group of a preloaded host is unknown.
        if cx.config().route_protocol == RouteProtocol::Sa || remote.group.is_zero() {
            return self.query_route(cx, id, Some(remote), addr_until, lookup);
        }
        let path = self
            .joined(endpoint)
            .find(|member| member.mgid == remote.group)
            .zip(cx.port_of(endpoint))
            .map(|(member, port)| paths::from_group(member, &remote, port.lid));
        match path {
            Some(path) => self.make_ready(cx, id, Some(remote), addr_until, path, lookup),
            None => {
                let details = AttemptDetails { found: Some(remote.lid), ..AttemptDetails::default() };
                self.give_up(cx, id, lookup, Attempt { failure: Failure::NoSharedGroup, details });
            }
        }
    }

    /// Continues the path query for a response to a host as the query of the host's address.
    fn take_over_query(&mut self, cx: &mut Context, id: DestId, by_gid: DestId, remote: Remote, mut lookup: Lookup) {
        let addr_until = Self::addr_end(cx);
        if let DestState::Routing(routing) = self.cache.enter(by_gid, DestState::Unknown) {
            cx.sa.hand_over(routing.query, Task::Route(id).token());
            for (account, urgency) in lookup.needs() {
                cx.sa_join(routing.query, account, urgency);
            }
            lookup.absorb(cx, routing.lookup);
            let remote = Some(remote);
            self.cache.enter(id, DestState::Routing(Routing { remote, addr_until, lookup, ..routing }));
        }
    }

    /// Sets the expiry time of a path that was found earlier for another destination.
    fn expire_route_at(&mut self, id: DestId, until: Option<Time>) {
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                ready.route_until = until;
            }
        });
    }

    /// Returns the path query for a destination.
    pub(crate) fn path_query(&self, cx: &Context, id: DestId, remote: Option<&Remote>) -> Option<SaQuery> {
        let (endpoint, key) = self.route_key(id, remote)?;
        Some(paths::query(&key, cx.endpoint(endpoint)?.pkey))
    }

    /// Returns the endpoint of a destination, and the key of the path to it.
    pub(crate) fn route_key(&self, id: DestId, remote: Option<&Remote>) -> Option<(EndpointId, RouteKey)> {
        let dest = self.cache.get(id)?;
        let key = match (&dest.key, remote) {
            (DestKey::Route(key), _) => *key,
            (DestKey::Address(_), Some(remote)) => self.route_key_to(dest.endpoint, remote),
            (DestKey::Address(_), None) => return None,
        };
        Some((dest.endpoint, key))
    }

    /// Returns the key of the path to a located address.
    pub(crate) fn route_key_to(&self, endpoint: EndpointId, remote: &Remote) -> RouteKey {
        let traffic_class = self.base_group(endpoint).map_or(0, |member| member.traffic_class);
        RouteKey { dgid: remote.gid, traffic_class, ..RouteKey::default() }
    }

    /// Queries the subnet administrator for the path, if the lookup is needed. The query does not depend on earlier
    /// responses.
    pub(crate) fn query_route(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<Remote>,
        addr_until: Option<Time>,
        lookup: Lookup,
    ) {
        let (Some(dest), Some(first)) = (self.cache.get(id), lookup.accounts().next()) else {
            lookup.end(cx);
            return self.cache.remove_if_not_found(id);
        };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let Some(query) = self.path_query(cx, id, remote.as_ref()) else {
            return self.give_up(cx, id, lookup, Failure::EndpointClosed.into());
        };
        cx.count(endpoint, Counter::RouteQuery);
        cx.log(ResolverEvent::RouteRequested(endpoint, name).into());
        match cx.sa_query(endpoint, Task::Route(id).token(), query, first) {
            Err(error) => self.give_up(cx, id, lookup, Failure::Sa(error).into()),
            Ok(query) => {
                for (account, urgency) in lookup.needs() {
                    cx.sa_join(query, account, urgency);
                }
                self.cache
                    .enter(id, DestState::Routing(Routing { remote, addr_until, query, since: cx.now(), lookup }));
            }
        }
    }

    /// Handles the result of a path query.
    pub(crate) fn route_done(&mut self, cx: &mut Context, id: DestId, result: Result<&SaMad, SaError>) {
        if !matches!(self.cache.get(id).map(|dest| &dest.state), Some(DestState::Routing(_))) {
            return;
        }
        let details = self.attempt_details_of(cx, id);
        let DestState::Routing(Routing { remote, addr_until, lookup, .. }) = self.cache.enter(id, DestState::Unknown)
        else {
            return;
        };
        let result = result.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::BadResponse));
        let refuted = self.compare_path(cx, id, remote.as_ref(), result);
        let route_key = self.route_key(id, remote.as_ref());
        if let Some((endpoint, key)) = route_key {
            self.compare_prefetched(endpoint, &key, result);
            if result.is_ok() {
                self.count_cold_lookup(cx, endpoint, &key);
            }
        }
        match result {
            Ok(path) => self.make_ready(cx, id, remote, addr_until, *path, lookup),
            Err(error) => self.give_up(cx, id, lookup, Attempt { failure: Failure::Sa(error), details }),
        }
        if let Some((endpoint, key)) = route_key {
            self.learn_service_ids(cx, endpoint, &key, result);
        }
        // The next request starts with a multicast request.
        if refuted && matches!(self.cache.get(id).map(|dest| &dest.state), Some(DestState::Failed(_))) {
            self.cache.enter(id, DestState::Unknown);
        }
    }

    /// Stores the path of a destination and answers all waiting requests, local and remote.
    pub(crate) fn make_ready(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<Remote>,
        addr_until: Option<Time>,
        path: PathRecord,
        lookup: Lookup,
    ) {
        let Some(dest) = self.cache.get(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let route_until = Self::route_end(cx);
        let epoch = self.endpoints.get(&endpoint).map_or(0, EndpointState::epoch);
        let lmc = cx.lmc_of(endpoint);
        // The peer may have moved since its location was found.
        let remote = remote.map(|remote| remote.at_end_of(&path, lmc));
        // A location from a file is valid until the next load.
        let preloaded = remote.filter(|remote| remote.group.is_zero()).map(|_| self.preload.loads());
        let ready = Ready { addr_until, route_until, preloaded, ..Ready::new(remote, path, epoch) };
        self.cache.enter(id, DestState::Ready(ready));
        cx.log(ResolverEvent::RouteFound(endpoint, name).into());
        let responders = lookup.end(cx);
        cx.complete(Task::Lookup(id).token(), Ok(&path));
        for responder in &responders {
            Self::respond(cx, endpoint, &path, responder);
        }
    }

    /// Fails the operation in progress of a destination.
    pub(crate) fn fail(&mut self, cx: &mut Context, id: DestId, failure: Failure) {
        let attempt = Attempt { failure, details: self.attempt_details_of(cx, id) };
        let lookup = match self.cache.enter(id, DestState::Unknown) {
            DestState::Locating(request) => self.end_multicast_request(cx, id, *request),
            DestState::Routing(routing) => {
                cx.sa_discard(routing.query);
                routing.lookup
            }
            DestState::Ready(ready) => {
                self.end_ready(cx, id, ready);
                Lookup::default()
            }
            _ => Lookup::default(),
        };
        self.give_up(cx, id, lookup, attempt);
    }

    /// Ends a lookup without a path. The next request starts with the address again, because its location may be the
    /// reason for the failure.
    fn give_up(&mut self, cx: &mut Context, id: DestId, lookup: Lookup, attempt: Attempt) {
        self.cache.enter(id, DestState::Unknown);
        let token = Task::Lookup(id).token();
        let waiting = cx.waiting_for(token);
        if let Some(dest) = self.cache.get(id)
            && waiting > 0
        {
            self.stats.lookups_failed += 1;
            cx.log(ResolverEvent::LookupFailed(dest.endpoint, dest.name(), attempt, waiting).into());
        }
        self.last_failure = Some(attempt);
        lookup.end(cx);
        cx.complete(token, Err(attempt));
        self.cache_failure(cx, id, attempt);
        self.cache.remove_if_not_found(id);
    }

    /// Returns what was tried so far for a destination.
    pub(crate) fn attempt_details_of(&self, cx: &Context, id: DestId) -> AttemptDetails {
        let Some(dest) = self.cache.get(id) else { return AttemptDetails::default() };
        match &dest.state {
            DestState::Locating(request) => {
                let group = self.base_group(dest.endpoint).map(|member| MulticastAttempt {
                    mgid: member.mgid,
                    times: request.times_sent,
                    time: cx.now().since(request.since),
                });
                AttemptDetails { group, ..AttemptDetails::default() }
            }
            DestState::Routing(routing) => AttemptDetails {
                found: routing.remote.map(|remote| remote.lid).filter(|lid| !lid.is_zero()),
                sa: cx.sa_attempt(dest.endpoint, routing.since),
                ..AttemptDetails::default()
            },
            DestState::Unknown | DestState::Failed(_) | DestState::Located { .. } | DestState::Ready(_) => {
                AttemptDetails::default()
            }
        }
    }
}
