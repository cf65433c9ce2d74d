//! The checks of what is cached while its path is served: claims of remote hosts, owners of addresses, renewals of
//! paths.
use crate::{
    api::{Conflict, PathOrigin, ResolverEvent, SaError, config::RouteProt},
    provider::Context,
    resolver::{
        dest::{
            Action, CheckReason, Checks, Claim, DestState, HostCheck, Lookup, MulticastRequest, Outcome, Proof, Remote,
            Renewal, ServedPath, Stage,
        },
        endpoint::Endpoints,
        facts::source,
        state::{Ibacmp, RenewalReason},
        token::{DestId, Task},
    },
    retry,
};
use alloc::boxed::Box;
use ib_mad::{
    Gid,
    sa::{PathRecord, SaMad},
};

impl Ibacmp {
    /// Starts the check of a claim to an address in use: after a pause, its owner is asked.
    pub(crate) fn check_claim(&mut self, cx: &mut Context, id: DestId, claimant: Remote) {
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let DestState::Ready(ready) = &dest.state else { return };
        let ServedPath { remote: Some(owner), check, no_check_before, claims_refuted, .. } = ready else {
            return;
        };
        let checked = check.as_ref().and_then(|check| check.reason.claimant());
        let source = source(cx, endpoint).filter(|_| check.is_none());
        let Some((source, Ok(lookup))) = source.map(|source| (source, Lookup::for_remote(&mut cx.shared))) else {
            self.stats.claims_ignored += 1;
            // The check that is open may prove what was true before this claim.
            if checked != Some(claimant) {
                self.cache.raise_doubt(id);
            }
            return;
        };
        // A host without a queue pair is from a file. Only the group can be asked for it.
        let to = Some(*owner).filter(Remote::can_respond);
        let is_move = owner.gid == claimant.gid;
        let start = no_check_before.map_or(cx.shared.now(), |time| time.max(cx.shared.now()));
        let at = start + retry::CLAIM_DEFENCE + cx.shared.spread(retry::CLAIM_SPREAD);
        // After a pause without claims, the count of those that were refuted starts again.
        let is_in_a_row = no_check_before.is_some_and(|time| time + retry::CLAIM_PAUSE > cx.shared.now());
        let refuted = if is_in_a_row { *claims_refuted } else { 0 };
        let pauses = retry::RetryPolicy { first: cx.shared.config().timeout, longest: retry::CLAIM_PAUSE };
        let until = start + pauses.pause(refuted + 1);
        let mut request = MulticastRequest::new(cx.shared.now(), cx.shared.transaction_id(), source, lookup);
        (request.stage, request.to) = (Stage::Paused, to);
        let check = HostCheck { request, reason: CheckReason::Claim(Claim::new(claimant)) };
        self.cache.change(id, |ready| {
            ready.check = Some(Box::new(check));
            (ready.no_check_before, ready.claims_refuted) = (Some(until), refuted);
        });
        cx.shared.set_timer(Task::Lookup(id).token(), at);
        self.stats.claims_checked += 1;
        cx.shared.log(ResolverEvent::ClaimChecked(endpoint, name, claimant.gid).into());
        // The subnet administrator knows where a GID is. Each node has a slot for its query.
        if is_move {
            self.queue_renewal(cx, id, RenewalReason::Moved);
        }
    }

    /// Sends a request to the peer itself, to find out whether it still has the address.
    pub(super) fn check_before_renewal(&mut self, cx: &mut Context, id: DestId) {
        let source = source(cx, self.cache.at(id).endpoint);
        let Some((source, Ok(lookup))) = source.map(|source| (source, Self::background(&mut cx.shared))) else {
            return;
        };
        let mut request = MulticastRequest::new(cx.shared.now(), cx.shared.transaction_id(), source, lookup);
        request.asked = self.cache.at(id).doubts.number();
        self.cache.change(id, |ready| {
            request.to = ready.remote;
            ready.check = Some(Box::new(HostCheck { request, reason: CheckReason::Renewal }));
        });
        self.queue_request(cx, id);
    }

    /// Caches a claim of an address that is not in use. Its first use verifies it.
    pub(crate) fn cache_claim(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        let addr_until = cx.addr_end();
        // It was verified because of a table of hosts that may be replaced by now.
        if let DestState::Ready(mut ready) = self.cache.enter(id, DestState::Located { remote, addr_until }) {
            self.end_checks(cx, id, ready.checks());
        }
    }

