//! Lookups of addresses: a request of a local user, the response of the peer, and the path to its location.
use crate::{
    api::{
        DatagramSource, ResolverEvent, SaError,
        account::AccountId,
        failure::{Attempt, Bound, Failure},
        histogram::Phase,
        id::EndpointId,
    },
    provider::{Context, IfPending, Need, Resolution},
    resolver::{
        confirmations::PASS,
        dest::{DestKey, DestState, Lookup, MulticastRequest, Origin, Remote, Routing, Stage, are_of_one_adapter},
        endpoint::group_share::most_requests,
        paths::PathSource,
        state::{Ibacmp, RenewalReason},
        token::{DestId, Task},
    },
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
    multicast::AddressResponse,
};
use alloc::boxed::Box;
use ib_mad::{
    Gid, TransactionId,
    sa::{PathRecord, SaMad},
};

impl Ibacmp {
    /// Returns the path to an address, or starts a lookup.
    pub(crate) fn resolve_address(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &Address,
        address: &Address,
        need: Need,
    ) -> Resolution {
        // GIDs and LIDs do not belong to peers as addresses; they must be requested as paths.
        if matches!(address, Address::Gid(_) | Address::Lid(_)) {
            return Failure::NotAnAddress.into();
        }
        let Some(id) = self.acquire(cx, endpoint, DestKey::Address(*address)) else {
            return Failure::TooMany(Bound::Destinations).into();
        };
        let dest = self.cache.at(id);
        let is_proven = match dest.state {
            DestState::Located { .. } => dest.origin == Origin::Asked && !dest.in_doubt,
            _ => dest.origin == Origin::Asked,
        };
        let is_known = matches!(dest.state, DestState::Located { .. }) && dest.origin == Origin::Asked;
        let host = if is_proven { None } else { self.take_claimant(cx, id) };
        if let Some(resolution) = self.cached_resolution(cx, id, endpoint, need) {
            return resolution;
        }
        if let Some(resolution) = self.preloaded_resolution(cx, id, endpoint) {
            self.note_user(cx, id, need.account);
            return resolution;
        }
        let lookup = match Lookup::begin(cx, need) {
            Ok(lookup) => lookup,
            Err(failure) => {
                self.cache.remove_if_not_found(id);
                return failure.into();
            }
        };
        if let DestState::Located { remote, .. } = self.cache.at(id).state {
            cx.count(endpoint, Counter::AddrCache);
            self.find_route(cx, id, remote, lookup)
        } else {
            self.start_request(cx, id, *source, host.map(|host| (host, is_known)), lookup)
        }
    }

    /// Starts a request for a destination: to a host that claims to have it, or has proven it before, or to the group.
    fn start_request(
        &mut self,
        cx: &mut Context,
        id: DestId,
        source: Address,
        to: Option<(Remote, bool)>,
        lookup: Lookup,
    ) -> Resolution {
        let request = MulticastRequest::new(cx.now(), cx.transaction_id(), source, lookup);
        // Without a group there is no receiver for the request. It waits for a join that has not failed.
        let endpoint = self.cache.at(id).endpoint;
        if self.endpoints.at(endpoint).base_group().is_none() && !self.endpoints.awaits_base_group(cx, endpoint) {
            return self.give_up(cx, id, request.lookup, Failure::NoGroup.into());
        }
        self.cache.enter(id, DestState::Locating(Box::new(request)));
        match to {
            Some((host, is_known)) => self.ask_host(cx, id, host, is_known),
            None => self.queue_request(cx, id),
        }
        Resolution::Pending(Task::Lookup(id).token())
    }

    /// Returns the cached result. If a lookup is in progress, the requester joins it.
    pub(crate) fn cached_resolution(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
        need: Need,
    ) -> Option<Resolution> {
        self.drop_expired(cx, id);
        if self.cache.at(id).in_doubt {
            self.use_in_doubt(cx, id);
        }
        let dest = self.cache.at_mut(id);
        dest.used = true;
        match &mut dest.state {
            DestState::Ready(ready) => {
                let (path, stale) = (ready.path, ready.stale);
                ready.note_use();
                ready.history.used(cx.now(), cx.accounts.account(need.account));
                cx.count(endpoint, Counter::RouteCache);
                if stale {
                    self.queue_renewal(cx, id, RenewalReason::Used);
                }
                if self.confirmations.rests() {
                    self.start_confirmations(cx, PASS);
                }
                self.publish(cx, id);
                Some(Resolution::Ready(path))
            }
            DestState::Locating(_) | DestState::Routing(_) => Some(match self.share_lookup(cx, id, need) {
                Ok(()) => Resolution::Pending(Task::Lookup(id).token()),
                // The lookup continues without this requester.
                Err(_) if need.if_pending == IfPending::LeavesTicket => Resolution::Pending(Task::Lookup(id).token()),
                Err(failure) => failure.into(),
            }),
            DestState::Failed(failed) => {
                let attempt = failed.again(cx.now());
                self.stats.negative_answers += 1;
                Some(Resolution::Failed(attempt))
            }
            DestState::Unknown | DestState::Located { .. } => None,
        }
    }

