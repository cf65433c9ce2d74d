//! Doubts about addresses: after an event that may have moved an address, its owner is asked by unicast if it still has
//! it. The path is served meanwhile.
use super::{
    dest::{Lookup, MulticastRequest, Recheck, Stage, Verification},
    facts::source,
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{provider::Context, retry};
use alloc::boxed::Box;

/// The number of addresses at a GID, and of paths to it, that one event doubts.
pub(super) const MOST_DOUBTED: usize = 16;

impl Ibacmp {
    /// Asks the owner of an address in doubt: as often as for the check of a claim at most. No other host is asked.
    pub(crate) fn settle_doubt(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at(id);
        if !dest.is_doubtful() {
            return;
        }
        let no_verification_before = dest.state.ready().and_then(|ready| ready.no_verification_before);
        let start = no_verification_before.map_or(cx.now(), |time| time.max(cx.now()));
        let source = source(cx, dest.endpoint);
        let Some((source, Ok(lookup))) = source.map(|source| (source, Lookup::for_remote(cx))) else { return };
        let mut request = MulticastRequest::new(cx.now(), cx.transaction_id(), source, lookup);
        request.stage = Stage::Paused;
        self.cache.at_mut(id).in_doubt = false;
        let until = start + cx.config().timeout;
        self.cache.change(id, |ready| {
            request.to = ready.remote;
            ready.verification = Some(Box::new(Verification { request, check: Recheck::Doubt }));
            ready.no_verification_before = Some(until);
        });
        let at = start + retry::CLAIM_DEFENCE + cx.spread(retry::CLAIM_SPREAD);
        cx.set_timer(Task::Lookup(id).token(), at);
    }
}
