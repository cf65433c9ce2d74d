//! What replay finds: a bug that is planted in the provider, what is wanted and was not recorded, another deadline.
use acm_sansio::{
    Acm, Config, EndpointId, Input, PortId, Time,
    account::AccountId,
    api::{DatagramSource, GaugeSink, Names},
    context::Context,
    failure::AttemptDetails,
    ibacmp::Ibacmp,
    id::Token,
    preload::Preload,
    provider::{Need, Notice, PortEvent, Provider, Resolution},
    sa::SaError,
};
use acm_trace::{Difference, Recorder, Replay, ReplayError, Start};
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
    fn name(&self) -> &str {
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
    ) -> Resolution {
        self.own.resolve(cx, endpoint, source, dest, need)
    }
    fn route(&mut self, cx: &mut Context, endpoint: EndpointId, wanted: &PathRecord, need: Need) -> Resolution {
        self.own.route(cx, endpoint, wanted, need)
    }
    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool) {
        self.own.waiter_left(cx, token, account, ticket);
    }
    fn attempt_details(&self, cx: &Context, token: Token) -> AttemptDetails {
        self.own.attempt_details(cx, token)
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
    fn each_gauge(&self, cx: &Context, tell: GaugeSink<'_>) {
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

fn difference(trace: &[u8]) -> Difference {
    match Replay::default().run(trace) {
        Err(ReplayError::Differs(difference)) => *difference,
        other => panic!("{other:?}"),
    }
}

/// A trace of an address and a port, without the `left_out`th output; `lost` says so.
fn with_a_hole(left_out: usize, lost: bool) -> Vec<u8> {
    let (config, address) = (Config::default(), Address::from_text("node1"));
    let mut acm = Acm::new(config.clone(), 1);
    let mut recorder = Recorder::new(Vec::new(), &Start::new(&config, 1)).unwrap();
    let attributes = acm_sansio::port::PortAttributes {
        lid: ib_mad::Lid::new(1),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: vec![ib_mad::Pkey::DEFAULT_FULL],
        ..Default::default()
    };
    let port = PortId(0);
    let inputs = [
        Input::AddressAdded { port, pkey: None, address },
        Input::PortUp { port, attributes: &attributes },
        Input::PortDown(port),
    ];
    let mut outputs = 0;
    for input in inputs {
        recorder.input(Time::ZERO, &input);
        acm.handle_input(Time::ZERO, input);
        while let Some(output) = acm.poll_output() {
            if outputs != left_out {
                recorder.output(Time::ZERO, &output);
            } else if lost {
                recorder.lost(Time::ZERO, 1);
            }
            outputs += 1;
        }
    }
    assert!(outputs > 4, "{outputs}");
    recorder.finish().unwrap()
}

#[test]
fn what_is_wanted_and_was_not_recorded() {
    assert!(Replay::default().run(with_a_hole(usize::MAX, false).as_slice()).is_ok());
    // The first output of the port, the next one in its place.
    let found = difference(&with_a_hole(0, false));
    assert_eq!((found.step, found.time), (2, Time::ZERO));
    assert!(found.told.starts_with("port_up "), "{found}");
    // The last one of the port: nothing is in its place.
    let last = (0..).find(|left_out| difference(&with_a_hole(*left_out, false)).expected.trim() == "output nothing");
    let found = difference(&with_a_hole(last.unwrap(), false));
    assert_eq!(found.step, 2, "found with the next thing that the core is told: {found}");
    assert!(found.fields()[0].1 == "nothing", "{found}");
}

#[test]
fn what_comes_behind_a_hole_is_not_compared() {
    let done = Replay::default().run(with_a_hole(0, true).as_slice()).unwrap();
    assert_eq!((done.cores, done.inputs, done.outputs), (1, 2, 0));
}

#[test]
fn another_deadline() {
    let trace = String::from_utf8_lossy(&loss()).into_owned();
    let due = trace.split("\"due\":").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let later = (due.parse::<u64>().unwrap() + 1).to_string();
    assert_eq!(due.len(), later.len());
    let mut trace = loss();
    let place = trace.windows(due.len()).position(|bytes| bytes == due.as_bytes()).unwrap();
    trace[place..place + due.len()].copy_from_slice(later.as_bytes());
    let found = difference(&trace);
    let [(name, expected, actual)] = found.fields()[..] else { panic!("{found}") };
    assert_eq!(name, "timeout");
    assert!(expected.contains(&Time::from_nanos(later.parse().unwrap()).to_string()), "{found}");
    assert!(actual.contains(&Time::from_nanos(due.parse().unwrap()).to_string()), "{found}");
}
