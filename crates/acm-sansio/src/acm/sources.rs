//! The endpoints at which the paths of requests begin, for clients that read paths without a request (`shared_cache`).
use super::Acm;
use crate::api::{Output, Publication, id::EndpointId};
use acm_wire::Address;
use alloc::{collections::BTreeMap, vec::Vec};

/// The sources that are published.
pub(super) type Sources = BTreeMap<Address, EndpointId>;

impl Acm {
    /// Rebuilds the index of local addresses, and publishes what changed.
    pub(super) fn index_addresses(&mut self) {
        self.context.ports.index_addresses();
        if !self.context.config.shared_cache {
            return;
        }
        let now = self.context.ports.sources();
        let before = core::mem::take(&mut self.sources);
        let is_gone = |address: &&Address| !now.contains_key(address);
        let gone = before.keys().filter(is_gone).map(|address| (*address, None));
        let is_new = |(address, endpoint): &(&Address, &EndpointId)| before.get(address) != Some(endpoint);
        let new = now.iter().filter(is_new).map(|(address, endpoint)| (*address, Some(*endpoint)));
        let changes: Vec<_> = gone.chain(new).collect();
        for (address, endpoint) in changes {
            self.context.outputs.push_front(Output::Publish(Publication::Source { address, endpoint }));
        }
        self.sources = now;
    }
}
