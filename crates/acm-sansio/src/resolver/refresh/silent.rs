//! Hosts that sent witnesses and send none any more: what is cached at them is doubted.
use crate::{
    api::id::EndpointId,
    provider::Context,
    resolver::state::{Ibacmp, RenewalReason},
    retry,
};

impl Ibacmp {
    /// Sends the next witness of an endpoint if it is due, and doubts the hosts that send none any more.
    pub(crate) fn witness_due(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let silent = self.endpoints.witness_due(cx, &mut self.stats, endpoint);
        if silent.is_empty() {
            return;
        }
        for (lid, gid) in silent {
            for id in self.cached_at(cx, endpoint, lid, gid) {
                let dest = self.cache.at(id);
                if dest.is_address() {
                    self.doubt(cx, id);
                } else if dest.is_requested() {
                    self.queue_renewal(cx, id, RenewalReason::Found);
                }
            }
        }
        // Those for which there is no room now.
        self.start_confirmations(cx, retry::PROOF_SPREAD);
    }
}
