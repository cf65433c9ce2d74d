//! Changes of ports, queue pairs and local addresses.
use crate::{
    acm::Acm,
    api::{
        Event, Output, ProviderId, SaError,
        id::{EndpointId, PortId},
        port::{InterfaceAddress, PortAttributes},
    },
    ports::Endpoint,
    provider::{Context, EndpointChange, PortChange, PortEvent},
    shared::{Running, timers::TimerKey},
};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::{Lid, Qpn};

impl Acm {
    pub(super) fn port_up(&mut self, port: PortId, attributes: &PortAttributes) {
        let change = self.context.ports.up(port, attributes);
        self.saw_lids(port, [attributes.lid, attributes.sm_lid]);
        if change.came_up || change.moved || change.other_manager {
            self.context.shared.log(Event::PortUp(port, attributes.lid));
            self.log_not_served(port);
        }
        if change.came_up {
            self.context.sa.came_up(&mut self.context.shared, port);
        }
        // Requeue the queries in flight before the change causes new ones, which already go to the new address.
        let moved = !change.came_up && (change.moved || change.other_manager);
        let unneeded = if moved {
            self.context.sa.requeue_all(&mut self.context.shared, port, change.other_manager)
        } else {
            Vec::new()
        };
        let before: Vec<EndpointId> = self.context.ports.endpoints_of(port).collect();
        self.reconcile(port);
        // New endpoints read the port's state when they are open, so only the previous ones that remain get the events.
        for endpoint in before {
            match self.context.endpoint(endpoint).map(Endpoint::is_open) {
                None => continue,
                Some(false) => {
                    self.open(endpoint);
                    continue;
                }
                Some(true) => {}
            }
            let events = [
                (change.came_up, PortEvent::Up),
                (!change.came_up && change.moved, PortEvent::Moved),
                (!change.came_up && change.other_link, PortEvent::OtherLink),
                (!change.came_up && change.other_manager, PortEvent::OtherManager),
            ];
            for (_, event) in events.into_iter().filter(|(happened, _)| *happened) {
                self.notify_provider(endpoint, EndpointChange::Port(event));
            }
        }
        for unneeded in unneeded {
            self.sa_done(unneeded, Err(SaError::Unneeded));
        }
        if change.came_up || moved {
            self.renew_notices(port);
        }
        let Context { shared, ports, sa, .. } = &mut self.context;
        sa.begin_notices(shared, ports, port);
        if moved {
            sa.pump(shared, ports, port);
        }
    }

    /// Records LIDs of the fabric, if the port is up.
    pub(super) fn saw_lids<const N: usize>(&mut self, port: PortId, lids: [Lid; N]) {
        let Context { shared, ports, .. } = &mut self.context;
        if let Some(attributes) = ports.attributes(port) {
            lids.into_iter().for_each(|lid| shared.saw_lid(lid, attributes.lmc));
        }
    }

    pub(super) fn port_down(&mut self, port: PortId) {
        if !self.context.ports.down(port) {
            return;
        }
        self.context.shared.log(Event::PortDown(port));
        self.index_addresses();
        self.port_event(port, PortEvent::Down);
        self.assign_provider(port, None);
        self.context.sa.drop_notices(&mut self.context.shared, port);
        self.fail_sa_queries(port);
    }

    pub(super) fn port_event(&mut self, port: PortId, event: PortEvent) {
        let endpoints: Vec<EndpointId> = self.context.ports.endpoints_of(port).collect();
        for endpoint in endpoints {
            let is_open = self.context.endpoint(endpoint).is_some_and(Endpoint::is_open);
            // Operations in progress end with the port, whether the endpoint is open or not.
            if is_open || event == PortEvent::Down {
                self.notify_provider(endpoint, EndpointChange::Port(event));
            }
        }
    }

    /// Assigns a port to a provider, or to none.
    pub(super) fn assign_provider(&mut self, port: PortId, provider: Option<ProviderId>) {
        let before = self.context.ports.set_provider(port, provider);
        if let Some(before) = before.filter(|before| provider != Some(*before)) {
            self.providers.get_mut(before).port_changed(&mut self.context, port, PortChange::Inactive);
        }
        if let Some(provider) = provider {
            self.providers.get_mut(provider).port_changed(&mut self.context, port, PortChange::Active);
        }
    }

    /// Returns the provider of the port's subnet, or `None` if it has none or the port is down.
    pub(super) fn provider_for(&self, port: PortId) -> Option<ProviderId> {
        let prefix = self.context.ports.attributes(port)?.gid().prefix();
        self.context.shared.config.subnets.provider(prefix).filter(|provider| self.providers.has(*provider))
    }

    /// Requests a queue pair, or lets the provider open the endpoint, unless it is open or that is in progress.
    fn open(&mut self, id: EndpointId) {
        let Context { shared, ports, .. } = &mut self.context;
        if shared.existing(ports.endpoint_mut(id)).is_some_and(Endpoint::start_opening) {
            shared.timers.clear(TimerKey::Endpoint(id));
            self.request_opening(id);
        }
    }

    fn request_opening(&mut self, id: EndpointId) {
        let Context { shared, ports, .. } = &mut self.context;
        let Some(&Endpoint { port, pkey_index, pkey, provider, .. }) = shared.existing(ports.endpoint(id)) else {
            return;
        };
        if provider.is_external() {
            self.notify_provider(id, EndpointChange::Opened);
        } else {
            shared.output(Output::OpenEndpoint { endpoint: id, port, pkey_index, pkey });
        }
    }

