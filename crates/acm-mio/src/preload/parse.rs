//! Parses preload files, read through a window.
use acm_sansio::preload::{Hosts, Route, Routes};
use acm_wire::files::{
    LineError, hosts,
    path_dump::{Entry, Sections, Source},
};
use ib_mad::Guid;
use std::io::{self, Read};

/// Size of the window in bytes. No line may be longer.
pub(super) const WINDOW: usize = 1 << 20;
/// Number of faults that are stored with their locations. Further faults are only counted.
pub(super) const KEPT_FAULTS: usize = 10;

/// Faults in the lines of a file.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// The first faults.
    pub(crate) first: Vec<LineError>,
    /// Number of all faults.
    pub(crate) count: u64,
    /// Number of lines that are longer than the window.
    pub(crate) too_long: u64,
    /// Number of lines that give a host another GID than a later line.
    pub(crate) replaced: usize,
}

/// Reason why a file does not result in a table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No line is correct, so the file is probably of another kind.
    #[error("no line of it is right")]
    Nothing,
}

impl Faults {
    /// Returns the problem of hosts with several GIDs, if there are any.
    pub(crate) fn repeated_hosts(&self) -> Option<String> {
        let problem = || format!("{} addresses are there again with another GID; the last line counts", self.replaced);
        (self.replaced > 0).then(problem)
    }

    fn add(&mut self, error: LineError) {
        self.count += 1;
        if self.first.len() < KEPT_FAULTS {
            self.first.push(error);
        }
    }
}

/// Parses a path dump. Keeps the sections of ports for which `ours` returns `true`.
pub(crate) fn routes(file: impl Read, ours: impl Fn(Guid) -> bool, faults: &mut Faults) -> Result<Routes, ReadError> {
    let (mut sections, mut builder) = (Sections::default(), Routes::builder());
    let is_kept = |source: &Source<'_>| ours(source.guid);
    let too_long = pieces(file, |piece| {
        sections.read(piece, is_kept, |found| match found {
            Ok((_, Entry::Source(source))) => {
                builder.port(source.guid, source.base_lid, source.lmc.unwrap_or_default());
                if is_kept(&source) {
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
    })?;
    faults.too_long += too_long;
    let routes = builder.finish();
    if routes.counts().ports == 0 { Err(ReadError::Nothing) } else { Ok(routes) }
}

/// Parses a file of hosts.
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
    })?;
    faults.too_long += too_long;
    let (hosts, replaced) = builder.finish_and_compare();
    faults.replaced += replaced;
    if hosts.is_empty() { Err(ReadError::Nothing) } else { Ok(hosts) }
}

/// Calls `take` with whole lines, as many as the window holds. Replaces lines that are longer than the window by empty
/// lines, and returns the number of replaced lines.
pub(super) fn pieces(mut file: impl Read, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
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
            // The rest of a line that is too long. Only its line end is passed on.
            let start = whole.iter().position(|byte| *byte == b'\n').unwrap_or(0);
            whole = whole.get(start..).unwrap_or_default();
        }
        take(whole);
        window.copy_within(end..used, 0);
        used -= end;
    }
}
