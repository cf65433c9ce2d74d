//! Traces that are truncated, damaged, or of another version.
use crate::common::{self, read};
use acm_sansio::{
    Acm, Config, EndpointId, Event, Output, Time,
    api::{Deadline, Reason},
};
use acm_trace::{Damage, Entry, Fact, Kind, Note, OwnedInput, Reader, Recorder, Start, Timeout, TraceError, VERSION};
use pcap_file::pcapng::{
    Block, PcapNgReader, PcapNgWriter,
    blocks::{
        enhanced_packet::EnhancedPacketOption, interface_description::InterfaceDescriptionOption,
        section_header::SectionHeaderOption, unknown::UnknownBlock,
    },
};
use proptest::prelude::*;

fn facts() -> Vec<Fact> {
    let client = acm_sansio::ClientId::new(1, 0);
    let endpoint = EndpointId::new(0, 0);
    let source = acm_sansio::api::DatagramSource {
        lid: ib_mad::Lid::new(5),
        path_bits: 0,
        qpn: common::small(72_u32),
        gid: Some("fe80::5".parse().unwrap()),
        group: None,
    };
    vec![
        Fact::Input(OwnedInput::ClientMessage {
            client,
            message: vec![1, 1, 0, 0, 0, 0, 16, 0, 9, 9, 9, 9, 9, 9, 9, 9],
        }),
        Fact::Input(OwnedInput::Datagram { endpoint, source, payload: vec![7; 256] }),
        Fact::Output(Box::new(Output::Log(Event::EndpointLost(endpoint)))),
        Fact::Timeout(Timeout::default()),
        Fact::Input(OwnedInput::Datagram { endpoint, source, payload: vec![7; 9] }),
        Fact::Lost(3),
        Fact::Output(Output::ShutdownDone.into()),
    ]
}

fn text(entry: &Entry) -> String {
    format!("{entry:?}")
}

#[test]
fn trace_cut_anywhere_is_readable_up_to_the_cut() {
    let whole = common::trace(&facts());
    let all: Vec<String> = read(&whole).iter().map(text).collect();
    assert_eq!(all.len(), facts().len() + 2);
    let mut most = 0;
    for cut in 0..whole.len() {
        let mut entries = read(&whole[..cut]);
        let Some(Entry::Note(Note::Cut { offset })) = entries.pop() else { panic!("{cut}: {entries:?}") };
        assert!(usize::try_from(offset).unwrap() <= cut);
        let read: Vec<String> = entries.iter().map(text).collect();
        assert_eq!(read, all[..read.len()], "{cut}");
        assert!(read.len() >= most, "{cut}: more bytes, but fewer entries");
        most = read.len();
    }
    // Everything except the end mark.
    assert_eq!(most, all.len() - 1);
    assert!(read(&whole).iter().all(|entry| !matches!(entry, Entry::Note(_))));
}

/// Changes blocks of a trace.
fn changed(trace: &[u8], mut change: impl FnMut(usize, &mut Block<'static>)) -> Vec<u8> {
    let mut reader = PcapNgReader::new(trace).unwrap();
    let mut section = Block::SectionHeader(reader.section().clone());
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block() {
        blocks.push(block.unwrap().into_owned());
    }
    change(0, &mut section);
    let mut writer = PcapNgWriter::with_section_header(Vec::new(), section.into_section_header().unwrap()).unwrap();
    for (number, mut block) in (1..).zip(blocks) {
        change(number, &mut block);
        writer.write_block(&block).unwrap();
    }
    writer.into_inner()
}

fn error(trace: &[u8]) -> TraceError {
    let mut reader = Reader::new(trace);
    let error = reader.by_ref().find_map(Result::err).expect("an error");
    assert!(reader.next().is_none(), "an entry after an error");
    error
}

fn set_version(block: &mut Block<'static>, version: &str) {
    let own = format!("version={}.{}", VERSION.0, VERSION.1);
    if let Block::SectionHeader(section) = block {
        for option in &mut section.options {
            if let SectionHeaderOption::Comment(comment) = option {
                *comment = comment.replace(&own, &format!("version={version} colour=red")).into();
            }
        }
    }
}

/// The next minor version.
fn newer() -> String {
    format!("{}.{}", VERSION.0, VERSION.1 + 1)
}

#[test]
fn newer_minor_version_is_read_and_other_major_version_is_rejected() {
    let trace = common::trace(&facts());
    let newer = changed(&trace, |_, block| set_version(block, &newer()));
    let entries = read(&newer);
    let is_newer =
        |entry: &Entry| matches!(entry, Entry::Note(Note::Newer { offset: 0, minor }) if *minor == VERSION.1 + 1);
    assert!(is_newer(&entries[0]), "{:?}", entries[0]);
    assert_eq!(entries.len(), facts().len() + 3, "one note more");
    let other = changed(&trace, |_, block| set_version(block, "2.0"));
    assert!(matches!(error(&other), TraceError::Version { major: 2, offset: 0 }));
    // One packet of another major version.
    let other = changed(&trace, |number, block| {
        if let (Block::EnhancedPacket(packet), 6) = (block, number) {
            packet.data.to_mut()[4] = 2;
        }
    });
    assert!(matches!(error(&other), TraceError::Version { major: 2, offset } if offset > 0));
}

#[test]
fn unknown_packets_and_blocks_are_skipped_with_a_note() {
    let trace = common::trace(&facts());
    let count = facts().len() + 2;
    // An unknown kind in both interfaces.
    let unknown = changed(&trace, |number, block| match (number, block) {
        (4, Block::EnhancedPacket(packet)) => packet.data.to_mut()[6] = 9,
        (5, Block::EnhancedPacket(packet)) => {
            packet.options = vec![EnhancedPacketOption::Comment("acm telepathy to=all".into())];
        }
        _ => {}
    });
    let entries = read(&unknown);
    let notes: Vec<String> = entries
        .iter()
        .filter_map(|entry| if let Entry::Note(note) = entry { Some(note.to_string()) } else { None })
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].ends_with(": packet left out: kind 0x911") && notes[1].ends_with(": packet left out: telepathy"));
    assert_eq!(entries.len(), count);
    // A block of an unknown type, and a comment of another program in front of the comment of the trace.
    let others = changed(&trace, |number, block| match (number, &mut *block) {
        (4, block) => *block = Block::Unknown(UnknownBlock::new(0xbad, 12, &[])),
        (5, Block::EnhancedPacket(packet)) => {
            packet.options.insert(0, EnhancedPacketOption::Comment("look here".into()));
        }
        _ => {}
    });
    let entries = read(&others);
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Note(Note::Block { number: 0xbad, .. }))));
    assert_eq!(entries.len(), count);
}

