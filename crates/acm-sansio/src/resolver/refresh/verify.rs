//! Verification of claims of remote hosts before they replace a path in use. The old path is served meanwhile.
use crate::{
    api::{ResolverEvent, id::EndpointId, port::PortAttributes},
    provider::Context,
    resolver::{
        dest::{
            Claim, DestState, Lookup, MulticastRequest, Next, Outcome, Ready, Recheck, Remote, Stage, Verification,
        },
        state::{Ibacmp, RenewalReason},
        token::{DestId, Task},
    },
    retry,
};
use alloc::boxed::Box;
use ib_mad::{Gid, Qpn, sa::PathRecord};

impl Ibacmp {
    /// Starts the check of a claim to an address in use: after a pause, its owner is asked.
    pub(crate) fn verify_claim(&mut self, cx: &mut Context, id: DestId, claimant: &Remote) {
        let Some(dest) = self.cache.get(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let DestState::Ready(Ready { remote: Some(owner), verification, no_verification_before, .. }) = &dest.state
        else {
            return;
        };
        let source = cx.endpoint(endpoint).and_then(|endpoint| endpoint.addresses.first().copied());
        let Some((source, Ok(lookup))) =
            source.filter(|_| verification.is_none()).map(|source| (source, Lookup::for_remote(cx)))
        else {
            self.stats.claims_ignored += 1;
            return;
        };
        // A host without a queue pair is from a file. Only the group can be asked for it.
        let to = Some(*owner).filter(|owner| owner.qpn != Qpn::default());
        let is_move = owner.gid == claimant.gid;
        let start = no_verification_before.map_or(cx.now(), |time| time.max(cx.now()));
        let at = start + retry::CLAIM_DEFENCE + cx.spread(retry::CLAIM_SPREAD);
        let until = start + cx.config().timeout;
        let mut request = MulticastRequest::new(cx.now(), cx.transaction_id(), source, lookup);
        (request.stage, request.to) = (Stage::Paused, to);
        let check = Recheck::Claim(Claim::new(*claimant));
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                ready.verification = Some(Box::new(Verification { request, check }));
                ready.no_verification_before = Some(until);
            }
        });
        cx.set_timer(Task::Lookup(id).token(), at);
        self.stats.claims_checked += 1;
        cx.log(ResolverEvent::ClaimChecked(endpoint, name, claimant.gid).into());
        // The subnet administrator knows where a GID is. Each node has a slot for its query.
        if is_move {
            self.queue_renewal(cx, id, RenewalReason::Moved);
        }
    }

    /// Handles a request of the owner of an address, which shows that it still has it.
    pub(crate) fn owner_sent(&mut self, cx: &mut Context, id: DestId, owner: Remote) {
        if let Some(DestState::Ready(Ready { verification: Some(verification), .. })) =
            self.cache.get(id).map(|dest| &dest.state)
            && matches!(verification.check, Recheck::Claim(_))
        {
            self.end_claim(cx, id, owner, Outcome::Refuted);
        }
    }

    /// Handles a response to a verification.
    pub(crate) fn verification_response(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let lmc = cx.lmc_of(dest.endpoint);
        let DestState::Ready(Ready { remote: Some(owner), verification: Some(verification), .. }) = &mut dest.state
        else {
            return;
        };
        let is_owner = owner.is_same_port(&remote, lmc);
        if is_owner {
            *owner = remote;
        }
        let owner = *owner;
        let next = match &mut verification.check {
            Recheck::Probe if is_owner => {
                self.end_verification(cx, id);
                return self.probe_answered(cx, id);
            }
            Recheck::Claim(claim) if is_owner => claim.owner_responds(),
            Recheck::Claim(claim) if claim.claimant.is_same_port(&remote, lmc) => claim.claimant_responds(),
            _ => {
                self.stats.unexpected_responses += 1;
                return;
            }
        };
        self.continue_claim(cx, id, owner, next);
    }

    /// Handles the silence of the host that a verification asked.
    pub(crate) fn verification_silent(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let DestState::Ready(Ready { remote: Some(owner), verification: Some(verification), .. }) = &mut dest.state
        else {
            return;
        };
        let owner = *owner;
        match &mut verification.check {
            Recheck::Probe => self.end_verification(cx, id),
            Recheck::Claim(claim) => {
                let next = claim.silence();
                self.continue_claim(cx, id, owner, next);
            }
        }
    }

    fn continue_claim(&mut self, cx: &mut Context, id: DestId, owner: Remote, next: Next) {
        match next {
            Next::Wait => {}
            Next::End(outcome) => self.end_claim(cx, id, owner, outcome),
            Next::AskClaimant => {
                if let Some(dest) = self.cache.get_mut(id)
                    && let DestState::Ready(Ready { verification: Some(verification), .. }) = &mut dest.state
                    && let Verification { request, check: Recheck::Claim(claim) } = &mut **verification
                {
                    (request.to, request.times_sent) = (Some(claim.claimant), 0);
                    self.send_request(cx, id);
                }
            }
        }
    }

    /// Ends the check of a claim.
    fn end_claim(&mut self, cx: &mut Context, id: DestId, owner: Remote, outcome: Outcome) {
        let Some(dest) = self.cache.get(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let DestState::Ready(Ready { verification: Some(verification), .. }) = &dest.state else { return };
        let Recheck::Claim(Claim { claimant, .. }) = verification.check else { return };
        match outcome {
            Outcome::Refuted => {
                self.stats.claims_refuted += 1;
                cx.log(ResolverEvent::ClaimRefuted(endpoint, name, owner.gid).into());
            }
            Outcome::Conflict => {
                self.report_conflict(cx, id, owner.gid, claimant.gid);
            }
            Outcome::Unanswered => {}
            Outcome::Confirmed => return self.accept_claimant(cx, id, owner, claimant),
        }
        self.end_verification(cx, id);
    }

    /// Counts that two hosts have an address. It is logged once for each cache entry, because the adapters of a host may
    /// share its name.
    pub(crate) fn report_conflict(&mut self, cx: &mut Context, id: DestId, used: Gid, other: Gid) {
        self.stats.address_conflicts += 1;
        if let Some(dest) = self.cache.get_mut(id)
            && !core::mem::replace(&mut dest.conflict_logged, true)
        {
            cx.log(ResolverEvent::AddressConflict(dest.endpoint, dest.name(), used, other).into());
        }
    }

    fn accept_claimant(&mut self, cx: &mut Context, id: DestId, owner: Remote, claimant: Remote) {
        self.stats.claims_confirmed += 1;
        if let Some(dest) = self.cache.get(id) {
            cx.log(ResolverEvent::PeerChanged(dest.endpoint, dest.name()).into());
            self.compare_host(&dest.name(), claimant.gid);
        }
        if owner.gid == claimant.gid {
            return self.follow_move(cx, id, claimant);
        }
        let addr_until = Self::addr_end(cx);
        let before = self.cache.enter(id, DestState::Located { remote: claimant, addr_until });
        let DestState::Ready(mut ready) = before else { return };
        let Some(verification) = ready.verification.take() else { return };
        self.end_ready(cx, id, ready);
        let lookup = self.end_multicast_request(cx, id, verification.request);
        self.find_route(cx, id, claimant, lookup);
    }

    /// Serves the path of a peer to its new LID, at which it responded. Its renewal, which is queued, confirms the other
    /// attributes.
    fn follow_move(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                (ready.remote, ready.path.dlid, ready.stale) = (Some(remote), remote.lid, true);
            }
        });
        self.end_verification(cx, id);
    }

    /// Ends the check of a move that the subnet administrator confirmed. If it did not, the peer is still asked.
    pub(crate) fn move_confirmed(&mut self, cx: &mut Context, id: DestId, path: &PathRecord) {
        let Some(dest) = self.cache.get(id) else { return };
        let lmc = cx.lmc_of(dest.endpoint);
        if let DestState::Ready(Ready { verification: Some(verification), .. }) = &dest.state
            && let Recheck::Claim(Claim { claimant, .. }) = verification.check
            && claimant.gid == path.dgid
            && claimant.is_at_end_of(path, lmc)
        {
            self.stats.claims_confirmed += 1;
            self.end_verification(cx, id);
        }
    }

    /// Ends a verification without a change of location.
    pub(crate) fn end_verification(&mut self, cx: &mut Context, id: DestId) {
        let verification = self.cache.change(id, |state| match state {
            DestState::Ready(ready) => ready.verification.take(),
            _ => None,
        });
        if let Some(Some(verification)) = verification {
            self.end_multicast_request(cx, id, verification.request).end(cx);
        }
    }

    /// Reports whether a GID belongs to a port of this node.
    pub(crate) fn is_own_gid(&self, cx: &Context, gid: Gid) -> bool {
        let has = |port: &PortAttributes| port.gids.contains(&gid);
        self.endpoints.keys().any(|endpoint: &EndpointId| cx.port_of(*endpoint).is_some_and(has))
    }
}
