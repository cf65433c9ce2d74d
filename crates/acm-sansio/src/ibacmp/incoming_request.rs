//! Multicast requests from remote hosts: caching the sender's location, and responding.
use super::{
    dest::{DestKey, DestState, EvictionClass, Ready},
    event::Event,
    lookup::{Lookup, Responder},
    remote::Remote,
    route,
    state::{Ibacmp, RenewalReason},
    token::DestId,
};
use crate::{api::DatagramSource, config::RouteProtocol, context::Context, fair::Urgency, id::EndpointId};
use acm_wire::multicast::{self, AddressRequest};
use ib_mad::{Gid, Qpn, sa::PathRecord};

impl Ibacmp {
    /// Handles a multicast request. Every receiver caches the sender's location; the owner of the address responds.
    pub(super) fn handle_request(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        request: &AddressRequest<'_>,
    ) {
        let Some(found) = cx.endpoint(endpoint) else { return };
        // Our own request, delivered back by the switch.
        if found.qpn == Some(source.qpn) && cx.port_of(endpoint).is_some_and(|port| port.gids.contains(&gid)) {
            return;
        }
        let is_ours = request.dest.is_some_and(|dest| found.has(&dest));
        let Some(group) = self.best_shared(endpoint, request.groups) else {
            self.stats.no_shared_group += 1;
            return cx.log(Event::NoSharedGroup(endpoint, request.source).into());
        };
        let Some(id) = self.acquire_unsolicited(cx, endpoint, DestKey::Address(request.source)) else { return };
        let remote = Remote { gid, lid: source.lid, path_bits: source.path_bits, qpn: source.qpn, group };
        self.learn(cx, id, remote, is_ours.then_some(Responder { tid: request.tid, remote }));
    }

    /// Updates a destination with the sender's location. With `respond`, the sender waits for a response.
    fn learn(&mut self, cx: &mut Context, id: DestId, remote: Remote, respond: Option<Responder>) {
        self.drop_expired(cx, id);
        let listed = self.is_listed_elsewhere(cx, id, &remote);
        let Some(dest) = self.cache.get_mut(id) else { return };
        let (endpoint, in_use) = (dest.endpoint, dest.class == EvictionClass::Requested || listed);
        let lmc = cx.lmc_of(endpoint);
        match &mut dest.state {
            // A claim of a local address is ignored.
            _ if dest.class == EvictionClass::Local => {}
            DestState::Ready(Ready { remote: Some(current), path, .. }) if current.is_same_port(&remote, lmc) => {
                // The path to the same port is the same, whichever queue pair the peer has now.
                let before = core::mem::replace(current, remote).qpn;
                // A preloaded entry has no queue pair.
                let changed = before != remote.qpn && before != Qpn::default();
                let (path, name) = (*path, dest.name());
                if changed {
                    cx.log(Event::PeerChanged(endpoint, name).into());
                    if in_use {
                        self.queue_renewal(cx, id, RenewalReason::Moved);
                    }
                }
                if let Some(responder) = respond {
                    Self::respond(cx, endpoint, &path, &responder);
                }
            }
            // The subnet administrator knows where a GID is.
            DestState::Ready(Ready { remote: Some(current), .. })
                if in_use && current.gid == remote.gid && cx.config().route_protocol == RouteProtocol::Sa =>
            {
                self.verify_move(cx, id, &remote, respond);
            }
            DestState::Ready(_) if in_use => self.verify_claim(cx, id, &remote, respond),
            DestState::Routing(routing) => {
                let same = routing.remote.is_some_and(|current| current.is_same_port(&remote, lmc));
                if !same {
                    self.stats.claims_ignored += 1;
                } else if let Some(responder) = respond {
                    let account = crate::account::REMOTE;
                    if routing.lookup.add_responder(cx, responder) {
                        self.join_queue(cx, id, endpoint, account, Urgency::Waited);
                    } else {
                        self.stats.responders_refused += 1;
                    }
                }
            }
            // The next request for it starts a new lookup.
            DestState::Located { remote: current, .. } if in_use && !current.is_same_port(&remote, lmc) => {
                self.cache.enter(id, DestState::Unknown);
                self.stats.claims_ignored += 1;
            }
            DestState::Unknown
            | DestState::Failed(_)
            | DestState::Located { .. }
            | DestState::Locating(_)
            | DestState::Ready(_) => {
                self.accept_claim(cx, id, remote, respond);
            }
        }
    }

    /// Accepts a claim without verification, because no conflicting path is in use.
    fn accept_claim(&mut self, cx: &mut Context, id: DestId, remote: Remote, respond: Option<Responder>) {
        let addr_until = Self::addr_end(cx);
        let mut lookup = match self.cache.enter(id, DestState::Located { remote, addr_until }) {
            DestState::Locating(request) => self.end_multicast_request(cx, id, *request),
            // It was verified because of a table of hosts that may be replaced by now.
            DestState::Ready(ready) => {
                self.end_ready(cx, id, ready);
                Lookup::default()
            }
            _ => Lookup::default(),
        };
        if let Some(responder) = respond
            && !lookup.add_responder(cx, responder)
        {
            self.stats.responders_refused += 1;
        }
        // With `route_prot sa` a path costs a query, so it is queried only if it is needed.
        if lookup.is_needed() || cx.config().route_protocol == RouteProtocol::Acm {
            self.find_route(cx, id, remote, lookup);
        }
    }

    /// Responds to a request for a local address.
    pub(super) fn respond(cx: &mut Context, endpoint: EndpointId, path: &PathRecord, responder: &Responder) {
        let Some(port) = cx.port_of(endpoint) else { return };
        let to = route::send_to(path, &responder.remote, port);
        cx.send(endpoint, to, multicast::response(responder.tid, responder.remote.group));
    }
}
