//! Parsing, from bytes to tables.
use super::parse::*;
use acm_sansio::preload::RouteCounts;
use acm_wire::Address;
use ib_mad::{Guid, Lid};
use std::io::{self, Read};

/// A reader that returns a number of bytes at a time, each after an interruption.
struct Slow<'a>(&'a [u8], usize, bool);

impl Read for Slow<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.2 = !self.2;
        if self.2 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = self.1.min(room.len());
        self.0.read(&mut room[..count])
    }
}

#[test]
fn pieces_are_all_lines_and_whole_ones() {
    let text: Vec<u8> = (0..2000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
    for (text, step) in [(&text[..], 7), (&text[..text.len() - 1], 1000), (b"\n\nx", 1), (b"", 1)] {
        let mut seen = Vec::new();
        let too_long = pieces(Slow(text, step, false), |piece| {
            assert!(piece.ends_with(b"\n") || seen.len() + piece.len() == text.len());
            seen.extend_from_slice(piece);
        });
        assert_eq!((too_long.unwrap(), seen == text), (0, true), "{step}");
    }
}

// docs/deviations.md: preload-lines
#[test]
fn line_that_is_too_long_is_skipped_and_counted() {
    let text = [b"a\n".to_vec(), vec![b'x'; 3 * WINDOW], b"\nb\n".to_vec(), vec![b'y'; WINDOW + 5]].concat();
    let mut seen = Vec::new();
    assert_eq!(pieces(&text[..], |piece| seen.extend_from_slice(piece)).unwrap(), 2);
    assert_eq!(seen, b"a\n\nb\n");
}

/// The length includes the end of the line.
#[test]
fn line_may_have_a_mebibyte() {
    for (length, too_long) in [(1 << 20, 0), ((1 << 20) + 1, 1)] {
        let text = [vec![b'x'; length - 1], b"\nb\n".to_vec()].concat();
        let mut seen = Vec::new();
        assert_eq!(pieces(&text[..], |piece| seen.extend_from_slice(piece)).unwrap(), too_long);
        assert_eq!(seen == text, too_long == 0, "{length}");
    }
}

#[test]
fn dump_gives_the_local_section_and_the_lids_of_all_ports() {
    let text =
        b"Switch 0x1, base LID 1\n0x2 : 0 : 4 : 3\nrubbish\n  Channel Adapter 0x2 , base LID 2, \"n\", port 1\r\n\
                 # LID\r\n\t0x1 :1:4 :  16\r\n0x2: 0 : 4 : 3\r\n0x3 : UNREACHABLE\r\n0x4 : bad\r\n";
    let mut faults = Faults::default();
    let routes = routes(&text[..], |guid| guid == Guid::new(2), &mut faults).unwrap();
    let expected = RouteCounts { ports: 2, routes: 2, ..RouteCounts::default() };
    assert_eq!(routes.counts(), expected);
    assert_eq!(routes.sections().collect::<Vec<_>>(), [(Guid::new(2), Lid::new(2), 2)]);
    let lines: Vec<u32> = faults.first.iter().map(|error| error.line).collect();
    assert_eq!((lines, faults.count), (vec![3, 9], 2));
}

#[test]
fn lines_of_a_dump_that_are_too_long_are_counted() {
    let start = b"Channel Adapter 0x2, base LID 2, \"n\", port 1\n# LID\n".to_vec();
    let text = [start, vec![b'x'; WINDOW + 1], b"\n0x4 : 0 : 4 : 3\n".to_vec()].concat();
    let mut faults = Faults::default();
    let routes = routes(&text[..], |_| true, &mut faults).unwrap();
    assert_eq!((routes.counts().routes > 0, faults.too_long, faults.count), (true, 1, 0));
}

#[test]
fn hosts_file_gives_its_addresses() {
    let text = format!("{}node1 fe80::1\n10.0.0.1\tfe80::2\r\nbad\nnode2 fe80::3", "#\n".repeat(WINDOW));
    let mut faults = Faults::default();
    let hosts = hosts(Slow(text.as_bytes(), WINDOW, false), &mut faults).unwrap();
    assert_eq!((hosts.len(), faults.count, faults.first[0].line as usize), (3, 1, WINDOW + 3));
    assert_eq!(hosts.gid_of(&Address::from_text("NODE2")), Some("fe80::3".parse().unwrap()));
}

// docs/deviations.md: preload-lines
#[test]
fn file_of_another_kind_gives_no_table() {
    let text = "[main]\nkey = value\n".repeat(100);
    let mut faults = Faults::default();
    assert!(matches!(routes(text.as_bytes(), |_| true, &mut faults), Err(ReadError::Nothing)));
    assert_eq!((faults.first.len(), faults.count), (10, 200));
    assert!(matches!(hosts(text.as_bytes(), &mut faults), Err(ReadError::Nothing)));
    assert!(matches!(hosts(&b""[..], &mut faults), Err(ReadError::Nothing)));
}
