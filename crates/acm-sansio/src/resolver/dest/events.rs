//! The events of a destination. Each notes what it shows and returns the action that follows. The kind of the state
//! changes only when the action is carried out.
use super::{
    Dest, DestState, EvictionClass, MulticastRequest, Origin, Outcome, Remote, ServedPath, Stage, are_of_one_adapter,
    checks::Next,
};
use crate::{accounts::credit::QueuePositions, api::failure::Failure, retry::RequestRetry};
use ib_mad::{Gid, Qpn, id::Lmc};

/// The action that follows an event. The resolver carries it out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub(crate) enum Action {
    /// Nothing: another event follows, or the event concerns no operation.
    #[default]
    Nothing,
    /// Wait for a credit, and send the request then.
    Queue,
    /// Send the request again, or to the next host. A queued request is sent for the first time when it gets a credit.
    Send,
    /// Send the request to the host that claims the address. It needs no credit, because the group does not receive it.
    AskHost(Remote),
    /// End the request, and find the path to this location.
    FindRoute(Remote),
    /// End the request, and query the subnet administrator (SA) for the path to this location, because its host is silent.
    QueryRoute(Remote),
    /// End the lookup without a path.
    Fail(Failure),
    /// End the lookup, because no account needs it.
    Drop,
    /// Check the claim of another host to the address in use.
    CheckClaim(Remote),
    /// End the check of the address.
    EndCheck(Outcome),
    /// End the check of a claim, because the owner has shown that it has the address. If the owner has another queue
    /// pair, it may have moved: the path in use is renewed.
    KeepOwner { has_changed: bool, renews: bool },
    /// Cache the location of a host that claims the address. Nobody uses the address.
    CacheClaim(Remote),
    /// Drop the cached location, because another host claims the address.
    DropLocation,
    /// Count a claim that has no effect.
    IgnoreClaim,
    /// Count a response that nobody waits for.
    IgnoreResponse,
}

impl Dest {
    /// Handles the end of a request's pause, of its wait for a credit, or of its wait for a response.
    pub(crate) fn on_timeout(&mut self, retry: RequestRetry) -> Action {
        let is_lookup = matches!(self.state, DestState::Locating(_));
        let Some(request) = self.state.multicast_request_mut() else { return Action::Nothing };
        match request.stage {
            Stage::Paused => {
                request.stage = Stage::Queued(QueuePositions::default());
                Action::Queue
            }
            Stage::Queued(_) if is_lookup => Action::Fail(Failure::NoTurn),
            Stage::Queued(_) => Action::EndCheck(Outcome::Unanswered),
            Stage::Sent(_) | Stage::Late => {
                let asks_claimant = is_lookup && request.to.is_some() && !request.is_known;
                let is_over = !asks_claimant && retry.is_over(request.times_sent);
                let known = request.to.filter(|_| is_lookup && is_over && request.lookup.is_needed());
                if known.is_some_and(|host| host.generation != 0) {
                    // It answers if it is there and has the address.
                    return ask_group(request);
                }
                if let Some(host) = known {
                    let is_claimed = request.claimed.is_some_and(|claimant| claimant.gid != host.gid);
                    self.doubts.end(request.asked);
                    self.doubts.raise_if(is_claimed);
                    return Action::QueryRoute(host);
                }
                match (is_over, request.lookup.is_needed()) {
                    (true, _) if is_lookup => Action::Fail(request.refused.unwrap_or(Failure::NoResponse)),
                    (true, _) => self.check_silent(),
                    (false, false) => Action::Drop,
                    (false, true) if asks_claimant => {
                        // The host that claimed the address is silent.
                        ask_group(request)
                    }
                    (false, true) => Action::Send,
                }
            }
        }
    }

    /// Handles a response with the location of a host, or with a refusal.
    pub(crate) fn on_response(&mut self, response: Result<Remote, Failure>, lmc: Lmc) -> Action {
        match (&mut self.state, response) {
            (state, Err(refusal)) => {
                if let Some(request) = state.multicast_request_mut() {
                    request.refused = Some(refusal);
                }
                Action::Nothing
            }
            (DestState::Locating(request), Ok(remote)) => {
                let is_claimed = request.claimed.is_some_and(|claimant| !claimant.is_same_port(&remote, lmc));
                self.doubts.end(request.asked);
                self.doubts.raise_if(is_claimed);
                self.origin = Origin::Asked;
                Action::FindRoute(remote)
            }
            (DestState::Ready(ServedPath { remote: Some(owner), check: Some(check), .. }), Ok(remote)) => {
                let has_lid = check.request.to.is_some_and(|asked| asked.lid.base(lmc) == remote.lid.base(lmc));
                let next = if owner.is_same_port(&remote, lmc) {
                    *owner = remote;
                    Some(check.reason.owner_responds())
                } else {
                    check.reason.other_responds(&remote, has_lid, lmc)
                };
                next.map_or(Action::IgnoreResponse, |next| follow(next, &mut check.request))
            }
            _ => Action::IgnoreResponse,
        }
    }