    /// Proves a path in doubt that is used. A datagram contradicted the path to a GID or LID: without a renewal under
    /// way, it is not served any more.
    #[cold]
    fn use_in_doubt(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at(id);
        let Some(ready) = dest.state.ready() else { return };
        if dest.is_address() {
            self.settle_doubt(cx, id);
        } else if !ready.queued && ready.renewal.is_none() {
            self.drop_path(cx, id);
        }
    }

    /// Records that a request of an account got the path of a destination, if there is one.
    pub(crate) fn note_user(&mut self, cx: &Context, id: DestId, account: AccountId) {
        if let Some(DestState::Ready(ready)) = self.cache.get_mut(id).map(|dest| &mut dest.state) {
            ready.history.used(cx.now(), cx.accounts.account(account));
        }
    }

    /// Handles the end of a request's pause, of its wait for a turn, or of its wait for a response.
    pub(crate) fn request_due(&mut self, cx: &mut Context, id: DestId) {
        let retry = self.retry(cx, id);
        let action = self.cache.at_mut(id).on_timeout(retry);
        self.carry_out(cx, id, action);
    }

    /// Handles a response to a multicast request.
    pub(crate) fn handle_response(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        response: &AddressResponse,
    ) {
        if self.endpoints.get(endpoint).is_some() {
            self.note_host(cx, endpoint, source, gid);
        }
        let id = self.by_tid.get(&response.tid.get()).copied();
        let Some(id) = id.filter(|id| self.cache.at(*id).endpoint == endpoint) else {
            return self.handle_second_response(cx, endpoint, gid, response);
        };
        let shared = response.group.and_then(|mgid| self.endpoints.at(endpoint).best_shared(&[mgid]));
        let location = match shared {
            _ if response.status != 0 => Err(Failure::PeerRefused(ClientStatus::new(response.status))),
            None => Err(Failure::NoSharedGroup),
            Some(group) => Ok(Remote::sender(source, gid, group, response.generation)),
        };
        let (lmc, name) = (cx.lmc_of(endpoint), self.cache.at(id).name());
        if response.status == ClientStatus::EDESTADDR.get() {
            self.stats.refusals += 1;
            let action = self.cache.at_mut(id).on_refusal(gid);
            return self.carry_out(cx, id, action);
        }
        match location {
            Err(failure) => {
                self.stats.refusals += 1;
                cx.log(ResolverEvent::Refused(endpoint, name, failure).into());
            }
            Ok(remote) => {
                self.measure(cx, id, response.tid, gid);
                cx.log(ResolverEvent::Located(endpoint, name, gid, remote.lid).into());
            }
        }
        let action = self.cache.at_mut(id).on_response(location, lmc);
        self.carry_out(cx, id, action);
    }

    /// Records the round-trip time of a request, and the first host that responded.
    fn measure(&mut self, cx: &mut Context, id: DestId, tid: TransactionId, host: Gid) {
        let dest = self.cache.at_mut(id);
        let is_lookup = matches!(dest.state, DestState::Locating(_));
        let state = self.endpoints.at_mut(dest.endpoint);
        let Some(request) = dest.state.multicast_request_mut() else { return };
        let (once, is_multicast) = (request.times_sent == 1, request.to.is_none());
        let in_time = once && matches!(request.stage, Stage::Sent(_));
        // Silence is no congestion: nobody may have the address. A response after a repetition shows a loss.
        if is_multicast && in_time {
            state.window.response_received(most_requests(cx.fabric_size()));
        } else if is_multicast && is_lookup && (!once || state.round_trip.is_known()) {
            state.window.congested(cx.now(), request.since);
        }
        if once {
            let time = cx.now().since(request.since);
            state.round_trip.sample(time);
            cx.record_latency(Phase::MulticastRoundTrip, time);
        }
        if is_lookup {
            state.answered.record(tid, id, host);
        }
    }

    /// Handles a response to no open request. If another host responded to the same request before, both have the
    /// address. The location of the first is used.
    fn handle_second_response(&mut self, cx: &mut Context, endpoint: EndpointId, gid: Gid, response: &AddressResponse) {
        let state = self.endpoints.get_mut(endpoint).filter(|_| response.status == 0);
        match state.and_then(|state| state.answered.second(response.tid, gid)) {
            Some((_, first)) if are_of_one_adapter(first, gid) => {}
            Some((id, first)) => self.report_conflict(cx, id, first, gid),
            None => self.stats.unexpected_responses += 1,
        }
    }

    /// Handles the result of a path query.
    pub(crate) fn route_done(&mut self, cx: &mut Context, id: DestId, result: Result<&SaMad, SaError>) {
        let details = self.attempt_details_of(cx, id);
        let Some(Routing { remote, addr_until, lookup, .. }) = self.cache.take_routing(id) else { return };
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
            Ok(path) => self.make_ready(cx, id, (remote, addr_until), (*path, PathSource::Sa), lookup),
            Err(error) => self.give_up(cx, id, lookup, Attempt { failure: Failure::Sa(error), details }),
        };
        if let Some((endpoint, key)) = route_key {
            self.learn_service_ids(cx, endpoint, &key, result);
        }
        // The next request starts with a multicast request.
        if refuted && matches!(self.cache.get(id).map(|dest| &dest.state), Some(DestState::Failed(_))) {
            self.cache.enter(id, DestState::Unknown);
        }
    }
}
