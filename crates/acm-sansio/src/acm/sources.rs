//! The endpoints at which the paths of requests begin, for clients that read paths without a request (`shared_cache`).
use super::Acm;
use crate::{
    api::{
        Output, Publication,
        id::{EndpointId, PortId},
    },
    provider::Context,
};
use acm_wire::Address;
use alloc::collections::BTreeMap;

/// The sources that are published.
#[derive(Debug, Default)]
pub(super) struct Sources {
    published: BTreeMap<Address, EndpointId>,
    /// True if they may differ from those of the ports.
    changed: bool,
}

impl Acm {
    /// Rebuilds the index of local addresses.
    pub(super) fn index_addresses(&mut self) {
        self.context.ports.index_addresses();
        self.sources.changed = true;
    }

    /// Applies a change of `shared_cache`. Paths are published by later requests.
    pub(super) fn switch_publications(&mut self) {
        self.sources.changed = true;
        let Context { shared, ports, .. } = &mut self.context;
        if !shared.config.shared_cache {
            let withdrawn = ports.all_endpoints().map(|(id, _)| Output::Publish(Publication::AllWithdrawn(id)));
            withdrawn.for_each(|output| shared.outputs.push_front(output));
        }
    }

    /// Withdraws the paths from the endpoints of a port.
    pub(super) fn withdraw_from(&mut self, port: PortId) {
        let Context { shared, ports, .. } = &mut self.context;
        if shared.config.shared_cache {
            let withdrawn = ports.endpoints_of(port).map(|id| Output::Publish(Publication::AllWithdrawn(id)));
            withdrawn.for_each(|output| shared.outputs.push_front(output));
        }
    }

    /// Emits what an input has changed, before its other outputs.
    pub(super) fn publish_sources(&mut self) {
        if !core::mem::take(&mut self.sources.changed) {
            return;
        }
        let now = self.shared_sources();
        let before = core::mem::take(&mut self.sources.published);
        let is_gone = |address: &&Address| !now.contains_key(address);
        let gone = before.keys().filter(is_gone).map(|address| (*address, None));
        let is_new = |(address, endpoint): &(&Address, &EndpointId)| before.get(address) != Some(endpoint);
        let new = now.iter().filter(is_new).map(|(address, endpoint)| (*address, Some(*endpoint)));
        for (address, endpoint) in gone.chain(new) {
            self.context.shared.outputs.push_front(Output::Publish(Publication::Source { address, endpoint }));
        }
        self.sources.published = now;
    }

    /// Returns the sources of requests that clients need not send.
    fn shared_sources(&self) -> BTreeMap<Address, EndpointId> {
        if self.context.shared.config.shared_cache { self.context.ports.sources() } else { BTreeMap::new() }
    }

    /// Reports whether the sources of the ports are published.
    pub(super) fn are_sources_published(&self) -> bool {
        self.sources.published == self.shared_sources()
    }
}
