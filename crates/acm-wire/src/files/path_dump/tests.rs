extern crate std;
use super::*;
use proptest::prelude::*;
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// Described in testdata/prdump/README.md.
const THREE_NODES: &str = include_str!("../../../testdata/3node.opensm_full_v1");
/// Written by the plug-in itself.
const PORTS_6: &str = include_str!("../../../testdata/6port.opensm_full_v1");
const PORTS_27: &str = include_str!("../../../testdata/27port.opensm_full_v1");

fn entries(text: &str) -> Vec<Entry<'_>> {
    parse(text.as_bytes()).map(|line| line.unwrap().1).collect()
}

#[test]
fn entries_of_a_small_dump_are_read() {
    let seen = entries(THREE_NODES);
    assert_eq!(seen.len(), 4 * 5);
    let Entry::Source(first) = seen[0] else { panic!("{:?}", seen[0]) };
    assert_eq!((first.node, first.base_lid, first.port), (NodeKind::Switch, Lid::new(2), Some(0)));
    assert_eq!((first.description, first.lmc), (b"sw one".as_slice(), None));
    assert_eq!(first.guid, Guid::new(0x0002_c903_00a0_0000));
    let path = Path { sl: ServiceLevel::ZERO, mtu: Mtu::B2048, rate: Rate::GBPS_200 };
    assert_eq!(seen[6], Entry::Destination(Destination { dlid: Lid::new(1), path: Some(path) }));
}

#[test]
fn entries_print_as_their_lines_in_the_samples() {
    for (text, sources, unreachable) in [(THREE_NODES, 4, 0), (PORTS_6, 6, 0), (PORTS_27, 27, 461)] {
        let written = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let seen = entries(text);
        for (entry, line) in seen.iter().zip(written.clone()) {
            let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(squeeze(line).eq_ignore_ascii_case(&squeeze(&entry.to_string())), "{entry} for {line}");
        }
        assert_eq!(seen.len(), written.count());
        let count = |filter: fn(&Entry<'_>) -> bool| seen.iter().filter(|entry| filter(entry)).count();
        assert_eq!(count(|entry| matches!(entry, Entry::Source(_))), sources);
        let lost = |entry: &Entry<'_>| matches!(entry, Entry::Destination(Destination { path: None, .. }));
        assert_eq!(count(lost), unreachable);
    }
}

#[test]
fn other_forms_of_a_source_are_read() {
    let seen = entries("channel adapter 0x2c90300b00001, base LID 0x10, LMC 2, node1 HCA-1\nRouter 0x1, base LID 7");
    let Entry::Source(first) = seen[0] else { panic!("{:?}", seen[0]) };
    assert_eq!((first.base_lid, first.lmc, first.port), (Lid::new(16), Some(Lmc::of::<2>()), None));
    assert_eq!(first.description, b"node1 HCA-1");
    let Entry::Source(second) = seen[1] else { panic!("{:?}", seen[1]) };
    assert_eq!((second.node, second.description), (NodeKind::Router, b"".as_slice()));
    assert_eq!(std::format!("{second:?}"), "Router 0x0000000000000001, base LID 7, \"\"");
    for text in ["Switch\t0x1 ,base LID 7 ,LMC 1,\"s\", port 3", "Switch 0x1,base LID 7,LMC 1 , \"s\" ,port 3"] {
        let Entry::Source(source) = entries(text)[0] else { panic!("{text}") };
        assert_eq!(
            (source.guid.get(), source.base_lid.get(), source.lmc, source.port),
            (1, 7, Some(Lmc::of::<1>()), Some(3))
        );
    }
    let odd = entries("Switch 0x1, base LID 7, \"a \"b\", port 3\", port 9\t");
    let Entry::Source(odd) = odd[0] else { panic!("{odd:?}") };
    assert_eq!((odd.description, odd.port), (b"a \"b\", port 3".as_slice(), Some(9)));
    // A description may contain bytes that are not UTF-8.
    let bytes = b"Switch 0x1, base LID 7, \"\xff\", port 1\n0x2 UNREACHABLE\n0x3:15:5:24 # far";
    let seen: Vec<_> = parse(bytes).map(|line| line.unwrap().1.to_string()).collect();
    assert_eq!(
        seen,
        ["Switch 0x0000000000000001, base LID 7, \"\\xff\", port 1", "0x0002 : UNREACHABLE", "0x0003 : 15 : 5 : 24"]
    );
}

// docs/deviations.md: preload-lines
#[test]
fn errors_have_a_location_and_do_not_leave_their_block() {
    let header = "Switch 0x1, base LID 1, \"s\", port 0\n";
    for (line, column) in [
        ("0xC001 : 0 : 4 : 3", 1),
        ("0x0000 : 0 : 4 : 3", 1),
        ("0x10000 : UNREACHABLE", 1),
        ("0x1 : 16 : 4 : 3", 7),
        ("0x1 : 0 : 64 : 3", 11),
        ("0x1 : 0 : 4 : -3", 15),
        ("0x1 0 : 4 : 3", 5),
        ("0x1 : 0 : 4", 12),
    ] {
        let text = format!("{header}{line}\n0x2 : 0 : 4 : 3");
        let seen: Vec<_> = parse(text.as_bytes()).collect();
        let error = seen[1].unwrap_err();
        assert_eq!((error.line, error.column), (2, column), "{line}: {error}");
        assert!(seen[2].is_ok() && seen.len() == 3, "{line}");
    }
    for bad in [
        "Swatch 0x1, base LID 1",
        "Switch node, base LID 1",
        "Switch 0x1, LID 1",
        "Switch 0x1, base LID 49152, \"s\"",
        "Switch 0x1, base LID 1, LMC 8, s",
    ] {
        let text = format!("{header}{bad}\n0x2 : 0 : 4 : 3\n0x3 : 0 : 4 : 3\n{header}0x4 : 0 : 4 : 3");
        let seen: Vec<_> = parse(text.as_bytes()).collect();
        assert_eq!(seen.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, true], "{bad}");
    }
    let seen: Vec<_> = parse(b"0x2 : 0 : 4 : 3\n0x3 : 0 : 4 : 3\nSwitch 0x1, base LID 1\n").collect();
    assert_eq!(seen[0].unwrap_err().kind, LineErrorKind::NoSource);
    assert!(seen[1].is_ok() && seen.len() == 2);
}

