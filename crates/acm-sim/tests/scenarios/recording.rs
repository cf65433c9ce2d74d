//! A recorded node: its trace has all inputs and outputs, and recording changes nothing.
use acm_sansio::Output;
use acm_sim::{World, WorldConfig, name};
use acm_trace::{Dated, Entry, Fact, Reader};
use core::time::Duration;

fn play(recorded: Vec<u32>) -> World {
    let mut world = World::new(WorldConfig { recorded, ..WorldConfig::default() });
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.restart(0);
    world.run_for(Duration::from_secs(1));
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world
}

#[test]
fn trace_has_the_outputs_of_the_transcript() {
    let mut world = play(vec![0]);
    let entries: Vec<Entry> = Reader::new(world.trace(0).as_slice()).collect::<Result<_, _>>().unwrap();
    let output = |entry: &Entry| match entry {
        Entry::Fact(Dated { fact: Fact::Output(output), .. }) => Some(Output::clone(output)),
        _ => None,
    };
    let outputs: Vec<Output> = entries.iter().filter_map(output).collect();
    let expected: Vec<Output> =
        world.transcript.iter().filter(|(_, node, _)| *node == 0).map(|(.., output)| output.clone()).collect();
    assert_eq!(outputs, expected);
    let starts = entries.iter().filter(|entry| matches!(entry, Entry::Start(_))).count();
    assert_eq!(starts, 2, "one core before the restart and one after it");
    assert!(!entries.iter().any(|entry| matches!(entry, Entry::Note(_))));
    assert_eq!(play(vec![]).transcript, world.transcript, "the same outputs without a recorder");
}