#[test]
fn unknown_fields_and_events_of_a_newer_version_are_skipped() {
    let trace = common::trace(&facts());
    let with = |from: &'static str, to: &'static str, version: &str| {
        let trace = changed(&trace, |_, block| {
            set_version(block, version);
            if let Block::EnhancedPacket(packet) = block {
                let text = String::from_utf8_lossy(&packet.data).into_owned();
                if text.contains(from) {
                    packet.data = text.replace(from, to).into_bytes().into();
                }
            }
        });
        Reader::new(trace.as_slice()).collect::<Result<Vec<Entry>, TraceError>>()
    };
    let entries = with(r#""reason":"""#, r#""mood":[1,{}],"reason":"""#, "1.9").unwrap();
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Fact(fact) if matches!(fact.fact, Fact::Timeout(_)))));
    // An unknown event is skipped in a newer version, and is damage in this version.
    let entries = with("EndpointLost", "EndpointMerry", &newer()).unwrap();
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Note(Note::Packet { .. }))), "{entries:?}");
    let error = with("EndpointLost", "EndpointMerry", &format!("{}.{}", VERSION.0, VERSION.1)).unwrap_err();
    assert!(matches!(error, TraceError::Damaged { damage: Damage::Text(_), .. }), "{error}");
}

#[test]
fn damage_is_reported_with_its_offset() {
    let trace = common::trace(&facts());
    // Offsets of the blocks.
    let mut offsets = vec![0_usize];
    while let Some(length) = trace.get(offsets[offsets.len() - 1] + 4..).and_then(|rest| rest.first_chunk()) {
        offsets.push(offsets[offsets.len() - 1] + u32::from_ne_bytes(*length) as usize);
    }
    let break_at = |block: usize, at: usize, value: u8| {
        let mut broken = trace.clone();
        broken[offsets[block] + at] = value;
        let error = error(&broken);
        let TraceError::Damaged { offset, damage } = error else { panic!("{error}") };
        assert_eq!(offset, offsets[block] as u64);
        damage.to_string()
    };
    assert_eq!(break_at(4, 4, 7), "a block of 7 bytes");
    assert_eq!(
        break_at(4, 7, 0xff),
        format!("a block of {} bytes", 0xff00_0000_u32 + u32::from(trace[offsets[4] + 4]))
    );
    let end = offsets[5] - offsets[4] - 1;
    assert!(break_at(4, end, 1).contains(" and ends with "));
    assert_eq!(break_at(4, 8, 9), "a packet of interface 9, which is not described");
    assert_eq!(break_at(4, 28, b'X'), "a packet without the four letters of a trace");
    assert_eq!(break_at(4, 8, 0), "an InfiniBand packet without a comment that says what it is");
    assert_eq!(break_at(5, 28 + 8, 9), "a packet without the four letters of a trace", "another ERF type");
    assert_eq!(break_at(3, 28 + 20, b'X'), "the options are not those of the section's header");
    assert!(error(b"#!/bin/sh\nexit 1\n").to_string().starts_with("not a trace: byte 0 "));
    let older = changed(&trace, |number, block| {
        if let (Block::EnhancedPacket(packet), 7) = (block, number) {
            packet.timestamp = core::time::Duration::ZERO;
        }
    });
    assert!(matches!(error(&older), TraceError::Damaged { damage: Damage::Time, .. }));
    let micros = changed(&trace, |_, block| {
        if let Block::InterfaceDescription(interface) = block {
            interface.options.retain(|option| !matches!(option, InterfaceDescriptionOption::IfTsResol(_)));
        }
    });
    assert!(matches!(error(&micros), TraceError::Damaged { damage: Damage::Resolution, .. }));
    let words = changed(&trace, |_, block| {
        if let Block::EnhancedPacket(packet) = block
            && let Some(EnhancedPacketOption::Comment(comment)) = packet.options.first_mut()
        {
            *comment = comment.replace("endpoint=", "endpiont=").into();
        }
    });
    assert!(error(&words).to_string().ends_with("the comment has no valid endpoint="));
}

