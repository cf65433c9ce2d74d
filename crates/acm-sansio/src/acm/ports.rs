//! What ports and local addresses change.
use super::Acm;
use crate::{
    Event,
    id::{EndpointId, PortId},
    output::Output,
    ports::PortAttributes,
    provider::{Context, PortEvent},
};

impl Acm {
    pub(super) fn port_up(&mut self, port: PortId, attributes: &PortAttributes) {
        let was_up = self.core.ports.attributes(port).is_some();
        let (moved, other_link) = self.core.ports.up(port, attributes);
        if !was_up || moved {
            self.core.log(Event::PortUp(port, attributes.lid));
        }
        // Answers of another subnet manager, or to another LID, do not come: their credits must not wait for them.
        if was_up && moved {
            self.sa_abandon(port);
        }
        let before = self.core.ports.endpoints_of(port);
        self.reconcile(port);
        for endpoint in before {
            let Some(own) = self.core.ports.endpoint_mut(endpoint) else { continue };
            if own.qpn.is_some() {
                if !was_up || moved || other_link {
                    let event = PortEvent::Up { moved };
                    self.provider.port_event(&mut Context { core: &mut self.core }, endpoint, event);
                }
            } else if !core::mem::replace(&mut own.opening, true) {
                let pkey_index = own.pkey_index;
                self.core.output(Output::OpenEndpoint { endpoint, port, pkey_index });
            }
        }
    }

    pub(super) fn port_down(&mut self, port: PortId) {
        if !self.core.ports.down(port) {
            return;
        }
        self.core.log(Event::PortDown(port));
        self.core.ports.index_addresses();
        self.port_event(port, PortEvent::Down);
        self.sa_abandon(port);
    }

    pub(super) fn port_event(&mut self, port: PortId, event: PortEvent) {
        for endpoint in self.core.ports.endpoints_of(port) {
            if self.core.ports.endpoint(endpoint).is_some_and(|own| own.qpn.is_some()) {
                self.provider.port_event(&mut Context { core: &mut self.core }, endpoint, event);
            }
        }
    }

    /// Makes the endpoints of a port those that its table and the local addresses ask for.
    pub(super) fn reconcile(&mut self, port: PortId) {
        // What is opened now would not be closed any more.
        if self.core.shutting_down {
            return;
        }
        let plan = self.core.ports.plan(port);
        for local in plan.unassigned {
            self.core.log(Event::NoPartition(port, local.address, local.pkey));
        }
        for endpoint in plan.close {
            self.close_endpoint(endpoint);
        }
        for (endpoint, address) in plan.remove {
            if let Some(own) = self.core.ports.endpoint_mut(endpoint) {
                own.addresses.retain(|other| *other != address);
            }
            self.provider.remove_address(&mut Context { core: &mut self.core }, endpoint, &address);
        }
        let mut added = plan.add;
        for (pkey_index, pkey, addresses) in plan.open {
            let endpoint = self.core.ports.open(port, pkey_index, pkey);
            self.core.log(Event::EndpointAdded(endpoint, port, pkey));
            self.core.output(Output::OpenEndpoint { endpoint, port, pkey_index });
            added.extend(addresses.into_iter().map(|address| (endpoint, address)));
        }
        for (endpoint, address) in added {
            if let Some(own) = self.core.ports.endpoint_mut(endpoint) {
                own.addresses.push(address);
            }
            self.core.log(Event::AddressAdded(endpoint, address));
            self.provider.add_address(&mut Context { core: &mut self.core }, endpoint, &address);
        }
        self.core.ports.index_addresses();
    }

    pub(super) fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.provider.close_endpoint(&mut Context { core: &mut self.core }, endpoint);
        if let Some(own) = self.core.ports.close(endpoint) {
            self.core.output(Output::CloseEndpoint(endpoint));
            self.core.log(Event::EndpointRemoved(endpoint, own.port, own.pkey));
        }
    }
}