    /// Returns the endpoint of an input about a queue pair. If it was removed, or its provider opened it without a
    /// queue pair of the core, the input is counted as stale.
    pub(super) fn with_queue_pair(&mut self, endpoint: EndpointId) -> Option<&mut Endpoint> {
        let Context { shared, ports, .. } = &mut self.context;
        shared.named(ports.endpoint_mut(endpoint).filter(|found| !found.provider.is_external()))
    }

    pub(super) fn endpoint_opened(&mut self, endpoint: EndpointId, qpn: Qpn) {
        if self.with_queue_pair(endpoint).is_some() {
            self.context.endpoint_opened(endpoint, Some(qpn));
            self.notify_provider(endpoint, EndpointChange::Opened);
        }
    }

    pub(super) fn endpoint_failed(&mut self, endpoint: EndpointId) {
        if self.with_queue_pair(endpoint).is_some() {
            self.context.endpoint_open_failed(endpoint);
        }
    }

    pub(super) fn endpoint_lost(&mut self, endpoint: EndpointId) {
        let Some(found) = self.with_queue_pair(endpoint) else { return };
        found.lost();
        self.context.shared.stats.endpoints_lost += 1;
        self.context.shared.log(Event::EndpointLost(endpoint));
        self.reopen_endpoint(endpoint);
    }

    /// Tries again to open an endpoint. If its port is down, the endpoint is opened when the port comes up.
    pub(super) fn reopen_endpoint(&mut self, endpoint: EndpointId) {
        if self.context.port_of(endpoint).is_some() {
            self.open(endpoint);
        }
    }

    /// Replaces all addresses of interfaces.
    pub(super) fn interfaces(&mut self, all: &[InterfaceAddress]) {
        if self.context.ports.set_interfaces(all) {
            let ports: Vec<PortId> = self.context.ports.iter().map(|(port, ..)| port).collect();
            for port in ports {
                self.reconcile(port);
            }
        }
    }

    /// Notifies the providers of all other endpoints that an address moved to or from `endpoint`: information cached
    /// for them belongs to another endpoint, or is stale.
    fn notify_address_moved(&mut self, endpoint: EndpointId, address: &Address) {
        let others = self.context.ports.all_endpoints();
        let others = others.filter(|(other, found)| *other != endpoint && !found.has(address)).map(|(other, _)| other);
        for other in others.collect::<Vec<_>>() {
            self.notify_provider(other, EndpointChange::AddressMoved(address));
        }
    }

    /// Makes the endpoints of a port match its P_Key table and the local addresses.
    pub(super) fn reconcile(&mut self, port: PortId) {
        // During shutdown, a new endpoint would not be closed any more.
        if self.context.shared.running != Running::Serving {
            return;
        }
        let provider = self.provider_for(port);
        let plan = self.context.ports.plan(port, provider);
        for local in plan.unassigned {
            self.context.shared.log(Event::NoPartition(port, local.address, local.pkey));
        }
        for endpoint in plan.close {
            let addresses = self.context.endpoint(endpoint).map(|found| found.addresses.clone()).unwrap_or_default();
            self.close_endpoint(endpoint);
            addresses.iter().for_each(|address| self.notify_address_moved(endpoint, address));
        }
        for (endpoint, address) in plan.remove {
            if let Some(found) = self.context.ports.endpoint_mut(endpoint) {
                found.addresses.retain(|other| *other != address);
            }
            self.context.shared.log(Event::AddressRemoved(endpoint, address));
            self.notify_provider(endpoint, EndpointChange::AddressRemoved(&address));
            self.notify_address_moved(endpoint, &address);
        }
        if self.context.ports.attributes(port).is_some() {
            self.assign_provider(port, provider);
        }
        let mut added = plan.add;
        for (pkey_index, pkey, provider, addresses) in plan.open {
            let endpoint = self.context.ports.open(port, pkey_index, pkey, provider);
            self.request_opening(endpoint);
            // After the output, so that the caller can name the endpoint when it logs the event.
            self.context.shared.log(Event::EndpointAdded(endpoint, port, pkey));
            added.extend(addresses.into_iter().map(|address| (endpoint, address)));
        }
        for (endpoint, address) in added {
            if let Some(found) = self.context.ports.endpoint_mut(endpoint) {
                found.addresses.push(address);
            }
            self.context.shared.log(Event::AddressAdded(endpoint, address));
            self.notify_provider(endpoint, EndpointChange::AddressAdded(&address));
            self.notify_address_moved(endpoint, &address);
        }
        if self.context.ports.note_partitions(port) {
            self.withdraw_from(port);
        }
        self.index_addresses();
    }

    /// Calls the provider of an endpoint.
    pub(super) fn notify_provider(&mut self, endpoint: EndpointId, change: EndpointChange<'_>) {
        let Context { shared, ports, .. } = &mut self.context;
        if let Some(&Endpoint { provider, .. }) = shared.existing(ports.endpoint(endpoint)) {
            self.providers.get_mut(provider).endpoint_changed(&mut self.context, endpoint, change);
        }
    }

    pub(super) fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.notify_provider(endpoint, EndpointChange::Closing);
        self.context.shared.timers.clear(TimerKey::Endpoint(endpoint));
        if let Some(closed) = self.context.ports.close(endpoint) {
            self.context.shared.output(Output::CloseEndpoint(endpoint));
            self.context.shared.log(Event::EndpointRemoved(endpoint, closed.port, closed.pkey));
        }
    }
}

#[cfg(test)]
mod tests;
