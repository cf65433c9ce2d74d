//! Opening and closing: what differs between what a provider was told and what is so, one call after the other.
use super::{
    ports::{EndpointState, LifeCall, ServedPort},
    state::External,
    token::Task,
};
use crate::{
    context::{Context, Running},
    door::{Event, ProviderCall, ProviderEvent},
    failure::Failure,
    id::{EndpointId, PortId},
    retry::OPEN_ENDPOINT,
};
use acm_wire::Address;
use alloc::{boxed::Box, vec::Vec};

impl External {
    /// A port is active, as it is now.
    pub(super) fn port_is(&mut self, cx: &mut Context, port: PortId) {
        let Some(attributes) = cx.ports.attributes(port).cloned() else { return };
        let state = self.ports.entry(port).or_default();
        if state.wanted.as_deref() != Some(&attributes) {
            state.wanted = Some(Box::new(attributes));
            self.port_pauses_no_more(cx, port);
        }
        self.ports_changed(cx, port);
    }

    /// A port is down, or another provider's.
    pub(super) fn port_is_gone(&mut self, cx: &mut Context, port: PortId) {
        let Some(state) = self.ports.get_mut(&port) else { return };
        state.wanted = None;
        state.reregister = false;
        self.port_pauses_no_more(cx, port);
        self.ports_changed(cx, port);
    }

    pub(super) fn port_pauses_no_more(&mut self, cx: &mut Context, port: PortId) {
        cx.clear_timer(self.token(Task::Port(port)));
        if let Some(state) = self.ports.get_mut(&port) {
            state.pauses = false;
        }
    }

    fn ports_changed(&mut self, cx: &mut Context, port: PortId) {
        let must_close = self.ports.get(&port).is_some_and(ServedPort::must_close);
        if must_close {
            let on_port = self.endpoints.iter().filter(|(_, endpoint)| endpoint.port == port);
            let all: Vec<EndpointId> = on_port.map(|(id, _)| *id).collect();
            for endpoint in all {
                self.serve_no_more(cx, endpoint, Failure::EndpointClosed);
            }
        }
        self.go_on(cx);
    }

    /// The core has an endpoint; also when it was not opened and is to be tried again.
    pub(super) fn endpoint_is(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let Some((port, pkey)) = cx.endpoint(endpoint).map(|found| (found.port, found.pkey)) else { return };
        let state = self.endpoints.entry(endpoint).or_insert_with(|| EndpointState::new(port, pkey));
        state.pauses = false;
        self.go_on(cx);
    }

    /// The core has it no more.
    pub(super) fn endpoint_is_gone(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.serve_no_more(cx, endpoint, Failure::EndpointClosed);
        if let Some(state) = self.endpoints.get_mut(&endpoint) {
            state.wanted = false;
        }
        self.go_on(cx);
    }

    /// An endpoint is not asked any more: who waits for it is answered, and so is the provider, before it is closed.
    pub(super) fn serve_no_more(&mut self, cx: &mut Context, endpoint: EndpointId, failure: Failure) {
        if let Some(state) = self.endpoints.get_mut(&endpoint)
            && core::mem::take(&mut state.serves)
        {
            cx.not_open(endpoint);
        }
        self.fail_all(cx, endpoint, failure);
        // One that hangs may come back, and is told then what subnet administration said.
        if failure == Failure::EndpointClosed {
            self.end_sa_requests(cx, endpoint);
        }
    }

    /// Everything that is open and should be is asked again.
    pub(super) fn serve_again(&mut self, cx: &mut Context) {
        let Self { endpoints, ports, .. } = self;
        for (id, state) in endpoints {
            let port_is_open = ports.get(&state.port).is_some_and(ServedPort::is_open);
            if state.open && state.wanted && !state.serves && port_is_open {
                state.serves = true;
                cx.opened(*id);
            }
        }
    }

    /// Makes the next call that opens or closes something, unless one is under way.
    pub(super) fn sync(&mut self, cx: &mut Context) {
        if self.life.is_some() || self.hangs || cx.running == Running::Stopped {
            return;
        }
        self.endpoints.retain(|_, endpoint| endpoint.wanted || endpoint.open);
        self.ports.retain(|_, port| port.wanted.is_some() || port.open.is_some());
        let Some(life) = self.to_close().or_else(|| self.to_open(cx)) else { return };
        let what = match &life {
            LifeCall::OpenPort(port, attributes) => {
                ProviderCall::OpenPort { port: *port, attributes: attributes.clone() }
            }
            LifeCall::ClosePort(port) => ProviderCall::ClosePort(*port),
            LifeCall::Reregister(port) => ProviderCall::Reregister(*port),
            LifeCall::OpenEndpoint(endpoint) => {
                let Some(state) = self.endpoints.get(endpoint) else { return };
                ProviderCall::OpenEndpoint { endpoint: *endpoint, port: state.port, pkey: state.pkey }
            }
            LifeCall::CloseEndpoint(endpoint) => ProviderCall::CloseEndpoint(*endpoint),
            LifeCall::AddAddress(endpoint, address) => {
                ProviderCall::AddAddress { endpoint: *endpoint, address: *address }
            }
            LifeCall::RemoveAddress(endpoint, address) => {
                ProviderCall::RemoveAddress { endpoint: *endpoint, address: *address }
            }
        };
        self.begin(&life);
        self.call(cx, what, Some(life));
    }

