//! Multicast requests from remote hosts: caching the sender's location, responding, and defending local addresses.
use crate::{
    accounts::fair::Urgency,
    api::{DatagramSource, ResolverEvent, account::REMOTE, id::EndpointId, port::PortAttributes},
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, Lookup, Remote, Responder, Routing, ServedPath, StateKind},
        doubts::MOST_AT_ONCE,
        endpoint::Endpoints,
        state::Ibacmp,
        token::DestId,
    },
};
use acm_wire::{
    Address,
    multicast::{self, AddressRequest},
};
use ib_mad::{Gid, acm::AcmMad};

impl Ibacmp {
    /// Handles a multicast request. Every receiver caches the sender's location; the owner of the address responds.
    pub(crate) fn handle_request(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        request: &AddressRequest<'_>,
    ) {
        let Some(found) = cx.endpoint(endpoint) else { return };
        let is_of = |port: &PortAttributes| port.gids.contains(&gid) && source.lid.base(port.lmc) == port.lid;
        // Our own request, delivered back by the switch.
        if found.qpn() == Some(source.qpn) && cx.port_of(endpoint).is_some_and(is_of) {
            return;
        }
        let claimed = [Some(request.source), request.also].into_iter().flatten();
        if let Some(ours) = claimed.clone().find(|address| found.has(address))
            && !self.endpoints.has_port(cx, is_of)
        {
            return self.endpoints.defend(cx, &mut self.stats, endpoint, &ours, gid);
        }
        let ours = request.dest.filter(|dest| found.has(dest));
        let Some(group) = self.endpoints.at(endpoint).best_shared(request.groups) else {
            self.stats.no_shared_group += 1;
            return cx.shared.log(ResolverEvent::NoSharedGroup(endpoint, request.source).into());
        };
        let remote = Remote::sender(source, gid, group, request.generation);
        let is_to_group = source.group.is_some();
        let id = self.learn_address(cx, endpoint, request.source, remote, is_to_group);
        self.note_host(cx, endpoint, source, gid, request.generation);
        self.compare_places(cx, endpoint, remote, id);
        if let Some(also) = request.also {
            let lid = source.lid.base(cx.lmc_of(endpoint));
            if let Some(state) = self.endpoints.at_mut(endpoint) {
                state.hosts.note_witness(lid, gid, cx.shared.now());
            }
            self.learn_address(cx, endpoint, also, remote, is_to_group);
        }
        let generation = self.endpoints.at(endpoint).generation;
        let responder = Responder { tid: request.tid, remote, generation };
        match ours {
            Some(_) if is_to_group => self.respond_when_routed(cx, endpoint, id, responder),
            Some(address) => {
                self.respond_at_once(cx, endpoint, &remote, multicast::response(request.tid, group));
                self.endpoints.defend_checked(cx, &mut self.stats, endpoint, &address);
            }
            None if !is_to_group && request.dest.is_some() => {
                self.stats.addresses_refused += 1;
                self.respond_at_once(cx, endpoint, &remote, multicast::refusal(request.tid));
            }
            None => {}
        }
    }

    /// Caches the location of the sender of a request, to the group or to this node alone, for an address of it.
    fn learn_address(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        address: Address,
        remote: Remote,
        is_to_group: bool,
    ) -> Option<DestId> {
        let key = DestKey::Address(address);
        // The owner of the address did not receive a request to this node alone, so it is no reason to believe it.
        let known = self.cache.find(endpoint, &key);
        let id = if is_to_group { self.acquire_unsolicited(cx, endpoint, key) } else { known }?;
        self.learn(cx, endpoint, id, remote, is_to_group);
        Some(id)
    }

    /// Updates a destination with the location of the sender of a request, to the group or to this node alone.
    fn learn(&mut self, cx: &mut Context, endpoint: EndpointId, id: DestId, remote: Remote, is_to_group: bool) {
        self.drop_expired(cx, id);
        let is_listed = self.is_listed_elsewhere(cx, id, &remote);
        let lmc = cx.lmc_of(endpoint);
        let Some(dest) = self.cache.at_mut(id) else { return };
        let action = dest.on_claim(remote, is_to_group, is_listed, lmc);
        self.perform(cx, id, action);
    }

