//! Multicast requests for an address: send, retry, responses, failure.
use super::{
    dest::{DestKey, DestState, MulticastRequest, Ready, Stage},
    event::Event,
    group,
    lookup::Lookup,
    remote::Remote,
    route,
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{
    api::DatagramSource, context::Context, failure::Failure, histogram::Phase, id::EndpointId, port::PortAttributes,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
    multicast::{self, AddressResponse},
};
use alloc::{boxed::Box, vec::Vec};
use ib_mad::Gid;

impl Ibacmp {
    /// Starts a multicast request for a destination.
    pub(super) fn start_request(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
        source: Address,
        lookup: Lookup,
    ) {
        let request = Box::new(MulticastRequest::new(cx.now(), cx.transaction_id(), source, lookup));
        self.cache.enter(id, DestState::Locating(request));
        // Without a group there is no receiver for the request.
        if self.base_group(endpoint).is_none() {
            return self.fail(cx, id, Failure::NoGroup);
        }
        self.queue_request(cx, id, endpoint);
    }

    /// Queues a multicast request. It is sent at once if a credit is free.
    pub(super) fn queue_request(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) {
        let (Some(dest), Some(state)) = (self.cache.get_mut(id), self.endpoints.get_mut(&endpoint)) else { return };
        let Some(MulticastRequest { stage: Stage::Queued(positions), lookup, .. }) = dest.state.multicast_request_mut()
        else {
            return;
        };
        for (account, urgency) in lookup.needs() {
            state.queue.join(positions, account, urgency, id);
        }
        cx.count(endpoint, Counter::AddrQuery);
        let deadline = cx.now() + cx.config().queue_deadline;
        cx.set_timer(Task::Lookup(id).token(), deadline);
        self.pump(cx, endpoint);
    }

    /// Sends multicast requests as long as the endpoint has credits.
    pub(super) fn pump(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let depth = cx.config().resolve_depth;
        while let Some(state) = self.endpoints.get_mut(&endpoint)
            && let Some((id, credit)) = state.queue.next(depth)
        {
            let likely = state.round_trip.likely(cx.config().timeout);
            let Some(request) = self.cache.get_mut(id).and_then(|dest| dest.state.multicast_request_mut()) else {
                state.queue.give_back(credit);
                continue;
            };
            if let Stage::Queued(positions) = &mut request.stage {
                state.queue.leave_all(positions);
            }
            request.stage = Stage::Sent(credit);
            self.by_tid.insert(request.tid.get(), id);
            let at = cx.now() + likely;
            cx.set_timer(Task::Credit(id).token(), at);
            self.send_request(cx, id);
        }
    }

    pub(super) fn send_request(&mut self, cx: &mut Context, id: DestId) {
        let groups: Vec<Gid> = match self.cache.get(id) {
            Some(dest) => self.joined(dest.endpoint).map(|member| member.mgid).collect(),
            None => return,
        };
        let Some(dest) = self.cache.get_mut(id) else { return };
        let (endpoint, name, DestKey::Address(address)) = (dest.endpoint, dest.name(), dest.key) else { return };
        let Some(request) = dest.state.multicast_request_mut() else { return };
        request.times_sent += 1;
        request.sent_at = cx.now();
        if request.times_sent == 1 {
            request.since = cx.now();
        }
        let (tid, times_sent, source) = (request.tid, request.times_sent, request.source);
        self.stats.requests_repeated += u64::from(times_sent > 1);
        let subnet_time = cx.port_of(endpoint).map(PortAttributes::subnet_time).unwrap_or_default();
        let deadline = cx.now() + cx.config().timeout + subnet_time;
        cx.set_timer(Task::Lookup(id).token(), deadline);
        cx.log(Event::RequestSent(endpoint, name, times_sent).into());
        let Some(port) = cx.port_of(endpoint) else { return };
        let to =
            match self.cache.get(id).map(|dest| &dest.state) {
                Some(DestState::Ready(Ready {
                    verification: Some(verification), remote: Some(remote), path, ..
                })) if verification.is_probe => Some(route::send_to(path, remote, port)),
                _ => self.base_group(endpoint).map(|member| group::send_to(member, port)),
            };
        if let Some(to) = to {
            cx.send(endpoint, to, multicast::request(tid, &address, &source, &groups));
        }
    }

    /// Returns the credit of a request whose response is late.
    pub(super) fn credit_due(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let Some(request) = dest.state.multicast_request_mut() else { return };
        if let Stage::Sent(credit) = core::mem::replace(&mut request.stage, Stage::Late)
            && let Some(state) = self.endpoints.get_mut(&endpoint)
        {
            state.queue.give_back(credit);
        }
        self.conclude_verification(cx, id);
        self.pump(cx, endpoint);
    }

    /// Handles the time-out of a request, or of its wait for a turn.
    pub(super) fn request_due(&mut self, cx: &mut Context, id: DestId) {
        let retries = cx.config().retries;
        let Some(dest) = self.cache.get_mut(id) else { return };
        let is_claim = matches!(dest.state, DestState::Ready(_));
        let Some(request) = dest.state.multicast_request_mut() else { return };
        let failure = match &request.stage {
            Stage::Queued(_) => Failure::NoTurn,
            _ if request.times_sent > retries => request.refused.unwrap_or(Failure::NoResponse),
            _ if !request.lookup.is_needed() => return self.drop_unneeded(cx, id),
            _ => return self.send_request(cx, id),
        };
        if is_claim { self.end_verification(cx, id, None) } else { self.fail(cx, id, failure) }
    }

    /// Ends a multicast request: frees its credit or queue position and its timers. Returns its lookup.
    pub(super) fn end_multicast_request(&mut self, cx: &mut Context, id: DestId, request: MulticastRequest) -> Lookup {
        cx.clear_timer(Task::Lookup(id).token());
        cx.clear_timer(Task::Credit(id).token());
        self.by_tid.remove(&request.tid.get());
        let endpoint = self.cache.get(id).map(|dest| dest.endpoint);
        if let Some(endpoint) = endpoint
            && let Some(state) = self.endpoints.get_mut(&endpoint)
        {
            match request.stage {
                Stage::Queued(mut positions) => state.queue.leave_all(&mut positions),
                Stage::Sent(credit) => {
                    state.queue.give_back(credit);
                    self.pump(cx, endpoint);
                }
                Stage::Late => {}
            }
        }
        request.lookup
    }

    /// Handles a response to a multicast request.
    pub(super) fn handle_response(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        response: &AddressResponse,
    ) {
        let shared = response.group.and_then(|mgid| self.best_shared(endpoint, &[mgid]));
        let id = self.by_tid.get(&response.tid.get()).copied();
        let dest = id.and_then(|id| Some((id, self.cache.get_mut(id)?)));
        let Some((id, dest)) = dest.filter(|(_, dest)| dest.endpoint == endpoint) else {
            self.stats.unexpected_responses += 1;
            return;
        };
        let name = dest.name();
        let Some(request) = dest.state.multicast_request_mut() else {
            self.stats.unexpected_responses += 1;
            return;
        };
        let refused = match shared {
            _ if response.status != 0 => Some(Failure::PeerRefused(ClientStatus::new(response.status))),
            None => Some(Failure::NoSharedGroup),
            Some(_) => None,
        };
        if let Some(failure) = refused {
            request.refused = Some(failure);
            self.stats.refusals += 1;
            return cx.log(Event::Refused(endpoint, name, failure).into());
        }
        let Some(group) = shared else { return };
        let once = (request.times_sent == 1).then_some(request.sent_at);
        if let (Some(sent_at), Some(state)) = (once, self.endpoints.get_mut(&endpoint)) {
            state.round_trip.sample(cx.now().since(sent_at));
            cx.record_latency(Phase::MulticastRoundTrip, cx.now().since(sent_at));
        }
        let remote = Remote { gid, lid: source.lid, path_bits: source.path_bits, qpn: source.qpn, group };
        cx.log(Event::Located(endpoint, name, gid, source.lid).into());
        if matches!(self.cache.get(id).map(|dest| &dest.state), Some(DestState::Locating(_))) {
            self.located(cx, id, remote);
        } else {
            self.verification_response(cx, id, remote);
        }
    }

    /// Stores the location of a destination and ends its multicast request. If the lookup is still needed, a query for
    /// the path follows.
    pub(super) fn located(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        let addr_until = Self::addr_end(cx);
        let before = self.cache.enter(id, DestState::Located { remote, addr_until });
        let lookup = match before {
            DestState::Locating(request) => self.end_multicast_request(cx, id, *request),
            _ => Lookup::default(),
        };
        self.find_route(cx, id, remote, lookup);
    }
}
