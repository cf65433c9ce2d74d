//! Each daemon of `-S` in turn.
use crate::{
    args::{Args, Format},
    endpoints, lookup,
    output::{Output, strerror},
    perf,
    ranges::Names,
    resolve,
    server::Server,
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

/// Asks all daemons; the status is that of the last one.
pub(crate) fn ask_all(args: &Args, out: &mut Output) -> io::Result<i32> {
    let Some(services) = Names::parse(&args.services) else {
        out.line(format_args!("Unable to parse service list argument"))?;
        return Ok(-1);
    };
    let mut asker = Asker { args, out, errno: FIRST_ERRNO, perf_head: false, endpoint_head: false };
    let mut status = -1;
    for service in services {
        status = asker.ask(&service)?;
    }
    Ok(status)
}

impl Asker<'_> {
    fn ask(&mut self, service: &str) -> io::Result<i32> {
        let mut server = match Server::connect(service, self.errno, self.out)? {
            Ok(server) => server,
            Err(refused) => {
                self.errno = refused.errno;
                let why = strerror(self.errno);
                self.out.line(format_args!("{service},unable to contact service: {why}"))?;
                return Ok(refused.status);
            }
        };
        let mut status = 0;
        if let Some(dest) = &self.args.dest {
            status = resolve::resolve(self, &mut server, dest)?;
        }
        if let Some(perf) = self.args.perf() {
            perf::show(self, &mut server, perf)?;
        }
        if let Some(index) = self.args.endpoint() {
            endpoints::show(self, &mut server, index)?;
        }
        Ok(status)
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

    /// Writes a line for `-V`.
    pub(crate) fn tell(&mut self, text: core::fmt::Arguments<'_>) -> io::Result<()> {
        if self.args.verbose { self.out.line(text) } else { Ok(()) }
    }
}
