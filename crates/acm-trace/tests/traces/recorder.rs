//! Files of one recording, gaps, and times that go back.
use acm_sansio::{Account, Acm, ClientId, Config, Input, PortId, Time};
use acm_trace::{
    Crossing, Entry, FabricRecorder, Fact, Mask, PacketHeaders, Reader, Recorder, Replay, Start, anonymize,
    continuation,
};
use acm_wire::{Address, client::perf_request};
use core::time::Duration;
use ib_mad::{Lid, Pkey};
use pcap_file::pcapng::{Block, PcapNgReader};

const PORT: PortId = PortId(0);

fn address_added() -> Input<'static> {
    Input::AddressAdded { port: PORT, pkey: None, address: Address::from_text("node1") }
}

fn port_up() -> Input<'static> {
    let (gids, pkeys) = (vec!["fe80::1".parse().unwrap()], vec![Pkey::DEFAULT_FULL]);
    let attributes = acm_sansio::port::PortAttributes { lid: Lid::new(1), gids, pkeys, ..Default::default() };
    Input::PortUp { port: PORT, attributes }
}

fn started() -> (Acm, Recorder<Vec<u8>>, Start) {
    let config = Config::default();
    let start = Start::new(&config, 1);
    (Acm::new(config, 1), Recorder::new(Vec::new(), &start).unwrap(), start)
}

/// A daemon begins a file when the previous one is full.
#[test]
fn second_file_continues_the_first_only_with_its_number_of_facts() {
    let (mut acm, mut recorder, start) = started();
    recorder.drive(&mut acm, Time::ZERO, address_added(), |_| None);
    let (facts, split) = (recorder.facts(), recorder.get_ref().len());
    recorder.drive(&mut acm, Time::ZERO, port_up(), |_| None);
    let bytes = recorder.finish().unwrap();
    for (number, expected) in [(facts, (1, 2, true)), (facts + 1, (2, 1, false)), (facts - 1, (2, 1, false))] {
        let head = continuation(&start, Time::ZERO, number).unwrap();
        let both = [&bytes[..split], &head, &bytes[split..]].concat();
        let done = Replay::default().run(both.as_slice()).unwrap();
        assert_eq!((done.cores, done.inputs, done.not_compared == 0), expected, "{number} of {facts}");
    }
}

#[test]
fn dropped_facts_are_counted_once() {
    let (mut acm, mut recorder, _) = started();
    recorder.drive(&mut acm, Time::ZERO, address_added(), |_| None);
    let facts = recorder.facts();
    recorder.thrown_away(Time::ZERO, facts);
    assert_eq!(recorder.facts(), facts);
    recorder.lost(Time::ZERO, 5);
    assert_eq!(recorder.facts(), facts + 5);
}

/// Returns the times and kinds of all facts.
fn facts(trace: &[u8]) -> Vec<(Time, String)> {
    let fact = |entry| match entry {
        Entry::Fact(dated) => {
            Some((dated.time, format!("{:?}", dated.fact).chars().take_while(|c| c.is_alphabetic()).collect()))
        }
        _ => None,
    };
    Reader::new(trace).filter_map(|entry| fact(entry.unwrap())).collect()
}

#[test]
fn time_of_a_trace_does_not_go_back() {
    let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
    let (client, message) = (ClientId::new(0, 1), perf_request(0, [1; 8]).to_vec());
    let (_, mut recorder, _) = started();
    recorder.input(at(5), &address_added());
    recorder.input(at(3), &Input::ClientOpened { client, account: Account::User(0) });
    recorder.input(at(2), &Input::ClientMessage { client, message: &message });
    recorder.input(at(6), &Input::ClientMessage { client, message: &message });
    let times: Vec<Time> = facts(&recorder.finish().unwrap()).into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, [5, 5, 5, 6, 6].map(at));

    let mut recorder = FabricRecorder::new(Vec::new(), Duration::ZERO).unwrap();
    let crossing =
        Crossing { delivered: true, node: 1, port: 1, headers: PacketHeaders::default(), payload: vec![0; 256] };
    for seconds in [5, 3] {
        recorder.crossing(Duration::from_secs(seconds), &crossing).unwrap();
    }
    let times: Vec<Time> = facts(&recorder.finish().unwrap()).into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, [5, 5, 5].map(at));
}

/// Returns the time of each packet as Wireshark reads it.
fn wall_times(trace: &[u8]) -> Vec<Duration> {
    let mut reader = PcapNgReader::new(trace).unwrap();
    let mut times = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            times.push(packet.timestamp);
        }
    }
    times
}

#[test]
fn packets_have_the_wall_clock_time_and_facts_that_of_the_core() {
    let (second, epoch) = (Duration::from_secs(1), Duration::new(1_764_000_000, 123_456_789));
    let start = Start::new(&Config::default(), 1).with_epoch(epoch);
    let mut recorder = Recorder::new(Vec::new(), &start).unwrap();
    recorder.input(Time::ZERO + second, &address_added());
    // Another core in the same file has its own clock.
    recorder.restart(&Start { epoch: epoch + 9 * second, ..start });
    recorder.input(Time::ZERO + second, &port_up());
    let trace = recorder.finish().unwrap();
    let (times, of_facts) = (wall_times(&trace), facts(&trace));
    assert_eq!(times, [0, 1, 1, 9, 10, 10].map(|seconds| epoch + seconds * second));
    assert!(of_facts.len() == 4 && of_facts.iter().all(|(time, _)| *time == Time::ZERO + second), "{of_facts:?}");
    let (copy, _) = anonymize(trace.as_slice(), Vec::new(), &Mask::new([1; 16])).unwrap();
    assert_eq!(wall_times(&copy), times);

    let mut fabric = FabricRecorder::new(Vec::new(), epoch).unwrap();
    fabric
        .crossing(
            second,
            &Crossing { delivered: true, node: 1, port: 1, headers: PacketHeaders::default(), payload: vec![0; 256] },
        )
        .unwrap();
    let trace = fabric.finish().unwrap();
    assert_eq!((wall_times(&trace)[0], facts(&trace)[0].0), (epoch + second, Time::ZERO + second));
}

#[test]
fn anonymized_trace_keeps_its_gaps() {
    let (mut acm, mut recorder, _) = started();
    recorder.drive(&mut acm, Time::ZERO, address_added(), |_| None);
    recorder.lost(Time::ZERO, 7);
    let trace = recorder.finish().unwrap();
    let (copy, _) = anonymize(trace.as_slice(), Vec::new(), &Mask::new([1; 16])).unwrap();
    let lost = |trace: &[u8]| {
        let counts = Reader::new(trace).filter_map(|entry| match entry.unwrap() {
            Entry::Fact(dated) => match dated.fact {
                Fact::Lost(count) => Some(count),
                _ => None,
            },
            _ => None,
        });
        counts.collect::<Vec<_>>()
    };
    assert_eq!((lost(&trace), lost(&copy)), (vec![7], vec![7]));
}
