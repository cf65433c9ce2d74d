//! Carries out the action that follows an event of a destination.
use super::{
    dest::{Action, DestState, Lookup, Remote},
    state::Ibacmp,
    token::DestId,
};
use crate::provider::Context;

impl Ibacmp {
    /// Carries out the action that follows an event.
    pub(crate) fn carry_out(&mut self, cx: &mut Context, id: DestId, action: Action) {
        match action {
            Action::Nothing => {}
            Action::Queue => self.queue_request(cx, id),
            Action::Send => self.send_request(cx, id),
            Action::AskHost(host) => self.ask_host(cx, id, host, false),
            Action::FindRoute(remote) => {
                let lookup = self.located(cx, id, remote);
                self.find_route(cx, id, remote, lookup);
            }
            Action::QueryRoute(remote) => {
                let (lookup, addr_until) = (self.located(cx, id, remote), cx.addr_end());
                self.query_route(cx, id, Some(remote), addr_until, lookup);
            }
            Action::Fail(failure) => self.fail(cx, id, failure),
            Action::Drop => self.drop_unneeded(cx, id),
            Action::CheckClaim(claimant) => self.check_claim(cx, id, claimant),
            Action::EndCheck(outcome) => self.end_check(cx, id, outcome),
            Action::KeepOwner { has_changed, renews } => self.keep_owner(cx, id, has_changed, renews),
            Action::CacheClaim(remote) => self.cache_claim(cx, id, remote),
            Action::DropLocation => {
                self.cache.enter(id, DestState::Unknown);
                self.stats.claims_ignored += 1;
            }
            Action::IgnoreClaim => self.stats.claims_ignored += 1,
            Action::IgnoreResponse => self.stats.unexpected_responses += 1,
        }
    }

    /// Stores the location of a destination and ends its request. Returns its lookup.
    fn located(&mut self, cx: &mut Context, id: DestId, remote: Remote) -> Lookup {
        let addr_until = cx.addr_end();
        match self.cache.enter(id, DestState::Located { remote, addr_until }) {
            DestState::Locating(request) => self.end_request(cx, id, *request),
            _ => Lookup::default(),
        }
    }
}