    /// Keeps the location of a host that has sent a request, which ends the check of a claim to its address.
    pub(crate) fn keep_owner(&mut self, cx: &mut Context, id: DestId, has_changed: bool, renews: bool) {
        let ready = self.cache.at(id).state.ready();
        if let Some(ServedPath { remote: Some(owner), check: Some(check), .. }) = ready
            && check.reason.claimant().is_some()
        {
            let owner = owner.gid;
            self.count_refuted(cx, id, owner);
            self.close_check(cx, id);
            // The subnet administrator is not asked about a move that the owner denies.
            self.cache.change(id, |ready| ready.freshness.unqueue_move());
        }
        if has_changed {
            let dest = self.cache.at(id);
            cx.shared.log(ResolverEvent::PeerChanged(dest.endpoint, dest.name()).into());
        }
        if renews {
            self.queue_renewal(cx, id, RenewalReason::Moved);
        }
    }

    /// Ends the check of an address. Returns the action that follows.
    pub(crate) fn end_check(&mut self, cx: &mut Context, id: DestId, outcome: Outcome) -> Action {
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let DestState::Ready(ServedPath { remote: Some(owner), check: Some(check), .. }) = &dest.state else {
            return Action::Nothing;
        };
        let (owner, reason, asked) = (*owner, check.reason, check.request.asked);
        match (outcome, reason.claimant()) {
            (Outcome::Confirmed, Some(claimant)) => return self.accept_claimant(cx, id, owner, claimant),
            (Outcome::Conflict, Some(claimant)) => self.report_conflict(cx, id, owner.gid, claimant.gid),
            (Outcome::Refuted, _) => self.count_refuted(cx, id, owner.gid),
            (Outcome::Gone, _) => {
                cx.shared.log(ResolverEvent::PeerChanged(endpoint, name).into());
                self.end_operations(cx, id).end(&mut cx.shared);
                return Action::Nothing;
            }
            _ => {}
        }
        // The check of a claim proves nothing about other doubts.
        if reason.claimant().is_none() {
            self.cache.prove(id, Proof::Host, asked);
        }
        self.close_check(cx, id);
        if outcome == Outcome::Present {
            let until = cx.addr_end();
            self.cache.change(id, |ready| ready.freshness.addr_until = until);
        }
        match (reason, outcome) {
            // With `route_prot acm`, too: only the SA knows the LID of a silent host.
            (CheckReason::Renewal | CheckReason::Doubt, Outcome::Unanswered) => self.query_renewal(cx, id),
            (CheckReason::Renewal, _) => self.renew_path(cx, id),
            _ => {}
        }
        Action::Nothing
    }

    fn count_refuted(&mut self, cx: &mut Context, id: DestId, owner: Gid) {
        self.stats.claims_refuted += 1;
        self.cache.change(id, |ready| ready.claims_refuted = ready.claims_refuted.saturating_add(1));
        let dest = self.cache.at(id);
        cx.shared.log(ResolverEvent::ClaimRefuted(dest.endpoint, dest.name(), owner).into());
    }

    /// Counts that two hosts have an address. It is logged once for each cache entry, because the adapters of a host
    /// may share its name.
    pub(crate) fn report_conflict(&mut self, cx: &mut Context, id: DestId, used: Gid, other: Gid) {
        self.stats.address_conflicts += 1;
        // The entry may have been removed since the first of them responded.
        let conflict = Conflict { at: cx.shared.now(), used, other };
        if let Some(dest) = self.cache.get_mut(id)
            && dest.conflict.replace(conflict.into()).is_none()
        {
            cx.shared.log(ResolverEvent::AddressConflict(dest.endpoint, dest.name(), used, other).into());
        }
    }

