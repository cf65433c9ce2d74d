//! What is asked, and what was said so far.
use crate::{
    args::{Args, Format},
    lookup,
    output::Output,
    ranges::Names,
};
use core::net::IpAddr;
use std::io;

/// The last error before there was any: a library of Debian's program looks for a file of its own, which is not there.
const FIRST_ERRNO: i32 = nix::libc::ENOENT;

/// What is asked, and what was said so far.
#[derive(Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) args: &'a Args,
    pub(crate) out: &'a mut Output,
    /// The last error's number, as C's `errno` keeps it: some messages show it long after.
    pub(crate) errno: i32,
    /// Whether the head of the table of counters was written.
    pub(crate) perf_head: bool,
    /// Whether that of endpoints was.
    pub(crate) endpoint_head: bool,
}

impl<'a> Asker<'a> {
    /// Nothing was asked yet.
    pub(crate) const fn new(args: &'a Args, out: &'a mut Output) -> Self {
        Self { args, out, errno: FIRST_ERRNO, perf_head: false, endpoint_head: false }
    }

    /// What an address is, and how it is asked for: as `-f` says, or else by what the system knows of it.
    pub(crate) fn classify(&mut self, address: String) -> (Format, String) {
        if let Some(format) = self.args.format() {
            return (format, address);
        }
        if address.parse::<IpAddr>().is_ok() {
            return (Format::Ip, address);
        }
        let lookup = lookup::host(&address);
        self.errno = lookup.errno.unwrap_or(self.errno);
        match lookup.found.ok().and_then(|found| found.first().copied()) {
            Some(ip) => (Format::Ip, ip.to_string()),
            None => (Format::Lid, address),
        }
    }

    /// Where paths begin, as `-s` says; `None` if there is no name in it.
    pub(crate) fn sources(&self) -> Option<Vec<Option<String>>> {
        match self.args.source.as_deref().map(Names::parse) {
            None => Some(vec![None]),
            Some(names) => Some(names?.map(Some).collect()),
        }
    }

    /// Writes a line for `-V`.
    pub(crate) fn tell(&mut self, text: core::fmt::Arguments<'_>) -> io::Result<()> {
        if self.args.verbose { self.out.line(text) } else { Ok(()) }
    }
}
