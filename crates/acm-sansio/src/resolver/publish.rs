//! Paths that clients read without a request (`shared_cache`).
//!
//! A path is published when a request gets it from the cache, so that the next requests for it need not be sent. It is
//! withdrawn as soon as the cache would give another response: [`Cache::enter`](super::cache::Cache::enter) and
//! [`Cache::change`](super::cache::Cache::change) notice this for one destination, and an event of an endpoint
//! withdraws all of its paths.
//!
//! A published path is used without the provider's notice. It is therefore published for a limited time: in each
//! [`LEASE`] the first use of a destination is a request, which is a use for eviction, renewal and confirmation.
use super::{
    dest::{Dest, DestKey, EvictionClass, Origin, RouteKey, ServedPath},
    state::Ibacmp,
    token::DestId,
};
use crate::{
    api::{Output, Publication, id::EndpointId},
    provider::Context,
};
use acm_wire::Address;
use core::time::Duration;
use ib_mad::{Gid, Lid, sa::PathRecord};

/// The longest time for which a path is published.
pub(crate) const LEASE: Duration = Duration::from_secs(60);

impl Ibacmp {
    /// Returns the path of a destination, if a request of a local user gets it now, and it is not stale.
    fn fresh(&self, cx: &Context, id: DestId) -> Option<&ServedPath> {
        let dest = self.cache.get(id)?;
        let ready = dest.state.ready().filter(|ready| !ready.freshness.stale)?;
        let is_fresh = match dest.class {
            EvictionClass::Local => true,
            EvictionClass::Probation | EvictionClass::Unsolicited => false,
            EvictionClass::Requested => {
                let is_proven = if dest.is_address() { dest.origin == Origin::Asked } else { !dest.doubts.are_open() };
                is_proven
                    && self.endpoints.get(dest.endpoint).is_some_and(|state| state.epoch() == ready.freshness.epoch)
                    && self.is_served(cx, dest, ready)
            }
        };
        is_fresh.then_some(ready)
    }

    /// Publishes the path that a request got.
    pub(crate) fn publish(&mut self, cx: &Context, id: DestId) {
        if !cx.shared.config().shared_cache {
            return;
        }
        let Some(ready) = self.fresh(cx, id) else { return };
        let ends = [ready.freshness.addr_until, ready.freshness.route_until].into_iter().flatten();
        let lifetime = ends.map(|until| until.since(cx.shared.now())).fold(LEASE, Duration::min);
        let path = ready.path;
        if let Some(dest) = self.cache.at_mut(id)
            && let Some(address) = dest.plain_dest()
            && is_found(cx, dest)
        {
            dest.published = true;
            let endpoint = dest.endpoint;
            self.cache.publications.push(Publication::Path { endpoint, dest: address, path, lifetime });
        }
    }

    /// Withdraws all paths from an endpoint: an event may have made them wrong.
    pub(crate) fn withdraw_all(&mut self, cx: &Context, endpoint: EndpointId) {
        if cx.shared.config().shared_cache {
            self.cache.publications.push(Publication::AllWithdrawn(endpoint));
        }
    }

    /// Emits the changes of an input before its other outputs.
    pub(super) fn emit_changes(&mut self, cx: &mut Context) {
        if !cx.shared.config().shared_cache {
            // Paths that were published before the option was switched off have been withdrawn.
            self.cache.publications.clear();
        }
        while let Some(publication) = self.cache.publications.pop() {
            cx.shared.outputs.push_front(Output::Publish(publication));
        }
    }

    /// Returns the path that a request from an endpoint gets now from the cache, unless it is stale.
    pub(super) fn fresh_path_to(&self, cx: &Context, endpoint: EndpointId, dest: &Address) -> Option<PathRecord> {
        let choice = cx.partition_choice(endpoint);
        let route = |dgid, dlid| DestKey::Route(RouteKey { dgid, dlid, choice, ..RouteKey::default() });
        let key = match *dest {
            Address::Gid(gid) => route(gid, Lid::NONE),
            Address::Lid(lid) => route(Gid::default(), lid),
            address => DestKey::Address(address),
        };
        self.fresh(cx, self.cache.find(endpoint, &key)?).map(|ready| ready.path)
    }
}

/// Reports whether a request without a P_Key finds a destination.
fn is_found(cx: &Context, dest: &Dest) -> bool {
    match dest.key {
        DestKey::Address(_) => true,
        DestKey::Route(RouteKey { choice, .. }) => choice == cx.partition_choice(dest.endpoint),
    }
}