    /// Compares cached paths to a GID with a datagram from it, which shows its LID and its queue pair. `named` is the
    /// address in the datagram.
    fn compare_places(&mut self, cx: &mut Context, endpoint: EndpointId, remote: Remote, named: Option<DestId>) {
        if self.cache.count_of(StateKind::Routing) > 0 {
            self.show_place(cx, endpoint, remote);
        }
        let choice = cx.partition_choice(endpoint);
        for id in self.cache.next_at_gid(endpoint, choice, remote.gid, MOST_AT_ONCE) {
            if named != Some(id) {
                self.compare_place(cx, id, remote);
            }
        }
    }

    /// Tells the open queries for paths to a GID the LID that a datagram from it shows: the response may be older.
    fn show_place(&mut self, cx: &Context, endpoint: EndpointId, remote: Remote) {
        for (endpoint, key) in self.keys_to(cx, endpoint, &remote) {
            if let Some(id) = self.cache.find(endpoint, &key)
                && let Some(dest) = self.cache.at_mut(id)
                && let DestState::Routing(routing) = &mut dest.state
            {
                routing.shown = Some(remote.lid);
            }
        }
    }

    /// Records the LID of a datagram's sender. What is cached at another GID there is wrong if the port has a new GID. A
    /// host whose datagrams have a generation sends witnesses.
    pub(crate) fn note_host(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        generation: u16,
    ) {
        let sends_since = (generation != 0).then(|| cx.shared.now());
        let lmc = cx.lmc_of(endpoint);
        let lid = source.lid.base(lmc);
        self.endpoints.contradict_prefetched(&mut self.stats, endpoint, lid, lmc, gid);
        let others =
            self.endpoints.at_mut(endpoint).map(|state| state.hosts.note(lid, gid, sends_since)).unwrap_or_default();
        for other in others {
            for id in self.cached_at(cx, endpoint, lid, other) {
                if self.cache.at(id).is_address() {
                    self.doubt(cx, id);
                } else {
                    self.cache.raise_doubt(id);
                    self.contradict_route(cx, id);
                }
            }
        }
    }

    fn compare_place(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        let Some(dest) = self.cache.at_mut(id) else { return };
        let endpoint = dest.endpoint;
        if let DestState::Located { remote: known, .. } = &mut dest.state {
            if known.is_same_port(&remote, cx.lmc_of(endpoint)) {
                // The next use asks the host.
                dest.doubts.raise_if(known.qpn != remote.qpn || remote.has_other_addresses(known));
                *known = Remote { generation: known.generation, ..remote };
            } else {
                // The next use asks the group.
                self.cache.enter(id, DestState::Unknown);
            }
            return;
        }
        let DestState::Ready(ready) = &dest.state else { return };
        let claimant = ready.check.as_ref().and_then(|check| check.reason.claimant());
        // The datagram does not name the address, and proves no generation of it.
        let generation = ready.remote.map_or(0, |current| current.generation);
        let shown = Remote { generation, ..remote };
        if claimant == Some(shown) {
            return;
        }
        let leads_there = remote.is_at_end_of(&ready.path, cx.lmc_of(endpoint));
        match ready.remote {
            // The datagram is a claim of all addresses that are cached at the GID.
            Some(_) if !leads_there => self.learn(cx, endpoint, id, shown, false),
            // The host has restarted, maybe without the address.
            Some(current) if current.qpn != remote.qpn => {
                self.learn(cx, endpoint, id, shown, false);
                self.doubt(cx, id);
            }
            // It may be one of those that the host no longer has.
            Some(current) if remote.has_other_addresses(&current) => self.doubt(cx, id),
            None if !leads_there => self.contradict_route(cx, id),
            _ => {}
        }
    }