#[test]
fn file_can_hold_several_cores() {
    let start = |seed: u64| Start::new(&Config::default(), seed);
    let mut recorder = Recorder::new(Vec::new(), &start(1)).unwrap();
    recorder.output(Time::from_nanos(9), &Output::ShutdownDone);
    recorder.restart(&start(2));
    let at = Time::from_nanos(3);
    recorder.timeout(Time::from_nanos(4), Some(Deadline { at, reason: Reason::Shutdown }));
    let entries = read(&recorder.finish().unwrap());
    let kinds: Vec<&str> = entries
        .iter()
        .map(|entry| match entry {
            Entry::Start(found) if **found == start(1) => "one",
            Entry::Start(found) if **found == start(2) => "two",
            Entry::Fact(fact) => match &fact.fact {
                Fact::End => "end",
                Fact::Timeout(woken) if *woken == (Timeout { due: Some(3), reason: "shutdown".into() }) => "timeout",
                _ => "fact",
            },
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["one", "fact", "end", "two", "timeout", "end"]);
    // A core whose recorder crashed, and another core behind it.
    let first = Recorder::new(Vec::new(), &start(1)).unwrap().get_ref().clone();
    let second = Recorder::new(Vec::new(), &start(2)).unwrap().finish().unwrap();
    let entries = read(&[first.clone(), second].concat());
    assert!(matches!(entries[1], Entry::Note(Note::Cut { offset }) if offset == first.len() as u64), "{entries:?}");
    assert_eq!(entries.len(), 4);
}

#[test]
fn write_error_stops_the_recording_but_not_the_core() {
    let mut file = [0; 1400];
    let mut acm = Acm::new(Config::default(), 1);
    let mut recorder = Recorder::new(file.as_mut_slice(), &Start::new(&Config::default(), 1)).unwrap();
    for _ in 0..100 {
        recorder.drive(&mut acm, Time::ZERO, acm_sansio::Input::Interfaces(vec![]), |_| None);
    }
    assert!(recorder.finish().is_err());
}

#[test]
fn every_input_and_output_variant_has_a_kind() {
    // Four marks of the recorder; two kinds for replies to the kernel; two for packets of a fabric.
    assert_eq!(Kind::ALL.len(), 4 + common::inputs::INPUTS + common::outputs::OUTPUTS + 1 + 2);
    assert_eq!((VERSION, Kind::ALL.len()), ((1, 9), 49), "a new kind needs a new minor version");
}

#[test]
fn dissector_names_every_kind_and_opcode() {
    let lua = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/wireshark/acm.lua");
    let lua = std::fs::read_to_string(lua).unwrap();
    for kind in Kind::ALL {
        let entry = format!("[{:#04x}] = \"{kind}\"", kind.code());
        assert!(lua.contains(&entry), "acm.lua has no {entry}");
    }
    for (opcode, name) in acm_wire::client::Opcode::KNOWN {
        let entries = format!("[{}] = \"{name}\"", opcode.get());
        assert!(lua.contains(&entries), "acm.lua has no {entries}");
        let answers = format!("[{:#04x}] = \"{name} answer\"", opcode.ack().get());
        assert!(lua.contains(&answers), "acm.lua has no {answers}");
    }
}

proptest! {
    #[test]
    fn reader_terminates_on_any_damage(changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4)) {
        let mut trace = common::trace(&facts());
        for (index, value) in changes {
            let at = index.index(trace.len());
            trace[at] = value;
        }
        prop_assert!(Reader::new(trace.as_slice()).count() < 100);
    }

    #[test]
    fn reader_terminates_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let header = &common::trace(&[])[..];
        prop_assert!(Reader::new([header, &bytes].concat().as_slice()).count() < 100);
        prop_assert!(Reader::new(bytes.as_slice()).count() < 100);
    }
}
