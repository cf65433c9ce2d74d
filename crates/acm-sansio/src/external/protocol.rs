//! The provider's verbs, and where each goes.
use super::{message::Wanted, state::External, token::Task};
use crate::{
    account::AccountId,
    context::Context,
    door::{DatagramSource, Names, Of, Tell, Worded},
    failure::Failure,
    id::{EndpointId, PortId, Token},
    preload::Preload,
    provider::{Answer, CountersAnswer, IfPending, Need, Notice, PortEvent, Provider},
    sa::SaError,
};
use acm_wire::Address;
use alloc::string::String;
use core::fmt;
use ib_mad::sa::{PathRecord, SaMad};

fn pending(asked: Result<Token, Failure>) -> Answer {
    asked.map_or_else(Answer::from, Answer::Pending)
}

impl Provider for External {
    fn name(&self) -> &str {
        &self.name
    }

    fn has_queue_pairs(&self) -> bool {
        false
    }

    fn answers_no_delay(&self) -> bool {
        true
    }

    fn open_port(&mut self, cx: &mut Context, port: PortId) {
        self.port_is(cx, port);
    }

    fn close_port(&mut self, cx: &mut Context, port: PortId) {
        self.port_is_gone(cx, port);
    }

    fn is_closed(&self) -> bool {
        self.hangs || self.life.is_none() && self.ports.values().all(|port| port.open.is_none())
    }

    fn open_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.endpoint_is(cx, endpoint);
    }

    fn close_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.endpoint_is_gone(cx, endpoint);
    }

    fn add_address(&mut self, cx: &mut Context, _endpoint: EndpointId, _address: &Address) {
        self.go_on(cx);
    }

    fn remove_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.address_is_gone(cx, endpoint, address);
    }

    /// What it knows is its own business: ibacm has no word for this.
    fn forget_address(&mut self, _cx: &mut Context, _endpoint: EndpointId, _address: &Address) {}

    fn resolve(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &Address,
        dest: &Address,
        need: Need,
    ) -> Answer {
        let Some(source) = self.endpoints.get(&endpoint).and_then(|state| state.took(source)) else {
            return Failure::ProviderDown.into();
        };
        let no_delay = need.if_pending == IfPending::Asks;
        pending(self.ask(cx, endpoint, Wanted::Address { source, dest: *dest, no_delay }, need))
    }

    fn route(&mut self, cx: &mut Context, endpoint: EndpointId, wanted: &PathRecord, need: Need) -> Answer {
        // The provider knows the endpoint by an address of its.
        let Some(source) = self.endpoints.get(&endpoint).and_then(super::ports::EndpointState::first) else {
            return Failure::ProviderDown.into();
        };
        let no_delay = need.if_pending == IfPending::Asks;
        pending(self.ask(cx, endpoint, Wanted::Path { source, path: *wanted, no_delay }, need))
    }

    fn counters(&mut self, cx: &mut Context, endpoint: EndpointId, need: Need) -> CountersAnswer {
        self.ask(cx, endpoint, Wanted::Counters, need).map_or_else(CountersAnswer::Failed, CountersAnswer::Pending)
    }

    fn waiter_left(&mut self, cx: &mut Context, token: Token, _account: AccountId, ticket: bool) {
        if let Task::Ask(id) = Task::of(token) {
            self.left(cx, id, ticket);
        }
    }

    fn preload(&mut self, _cx: &mut Context, _preload: Preload) {}

    fn datagram(&mut self, cx: &mut Context, _: EndpointId, _: &DatagramSource, _: &[u8]) {
        cx.stats.stale_inputs += 1;
    }

    fn sa_done(&mut self, cx: &mut Context, _: EndpointId, token: Token, answer: Result<&SaMad, SaError>) {
        if let Task::Sa(id) = Task::of(token) {
            self.sa_answered(cx, id, answer);
        }
    }

    fn timeout(&mut self, cx: &mut Context, token: Token) {
        match Task::of(token) {
            Task::Ask(id) => self.ask_due(cx, id),
            Task::Call => self.call_due(cx),
            Task::Port(port) => {
                self.port_pauses_no_more(cx, port);
                self.go_on(cx);
            }
            Task::Sa(_) => {}
        }
    }

    fn timer_name(&self, token: Token) -> &'static str {
        match Task::of(token) {
            Task::Ask(_) => "a request of a provider",
            Task::Call => "a call of a provider",
            Task::Port(_) => "a port that a provider is to open",
            Task::Sa(_) => "a request of a provider to the SA",
        }
    }

    fn port_event(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent) {
        match event {
            PortEvent::Down => self.serve_no_more(cx, endpoint, Failure::EndpointClosed),
            PortEvent::Reregister => {
                let port = cx.port_id(endpoint);
                if let Some(state) = port.and_then(|port| self.ports.get_mut(&port)) {
                    state.reregister = true;
                }
                self.go_on(cx);
            }
            // What it has to hear of these is in how the port is opened.
            PortEvent::Up | PortEvent::Moved | PortEvent::OtherManager | PortEvent::OtherLink => {}
        }
    }

    fn noticed(&mut self, _cx: &mut Context, _port: PortId, _notice: Notice) {}

    /// What it counts is among the core's own.
    fn each_stat(&self, _tell: &mut dyn FnMut(&'static str, u64)) {}

    fn each_gauge(&self, _cx: &Context, tell: Tell<'_>) {
        let of = Of::Provider(self.id);
        tell("provider_hangs_now", of, usize::from(self.hangs));
        tell("provider_calls", of, self.calls.len());
        tell("provider_waiting", of, self.queue.waiting().0);
        tell("provider_unanswered", of, self.queue.held() as usize);
        tell("provider_sa_requests", of, self.sa.len());
    }

    fn report(&self, _cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.endpoints.values().filter(|endpoint| endpoint.serves).count();
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

    fn each_lookup(&self, tell: &mut dyn FnMut(AccountId)) {
        self.asked.iter().for_each(|(_, asked)| tell(asked.account));
    }

    fn check(&self, cx: &Context) -> Result<(), String> {
        super::check::external(self, cx)
    }
}
