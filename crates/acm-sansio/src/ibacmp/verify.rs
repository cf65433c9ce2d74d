//! Verification of claims of remote hosts before they replace a path in use: a multicast request for the address, in
//! which the previous owner's response takes precedence.
use super::{
    dest::{DestState, MulticastRequest, Ready, Stage, Verification},
    event::Event,
    lookup::{Lookup, Responder},
    remote::Remote,
    state::{Ibacmp, RenewalReason},
    token::{DestId, Task},
};
use crate::{account::REMOTE, context::Context, fair::Urgency};
use alloc::boxed::Box;

/// The number of requests before another host than the previous owner is accepted.
const REQUESTS_BEFORE_ACCEPTED: u32 = 2;
/// The wait for the previous owner after the last request, in multiples of the likely round-trip time.
const LAST_WAIT_FACTOR: u32 = 4;

impl Ibacmp {
    /// Verifies the claim of a remote host to an address in use by a multicast request.
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

    /// Verifies the move of a peer in use to another LID by a query to the subnet administrator. If the peer waits for
    /// a response, the query is sent at once and charged to the remote account; otherwise it is queued as a renewal.
    pub(super) fn verify_move(&mut self, cx: &mut Context, id: DestId, claimed: &Remote, respond: Option<Responder>) {
        let now = cx.now();
        let Some(DestState::Ready(ready)) = self.cache.get_mut(id).map(|dest| &mut dest.state) else { return };
        if let (Some(renewal), Some(responder)) = (&mut ready.renewal, respond) {
            if renewal.lookup.add_responder(cx, responder) {
                cx.sa_join(renewal.query, REMOTE, Urgency::Waited);
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
            self.queue_renewal(cx, id, RenewalReason::Moved);
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

    /// Handles a response to a verification.
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
        // A probe goes only to the cached host.
        if is_probe {
            self.stats.unexpected_responses += 1;
            return;
        }
        verification.found.get_or_insert(remote);
        // The previous owner may still respond within the likely round-trip time.
        let waits = cx.timer(Task::Credit(id).token()).is_some();
        if matches!(verification.request.stage, Stage::Late) && !waits {
            self.conclude_verification(cx, id);
        }
    }

    /// Handles the end of the likely round-trip time without a response of the previous owner. If another host
    /// responded, the request is sent once more with a longer wait, so that one late or lost response does not cost the
    /// owner its address. After that, the other host is accepted.
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
        // Remote hosts that claimed a third location get no response.
        let lmc = cx.lmc_of(endpoint);
        let lookup = lookup.only_responders(cx, |responder| responder.remote.is_same_port(&remote, lmc));
        self.find_route(cx, id, remote, lookup);
    }

    /// Ends a verification without a change of location. Remote hosts that claimed the address get no response.
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