    /// Accepts the host that claims an address. Returns the action that follows.
    fn accept_claimant(&mut self, cx: &mut Context, id: DestId, owner: Remote, claimant: Remote) -> Action {
        self.stats.claims_confirmed += 1;
        let dest = self.cache.at(id);
        let name = dest.name();
        cx.shared.log(ResolverEvent::PeerChanged(dest.endpoint, name).into());
        self.compare_host(&name, claimant.gid);
        if owner.gid != claimant.gid {
            return Action::FindRoute(claimant);
        }
        // The path to the new LID is served. Its renewal, which is queued, confirms the other attributes. One that is
        // open may be older than the move.
        let renewal = self.cache.change(id, |ready| {
            (ready.remote, ready.path.dlid, ready.freshness.stale) = (Some(claimant), claimant.lid, true);
            ready.renewal.take()
        });
        if let Some(renewal) = renewal.flatten() {
            self.end_checks(cx, id, Checks { check: None, renewal: Some(renewal) });
            self.queue_renewal(cx, id, RenewalReason::Moved);
        }
        self.close_check(cx, id);
        Action::Nothing
    }

    /// Ends the check of a move that the subnet administrator confirmed. If it did not, the peer is still asked.
    fn move_confirmed(&mut self, cx: &mut Context, id: DestId, path: &PathRecord) {
        let dest = self.cache.at(id);
        let lmc = cx.lmc_of(dest.endpoint);
        let check = dest.state.ready().and_then(|ready| ready.check.as_ref());
        let claimant = check.and_then(|check| check.reason.claimant());
        let moved = claimant.filter(|claimant| claimant.gid == path.dgid && claimant.is_at_end_of(path, lmc));
        if let Some(claimant) = moved {
            self.stats.claims_confirmed += 1;
            // Its queue pair may be another one, too. A location from a file has none.
            self.cache.change(id, |ready| {
                ready.remote.iter_mut().filter(|owner| owner.can_respond()).for_each(|owner| owner.qpn = claimant.qpn);
            });
            self.close_check(cx, id);
        }
    }

    pub(super) fn renew_path(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at(id);
        let remote = dest.state.ready().and_then(|ready| ready.remote);
        if cx.shared.config().route_prot == RouteProt::Acm && dest.is_address() {
            let path = remote.and_then(|remote| self.endpoints.path_by_group(cx, dest.endpoint, &remote));
            if let Some(path) = path {
                self.apply_renewal(cx, id, &path, PathOrigin::Group);
            }
        } else {
            self.query_renewal(cx, id);
        }
    }

    fn query_renewal(&mut self, cx: &mut Context, id: DestId) {
        if let Ok(lookup) = Self::background(&mut cx.shared) {
            self.request_renewal(cx, id, lookup);
        }
    }

    /// Queries the subnet administrator for the path of a destination whose old path is served meanwhile.
    pub(crate) fn request_renewal(&mut self, cx: &mut Context, id: DestId, lookup: Lookup) {
        let dest = self.cache.at(id);
        let endpoint = dest.endpoint;
        let ready = dest.state.ready().filter(|ready| ready.renewal.is_none());
        let query = ready.and_then(|ready| self.path_query(cx, id, ready.remote.as_ref()));
        let token = Task::Renew(id).token();
        let query =
            query.zip(lookup.accounts().next()).map(|(query, first)| cx.sa_query(endpoint, token, query, first));
        let Some(Ok(query)) = query else {
            lookup.end(&mut cx.shared);
            return;
        };
        let renewal = Renewal { query, lookup, epoch: self.epoch(endpoint), asked: self.cache.at(id).doubts.number() };
        self.stats.renewals += 1;
        self.cache.change(id, |ready| ready.renewal = Some(Box::new(renewal)));
    }

