//! Requests of local users for paths: answered from the cache or from a source that needs no query, or by a lookup, which
//! they start, join and leave.
use super::{
    confirmations::PASS,
    dest::{DestKey, DestState, EvictionClass, Lookup, MulticastRequest, Origin, Remote, RouteKey, ServedPath},
    state::{Ibacmp, RenewalReason},
    token::{DestId, Task},
};
use crate::{
    accounts::fair::Urgency,
    api::{
        account::AccountId,
        failure::{Bound, Failure},
        id::{EndpointId, ProviderId},
        port::PortAttributes,
    },
    provider::{Context, IfPending, Need, Resolution, Target},
    sa::Purpose,
};
use acm_wire::{Address, client::Counter};
use alloc::boxed::Box;

impl Ibacmp {
    /// Returns the path to a target, or starts a lookup.
    pub(crate) fn path_to(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        target: Target<'_>,
        need: Need,
    ) -> Resolution {
        let key = match target {
            // GIDs and LIDs do not belong to peers as addresses; they must be requested as paths.
            Target::Address { dest: Address::Gid(_) | Address::Lid(_), .. } => return Failure::NotAnAddress.into(),
            Target::Address { dest, .. } => DestKey::Address(*dest),
            Target::Port(path) => {
                let service_id = self.id_to_query(cx, endpoint, path.service_id, need);
                let own_gid = cx.port_of(endpoint).map(PortAttributes::gid);
                DestKey::Route(RouteKey::requested(path, own_gid, service_id, cx.partition_choice(endpoint)))
            }
        };
        let Some(id) = self.acquire(cx, endpoint, key) else {
            return Failure::TooMany(Bound::Destinations).into();
        };
        let claimant = self.take_claimant(cx, id);
        if let Some(resolution) = self.cached_resolution(cx, id, endpoint, need) {
            return resolution;
        }
        let lookup = match Lookup::begin(&mut cx.shared, need) {
            Ok(lookup) => lookup,
            Err(failure) => {
                self.cache.remove_if_not_found(id);
                return failure.into();
            }
        };
        match (target, &self.cache.at(id).state) {
            (Target::Port(_), _) => {
                let addr_until = cx.addr_end();
                let resolution = self.query_route(cx, id, None, addr_until, lookup);
                self.note_undecided(cx, endpoint, id);
                resolution
            }
            (Target::Address { .. }, DestState::Located { remote, .. }) => {
                let remote = *remote;
                cx.count(endpoint, Counter::AddrCache);
                self.find_route(cx, id, remote, lookup)
            }
            (Target::Address { source, .. }, _) => self.start_request(cx, id, *source, claimant, lookup),
        }
    }

    /// Starts a request for a destination: to a host that claims to have it, or has proven it before, or to the group.
    fn start_request(
        &mut self,
        cx: &mut Context,
        id: DestId,
        source: Address,
        claimant: Option<Claimant>,
        lookup: Lookup,
    ) -> Resolution {
        let request = MulticastRequest::new(cx.shared.now(), cx.shared.transaction_id(), source, lookup);
        // Without a group there is no receiver for the request. It waits for a join that has not failed.
        let endpoint = self.cache.at(id).endpoint;
        if self.endpoints.at(endpoint).base_group().is_none() && !self.endpoints.awaits_base_group(cx, endpoint) {
            return self.give_up(cx, id, request.lookup, Failure::NoGroup.into());
        }
        self.cache.enter(id, DestState::Locating(Box::new(request)));
        match claimant {
            Some(Claimant { host, is_known }) => self.ask_host(cx, id, host, is_known),
            None => self.queue_request(cx, id),
        }
        Resolution::Pending(Task::Lookup(id).token())
    }

