//! Requests for the path to an address, and the lookups that they share.
use crate::{
    accounts::fair::Urgency,
    api::{
        account::AccountId,
        failure::{Bound, Failure},
        id::{EndpointId, ProviderId},
    },
    provider::{Context, IfPending, Need, Resolution},
    resolver::{
        cache::Eviction,
        dest::{DestKey, DestState, EvictionClass, Lookup, MulticastRequest, Origin, Stage},
        state::{Ibacmp, RenewalReason},
        token::{DestId, Task},
    },
    sa::Purpose,
};
use acm_wire::{Address, client::Counter};

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
        let is_asked = self.cache.get(id).is_none_or(|dest| dest.origin == Origin::Asked);
        let claimant = if is_asked { None } else { self.take_claimant(cx, id) };
        if let Some(resolution) = self.cached_resolution(cx, id, endpoint, need) {
            return resolution;
        }
        if let Some(resolution) = self.preloaded_resolution(cx, id, endpoint) {
            return resolution;
        }
        let lookup = match Lookup::begin(cx, need) {
            Ok(lookup) => lookup,
            Err(failure) => {
                self.cache.remove_if_not_found(id);
                return failure.into();
            }
        };
        match self.cache.get(id).map(|dest| &dest.state) {
            Some(DestState::Located { remote, .. }) => {
                let remote = *remote;
                cx.count(endpoint, Counter::AddrCache);
                self.find_route(cx, id, remote, lookup);
            }
            _ => self.start_request(cx, id, endpoint, *source, claimant, lookup),
        }
        self.current_resolution(id)
    }

    /// Returns the destination with a key for a local user's request and creates it if necessary. Returns `None` if the
    /// cache is full.
    pub(crate) fn acquire(&mut self, cx: &mut Context, endpoint: EndpointId, key: DestKey) -> Option<DestId> {
        if let Some(id) = self.cache.find(endpoint, &key) {
            if self.cache.get(id).is_some_and(|dest| dest.class == EvictionClass::Unsolicited) {
                self.cache.set_class(id, EvictionClass::Requested);
            }
            return Some(id);
        }
        self.make(cx, endpoint, key, EvictionClass::Probation)
    }

    /// Returns the destination with a key from a remote host's request and creates it if necessary. Returns `None` if
    /// the cache is full.
    pub(crate) fn acquire_unsolicited(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        key: DestKey,
    ) -> Option<DestId> {
        self.cache.find(endpoint, &key).or_else(|| self.make(cx, endpoint, key, EvictionClass::Unsolicited))
    }

    fn make(&mut self, cx: &mut Context, endpoint: EndpointId, key: DestKey, class: EvictionClass) -> Option<DestId> {
        match self.cache.make_room(class, &cx.config().limits) {
            Eviction::NotNeeded => {}
            Eviction::Done => self.stats.destinations_evicted += 1,
            Eviction::Impossible => {
                self.stats.destinations_refused += 1;
                return None;
            }
        }
        let id = self.cache.insert(endpoint, key, class);
        self.schedule_sweep(cx);
        Some(id)
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
        let dest = self.cache.get_mut(id)?;
        dest.used = true;
        match &mut dest.state {
            DestState::Ready(ready) => {
                let (path, stale) = (ready.path, ready.stale);
                ready.note_use();
                cx.count(endpoint, Counter::RouteCache);
                if stale {
                    self.queue_renewal(cx, id, RenewalReason::Used);
                }
                if self.confirmations.rests() {
                    self.start_confirmations(cx);
                }
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

    /// Returns the result from a destination's current state, after an operation was started.
    pub(crate) fn current_resolution(&mut self, id: DestId) -> Resolution {
        match self.cache.get(id).map(|dest| &dest.state) {
            Some(DestState::Ready(ready)) => Resolution::Ready(ready.path),
            Some(state) if state.is_busy() => Resolution::Pending(Task::Lookup(id).token()),
            _ => Resolution::Failed(self.last_failure.take().unwrap_or(Failure::EndpointClosed.into())),
        }
    }

    /// Adds a requester to the lookup in progress.
    fn share_lookup(&mut self, cx: &mut Context, id: DestId, need: Need) -> Result<(), Failure> {
        let Some(dest) = self.cache.get_mut(id) else { return Ok(()) };
        let endpoint = dest.endpoint;
        let Some(lookup) = dest.state.lookup_mut() else { return Ok(()) };
        let urgency = lookup.join(cx, need)?;
        self.join_queue(cx, id, endpoint, need.account, urgency);
        Ok(())
    }

    /// Adds a queue position for an account to the operation that waits for its turn, or moves the account's position
    /// to this urgency.
    pub(crate) fn join_queue(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
        account: AccountId,
        urgency: Urgency,
    ) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        match &mut dest.state {
            DestState::Routing(routing) => cx.sa_join(routing.query, account, urgency),
            other => {
                // An endpoint without a queue pair has path queries, but no multicast requests.
                if let Some(MulticastRequest { stage: Stage::Queued(positions), .. }) = other.multicast_request_mut()
                    && let Some(state) = self.endpoints.get_mut(&endpoint)
                {
                    state.queue.join(positions, account, urgency, id);
                }
            }
        }
    }

    /// Removes a waiting request of an account from a lookup.
    pub(crate) fn remove_waiter(&mut self, cx: &mut Context, id: DestId, account: AccountId, ticket: bool) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let Some(lookup) = dest.state.lookup_mut() else { return };
        match lookup.leave(cx, account, ticket) {
            Some(urgency) => self.join_queue(cx, id, endpoint, account, urgency),
            None => self.account_left(cx, id, account),
        }
    }

    /// Ends the need of an account for the lookup that it queued last with this urgency. Returns `false` if there is
    /// none.
    pub(crate) fn cancel_last(&mut self, cx: &mut Context, account: AccountId, urgency: Urgency) -> bool {
        let multicast = self.endpoints.values().find_map(|state| state.queue.last(account, urgency));
        let id = multicast.or_else(|| match cx.sa.last(account, urgency)? {
            Purpose::Provider(_, token) if token.provider == ProviderId::BUILT_IN => match Task::of(token) {
                Task::Route(id) => Some(id),
                _ => None,
            },
            _ => None,
        });
        let Some((id, dest)) = id.and_then(|id| Some((id, self.cache.get_mut(id)?))) else { return false };
        let Some(lookup) = dest.state.lookup_mut() else { return false };
        lookup.remove(cx, account);
        self.account_left(cx, id, account);
        cx.fail_for(Task::Lookup(id).token(), account, Failure::TooMany(Bound::Lookups));
        true
    }

    /// Removes the queue position of an account that no longer needs a lookup, and ends the lookup if it is no longer
    /// needed.
    fn account_left(&mut self, cx: &mut Context, id: DestId, account: AccountId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let needed = dest.state.lookup_mut().is_some_and(|lookup| lookup.is_needed());
        let queued = match (&mut dest.state, self.endpoints.get_mut(&endpoint)) {
            (DestState::Locating(request), Some(state)) => match &mut request.stage {
                Stage::Queued(positions) => {
                    state.queue.leave(positions, account);
                    true
                }
                // It ends at its first time-out.
                Stage::Paused | Stage::Sent(_) | Stage::Late => false,
            },
            (DestState::Routing(routing), _) => {
                cx.sa_leave(routing.query, account);
                !needed && cx.sa_cancel(routing.query)
            }
            _ => false,
        };
        if !needed && queued {
            self.drop_unneeded(cx, id);
        }
    }

    /// Ends a lookup that no account needs. A cached location stays.
    pub(crate) fn drop_unneeded(&mut self, cx: &mut Context, id: DestId) {
        self.stats.lookups_unneeded += 1;
        match self.cache.enter(id, DestState::Unknown) {
            DestState::Locating(request) => {
                self.end_multicast_request(cx, id, *request).end(cx);
            }
            DestState::Routing(routing) => {
                routing.lookup.end(cx);
                if let Some(remote) = routing.remote {
                    self.cache.enter(id, DestState::Located { remote, addr_until: routing.addr_until });
                }
            }
            other => {
                self.cache.enter(id, other);
            }
        }
        self.cache.remove_if_not_found(id);
    }
}