    /// Handles a datagram that contradicts the path to a GID or LID. Only the subnet administrator has another path.
    fn contradict_route(&mut self, cx: &mut Context, id: DestId) {
        let is_requested = self.cache.at(id).is_requested();
        let Some(ready) = self.cache.at(id).state.ready() else { return };
        if ready.no_check_before.is_some_and(|until| cx.shared.now() < until) {
            self.stats.claims_ignored += 1;
            return;
        }
        let is_in_use = ready.freshness.is_in_use();
        self.cache.raise_doubt(id);
        if is_requested && is_in_use {
            let until = cx.shared.now() + cx.shared.config().timeout;
            self.cache.change(id, |ready| (ready.freshness.stale, ready.no_check_before) = (true, Some(until)));
            self.settle_doubt(cx, id);
        } else if is_requested {
            self.drop_path(cx, id);
        } else {
            // It is the path for responses. It is queried when a response needs it.
            self.cache.change(id, |ready| ready.freshness.stale = true);
        }
    }

    /// Responds to a multicast request for a local address as soon as there is a path to the sender. The path is found
    /// by the sender's GID, so that a response depends on no address that the sender claims. `claimed` is that address.
    /// If a local user waits for the path to the sender at this address, the response waits for the same query.
    fn respond_when_routed(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        claimed: Option<DestId>,
        responder: Responder,
    ) {
        if let Some(known) = self.response_path_to(cx, endpoint, &responder.remote) {
            self.note_source(endpoint, known.source);
            return Endpoints::respond(cx, endpoint, &known.path, &responder);
        }
        let lmc = cx.lmc_of(endpoint);
        let claimed = claimed.filter(|id| {
            matches!(&self.cache.at(*id).state, DestState::Routing(Routing { remote: Some(remote), .. })
                if remote.is_same_port(&responder.remote, lmc))
        });
        let key = self.key_to(endpoint, &responder.remote);
        let Some(id) = claimed.or_else(|| self.acquire_unsolicited(cx, endpoint, key)) else { return };
        let now = cx.shared.now();
        let Some(dest) = self.cache.at_mut(id) else { return };
        let pending = match &mut dest.state {
            DestState::Routing(routing) => Some((&mut routing.lookup, routing.query)),
            DestState::Ready(ServedPath { renewal: Some(renewal), .. }) => Some((&mut renewal.lookup, renewal.query)),
            // The sender is at another LID than the path.
            DestState::Ready(ready) => {
                if ready.no_check_before.is_some_and(|until| now < until) {
                    self.stats.claims_ignored += 1;
                    return;
                }
                ready.no_check_before = Some(now + cx.shared.config().timeout);
                None
            }
            _ => None,
        };
        if let Some((lookup, query)) = pending {
            if lookup.add_responder(&mut cx.shared, responder) {
                cx.sa_join(query, REMOTE, Urgency::Waited);
            } else {
                self.stats.responders_refused += 1;
            }
            return;
        }
        let is_ready = matches!(dest.state, DestState::Ready(_));
        let mut lookup = Lookup::default();
        if !lookup.add_responder(&mut cx.shared, responder) {
            self.stats.responders_refused += 1;
            lookup.end(&mut cx.shared);
        } else if is_ready {
            self.request_renewal(cx, id, lookup);
        } else {
            let addr_until = cx.addr_end();
            self.query_route(cx, id, None, addr_until, lookup);
        }
    }

    /// Responds to a request that was sent to this node alone. Without a cached path the response goes by the
    /// parameters of the group, as the request may have come: 10,000 nodes ask a host that moves in one second.
    fn respond_at_once(&mut self, cx: &mut Context, endpoint: EndpointId, remote: &Remote, response: AcmMad) {
        let known = self.response_path_to(cx, endpoint, remote);
        if let Some(known) = &known {
            self.note_source(endpoint, known.source);
        }
        let path = known.map(|known| known.path).or_else(|| self.endpoints.path_by_group(cx, endpoint, remote));
        if let Some(path) = path {
            self.endpoints.send_response(cx, endpoint, &path, remote, response);
        }
    }
}
