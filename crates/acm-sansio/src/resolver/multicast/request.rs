//! Multicast requests for an address: send, retry, responses, failure.
use crate::{
    accounts::credit::QueuePositions,
    api::{
        DatagramSource, ResolverEvent, SendTo, failure::Failure, histogram::Phase, id::EndpointId, port::PortAttributes,
    },
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, Lookup, MulticastRequest, Origin, Ready, Remote, Stage, are_of_one_adapter},
        endpoint::group_share::{handling_time, most_requests},
        paths,
        state::Ibacmp,
        token::{DestId, Task},
    },
    retry,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
    multicast::{self, AddressResponse},
};
use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;
use ib_mad::Gid;

impl Ibacmp {
    /// Starts a request for a destination, to a host that claims to have it or to the group.
    pub(crate) fn start_request(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
        source: Address,
        to: Option<Remote>,
        lookup: Lookup,
    ) {
        let request = Box::new(MulticastRequest::new(cx.now(), cx.transaction_id(), source, lookup));
        self.cache.enter(id, DestState::Locating(request));
        // Without a group there is no receiver for the request.
        if self.base_group(endpoint).is_none() {
            return self.fail(cx, id, Failure::NoGroup);
        }
        match to {
            Some(claimant) => self.ask_claimant(cx, id, claimant),
            None => self.queue_request(cx, id, endpoint),
        }
    }

