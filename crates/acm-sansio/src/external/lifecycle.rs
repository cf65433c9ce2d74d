//! Opening and closing: one call after another, until the provider's state matches the core's.
use super::{
    ports::{EndpointState, LifecycleCall, ServedPort},
    state::External,
    token::Task,
};
use crate::{
    api::{
        Event, ProviderCall, ProviderEvent,
        failure::Failure,
        id::{EndpointId, PortId},
    },
    provider::Context,
    retry::OPEN_ENDPOINT,
    shared::Running,
};
use acm_wire::Address;
use alloc::{boxed::Box, vec::Vec};

impl External {
    /// Records that a port is active, with its current attributes.
    pub(super) fn port_active(&mut self, cx: &mut Context, port: PortId) {
        let attributes = cx.ports.attributes(port).cloned();
        let Some(attributes) = cx.shared.existing(attributes) else { return };
        let state = self.ports.entry(port).or_default();
        if state.target.as_deref() != Some(&attributes) {
            state.target = Some(Box::new(attributes));
            self.end_port_pause(cx, port);
        }
        self.port_changed(cx, port);
    }

    /// Records that a port is down, or that another provider serves it.
    pub(super) fn port_inactive(&mut self, cx: &mut Context, port: PortId) {
        let Some(state) = cx.shared.existing(self.ports.get_mut(&port)) else { return };
        state.target = None;
        (state.reregister, state.other_manager) = (false, false);
        self.end_port_pause(cx, port);
        self.port_changed(cx, port);
    }

    pub(super) fn end_port_pause(&mut self, cx: &mut Context, port: PortId) {
        cx.shared.clear_timer(self.token(Task::Port(port)));
        if let Some(state) = self.ports.get_mut(&port) {
            state.paused = false;
        }
    }

    fn port_changed(&mut self, cx: &mut Context, port: PortId) {
        let must_close = self.ports.get(&port).is_some_and(ServedPort::must_close);
        if must_close {
            let on_port = self.endpoints.iter().filter(|(_, endpoint)| endpoint.port == port);
            let all: Vec<EndpointId> = on_port.map(|(id, _)| *id).collect();
            for endpoint in all {
                self.stop_serving(cx, endpoint, Failure::EndpointClosed);
            }
        } else if !self.hangs {
            // The port may have returned before the provider has closed it.
            self.resume_serving(cx);
        }
        self.proceed(cx);
    }

    /// Records that the core has an endpoint, or retries to open it.
    pub(super) fn endpoint_present(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let found = cx.endpoint(endpoint).map(|found| (found.port, found.pkey));
        let Some((port, pkey)) = cx.shared.existing(found) else { return };
        let state = self.endpoints.entry(endpoint).or_insert_with(|| EndpointState::new(port, pkey));
        state.paused = false;
        self.proceed(cx);
    }

    /// Records that the core removed an endpoint.
    pub(super) fn endpoint_removed(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.stop_serving(cx, endpoint, Failure::EndpointClosed);
        if let Some(state) = self.endpoints.get_mut(&endpoint) {
            state.exists = false;
        }
        self.proceed(cx);
    }

    /// Stops serving an endpoint: its requests fail, and the provider gets the results of its SA requests before the
    /// endpoint is closed.
    pub(super) fn stop_serving(&mut self, cx: &mut Context, endpoint: EndpointId, failure: Failure) {
        if let Some(state) = self.endpoints.get_mut(&endpoint)
            && core::mem::take(&mut state.serving)
        {
            cx.endpoint_closed(endpoint);
        }
        self.fail_all(cx, endpoint, failure);
        // A provider that hangs may return, and then still gets the responses of the subnet administrator.
        if failure == Failure::EndpointClosed {
            self.end_sa_requests(cx, endpoint);
        }
    }

    /// Resumes serving every endpoint that is open and should be served.
    pub(super) fn resume_serving(&mut self, cx: &mut Context) {
        let Self { endpoints, ports, .. } = self;
        for (id, state) in endpoints {
            let port_is_open = ports.get(&state.port).is_some_and(ServedPort::is_open);
            if state.open && state.exists && !state.serving && port_is_open {
                state.serving = true;
                cx.endpoint_opened(*id, None);
            }
        }
    }

