//! What ports, queue pairs and local addresses change.
use super::{InterfaceAddress, PortAttributes};
use crate::{
    acm::Acm,
    context::Running,
    door::{Event, Output},
    id::{EndpointId, PortId},
    provider::PortEvent,
    retry::OPEN_ENDPOINT,
    sa::SaError,
    timers::TimerKey,
};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::Qpn;

impl Acm {
    pub(crate) fn port_up(&mut self, port: PortId, attributes: &PortAttributes) {
        let change = self.context.ports.up(port, attributes);
        if change.came_up || change.moved || change.other_manager {
            self.context.log(Event::PortUp(port, attributes.lid));
            self.say_not_served(port);
        }
        // Before anything is asked because of the change: that goes to the right place as it is, and first.
        let elsewhere = !change.came_up && (change.moved || change.other_manager);
        let unneeded = if elsewhere { self.context.sa_moved(port, change.other_manager) } else { Vec::new() };
        let before: Vec<EndpointId> = self.context.ports.endpoints_of(port).collect();
        self.reconcile(port);
        // Endpoints that were made just now hear of the port when they are open.
        for endpoint in before {
            let Some(found) = self.context.ports.endpoint(endpoint) else { continue };
            if found.qpn.is_none() {
                self.open(endpoint);
                continue;
            }
            let events = [
                (change.came_up, PortEvent::Up),
                (!change.came_up && change.moved, PortEvent::Moved),
                (!change.came_up && change.other_link, PortEvent::OtherLink),
                (!change.came_up && change.other_manager, PortEvent::OtherManager),
            ];
            for (_, event) in events.into_iter().filter(|(happened, _)| *happened) {
                self.provider.port_event(&mut self.context, endpoint, event);
            }
        }
        for unneeded in unneeded {
            self.sa_done(unneeded, Err(SaError::Unneeded));
        }
        if change.came_up || elsewhere {
            self.context.renew_notices(port);
        }
        self.context.begin_notices(port);
        if elsewhere {
            self.context.sa_pump(port);
        }
    }

    pub(crate) fn port_down(&mut self, port: PortId) {
        if !self.context.ports.down(port) {
            return;
        }
        self.context.log(Event::PortDown(port));
        self.context.ports.index_addresses();
        self.port_event(port, PortEvent::Down);
        self.context.forget_notices(port);
        self.sa_abandon(port);
    }

    pub(crate) fn port_event(&mut self, port: PortId, event: PortEvent) {
        let endpoints: Vec<EndpointId> = self.context.ports.endpoints_of(port).collect();
        for endpoint in endpoints {
            let has_queue_pair = self.context.ports.endpoint(endpoint).is_some_and(|found| found.qpn.is_some());
            // What is under way ends with the port, whether there is a queue pair or not.
            if has_queue_pair || event == PortEvent::Down {
                self.provider.port_event(&mut self.context, endpoint, event);
            }
        }
    }

    /// Asks for a queue pair, if that is not done already.
    fn open(&mut self, endpoint: EndpointId) {
        let Some(found) = self.context.ports.endpoint_mut(endpoint) else { return };
        if !core::mem::replace(&mut found.opening, true) {
            let (port, pkey_index, pkey) = (found.port, found.pkey_index, found.pkey);
            self.context.timers.clear(TimerKey::Endpoint(endpoint));
            self.context.output(Output::OpenEndpoint { endpoint, port, pkey_index, pkey });
        }
    }

    pub(crate) fn endpoint_opened(&mut self, endpoint: EndpointId, qpn: Qpn) {
        let Some(found) = self.context.ports.endpoint_mut(endpoint) else {
            self.context.stats.stale_inputs += 1;
            return;
        };
        (found.qpn, found.opening, found.failures) = (Some(qpn), false, 0);
        self.context.timers.clear(TimerKey::Endpoint(endpoint));
        self.provider.open_endpoint(&mut self.context, endpoint);
    }

    pub(crate) fn endpoint_failed(&mut self, endpoint: EndpointId) {
        let Some(found) = self.context.ports.endpoint_mut(endpoint) else {
            self.context.stats.stale_inputs += 1;
            return;
        };
        found.opening = false;
        found.failures = found.failures.saturating_add(1);
        let pause = OPEN_ENDPOINT.pause(found.failures);
        let pause = self.context.jitter(pause);
        self.context.stats.endpoints_failed += 1;
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.context.log(Event::EndpointFailed(endpoint, pause_ms));
        self.context.timers.set(TimerKey::Endpoint(endpoint), self.context.now + pause);
    }

