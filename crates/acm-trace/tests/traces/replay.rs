//! Differences that a replay finds: a planted bug of the provider, an output without record, another deadline.
use acm_sansio::{
    Acm, Config, EndpointId, Input, PortId, Time,
    account::AccountId,
    api::{DatagramSource, GaugeSink, Names, SaError},
    config::Depth,
    failure::AttemptDetails,
    id::Token,
    preload::Preload,
    provider::{Context, EndpointChange, Need, Observe, PortChange, Provider, Resolution, Target},
    resolver::Ibacmp,
};
use acm_trace::{Difference, Recorder, Replay, ReplayError, Start};
use acm_wire::Address;
use core::fmt;
use ib_mad::MadRef;
use std::{fs, path::Path};

/// The built-in provider, which ignores one of its time-outs: the `ignored`th with the name `timer`.
#[derive(Debug)]
struct IgnoresTimeout {
    own: Ibacmp,
    timer: &'static str,
    ignored: u32,
}

impl Provider for IgnoresTimeout {
    fn port_changed(&mut self, cx: &mut Context, port: PortId, change: PortChange) {
        self.own.port_changed(cx, port, change);
    }
    fn endpoint_changed(&mut self, cx: &mut Context, endpoint: EndpointId, change: EndpointChange<'_>) {
        self.own.endpoint_changed(cx, endpoint, change);
    }
    fn resolve(&mut self, cx: &mut Context, endpoint: EndpointId, target: Target<'_>, need: Need) -> Resolution {
        self.own.resolve(cx, endpoint, target, need)
    }
    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool) -> AttemptDetails {
        self.own.waiter_left(cx, token, account, ticket)
    }
    fn preload(&mut self, cx: &mut Context, preload: Preload) {
        self.own.preload(cx, preload);
    }
    fn datagram(&mut self, cx: &mut Context, endpoint: EndpointId, source: &DatagramSource, payload: &[u8]) {
        self.own.datagram(cx, endpoint, source, payload);
    }
    fn sa_done(&mut self, cx: &mut Context, endpoint: EndpointId, token: Token, result: Result<MadRef<'_>, SaError>) {
        self.own.sa_done(cx, endpoint, token, result);
    }
    fn timeout(&mut self, cx: &mut Context, token: Token) {
        if self.own.timer_name(token) == self.timer {
            self.ignored = self.ignored.wrapping_sub(1);
            if self.ignored == 0 {
                return;
            }
        }
        self.own.timeout(cx, token);
    }
}

impl Observe for IgnoresTimeout {
    fn timer_name(&self, token: Token) -> &'static str {
        self.own.timer_name(token)
    }
    fn each_stat(&self, emit: &mut dyn FnMut(&'static str, u64)) {
        self.own.each_stat(emit);
    }
    fn each_gauge(&self, cx: &Context, emit: GaugeSink<'_>) {
        self.own.each_gauge(cx, emit);
    }
    fn report(&self, cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.own.report(cx, names, f)
    }
    fn check(&self, cx: &Context, charged: &mut dyn FnMut(AccountId)) -> Result<(), String> {
        self.own.check(cx, charged)
    }
}

fn loss() -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces/loss.pcapng")).unwrap()
}

fn replay(timer: &'static str, ignored: u32) -> Result<acm_trace::Replayed, ReplayError> {
    let make = |config, seed| {
        Acm::with_provider(config, seed, Box::new(IgnoresTimeout { own: Ibacmp::new(seed), timer, ignored }))
    };
    Replay::with_core(make).run(loss().as_slice())
}

const REQUEST: &str = "a multicast request";

#[test]
fn missing_retry_is_found_where_it_happens() {
    let whole = replay(REQUEST, 0).unwrap();
    assert_eq!(whole, Replay::default().run(loss().as_slice()).unwrap(), "no time-out is ignored");
    let mut steps = Vec::new();
    for ignored in 1..=3 {
        let ReplayError::Differs(difference) = replay(REQUEST, ignored).unwrap_err() else { panic!() };
        let text = difference.to_string();
        let start = format!("differs at {}, step {} (timeout due ", difference.time, difference.step);
        assert!(text.starts_with(&start), "{text}");
        assert!(text.contains(&format!(", {REQUEST}), packet {}\n", difference.frame)), "{text}");
        assert!(text.contains("actual nothing"), "the core sends no request: {text}");
        steps.push(difference.step);
    }
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
}

fn difference(trace: &[u8]) -> Difference {
    match Replay::default().run(trace) {
        Err(ReplayError::Differs(difference)) => *difference,
        other => panic!("{other:?}"),
    }
}

/// Records an address and a port event without the `left_out`th output, with or without a gap in its place.
fn with_a_gap(left_out: usize, lost: bool) -> Vec<u8> {
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
    let inputs =
        [Input::AddressAdded { port, pkey: None, address }, Input::PortUp { port, attributes }, Input::PortDown(port)];
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
fn output_missing_in_the_trace_is_a_difference() {
    assert!(Replay::default().run(with_a_gap(usize::MAX, false).as_slice()).is_ok());
    // Without the first output of the port event, the next output is in its place.
    let found = difference(&with_a_gap(0, false));
    assert_eq!((found.step, found.time), (2, Time::ZERO));
    assert!(found.input.starts_with("port_up "), "{found}");
    // Without the last output of the port event, nothing is in its place.
    let last = (0..).find(|left_out| difference(&with_a_gap(*left_out, false)).expected.trim() == "output nothing");
    let found = difference(&with_a_gap(last.unwrap(), false));
    assert_eq!(found.step, 2, "found at the next input: {found}");
    assert!(found.fields()[0].1 == "nothing", "{found}");
}

#[test]
fn output_missing_before_the_end_is_a_difference() {
    let is_missing = |left_out: &usize| Replay::default().run(with_a_gap(*left_out, false).as_slice()).is_err();
    let last = (0..).take_while(is_missing).last().unwrap();
    let found = difference(&with_a_gap(last, false));
    assert_eq!((found.step, found.expected.trim()), (3, "output nothing"), "{found}");
    assert!(found.input.starts_with("port_down "), "{found}");
}

#[test]
fn facts_after_a_gap_are_not_compared() {
    let done = Replay::default().run(with_a_gap(0, true).as_slice()).unwrap();
    assert_eq!((done.cores, done.inputs, done.outputs), (1, 2, 0));
}

#[test]
fn changed_deadline_is_a_difference() {
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

/// Traces before version 1.3 have a number.
#[test]
fn resolve_depth_of_older_traces_is_a_number() {
    let read = |json| serde_json::from_str::<Config>(json).unwrap().resolve_depth;
    let texts = [r#"{"resolve_depth":3}"#, r#"{"resolve_depth":{"Fixed":3}}"#, r#"{"resolve_depth":"Auto"}"#];
    assert_eq!(texts.map(read), [Depth::Fixed(3), Depth::Fixed(3), Depth::Auto]);
}