    /// Makes the next call that opens or closes something, unless one is in progress.
    pub(super) fn sync(&mut self, cx: &mut Context) {
        if self.lifecycle.is_some() || self.hangs || cx.shared.running == Running::Stopped {
            return;
        }
        self.endpoints.retain(|_, endpoint| endpoint.exists || endpoint.open);
        self.ports.retain(|_, port| port.target.is_some() || port.open.is_some());
        let Some(lifecycle) = self.to_close().or_else(|| self.to_open(cx)) else { return };
        let what = match &lifecycle {
            LifecycleCall::OpenPort(port, attributes) => {
                ProviderCall::OpenPort { port: *port, attributes: attributes.clone() }
            }
            LifecycleCall::ClosePort(port) => ProviderCall::ClosePort(*port),
            LifecycleCall::Reregister(port) => ProviderCall::Reregister(*port),
            LifecycleCall::ManagerChanged(port) => ProviderCall::ManagerChanged(*port),
            LifecycleCall::OpenEndpoint(endpoint) => {
                let Some(state) = cx.shared.existing(self.endpoints.get(endpoint)) else { return };
                ProviderCall::OpenEndpoint { endpoint: *endpoint, port: state.port, pkey: state.pkey }
            }
            LifecycleCall::CloseEndpoint(endpoint) => ProviderCall::CloseEndpoint(*endpoint),
            LifecycleCall::AddAddress(endpoint, address) => {
                ProviderCall::AddAddress { endpoint: *endpoint, address: *address }
            }
            LifecycleCall::RemoveAddress(endpoint, address) => {
                ProviderCall::RemoveAddress { endpoint: *endpoint, address: *address }
            }
        };
        self.begin(&lifecycle);
        self.call(cx, what, Some(lifecycle));
    }

    /// Records the effect of a call at its start: from then on, the object counts as closed.
    fn begin(&mut self, lifecycle: &LifecycleCall) {
        match lifecycle {
            LifecycleCall::ClosePort(port) => {
                if let Some(port) = self.ports.get_mut(port) {
                    port.open = None;
                }
            }
            LifecycleCall::Reregister(port) => {
                if let Some(port) = self.ports.get_mut(port) {
                    port.reregister = false;
                }
            }
            LifecycleCall::ManagerChanged(port) => {
                if let Some(port) = self.ports.get_mut(port) {
                    port.other_manager = false;
                }
            }
            LifecycleCall::CloseEndpoint(endpoint) => {
                if let Some(endpoint) = self.endpoints.get_mut(endpoint) {
                    endpoint.open = false;
                    endpoint.addresses.clear();
                }
            }
            LifecycleCall::RemoveAddress(endpoint, address) => {
                if let Some(endpoint) = self.endpoints.get_mut(endpoint) {
                    endpoint.addresses.retain(|(known, _)| known != address);
                }
            }
            LifecycleCall::OpenPort(..) | LifecycleCall::OpenEndpoint(_) | LifecycleCall::AddAddress(..) => {}
        }
    }

    /// Returns the next object to close: addresses before their endpoint, endpoints before their port.
    fn to_close(&self) -> Option<LifecycleCall> {
        let must_close = |endpoint: &EndpointState| {
            !endpoint.exists || self.ports.get(&endpoint.port).is_none_or(ServedPort::must_close)
        };
        let mut open = self.endpoints.iter().filter(|(_, endpoint)| endpoint.open);
        if let Some((id, endpoint)) = open.find(|(_, endpoint)| must_close(endpoint)) {
            return Some(match endpoint.first() {
                Some(address) => LifecycleCall::RemoveAddress(*id, address),
                None => LifecycleCall::CloseEndpoint(*id),
            });
        }
        self.ports.iter().find(|(_, port)| port.must_close()).map(|(id, _)| LifecycleCall::ClosePort(*id))
    }