fn sources() -> impl Strategy<Value = String> {
    let kind = prop_oneof![Just(NodeKind::ChannelAdapter), Just(NodeKind::Switch), Just(NodeKind::Router)];
    (kind, any::<u64>(), 1_u16..0xc000, any::<Option<u8>>(), "[ -!#-&(-Z\\]-~]{0,64}", any::<Option<u8>>()).prop_map(
        |(node, guid, lid, lmc, description, port)| {
            let (guid, base_lid, lmc) = (Guid::new(guid), Lid::new(lid), lmc.map(Lmc::masked));
            Source { node, guid, base_lid, lmc, description: description.as_bytes(), port }.to_string()
        },
    )
}

proptest! {
    #[test]
    fn printed_dump_is_read_back(
        source in sources(),
        paths in proptest::collection::vec((1_u16..0xc000, any::<Option<(u8, u8, u8)>>()), 0..9),
    ) {
        let mut lines = std::vec![source];
        for (dlid, path) in paths {
            let path = path.map(|(sl, mtu, rate)| Path {
                sl: ServiceLevel::masked(sl), mtu: Mtu::new(mtu & 63), rate: Rate::new(rate & 63),
            });
            lines.push(Destination { dlid: Lid::new(dlid), path }.to_string());
        }
        let text = lines.join("\r\n");
        prop_assert_eq!(entries(&text).iter().map(ToString::to_string).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn any_bytes_do_not_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        crate::files::fuzz::path_dump(&text);
    }

    #[test]
    fn damaged_dumps_do_not_panic(text in "((Switch|Router) 0x[0-9]{1,17}, base LID [0-9]{0,6}(, LMC [0-9])?(, \"[a\"]{0,3}\")?(, port [0-9]{0,4})?\n|0x[0-9a-f]{1,5} ?:? ?(UNREACHABLE|[0-9 :]{0,9})\n){0,9}") {
        crate::files::fuzz::path_dump(text.as_bytes());
    }
}