    /// Handles the result of a renewal query.
    pub(crate) fn renewal_done(&mut self, cx: &mut Context, id: DestId, result: Result<&SaMad, SaError>) {
        let renewal = self.cache.change(id, |ready| Some((ready.renewal.take()?, ready.remote)));
        let Some(Some((renewal, remote))) = renewal else { return self.cache.note_lost(id) };
        let Renewal { lookup, epoch, asked, .. } = *renewal;
        let responders = lookup.end(&mut cx.shared);
        let result = result.and_then(|mad| self.path_in(cx, id, mad));
        if let Some((endpoint, key)) = self.route_key(id, remote.as_ref()) {
            self.endpoints.compare_prefetched(&mut self.stats, endpoint, &key, result);
        }
        match result {
            Ok(path) => {
                self.cache.change(id, |ready| ready.freshness.epoch = epoch);
                self.cache.prove(id, Proof::Path, asked);
                self.compare_path(cx, id, remote.as_ref(), Ok(path));
                let by_group = remote.and_then(|remote| self.path_by_group_to(cx, id, &remote, path));
                match &by_group {
                    Some(by_group) => self.apply_renewal(cx, id, by_group, PathOrigin::Group),
                    None => self.apply_renewal(cx, id, path, PathOrigin::Sa),
                }
                self.move_confirmed(cx, id, path);
                let endpoint = self.cache.at(id).endpoint;
                for responder in &responders {
                    Endpoints::respond(cx, endpoint, path, responder);
                }
            }
            // The path no longer exists.
            Err(error) if error.is_no_path() => {
                self.stats.renewals_failed += 1;
                let dest = self.cache.at(id);
                cx.shared.log(ResolverEvent::RouteRemoved(dest.endpoint, dest.name()).into());
                self.end_operations(cx, id).end(&mut cx.shared);
            }
            Err(_) => self.renewal_failed(cx, id),
        }
    }

    /// Returns the path by the parameters of the group to the LID of a path of the SA, with `route_prot acm`.
    fn path_by_group_to(&self, cx: &Context, id: DestId, remote: &Remote, path: &PathRecord) -> Option<PathRecord> {
        let dest = self.cache.at(id);
        let is_by_group = cx.shared.config().route_prot == RouteProt::Acm && dest.is_address();
        let remote = remote.at_end_of(path, cx.lmc_of(dest.endpoint));
        self.endpoints.path_by_group(cx, dest.endpoint, &remote).filter(|_| is_by_group)
    }

    /// Keeps the old path after a failed query, and retries later.
    fn renewal_failed(&mut self, cx: &mut Context, id: DestId) {
        self.stats.renewals_failed += 1;
        if let Some(port) = cx.port_id(self.cache.at(id).endpoint) {
            cx.sa.renewal_failed(&mut cx.shared, port);
            self.schedule_renewals(cx, port);
        }
        self.queue_renewal(cx, id, RenewalReason::Found);
    }

    /// Replaces the path of a destination.
    fn apply_renewal(&mut self, cx: &mut Context, id: DestId, path: &PathRecord, origin: PathOrigin) {
        let (addr_end, route_until) = (cx.addr_end(), cx.route_end());
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let lmc = cx.lmc_of(endpoint);
        // A datagram that is later than the query contradicted the path.
        let is_contradicted = !dest.is_address() && dest.doubts.are_open();
        // Through `Cache::enter`, because the GID may change.
        let DestState::Ready(mut ready) = self.cache.enter(id, DestState::Unknown) else { return };
        let moved = ready.path.dlid.base(lmc) != path.dlid.base(lmc);
        ready.history.confirmed(origin, cx.shared.now());
        (ready.path, ready.freshness.stale, ready.freshness.route_until) = (*path, is_contradicted, route_until);
        match &mut ready.remote {
            None => ready.freshness.addr_until = addr_end,
            Some(remote) => *remote = remote.at_end_of(path, lmc),
        }
        // A renewal that was queued before this query has no other reason than a confirmation.
        ready.freshness.unqueue_move();
        // Only an entry whose location comes from a file depends on the file.
        ready.freshness.preloaded =
            ready.freshness.preloaded.filter(|_| ready.remote.is_some_and(|remote| remote.is_from_file()));
        self.cache.enter(id, DestState::Ready(ready));
        self.endpoints.note_path(endpoint, path, lmc);
        // The host was not asked at this LID.
        if let Some(dest) = self.cache.at_mut(id) {
            dest.doubts.raise_if(moved && dest.is_address());
        }
        let event = if moved { ResolverEvent::PeerChanged } else { ResolverEvent::RouteFound };
        cx.shared.log(event(endpoint, name).into());
        self.settle_doubt(cx, id);
    }

    /// Ends a check without a change of location. A doubt that came during it is settled next.
    pub(crate) fn close_check(&mut self, cx: &mut Context, id: DestId) {
        if let Some(check) = self.cache.change(id, |ready| ready.check.take()).flatten() {
            self.end_request(cx, id, check.request).end(&mut cx.shared);
        }
        self.settle_doubt(cx, id);
    }
}