    /// Returns the next object to open: ports, then endpoints, each with its addresses.
    fn to_open(&self, cx: &Context) -> Option<LifecycleCall> {
        for (id, port) in &self.ports {
            match &port.target {
                Some(attributes) if port.open.is_none() && !port.paused => {
                    return Some(LifecycleCall::OpenPort(*id, attributes.clone()));
                }
                Some(_) if port.open.is_some() && port.other_manager => {
                    return Some(LifecycleCall::ManagerChanged(*id));
                }
                Some(_) if port.open.is_some() && port.reregister => return Some(LifecycleCall::Reregister(*id)),
                _ => {}
            }
        }
        for (id, endpoint) in &self.endpoints {
            if !self.ports.get(&endpoint.port).is_some_and(ServedPort::is_open) {
                continue;
            }
            if !endpoint.open {
                if endpoint.paused {
                    continue;
                }
                return Some(LifecycleCall::OpenEndpoint(*id));
            }
            let current = cx.endpoint(*id).map(|found| found.addresses.as_slice()).unwrap_or_default();
            let reported = &endpoint.addresses;
            if let Some((removed, _)) = reported.iter().find(|(known, accepted)| *accepted && !current.contains(known))
            {
                return Some(LifecycleCall::RemoveAddress(*id, *removed));
            }
            if let Some(new) = current.iter().find(|address| !reported.iter().any(|(known, _)| known == *address)) {
                return Some(LifecycleCall::AddAddress(*id, *new));
            }
        }
        None
    }

    /// Handles the return of a call that opens or closes something.
    pub(super) fn lifecycle_done(&mut self, cx: &mut Context, lifecycle: LifecycleCall, is_ok: bool) {
        match lifecycle {
            LifecycleCall::OpenPort(port, attributes) => self.port_opened(cx, port, attributes, is_ok),
            LifecycleCall::OpenEndpoint(endpoint) => self.endpoint_opened(cx, endpoint, is_ok),
            LifecycleCall::AddAddress(endpoint, address) => self.address_added(cx, endpoint, address, is_ok),
            // These functions return nothing.
            LifecycleCall::ClosePort(_)
            | LifecycleCall::Reregister(_)
            | LifecycleCall::ManagerChanged(_)
            | LifecycleCall::CloseEndpoint(_)
            | LifecycleCall::RemoveAddress(..) => {}
        }
    }

    fn port_opened(
        &mut self,
        cx: &mut Context,
        port: PortId,
        attributes: Box<crate::api::port::PortAttributes>,
        is_ok: bool,
    ) {
        let Some(state) = cx.shared.existing(self.ports.get_mut(&port)) else { return };
        if is_ok {
            state.open = Some(attributes);
            state.failures = 0;
            return;
        }
        state.failures = state.failures.saturating_add(1);
        state.paused = true;
        let pause = cx.shared.jitter(OPEN_ENDPOINT.pause(state.failures));
        cx.shared.stats.provider_refused += 1;
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        cx.shared.log(Event::Provider(self.id, ProviderEvent::PortRefused(port, pause_ms)));
        let at = cx.shared.now() + pause;
        cx.shared.set_timer(self.token(Task::Port(port)), at);
    }

    fn endpoint_opened(&mut self, cx: &mut Context, endpoint: EndpointId, is_ok: bool) {
        let Some(state) = cx.shared.existing(self.endpoints.get_mut(&endpoint)) else { return };
        if is_ok {
            state.open = true;
            self.resume_serving(cx);
        } else if state.exists {
            state.paused = true;
            cx.endpoint_open_failed(endpoint);
        }
    }

    fn address_added(&mut self, cx: &mut Context, endpoint: EndpointId, address: Address, is_ok: bool) {
        let Some(state) = cx.shared.existing(self.endpoints.get_mut(&endpoint)) else { return };
        state.addresses.push((address, is_ok));
        if !is_ok {
            cx.shared.stats.provider_refused += 1;
            cx.shared.log(Event::Provider(self.id, ProviderEvent::AddressRefused(endpoint, address)));
        }
    }

    /// Records that an endpoint lost an address. If the provider had refused it, it is offered again when it comes
    /// back.
    pub(super) fn address_removed(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        if let Some(state) = self.endpoints.get_mut(&endpoint) {
            state.addresses.retain(|(known, accepted)| *accepted || known != address);
        }
        self.proceed(cx);
    }
}
