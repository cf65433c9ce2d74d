//! Checking what strangers claim before it replaces what somebody here uses: the group is asked who has the address,
//! and whoever has had it so far has the first word.
use super::{
    dest::{DestState, MulticastRequest, Ready, Stage, Verification},
    event::Event,
    lookup::{Lookup, Responder},
    remote::Remote,
    state::{Ibacmp, RenewalReason},
    token::{DestId, Task},
};
use crate::{account::REMOTE, context::Context};
use alloc::boxed::Box;

/// How often the group is asked before somebody else than the known one is believed.
const REQUESTS_BEFORE_ACCEPTED: u32 = 2;
/// The last time the known one is waited for is so many times as long as an answer is likely to take.
const LAST_WAIT_FACTOR: u32 = 4;

impl Ibacmp {
    /// A stranger claims to be a destination that is in use. It is not believed: the group is asked.
    pub(super) fn verify_claim(&mut self, cx: &mut Context, id: DestId, claimed: &Remote, respond: Option<Responder>) {
        let now = cx.now();
        let Some(dest) = self.cache.get_mut(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let DestState::Ready(ready) = &mut dest.state else { return };
        if let Some(verification) = &mut ready.verification {
            if let Some(responder) = respond
                && !verification.request.lookup.add_responder(cx, responder)
            {
                self.stats.responders_refused += 1;
            }
            return;
        }
        let source = cx.endpoint(endpoint).and_then(|endpoint| endpoint.addresses.first().copied());
        let source = source.filter(|_| ready.no_verification_before.is_none_or(|until| now >= until));
        let Some((source, Ok(mut lookup))) = source.map(|source| (source, Lookup::for_remote(cx))) else {
            self.stats.claims_ignored += 1;
            return;
        };
        if let Some(responder) = respond {
            lookup.add_responder(cx, responder);
        }
        ready.no_verification_before = Some(now + cx.config().timeout);
        let request = MulticastRequest::new(now, cx.transaction_id(), source, lookup);
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                ready.verification = Some(Box::new(Verification { request, found: None, is_probe: false }));
            }
        });
        self.stats.claims_checked += 1;
        cx.log(Event::ClaimChecked(endpoint, name, claimed.gid).into());
        self.queue_request(cx, id, endpoint);
    }

    /// A peer that is in use says that it is at another LID: subnet administration is asked. At once and at the expense
    /// of strangers, if the peer waits for our response; else when there is time.
    pub(super) fn verify_move(&mut self, cx: &mut Context, id: DestId, claimed: &Remote, respond: Option<Responder>) {
        let now = cx.now();
        let Some(DestState::Ready(ready)) = self.cache.get_mut(id).map(|dest| &mut dest.state) else { return };
        if let (Some(renewal), Some(responder)) = (&mut ready.renewal, respond) {
            if renewal.lookup.add_responder(cx, responder) {
                cx.sa_join(renewal.query, REMOTE);
            } else {
                self.stats.responders_refused += 1;
            }
            return;
        }
        if ready.renewal.is_some() || ready.no_verification_before.is_some_and(|until| now < until) {
            self.stats.claims_ignored += 1;
            return;
        }
        ready.no_verification_before = Some(now + cx.config().timeout);
        self.stats.claims_checked += 1;
        let Some(responder) = respond else {
            self.queue_renewal(cx, id, RenewalReason::Claimed);
            return;
        };
        let mut lookup = Lookup::default();
        if lookup.add_responder(cx, responder) {
            self.request_renewal(cx, id, Some(*claimed), lookup);
        } else {
            self.stats.responders_refused += 1;
            lookup.end(cx);
        }
    }

    /// Somebody answered the check of a claim.
    pub(super) fn verification_response(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let lmc = cx.lmc_of(dest.endpoint);
        let DestState::Ready(Ready { remote: current, verification: Some(verification), .. }) = &mut dest.state else {
            return;
        };
        let is_probe = verification.is_probe;
        if current.is_some_and(|current| current.is_same_port(&remote, lmc)) {
            *current = Some(remote);
            if is_probe {
                self.end_verification(cx, id, None);
                return self.probe_answered(cx, id);
            }
            return self.end_verification(cx, id, Some(remote));
        }
        // Only the known one was asked.
        if is_probe {
            self.stats.unexpected_responses += 1;
            return;
        }
        verification.found.get_or_insert(remote);
        // Whoever has had the address may answer still, for as long as an answer is likely.
        let waits = cx.timer(Task::Credit(id).token()).is_some();
        if matches!(verification.request.stage, Stage::Late) && !waits {
            self.conclude_verification(cx, id);
        }
    }

    /// The time in which the known one would have answered is over. If somebody else did, the group is asked once more,
    /// with more time: one answer that is late or lost must not cost the owner its address. Then the address is there.
    pub(super) fn conclude_verification(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.get(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let DestState::Ready(Ready { verification: Some(verification), .. }) = &dest.state else { return };
        let Some(remote) = verification.found else { return };
        if verification.request.times_sent < REQUESTS_BEFORE_ACCEPTED {
            let likely = self.endpoints.get(&endpoint).map(|state| state.round_trip.likely(cx.config().timeout));
            let at = cx.now() + likely.unwrap_or_default() * LAST_WAIT_FACTOR;
            cx.set_timer(Task::Credit(id).token(), at);
            return self.send_request(cx, id);
        }
        let addr_until = Self::addr_end(cx);
        let before = self.cache.enter(id, DestState::Located { remote, addr_until });
        let DestState::Ready(mut ready) = before else { return };
        let Some(verification) = ready.verification.take() else { return };
        self.end_ready(cx, id, ready);
        let lookup = self.end_multicast_request(cx, id, verification.request);
        self.stats.claims_confirmed += 1;
        self.compare_host(&name, remote.gid);
        cx.log(Event::PeerChanged(endpoint, name).into());
        // Whoever claimed it from elsewhere again gets nothing.
        let lmc = cx.lmc_of(endpoint);
        let lookup = lookup.only_responders(cx, |responder| responder.remote.is_same_port(&remote, lmc));
        self.find_route(cx, id, remote, lookup);
    }

    /// The address is where it was, or nobody says otherwise; those who claimed it get nothing.
    pub(super) fn end_verification(&mut self, cx: &mut Context, id: DestId, still_at: Option<Remote>) {
        let Some(dest) = self.cache.get(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let verification = self.cache.change(id, |state| match state {
            DestState::Ready(ready) => ready.verification.take(),
            _ => None,
        });
        let Some(Some(verification)) = verification else { return };
        self.end_multicast_request(cx, id, verification.request).end(cx);
        if let Some(remote) = still_at {
            self.stats.claims_refuted += 1;
            cx.log(Event::ClaimRefuted(endpoint, name, remote.gid).into());
        }
    }
}