    /// Sends a request to the host that claims to have the address. It needs no credit, because the group does not
    /// receive it.
    pub(crate) fn ask_claimant(&mut self, cx: &mut Context, id: DestId, claimant: Remote) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let DestState::Locating(request) = &mut dest.state else { return };
        request.to = Some(claimant);
        if let Stage::Queued(positions) = &mut request.stage
            && let Some(state) = self.endpoints.get_mut(&endpoint)
        {
            state.queue.leave_all(positions);
        }
        request.stage = Stage::Late;
        self.by_tid.insert(request.tid.get(), id);
        cx.count(endpoint, Counter::AddrQuery);
        self.send_request(cx, id);
    }

    /// Queues a multicast request. It is sent at once if a credit is free.
    pub(crate) fn queue_request(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) {
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
    pub(crate) fn pump(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let least_credit = handling_time(cx.fabric_size());
        while let Some(state) = self.endpoints.get_mut(&endpoint)
            && let Some((id, credit)) = state.queue.next(state.depth(cx))
        {
            state.window.request_sent(cx.now());
            let likely = state.round_trip.likely(least_credit, cx.config().timeout);
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

    pub(crate) fn send_request(&mut self, cx: &mut Context, id: DestId) {
        let groups: Vec<Gid> = match self.cache.get(id) {
            Some(dest) => self.joined(dest.endpoint).map(|member| member.mgid).collect(),
            None => return,
        };
        let Some(dest) = self.cache.get_mut(id) else { return };
        let asks_host = dest.state.asks_host();
        let (endpoint, name, DestKey::Address(address)) = (dest.endpoint, dest.name(), dest.key) else { return };
        let Some(request) = dest.state.multicast_request_mut() else { return };
        request.times_sent += 1;
        request.sent_at = cx.now();
        if request.times_sent == 1 {
            request.since = cx.now();
        }
        let (tid, times_sent, source) = (request.tid, request.times_sent, request.source);
        self.stats.requests_repeated += u64::from(times_sent > 1);
        let host = request.to;
        let deadline = cx.now() + self.response_time(cx, endpoint, asks_host, times_sent);
        cx.set_timer(Task::Lookup(id).token(), deadline);
        cx.log(ResolverEvent::RequestSent(endpoint, name, times_sent).into());
        let to = match host {
            Some(host) => self.way_to_host(cx, id, &host),
            None => self
                .base_group(endpoint)
                .zip(cx.port_of(endpoint))
                .map(|(member, port)| paths::send_to_group(member, port)),
        };
        if let Some(to) = to {
            cx.send(endpoint, to, multicast::request(tid, &address, &source, &groups));
        }
    }

    /// Returns the time to wait for a response after a request was sent the given number of times.
    fn response_time(&self, cx: &Context, endpoint: EndpointId, asks_host: bool, times_sent: u32) -> Duration {
        let timeout = cx.config().timeout;
        if asks_host {
            let likely = self.endpoints.get(&endpoint).map(|state| state.round_trip.likely(Duration::ZERO, timeout));
            return retry::ASK_HOST.pause(times_sent).max(likely.unwrap_or_default());
        }
        timeout + cx.port_of(endpoint).map(PortAttributes::subnet_time).unwrap_or_default()
    }

    /// Returns the receiver for a unicast request to a host: by the path, if it leads there, else by the parameters of
    /// the group, which need no query.
    fn way_to_host(&self, cx: &Context, id: DestId, host: &Remote) -> Option<SendTo> {
        let dest = self.cache.get(id)?;
        let port = cx.port_of(dest.endpoint)?;
        if let DestState::Ready(Ready { path, .. }) = &dest.state
            && path.dgid == host.gid
            && host.is_at_end_of(path, port.lmc)
        {
            return Some(paths::send_to(path, host, port));
        }
        let member = self.base_group(dest.endpoint)?;
        Some(paths::send_to(&paths::from_group(member, host, port.lid), host, port))
    }

    /// Returns the credit of a request whose response is late.
    pub(crate) fn credit_due(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let Some(request) = dest.state.multicast_request_mut() else { return };
        if let Stage::Sent(credit) = core::mem::replace(&mut request.stage, Stage::Late)
            && let Some(state) = self.endpoints.get_mut(&endpoint)
        {
            state.queue.give_back(credit);
        }
        self.pump(cx, endpoint);
    }

    /// Handles the end of a request's pause, of its wait for a turn, or of its wait for a response.
    pub(crate) fn request_due(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let is_verification = matches!(dest.state, DestState::Ready(_));
        let retries = if dest.state.asks_host() { retry::ASK_HOST_RETRIES } else { cx.config().retries };
        let Some(request) = dest.state.multicast_request_mut() else { return };
        match &mut request.stage {
            stage @ Stage::Paused => {
                *stage = Stage::Queued(QueuePositions::default());
                self.queue_request(cx, id, endpoint);
            }
            Stage::Queued(_) if is_verification => self.end_verification(cx, id),
            Stage::Queued(_) => self.fail(cx, id, Failure::NoTurn),
            // The host that claimed the address is silent.
            stage if !is_verification && request.to.is_some() => {
                if !request.lookup.is_needed() {
                    return self.drop_unneeded(cx, id);
                }
                *stage = Stage::Queued(QueuePositions::default());
                (request.to, request.times_sent) = (None, 0);
                self.by_tid.remove(&request.tid.get());
                self.queue_request(cx, id, endpoint);
            }
            _ if request.times_sent <= retries => {
                if request.lookup.is_needed() {
                    self.send_request(cx, id);
                } else {
                    self.drop_unneeded(cx, id);
                }
            }
            _ if is_verification => self.verification_silent(cx, id),
            _ => {
                let failure = request.refused.unwrap_or(Failure::NoResponse);
                self.fail(cx, id, failure);
            }
        }
    }

    /// Ends a multicast request: frees its credit or queue position and its timers. Returns its lookup.
    pub(crate) fn end_multicast_request(&mut self, cx: &mut Context, id: DestId, request: MulticastRequest) -> Lookup {
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
                Stage::Paused | Stage::Late => {}
            }
        }
        request.lookup
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
        let shared = response.group.and_then(|mgid| self.best_shared(endpoint, &[mgid]));
        let id = self.by_tid.get(&response.tid.get()).copied();
        let dest = id.and_then(|id| Some((id, self.cache.get_mut(id)?)));
        let Some((id, dest)) = dest.filter(|(_, dest)| dest.endpoint == endpoint) else {
            return self.handle_second_response(cx, endpoint, gid, response);
        };
        let (name, is_lookup) = (dest.name(), matches!(dest.state, DestState::Locating(_)));
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
            return cx.log(ResolverEvent::Refused(endpoint, name, failure).into());
        }
        let Some(group) = shared else { return };
        let (since, once, is_multicast) = (request.since, request.times_sent == 1, request.to.is_none());
        let in_time = once && matches!(request.stage, Stage::Sent(_));
        if let Some(state) = self.endpoints.get_mut(&endpoint) {
            // Silence is no congestion: nobody may have the address. A response after a repetition shows a loss.
            if is_multicast && in_time {
                state.window.response_received(most_requests(cx.fabric_size()));
            } else if is_multicast && is_lookup && (!once || state.round_trip.is_known()) {
                state.window.congested(cx.now(), since);
            }
            if once {
                state.round_trip.sample(cx.now().since(since));
                let time = cx.now().since(since);
                cx.record_latency(Phase::MulticastRoundTrip, time);
            }
        }
        let remote = Remote { gid, lid: source.lid, path_bits: source.path_bits, qpn: source.qpn, group };
        cx.log(ResolverEvent::Located(endpoint, name, gid, source.lid).into());
        if is_lookup {
            if let Some(state) = self.endpoints.get_mut(&endpoint) {
                state.answered.record(response.tid, id, gid);
            }
            self.located(cx, id, remote);
        } else {
            self.verification_response(cx, id, remote);
        }
    }

    /// Handles a response to no open request. If another host responded to the same request before, both have the
    /// address. The location of the first is used.
    fn handle_second_response(&mut self, cx: &mut Context, endpoint: EndpointId, gid: Gid, response: &AddressResponse) {
        let answered = self.endpoints.get_mut(&endpoint).map(|state| &mut state.answered);
        match answered.filter(|_| response.status == 0).and_then(|answered| answered.second(response.tid, gid)) {
            Some((_, first)) if are_of_one_adapter(first, gid) => {}
            Some((id, first)) => self.report_conflict(cx, id, first, gid),
            None => self.stats.unexpected_responses += 1,
        }
    }

    /// Stores the location of a destination and ends its multicast request. If the lookup is still needed, a query for
    /// the path follows.
    pub(crate) fn located(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        let addr_until = Self::addr_end(cx);
        if let Some(dest) = self.cache.get_mut(id) {
            dest.origin = Origin::Asked;
        }
        let before = self.cache.enter(id, DestState::Located { remote, addr_until });
        let lookup = match before {
            DestState::Locating(request) => self.end_multicast_request(cx, id, *request),
            _ => Lookup::default(),
        };
        self.find_route(cx, id, remote, lookup);
    }
}
