//! Implementation of the `Provider` trait.
use super::{resolve_message::Query, state::External, token::Task};
use crate::{
    accounts::fair::Urgency,
    api::{
        DisplayWith, GaugeScope, GaugeSink, Names, SaError,
        account::AccountId,
        failure::{AttemptDetails, Failure},
        id::{EndpointId, PortId, Token},
    },
    provider::{
        Context, EndpointChange, IfPending, Need, Observe, PortChange, PortEvent, Provider, Resolution, Target, single,
    },
};
use alloc::string::String;
use core::fmt;
use ib_mad::{MadRef, sa::PathRecord};

impl External {
    /// Returns its name in the configuration.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Reports whether it has nothing open, or does not respond. The shutdown waits for this, within its time-out.
    pub(crate) fn is_closed(&self) -> bool {
        self.hangs || self.lifecycle.is_none() && self.ports.values().all(|port| port.open.is_none())
    }

    /// Requests the counters of an endpoint. [`Context::complete_counters`] follows with the token.
    pub(crate) fn counters(&mut self, cx: &mut Context, endpoint: EndpointId, need: Need) -> Result<Token, Failure> {
        self.queue_request(cx, endpoint, Query::Counters, need)
    }

    /// Requests a path from the subnet administrator through the provider. [`Context::complete`] follows with the
    /// token.
    pub(crate) fn query_sa(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        path: &PathRecord,
        need: Need,
    ) -> Result<Token, Failure> {
        let source = self.endpoints.get(&endpoint).and_then(super::ports::EndpointState::first);
        let query = Query::Sa { source: source.ok_or(Failure::ProviderDown)?, path: *path };
        self.queue_request(cx, endpoint, query, need)
    }

    fn port_event(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent) {
        match event {
            PortEvent::Down => self.stop_serving(cx, endpoint, Failure::EndpointClosed),
            PortEvent::Reregister | PortEvent::OtherManager => {
                let port = cx.port_id(endpoint);
                if let Some(state) = port.and_then(|port| self.ports.get_mut(&port)) {
                    match event {
                        PortEvent::Reregister => state.reregister = true,
                        _ => state.other_manager = true,
                    }
                }
                self.proceed(cx);
            }
            // Changed attributes reach the provider by closing and reopening the port.
            PortEvent::Up | PortEvent::Moved | PortEvent::OtherLink => {}
        }
    }
}

impl Provider for External {
    fn port_changed(&mut self, cx: &mut Context, port: PortId, change: PortChange) {
        match change {
            PortChange::Active => self.port_active(cx, port),
            PortChange::Inactive => self.port_inactive(cx, port),
            PortChange::Noticed(_) => {}
        }
    }

    fn endpoint_changed(&mut self, cx: &mut Context, endpoint: EndpointId, change: EndpointChange<'_>) {
        match change {
            EndpointChange::Opened => self.endpoint_present(cx, endpoint),
            EndpointChange::Closing => self.endpoint_removed(cx, endpoint),
            EndpointChange::AddressAdded(_) => self.proceed(cx),
            EndpointChange::AddressRemoved(address) => self.address_removed(cx, endpoint, address),
            // ibacm has no function to invalidate a provider's cache.
            EndpointChange::AddressMoved(_) | EndpointChange::NoPath(_) | EndpointChange::Attached(..) => {}
            EndpointChange::Port(event) => self.port_event(cx, endpoint, event),
        }
    }

    fn resolve(&mut self, cx: &mut Context, endpoint: EndpointId, target: Target<'_>, need: Need) -> Resolution {
        let state = self.endpoints.get(&endpoint);
        let no_delay = need.if_pending == IfPending::AsksProvider;
        let query = match target {
            Target::Address { source, dest } => state
                .and_then(|state| state.accepted(source))
                .map(|source| Query::Address { source, dest: *dest, no_delay }),
            // The provider identifies the endpoint by one of its addresses.
            Target::Port(path) => state.and_then(super::ports::EndpointState::first).map(|source| Query::Path {
                source,
                path: *path,
                no_delay,
            }),
        };
        match query {
            Some(query) => {
                self.queue_request(cx, endpoint, query, need).map_or_else(Resolution::from, Resolution::Pending)
            }
            None => Failure::ProviderDown.into(),
        }
    }

    fn waiter_left(&mut self, cx: &mut Context, token: Token, _account: AccountId, ticket: bool) -> AttemptDetails {
        if let Task::Request(id) = Task::of(token) {
            self.requester_left(cx, id, ticket);
        }
        AttemptDetails::default()
    }

    fn cancel_queued(&mut self, cx: &mut Context, account: AccountId, urgency: Urgency) -> bool {
        self.cancel_last(cx, account, urgency)
    }

    fn sa_done(&mut self, cx: &mut Context, _: EndpointId, token: Token, result: Result<MadRef<'_>, SaError>) {
        if let Task::Sa(id) = Task::of(token) {
            self.sa_request_done(cx, id, single(result));
        }
    }

    fn timeout(&mut self, cx: &mut Context, token: Token) {
        match Task::of(token) {
            Task::Request(id) => self.request_due(cx, id),
            Task::Call => self.call_due(cx),
            Task::Port(port) => {
                self.end_port_pause(cx, port);
                self.proceed(cx);
            }
            Task::Sa(_) => {}
        }
    }
}

impl Observe for External {
    fn timer_name(&self, token: Token) -> &'static str {
        match Task::of(token) {
            Task::Request(_) => "a request of a provider",
            Task::Call => "a call of a provider",
            Task::Port(_) => "a port that a provider is to open",
            Task::Sa(_) => "a request of a provider to the SA",
        }
    }

    fn each_gauge(&self, _cx: &Context, emit: GaugeSink<'_>) {
        let of = GaugeScope::Provider(self.id);
        emit("provider_hangs_now", of, usize::from(self.hangs));
        emit("provider_calls", of, self.calls.len());
        emit("provider_waiting", of, self.queue.waiting().0);
        emit("provider_unanswered", of, self.queue.held() as usize);
        emit("provider_sa_requests", of, self.sa.len());
    }

    fn report(&self, _cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.endpoints.values().filter(|endpoint| endpoint.serving).count();
        writeln!(
            f,
            "{}: {} ports {} endpoints {open} of {} calls {} unanswered {} waiting {} sa {}{}",
            self.id.named(names),
            self.name,
            self.ports.values().filter(|port| port.open.is_some()).count(),
            self.endpoints.len(),
            self.calls.len(),
            self.queue.held(),
            self.queue.waiting().0,
            self.sa.len(),
            if self.hangs { " hangs" } else { "" },
        )
    }

    fn check(&self, cx: &Context, charged: &mut dyn FnMut(AccountId)) -> Result<(), String> {
        self.requests.iter().for_each(|(_, request)| charged(request.account));
        super::check::external(self, cx)
    }
}
