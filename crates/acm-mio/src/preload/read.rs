//! From a file to a table, through a window.
use acm_sansio::preload::{Hosts, Route, Routes};
use acm_wire::files::{
    LineError, hosts,
    path_dump::{Entry, Sections, Source},
};
use core::fmt;
use ib_mad::Guid;
use std::io::{self, Read};

/// Bytes that are read at a time. No line may be longer.
const WINDOW: usize = 1 << 20;
/// Lines at fault that are kept to be said; the others are counted.
const SAID: usize = 10;

/// What is wrong with the lines of a file.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// The first ones.
    pub(crate) said: Vec<LineError>,
    /// All of them.
    pub(crate) count: u64,
    /// Lines that are longer than the window.
    pub(crate) too_long: u64,
}

/// Why a file gives no table.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// It cannot be read.
    Io(io::Error),
    /// It is something else: no line of it says what such a file says.
    Nothing,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Nothing => f.write_str("no line of it is right"),
        }
    }
}

impl Faults {
    fn add(&mut self, error: LineError) {
        self.count += 1;
        if self.said.len() < SAID {
            self.said.push(error);
        }
    }
}

/// Reads a path dump; of it the sections of ports that are `ours`.
pub(crate) fn routes(file: impl Read, ours: impl Fn(Guid) -> bool, faults: &mut Faults) -> Result<Routes, ReadError> {
    let (mut sections, mut builder) = (Sections::default(), Routes::builder());
    let wanted = |source: &Source<'_>| ours(source.guid);
    let too_long = pieces(file, |piece| {
        sections.read(piece, wanted, |found| match found {
            Ok((_, Entry::Source(source))) => {
                builder.port(source.guid, source.base_lid, source.lmc.unwrap_or_default());
                if wanted(&source) {
                    builder.section(source.guid, source.base_lid);
                }
            }
            Ok((_, Entry::Destination(destination))) => {
                if let Some(path) = destination.path {
                    builder.route(Route { dlid: destination.dlid, sl: path.sl, mtu: path.mtu, rate: path.rate });
                }
            }
            Err(error) => faults.add(error),
        });
    })
    .map_err(ReadError::Io)?;
    faults.too_long += too_long;
    let routes = builder.finish();
    if routes.counts().ports == 0 { Err(ReadError::Nothing) } else { Ok(routes) }
}

/// Reads a file of hosts.
pub(crate) fn hosts(file: impl Read, faults: &mut Faults) -> Result<Hosts, ReadError> {
    let (mut builder, mut lines) = (Hosts::builder(), 0_u32);
    let too_long = pieces(file, |piece| {
        for line in hosts::parse(piece) {
            match line {
                Ok((_, host)) => builder.host(&host.address, host.gid),
                Err(error) => faults.add(LineError { line: error.line.saturating_add(lines), ..error }),
            }
        }
        let ends = piece.iter().filter(|byte| **byte == b'\n').count();
        lines = lines.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
    })
    .map_err(ReadError::Io)?;
    faults.too_long += too_long;
    let hosts = builder.finish();
    if hosts.is_empty() { Err(ReadError::Nothing) } else { Ok(hosts) }
}

/// Gives `take` whole lines, as many as the window holds; how many lines were longer. These it sees as empty ones.
fn pieces(mut file: impl Read, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
    let mut window = vec![0; WINDOW];
    let (mut used, mut too_long, mut inside_long) = (0, 0, false);
    loop {
        let count = match file.read(window.get_mut(used..).unwrap_or_default()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result?,
        };
        used += count;
        let filled = window.get(..used).unwrap_or_default();
        if count == 0 {
            if !filled.is_empty() && !inside_long {
                take(filled);
            }
            return Ok(too_long);
        }
        let Some(end) = filled.iter().rposition(|byte| *byte == b'\n').map(|end| end + 1) else {
            if used == WINDOW {
                too_long += u64::from(!inside_long);
                (used, inside_long) = (0, true);
            }
            continue;
        };
        let mut whole = filled.get(..end).unwrap_or_default();
        if core::mem::take(&mut inside_long) {
            // The rest of a line that was too long: only its end counts.
            let start = whole.iter().position(|byte| *byte == b'\n').unwrap_or(0);
            whole = whole.get(start..).unwrap_or_default();
        }
        take(whole);
        window.copy_within(end..used, 0);
        used -= end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_sansio::preload::RouteCounts;
    use acm_wire::Address;
    use ib_mad::Lid;

    /// Gives so many bytes at a time, after an interruption each.
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
    fn pieces_are_whole_lines_and_all_of_them() {
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

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_counted() {
        let text = [b"a\n".to_vec(), vec![b'x'; 3 * WINDOW], b"\nb\n".to_vec(), vec![b'y'; WINDOW + 5]].concat();
        let mut seen = Vec::new();
        assert_eq!(pieces(&text[..], |piece| seen.extend_from_slice(piece)).unwrap(), 2);
        assert_eq!(seen, b"a\n\nb\n");
    }

    #[test]
    fn our_section_and_everybodys_names() {
        let text =
            b"Switch 0x1, base LID 1\n0x2 : 0 : 4 : 3\nrubbish\n  Channel Adapter 0x2 , base LID 2, \"n\", port 1\r\n\
                     # LID\r\n\t0x1 :1:4 :  16\r\n0x2: 0 : 4 : 3\r\n0x3 : UNREACHABLE\r\n0x4 : bad\r\n";
        let mut faults = Faults::default();
        let routes = routes(&text[..], |guid| guid == Guid::new(2), &mut faults).unwrap();
        let expected = RouteCounts { ports: 2, routes: 2, ..RouteCounts::default() };
        assert_eq!(routes.counts(), expected);
        assert_eq!(routes.sections().collect::<Vec<_>>(), [(Guid::new(2), Lid::new(2), 2)]);
        let lines: Vec<u32> = faults.said.iter().map(|error| error.line).collect();
        assert_eq!((lines, faults.count), (vec![3, 9], 2));
    }

    #[test]
    fn hosts_of_a_file() {
        let text = format!("{}node1 fe80::1\n10.0.0.1\tfe80::2\r\nbad\nnode2 fe80::3", "#\n".repeat(WINDOW));
        let mut faults = Faults::default();
        let hosts = hosts(Slow(text.as_bytes(), WINDOW, false), &mut faults).unwrap();
        assert_eq!((hosts.len(), faults.count, faults.said[0].line as usize), (3, 1, WINDOW + 3));
        assert_eq!(hosts.gid_of(&Address::from_text("NODE2")), Some("fe80::3".parse().unwrap()));
    }

    #[test]
    fn a_file_of_something_else_gives_nothing() {
        let text = "[main]\nkey = value\n".repeat(100);
        let mut faults = Faults::default();
        assert!(matches!(routes(text.as_bytes(), |_| true, &mut faults), Err(ReadError::Nothing)));
        assert_eq!((faults.said.len(), faults.count), (SAID, 200));
        assert!(matches!(hosts(text.as_bytes(), &mut faults), Err(ReadError::Nothing)));
        assert!(matches!(hosts(&b""[..], &mut faults), Err(ReadError::Nothing)));
    }
}
