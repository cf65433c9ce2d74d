//! Responses that end a lookup: of a peer to a multicast request, and of the subnet administrator to the path query.
use crate::{
    api::{
        DatagramSource, ResolverEvent, SaError,
        failure::{Attempt, Failure},
        histogram::Phase,
        id::EndpointId,
    },
    provider::Context,
    resolver::{
        dest::{DestState, Proof, Remote, Routing, Stage, are_of_one_adapter},
        endpoint::group_share::most_requests,
        paths::{Known, PathSource},
        state::Ibacmp,
        token::DestId,
    },
};
use acm_wire::{client::ClientStatus, multicast::AddressResponse};
use ib_mad::{Gid, TransactionId, sa::SaMad};

impl Ibacmp {
    /// Handles the end of a request's pause, of its wait for a turn, or of its wait for a response.
    pub(crate) fn request_due(&mut self, cx: &mut Context, id: DestId) {
        let retry = self.retry(cx, id);
        let action = self.cache.at_mut(id).map(|dest| dest.on_timeout(retry));
        self.perform(cx, id, action.unwrap_or_default());
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
        let id = self.by_tid.get(&response.tid.get()).copied();
        let Some(id) = id.filter(|id| self.cache.at(*id).endpoint == endpoint) else {
            return self.handle_second_response(cx, endpoint, gid, response);
        };
        self.note_host(cx, endpoint, source, gid, response.generation);
        let shared = response.group.and_then(|mgid| self.endpoints.at(endpoint).best_shared(&[mgid]));
        let location = match shared {
            _ if response.status != 0 => Err(Failure::PeerRefused(ClientStatus::new(response.status))),
            None => Err(Failure::NoSharedGroup),
            Some(group) => Ok(Remote::sender(source, gid, group, response.generation)),
        };
        let (lmc, name) = (cx.lmc_of(endpoint), self.cache.at(id).name());
        if response.status == ClientStatus::EDESTADDR.get() {
            self.stats.refusals += 1;
            let action = self.cache.at_mut(id).map(|dest| dest.on_refusal(gid));
            return self.perform(cx, id, action.unwrap_or_default());
        }
        match location {
            Err(failure) => {
                self.stats.refusals += 1;
                cx.shared.log(ResolverEvent::Refused(endpoint, name, failure).into());
            }
            Ok(remote) => {
                self.measure(cx, id, response.tid, gid);
                cx.shared.log(ResolverEvent::Located(endpoint, name, gid, remote.lid).into());
            }
        }
        let action = self.cache.at_mut(id).map(|dest| dest.on_response(location, lmc));
        self.perform(cx, id, action.unwrap_or_default());
    }

    /// Records the round-trip time of a request, and the first host that responded.
    fn measure(&mut self, cx: &mut Context, id: DestId, tid: TransactionId, host: Gid) {
        let Some(dest) = self.cache.at_mut(id) else { return };
        let is_lookup = matches!(dest.state, DestState::Locating(_));
        let Some(state) = self.endpoints.at_mut(dest.endpoint) else { return };
        let Some(request) = dest.state.multicast_request_mut() else { return };
        let (once, is_multicast) = (request.times_sent == 1, request.to.is_none());
        let in_time = once && matches!(request.stage, Stage::Sent(_));
        // Silence is no congestion: nobody may have the address. A response after a repetition shows a loss.
        if is_multicast && in_time {
            state.window.response_received(most_requests(cx.shared.fabric_size()));
        } else if is_multicast && is_lookup && (!once || state.round_trip.is_known()) {
            state.window.congested(cx.shared.now(), request.since);
        }
        if once {
            let time = cx.shared.now().since(request.since);
            state.round_trip.sample(time);
            cx.shared.record_latency(Phase::MulticastRoundTrip, time);
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
        let Some(routing) = self.cache.take_routing(id) else { return };
        let Routing { remote, addr_until, asked, shown, lookup, .. } = routing;
        let result = result.and_then(|mad| self.path_in(cx, id, mad));
        if let Ok(path) = result {
            self.cache.prove(id, Proof::Path, asked);
            let lmc = cx.lmc_of(self.cache.at(id).endpoint);
            if shown.is_some_and(|lid| lid.base(lmc) != path.dlid.base(lmc)) {
                self.cache.raise_doubt(id);
            }
        }
        let refuted = self.compare_path(cx, id, remote.as_ref(), result);
        let route_key = self.route_key(id, remote.as_ref());
        if let Some((endpoint, key)) = route_key {
            self.endpoints.compare_prefetched(&mut self.stats, endpoint, &key, result);
            if result.is_ok() {
                self.endpoints.count_cold_lookup(cx, endpoint, &key);
            }
        }
        match result {
            Ok(path) => self.make_ready(cx, id, remote, addr_until, Known::new(*path, PathSource::Sa), lookup),
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
