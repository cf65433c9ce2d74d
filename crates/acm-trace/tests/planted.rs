//! Bugs that are planted in the provider are caught by replay, which names the step.
use acm_sansio::{
    Acm, EndpointId, PortId,
    account::AccountId,
    context::Context,
    door::{DatagramSource, Names, Tell},
    failure::Tried,
    ibacmp::Ibacmp,
    id::Token,
    preload::Preload,
    provider::{Answer, Need, Notice, PortEvent, Provider},
    sa::SaError,
};
use acm_trace::{Replay, ReplayError};
use acm_wire::Address;
use core::fmt;
use ib_mad::sa::{PathRecord, SaMad};
use std::{fs, path::Path};

/// The built-in provider that forgets one of its deadlines: what is due then is not tried again.
#[derive(Debug)]
struct Forgetful {
    own: Ibacmp,
    timer: &'static str,
    forget: u32,
}

impl Provider for Forgetful {
    fn name(&self) -> &'static str {
        self.own.name()
    }
    fn open_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.own.open_endpoint(cx, endpoint);
    }
    fn close_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.own.close_endpoint(cx, endpoint);
    }
    fn add_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.own.add_address(cx, endpoint, address);
    }
    fn remove_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.own.remove_address(cx, endpoint, address);
    }
    fn forget_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.own.forget_address(cx, endpoint, address);
    }
    fn resolve(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &Address,
        dest: &Address,
        need: Need,
    ) -> Answer {
        self.own.resolve(cx, endpoint, source, dest, need)
    }
    fn route(&mut self, cx: &mut Context, endpoint: EndpointId, wanted: &PathRecord, need: Need) -> Answer {
        self.own.route(cx, endpoint, wanted, need)
    }
    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool) {
        self.own.waiter_left(cx, token, account, ticket);
    }
    fn tried(&self, cx: &Context, token: Token) -> Tried {
        self.own.tried(cx, token)
    }
    fn preload(&mut self, cx: &mut Context, preload: Preload) {
        self.own.preload(cx, preload);
    }
    fn datagram(&mut self, cx: &mut Context, endpoint: EndpointId, source: &DatagramSource, payload: &[u8]) {
        self.own.datagram(cx, endpoint, source, payload);
    }
    fn sa_done(&mut self, cx: &mut Context, endpoint: EndpointId, token: Token, answer: Result<&SaMad, SaError>) {
        self.own.sa_done(cx, endpoint, token, answer);
    }
    fn timeout(&mut self, cx: &mut Context, token: Token) {
        if self.own.timer_name(token) == self.timer {
            self.forget = self.forget.wrapping_sub(1);
            if self.forget == 0 {
                return;
            }
        }
        self.own.timeout(cx, token);
    }
    fn timer_name(&self, token: Token) -> &'static str {
        self.own.timer_name(token)
    }
    fn port_event(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent) {
        self.own.port_event(cx, endpoint, event);
    }
    fn noticed(&mut self, cx: &mut Context, port: PortId, notice: Notice) {
        self.own.noticed(cx, port, notice);
    }
    fn each_stat(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        self.own.each_stat(tell);
    }
    fn each_gauge(&self, cx: &Context, tell: Tell<'_>) {
        self.own.each_gauge(cx, tell);
    }
    fn report(&self, cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.own.report(cx, names, f)
    }
    fn check(&self, cx: &Context) -> Result<(), String> {
        self.own.check(cx)
    }
}

fn loss() -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces/loss.pcapng")).unwrap()
}

fn replay(timer: &'static str, forget: u32) -> Result<acm_trace::Replayed, ReplayError> {
    let make =
        |config, seed| Acm::with_provider(config, seed, Box::new(Forgetful { own: Ibacmp::new(seed), timer, forget }));
    Replay::with_core(make).run(loss().as_slice())
}

const REQUEST: &str = "a multicast request";

#[test]
fn a_request_that_is_not_repeated() {
    let whole = replay(REQUEST, 0).unwrap();
    assert_eq!(whole, Replay::default().run(loss().as_slice()).unwrap(), "nothing is forgotten");
    let mut steps = Vec::new();
    for forget in 1..=3 {
        let ReplayError::Differs(difference) = replay(REQUEST, forget).unwrap_err() else { panic!() };
        let text = difference.to_string();
        let start = format!("differs at {}, step {} (timeout due ", difference.time, difference.step);
        assert!(text.starts_with(&start), "{text}");
        assert!(text.contains(&format!(", {REQUEST}), packet {}\n", difference.frame)), "{text}");
        assert!(text.contains("actual nothing"), "what was wanted is not wanted any more: {text}");
        steps.push(difference.step);
    }
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "each is found where it happens: {steps:?}");
}
