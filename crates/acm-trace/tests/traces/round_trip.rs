//! Every recorded input, output and event can be read again.
use crate::common::{
    self,
    inputs::{INPUTS, input, input_number, input_of},
    outputs::{OUTPUTS, events, output, output_number, output_of},
    read, trace,
};
use acm_sansio::{Time, failure::Attempt};
use acm_trace::{AnonymizeError, Crossing, Dated, Entry, Fact, Mask, OwnedInput, Replay, anonymize};
use acm_wire::Address;
use core::time::Duration;
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

/// Returns time and fact of a trace with one fact.
fn one(trace: &[u8]) -> (Time, Fact) {
    let mut entries = read(trace);
    assert_eq!(entries.len(), 3, "{entries:?}");
    assert!(matches!(entries.pop(), Some(Entry::Fact(end)) if matches!(end.fact, Fact::End)));
    let Some(Entry::Fact(fact)) = entries.pop() else { panic!("{entries:?}") };
    assert!(matches!(entries.pop(), Some(Entry::Start(start)) if *start == common::start()));
    assert_eq!(fact.frame, 2, "the first packet holds the options");
    (fact.time, fact.fact)
}

fn check_input(input: &OwnedInput) {
    let bytes = trace([&Fact::Input(input.clone())]);
    let (time, Fact::Input(again)) = one(&bytes) else { panic!("{input:?} became something else") };
    assert_eq!(format!("{again:?}"), format!("{input:?}"));
    assert_eq!(trace([&Fact::Input(again)]), bytes, "{input:?}");
    assert_eq!(time, Time::from_nanos(1000));
}

fn check_output(output: &acm_sansio::Output) {
    let bytes = trace([&Fact::Output(output.clone().into())]);
    let (_, Fact::Output(again)) = one(&bytes) else { panic!("{output:?} became something else") };
    assert_eq!(*again, *output);
    assert_eq!(trace([&Fact::Output(again)]), bytes, "{output:?}");
}

#[test]
fn every_variant_survives_a_round_trip() {
    let mut runner = TestRunner::deterministic();
    for number in 0..INPUTS {
        let input = input_of(number).new_tree(&mut runner).unwrap().current();
        assert_eq!(input_number(&input.as_input()), number);
        check_input(&input);
    }
    for number in 0..OUTPUTS {
        let output = output_of(number).new_tree(&mut runner).unwrap().current();
        assert_eq!(output_number(&output), number);
        check_output(&output);
    }
}

#[test]
fn every_event_survives_a_round_trip() {
    let attempt = Attempt::from(acm_sansio::Failure::NoTurn);
    for event in events(Address::from_text("a\n\"b"), "ff12::1".parse().unwrap(), attempt, Duration::from_secs(1)) {
        check_output(&acm_sansio::Output::Log(event));
    }
}

#[test]
fn fabric_trace_survives_a_round_trip() {
    let (all, trace) = common::of_fabric();
    let mut entries = read(&trace);
    assert!(matches!(entries.pop(), Some(Entry::Fact(end)) if matches!(end.fact, Fact::End)));
    let found: Vec<(Time, Crossing)> = entries
        .into_iter()
        .map(|entry| match entry {
            Entry::Fact(Dated { time, fact: Fact::Crossing(crossing), .. }) => (time, *crossing),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: Vec<_> = (1..).map(|micros| Time::from_nanos(micros * 1000)).zip(all).collect();
    assert_eq!(found, expected);
    // The trace has no core.
    let done = Replay::default().run(trace.as_slice()).unwrap();
    assert_eq!((done.cores, done.inputs, done.crossings, done.notes.len()), (0, 0, 5, 0));
    let copy = anonymize(trace.as_slice(), Vec::new(), &Mask::new([1; 16]));
    assert!(matches!(copy, Err(AnonymizeError::Fabric)));
}

proptest! {
    #[test]
    fn any_input_survives_a_round_trip(input in input()) {
        check_input(&input);
    }

    #[test]
    fn any_output_survives_a_round_trip(output in output()) {
        check_output(&output);
    }

    #[test]
    fn any_configuration_survives_a_round_trip(config in common::config()) {
        let start = acm_trace::Start::new(&config, 9);
        let trace = acm_trace::Recorder::new(Vec::new(), &start).unwrap().finish().unwrap();
        prop_assert!(matches!(&read(&trace)[0], Entry::Start(again) if **again == start));
    }
}