    pub(crate) fn endpoint_lost(&mut self, endpoint: EndpointId) {
        let Some(found) = self.context.ports.endpoint_mut(endpoint) else {
            self.context.stats.stale_inputs += 1;
            return;
        };
        found.qpn = None;
        found.opening = false;
        self.context.stats.endpoints_lost += 1;
        self.context.log(Event::EndpointLost(endpoint));
        self.open_again(endpoint);
    }

    /// Another try for an endpoint without a queue pair. While its port is down there is none: it is opened when the
    /// port comes up.
    pub(crate) fn open_again(&mut self, endpoint: EndpointId) {
        let waits = self.context.ports.endpoint(endpoint).is_some_and(|found| found.qpn.is_none());
        if waits && self.context.port_of(endpoint).is_some() {
            self.open(endpoint);
        }
    }

    /// These are all addresses of interfaces now.
    pub(crate) fn interfaces(&mut self, all: &[InterfaceAddress]) {
        if self.context.ports.set_interfaces(all) {
            let ports: Vec<PortId> = self.context.ports.iter().map(|(port, ..)| port).collect();
            for port in ports {
                self.reconcile(port);
            }
        }
    }

    /// An address is this endpoint's now, or no more: what the others knew of it is of somebody else, or of before.
    fn forget_elsewhere(&mut self, endpoint: EndpointId, address: &Address) {
        let others: Vec<EndpointId> = self.context.ports.all_endpoints().filter(|other| *other != endpoint).collect();
        for other in others {
            let has = self.context.ports.endpoint(other).is_some_and(|other| other.has(address));
            if !has {
                self.provider.forget_address(&mut self.context, other, address);
            }
        }
    }

    /// Makes the endpoints of a port those that its table and the local addresses ask for.
    pub(crate) fn reconcile(&mut self, port: PortId) {
        // What is opened now would not be closed any more.
        if self.context.running != Running::Serving {
            return;
        }
        let plan = self.context.ports.plan(port, &self.context.config.subnets);
        for local in plan.unassigned {
            self.context.log(Event::NoPartition(port, local.address, local.pkey));
        }
        for endpoint in plan.close {
            let addresses = self.context.endpoint(endpoint).map(|found| found.addresses.clone()).unwrap_or_default();
            self.close_endpoint(endpoint);
            addresses.iter().for_each(|address| self.forget_elsewhere(endpoint, address));
        }
        for (endpoint, address) in plan.remove {
            if let Some(found) = self.context.ports.endpoint_mut(endpoint) {
                found.addresses.retain(|other| *other != address);
            }
            self.context.log(Event::AddressRemoved(endpoint, address));
            self.provider.remove_address(&mut self.context, endpoint, &address);
            self.forget_elsewhere(endpoint, &address);
        }
        let mut added = plan.add;
        for (pkey_index, pkey, addresses) in plan.open {
            let endpoint = self.context.ports.open(port, pkey_index, pkey);
            self.context.output(Output::OpenEndpoint { endpoint, port, pkey_index, pkey });
            // Who opened it knows its name.
            self.context.log(Event::EndpointAdded(endpoint, port, pkey));
            added.extend(addresses.into_iter().map(|address| (endpoint, address)));
        }
        for (endpoint, address) in added {
            if let Some(found) = self.context.ports.endpoint_mut(endpoint) {
                found.addresses.push(address);
            }
            self.context.log(Event::AddressAdded(endpoint, address));
            self.provider.add_address(&mut self.context, endpoint, &address);
            self.forget_elsewhere(endpoint, &address);
        }
        self.context.ports.index_addresses();
    }

    pub(crate) fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.provider.close_endpoint(&mut self.context, endpoint);
        self.context.timers.clear(TimerKey::Endpoint(endpoint));
        if let Some(closed) = self.context.ports.close(endpoint) {
            self.context.output(Output::CloseEndpoint(endpoint));
            self.context.log(Event::EndpointRemoved(endpoint, closed.port, closed.pkey));
        }
    }
}
