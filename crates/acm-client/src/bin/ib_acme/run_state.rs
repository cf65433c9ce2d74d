//! The state of one run.
use crate::{
    args::{Args, Format},
    number::atoi,
    output::{Output, note},
    ranges::Names,
    server::look_up,
};
use core::net::IpAddr;
use std::io;

/// The initial `errno`: in Debian's program, a library fails to open a file of its own at the start.
const FIRST_ERRNO: i32 = nix::libc::ENOENT;

/// The state of one run: arguments, output, and everything that affects later output.
#[derive(Debug)]
pub(crate) struct RunState<'a> {
    pub(crate) args: &'a Args,
    pub(crate) out: &'a mut Output,
    /// The last error number, like C's `errno`. Some messages print it long after the error.
    pub(crate) errno: i32,
    /// True if the header of the counters was printed.
    pub(crate) perf_head: bool,
    /// True if the header of the endpoints was printed.
    pub(crate) endpoint_head: bool,
}

impl<'a> RunState<'a> {
    /// Creates the initial state.
    pub(crate) const fn new(args: &'a Args, out: &'a mut Output) -> Self {
        Self { args, out, errno: FIRST_ERRNO, perf_head: false, endpoint_head: false }
    }

    /// Returns the type and the text of an address: by `-f`, otherwise by the system's resolver.
    pub(crate) fn classify(&mut self, address: String) -> (Format, String) {
        if let Some(format) = self.args.format() {
            return (format, address);
        }
        if address.parse::<IpAddr>().is_ok() {
            return (Format::Ip, address);
        }
        let lookup = look_up(&address);
        self.errno = lookup.errno.unwrap_or(self.errno);
        match lookup.found.ok().and_then(|found| found.first().copied()) {
            Some(ip) => (Format::Ip, ip.to_string()),
            None => {
                if !address.bytes().all(|byte| byte.is_ascii_digit()) {
                    let lid = atoi(&address) & 0xffff;
                    note(format_args!(
                        "{address} is neither an IP address nor a host that resolves, and is taken for LID {lid}; for a \
                         name of the daemons, give -f n"
                    ));
                }
                (Format::Lid, address)
            }
        }
    }

    /// Returns the sources of `-s`; `None` if the list is empty.
    pub(crate) fn sources(&self) -> Option<Vec<Option<String>>> {
        match self.args.source.as_deref().map(Names::parse) {
            None => Some(vec![None]),
            Some(names) => Some(names?.map(Some).collect()),
        }
    }

    /// Prints a line if `-V` is given.
    pub(crate) fn verbose(&mut self, text: core::fmt::Arguments<'_>) -> io::Result<()> {
        if self.args.verbose { self.out.line(text) } else { Ok(()) }
    }
}