    /// Handles the response of a host that does not have the address. If the host was not asked, it is at the LID of the
    /// one that was.
    pub(crate) fn on_refusal(&mut self, host: Gid) -> Action {
        let is_lookup = matches!(self.state, DestState::Locating(_));
        let owner = self.state.located_at(&self.key);
        let Some(request) = self.state.multicast_request_mut() else { return Action::IgnoreResponse };
        match request.to {
            // The owner refuses late: the claimant is asked already.
            Some(asked) if asked.gid != host && owner == Some(host) => Action::IgnoreResponse,
            Some(_) if is_lookup => ask_group(request),
            Some(_) => match &mut self.state {
                DestState::Ready(ServedPath { check: Some(check), .. }) => {
                    follow(check.reason.refusal(owner), &mut check.request)
                }
                _ => Action::Nothing,
            },
            // Only the group was asked.
            None => Action::IgnoreResponse,
        }
    }

    /// Handles the silence of the host that a check asked.
    fn check_silent(&mut self) -> Action {
        match &mut self.state {
            DestState::Ready(ServedPath { check: Some(check), .. }) => {
                follow(check.reason.silence(), &mut check.request)
            }
            _ => Action::Nothing,
        }
    }

    /// Handles the location in a request of a remote host, to the group or to this node alone. `is_listed`: a table of
    /// hosts has the address at another location.
    #[inline]
    pub(crate) fn on_claim(&mut self, remote: Remote, is_to_group: bool, is_listed: bool, lmc: Lmc) -> Action {
        let in_use = self.is_requested() || is_listed;
        match &mut self.state {
            // A claim of a local address is ignored.
            _ if self.class == EvictionClass::Local => Action::Nothing,
            DestState::Ready(ServedPath { remote: Some(current), .. }) if current.is_same_port(&remote, lmc) => {
                // The path to the same port is the same, whichever queue pair the peer has now.
                let before = core::mem::replace(current, remote).qpn;
                // A preloaded entry has no queue pair.
                let has_changed = before != remote.qpn && before != Qpn::default();
                Action::KeepOwner { has_changed, renews: has_changed && in_use }
            }
            // Another port of the host has the same name. The path in use stays.
            DestState::Ready(ServedPath { remote: Some(current), .. })
                if current.gid != remote.gid && are_of_one_adapter(current.gid, remote.gid) =>
            {
                Action::Nothing
            }
            DestState::Ready(_) if in_use => Action::CheckClaim(remote),
            DestState::Routing(routing) => match routing.remote {
                Some(current) if current.is_same_port(&remote, lmc) => Action::Nothing,
                _ => {
                    self.doubts.raise();
                    Action::IgnoreClaim
                }
            },
            // The next request for it starts a new lookup.
            DestState::Located { remote: current, .. } if in_use && !current.is_same_port(&remote, lmc) => {
                Action::DropLocation
            }
            // Only a response ends a lookup. If no request was sent so far, the sender is asked, and not the group.
            DestState::Locating(request) => {
                let (known, is_waiting) = (request.to.map(|host| host.gid), request.times_sent == 0);
                if !is_waiting {
                    request.claimed = Some(remote);
                }
                if is_to_group && self.note_claim(known, remote.gid) && is_waiting {
                    Action::AskHost(remote)
                } else {
                    Action::Nothing
                }
            }
            _ if !is_to_group => Action::Nothing,
            DestState::Unknown | DestState::Failed(_) | DestState::Located { .. } | DestState::Ready(_) => {
                let known = self.state.located_at(&self.key);
                self.note_claim(known, remote.gid);
                Action::CacheClaim(remote)
            }
        }
    }
}

/// Has a request that a host did not answer sent to the group.
fn ask_group(request: &mut MulticastRequest) -> Action {
    request.stage = Stage::Queued(QueuePositions::default());
    request.turn_to(None);
    Action::Queue
}

/// Returns the action of the next step of a check.
const fn follow(next: Next, request: &mut MulticastRequest) -> Action {
    match next {
        Next::Wait => Action::Nothing,
        Next::Ask(host) => {
            request.turn_to(Some(host));
            Action::Send
        }
        Next::End(outcome) => Action::EndCheck(outcome),
    }
}

#[cfg(test)]
mod tests;
