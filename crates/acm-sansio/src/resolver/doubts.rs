//! Doubts about what is cached: after an event that may have moved an address, and when a host sends no more witnesses,
//! the owner is asked by unicast if it still has the address. The path is served meanwhile.
use super::{
    dest::{CheckReason, DestKey, DestState, HostCheck, Lookup, MulticastRequest, Remote, RouteKey, ServedPath, Stage},
    facts::source,
    state::{Ibacmp, RenewalReason},
    token::{DestId, Task},
};
use crate::{api::id::EndpointId, provider::Context, retry};
use alloc::{boxed::Box, vec::Vec};
use ib_mad::{Gid, Lid};

/// The number of addresses at a GID, and of paths to it, that are compared with one datagram. The next one is compared
/// with others.
pub(super) const MOST_AT_ONCE: usize = 16;
/// The number of addresses at a GID, and of paths to it, that a rare event concerns: that takes a fraction of a
/// millisecond.
pub(super) const MOST_COMPARED: usize = 1024;

impl Ibacmp {
    /// Doubts an address after an event that may have moved it.
    pub(crate) fn doubt(&mut self, cx: &mut Context, id: DestId) {
        self.cache.raise_doubt(id);
        self.settle_doubt(cx, id);
    }

    /// Sends the next witness of an endpoint if it is due, and doubts the hosts that send none any more.
    pub(crate) fn witness_due(&mut self, cx: &mut Context, endpoint: EndpointId) {
        for (lid, gid) in self.endpoints.witness_due(cx, &mut self.stats, endpoint) {
            for id in self.cached_at(cx, endpoint, lid, gid) {
                let dest = self.cache.at(id);
                if dest.is_address() {
                    self.doubt(cx, id);
                } else if dest.is_requested() {
                    self.queue_renewal(cx, id, RenewalReason::Found);
                }
            }
        }
    }

    /// Returns the destinations that are cached at a GID with a base LID, at most [`MOST_COMPARED`] of each kind.
    pub(super) fn cached_at(&self, cx: &Context, endpoint: EndpointId, lid: Lid, gid: Gid) -> Vec<DestId> {
        let lmc = cx.lmc_of(endpoint);
        let host = Remote { gid, lid, ..Remote::default() };
        let is_there = |id: &DestId| match &self.cache.at(*id).state {
            DestState::Ready(ServedPath { path, .. }) => host.is_at_end_of(path, lmc),
            DestState::Located { remote, .. } => remote.is_same_port(&host, lmc),
            _ => false,
        };
        self.cache.at_gid(endpoint, cx.partition_choice(endpoint), gid, MOST_COMPARED).filter(is_there).collect()
    }

    /// Returns the keys of the paths to a location that a request without conditions has, with the endpoint of each.
    pub(super) fn keys_to(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Vec<(EndpointId, DestKey)> {
        let mut keys = Vec::from([(endpoint, self.key_to(endpoint, remote))]);
        if let choice @ Some(_) = cx.partition_choice(endpoint) {
            for of in cx.port_id(endpoint).map(|port| cx.endpoints_of(port)).unwrap_or_default() {
                if let DestKey::Route(key) = self.key_to(of, remote) {
                    keys.push((of, DestKey::Route(RouteKey { choice, ..key })));
                }
            }
        }
        keys
    }

    /// Starts the proof of what is in doubt. The subnet administrator is queried for the path to a GID or LID. The owner
    /// of an address is asked: as often as for the check of a claim at most, and no other host.
    pub(crate) fn settle_doubt(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at(id);
        if !dest.is_address() && dest.doubts.are_open() && dest.is_requested() {
            self.queue_renewal(cx, id, RenewalReason::Moved);
            return;
        }
        if !dest.is_doubtful() {
            return;
        }
        let no_check_before = dest.state.ready().and_then(|ready| ready.no_check_before);
        let start = no_check_before.map_or(cx.shared.now(), |time| time.max(cx.shared.now()));
        let source = source(cx, dest.endpoint);
        let Some((source, Ok(lookup))) = source.map(|source| (source, Lookup::for_remote(&mut cx.shared))) else {
            return;
        };
        let mut request = MulticastRequest::new(cx.shared.now(), cx.shared.transaction_id(), source, lookup);
        (request.stage, request.asked) = (Stage::Paused, dest.doubts.number());
        let until = start + cx.shared.config().timeout;
        self.cache.change(id, |ready| {
            request.to = ready.remote;
            ready.check = Some(Box::new(HostCheck { request, reason: CheckReason::Doubt }));
            ready.no_check_before = Some(until);
        });
        let at = start + retry::CLAIM_DEFENCE + cx.shared.spread(retry::CLAIM_SPREAD);
        cx.shared.set_timer(Task::Lookup(id).token(), at);
    }
}