    /// What is closed is closed from when the provider is told.
    fn begin(&mut self, life: &LifeCall) {
        match life {
            LifeCall::ClosePort(port) => {
                if let Some(port) = self.ports.get_mut(port) {
                    port.open = None;
                }
            }
            LifeCall::Reregister(port) => {
                if let Some(port) = self.ports.get_mut(port) {
                    port.reregister = false;
                }
            }
            LifeCall::CloseEndpoint(endpoint) => {
                if let Some(endpoint) = self.endpoints.get_mut(endpoint) {
                    endpoint.open = false;
                    endpoint.addresses.clear();
                }
            }
            LifeCall::RemoveAddress(endpoint, address) => {
                if let Some(endpoint) = self.endpoints.get_mut(endpoint) {
                    endpoint.addresses.retain(|(known, _)| known != address);
                }
            }
            LifeCall::OpenPort(..) | LifeCall::OpenEndpoint(_) | LifeCall::AddAddress(..) => {}
        }
    }

    /// The first of what must be closed: an endpoint's addresses before it, and endpoints before their port.
    fn to_close(&self) -> Option<LifeCall> {
        let must_close = |endpoint: &EndpointState| {
            !endpoint.wanted || self.ports.get(&endpoint.port).is_none_or(ServedPort::must_close)
        };
        let mut open = self.endpoints.iter().filter(|(_, endpoint)| endpoint.open);
        if let Some((id, endpoint)) = open.find(|(_, endpoint)| must_close(endpoint)) {
            return Some(match endpoint.first() {
                Some(address) => LifeCall::RemoveAddress(*id, address),
                None => LifeCall::CloseEndpoint(*id),
            });
        }
        self.ports.iter().find(|(_, port)| port.must_close()).map(|(id, _)| LifeCall::ClosePort(*id))
    }

    /// The first of what is to be opened: ports, then endpoints, each with its addresses.
    fn to_open(&self, cx: &Context) -> Option<LifeCall> {
        for (id, port) in &self.ports {
            match &port.wanted {
                Some(attributes) if port.open.is_none() && !port.pauses => {
                    return Some(LifeCall::OpenPort(*id, attributes.clone()));
                }
                Some(_) if port.open.is_some() && port.reregister => return Some(LifeCall::Reregister(*id)),
                _ => {}
            }
        }
        for (id, endpoint) in &self.endpoints {
            if !self.ports.get(&endpoint.port).is_some_and(ServedPort::is_open) {
                continue;
            }
            if !endpoint.open {
                if endpoint.pauses {
                    continue;
                }
                return Some(LifeCall::OpenEndpoint(*id));
            }
            let wanted = cx.endpoint(*id).map(|found| found.addresses.as_slice()).unwrap_or_default();
            let told = &endpoint.addresses;
            if let Some((gone, _)) = told.iter().find(|(known, took)| *took && !wanted.contains(known)) {
                return Some(LifeCall::RemoveAddress(*id, *gone));
            }
            if let Some(new) = wanted.iter().find(|wanted| !told.iter().any(|(known, _)| known == *wanted)) {
                return Some(LifeCall::AddAddress(*id, *new));
            }
        }
        None
    }

    /// A call that opens or closes something returned.
    pub(super) fn life_done(&mut self, cx: &mut Context, life: LifeCall, is_ok: bool) {
        match life {
            LifeCall::OpenPort(port, attributes) => self.port_opened(cx, port, attributes, is_ok),
            LifeCall::OpenEndpoint(endpoint) => self.endpoint_opened(cx, endpoint, is_ok),
            LifeCall::AddAddress(endpoint, address) => self.address_added(cx, endpoint, address, is_ok),
            // They give nothing back.
            LifeCall::ClosePort(_)
            | LifeCall::Reregister(_)
            | LifeCall::CloseEndpoint(_)
            | LifeCall::RemoveAddress(..) => {}
        }
    }

    fn port_opened(
        &mut self,
        cx: &mut Context,
        port: PortId,
        attributes: Box<crate::port::PortAttributes>,
        is_ok: bool,
    ) {
        let Some(state) = self.ports.get_mut(&port) else { return };
        if is_ok {
            state.open = Some(attributes);
            state.failures = 0;
            return;
        }
        state.failures = state.failures.saturating_add(1);
        state.pauses = true;
        let pause = cx.jitter(OPEN_ENDPOINT.pause(state.failures));
        cx.stats.provider_refused += 1;
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        cx.log(Event::Provider(self.id, ProviderEvent::PortRefused(port, pause_ms)));
        cx.set_timer(self.token(Task::Port(port)), cx.now() + pause);
    }

    fn endpoint_opened(&mut self, cx: &mut Context, endpoint: EndpointId, is_ok: bool) {
        let Some(state) = self.endpoints.get_mut(&endpoint) else { return };
        if is_ok {
            state.open = true;
            self.serve_again(cx);
        } else if state.wanted {
            state.pauses = true;
            cx.not_opened(endpoint);
        }
    }

    fn address_added(&mut self, cx: &mut Context, endpoint: EndpointId, address: Address, is_ok: bool) {
        let Some(state) = self.endpoints.get_mut(&endpoint) else { return };
        state.addresses.push((address, is_ok));
        if !is_ok {
            cx.stats.provider_refused += 1;
            cx.log(Event::Provider(self.id, ProviderEvent::AddressRefused(endpoint, address)));
        }
    }

    /// An endpoint lost an address: if the provider did not take it, it is forgotten, and tried again when it is back.
    pub(super) fn address_is_gone(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        if let Some(state) = self.endpoints.get_mut(&endpoint) {
            state.addresses.retain(|(known, took)| *took || known != address);
        }
        self.go_on(cx);
    }
}