    /// Drops a location that no host has proven, or that is in doubt, because a local user requests it. Returns the host
    /// to ask for it, or `None` if the group must be asked.
    fn take_claimant(&mut self, cx: &mut Context, id: DestId) -> Option<Claimant> {
        let dest = self.cache.at(id);
        let is_known = matches!(dest.state, DestState::Located { .. }) && dest.origin == Origin::Asked;
        let is_proven = dest.origin == Origin::Asked && !(is_known && dest.doubts.are_open());
        if is_proven || dest.class == EvictionClass::Local {
            return None;
        }
        self.drop_expired(cx, id);
        let dest = self.cache.at(id);
        let (DestState::Located { remote, .. } | DestState::Ready(ServedPath { remote: Some(remote), .. })) =
            dest.state
        else {
            return None;
        };
        let may_ask = dest.origin != Origin::Doubtful && remote.can_respond();
        self.end_operations(cx, id).end(&mut cx.shared);
        may_ask.then_some(Claimant { host: remote, is_known })
    }

    /// Returns the cached result, or the path from a source that needs no query. If a lookup is in progress, the
    /// requester joins it.
    fn cached_resolution(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
        need: Need,
    ) -> Option<Resolution> {
        self.drop_expired(cx, id);
        if self.cache.at(id).doubts.are_open() {
            self.use_in_doubt(cx, id);
        }
        let dest = self.cache.at_mut(id)?;
        dest.used = true;
        match &mut dest.state {
            DestState::Ready(ready) => {
                let (path, stale) = (ready.path, ready.freshness.stale);
                ready.freshness.note_use();
                ready.history.used(cx.shared.now(), cx.shared.accounts.account(need.account));
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
                let attempt = failed.again(cx.shared.now());
                self.stats.negative_answers += 1;
                Some(Resolution::Failed(attempt))
            }
            DestState::Unknown | DestState::Located { .. } => {
                let path = self.fill(cx, id)?;
                self.note_user(cx, id, need.account);
                cx.count(endpoint, Counter::RouteCache);
                Some(Resolution::Ready(path))
            }
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
        } else if !ready.freshness.queued && ready.renewal.is_none() {
            self.drop_path(cx, id);
        }
    }

    /// Adds a requester to the lookup in progress.
    fn share_lookup(&mut self, cx: &mut Context, id: DestId, need: Need) -> Result<(), Failure> {
        if let Some(lookup) = self.cache.lookup_mut(id) {
            let urgency = lookup.join(&mut cx.shared, need)?;
            self.join_queue(cx, id, need.account, urgency);
        }
        Ok(())
    }

    /// Removes a waiting request of an account from a lookup.
    pub(crate) fn remove_waiter(&mut self, cx: &mut Context, id: DestId, account: AccountId, ticket: bool) {
        let Some(lookup) = self.cache.lookup_mut(id) else { return };
        match lookup.leave(&mut cx.shared, account, ticket) {
            Some(urgency) => self.join_queue(cx, id, account, urgency),
            None => self.leave_queue(cx, id, account),
        }
    }

    /// Ends the need of an account for the lookup that it queued last with this urgency. Returns `false` if there is
    /// none.
    pub(crate) fn cancel_last(&mut self, cx: &mut Context, account: AccountId, urgency: Urgency) -> bool {
        let multicast = self.endpoints.iter().find_map(|(_, state)| state.queue.last(account, urgency));
        let id = multicast.or_else(|| match cx.sa.last(account, urgency)? {
            Purpose::Provider(_, token) if token.provider == ProviderId::BUILT_IN => match Task::of(token) {
                Task::Route(id) => Some(id),
                _ => None,
            },
            _ => None,
        });
        let Some(id) = id else { return false };
        let Some(lookup) = self.cache.lookup_mut(id) else { return false };
        lookup.remove(&mut cx.shared, account);
        self.leave_queue(cx, id, account);
        cx.fail_for(Task::Lookup(id).token(), account, Failure::TooMany(Bound::Lookups));
        true
    }
}

/// The host that a lookup asks first.
#[derive(Clone, Copy)]
struct Claimant {
    host: Remote,
    /// `true` if it has proven the address before.
    is_known: bool,
}
