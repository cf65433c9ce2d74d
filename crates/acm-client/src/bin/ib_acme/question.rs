//! What is asked for a path.
use crate::{
    args::{Args, Format},
    number::atoi,
    server::Server,
};
use acm_client::{
    Address, Answer, Name, Request, Resolved,
    ib_mad::{Gid, Lid, sa::PathRecord},
};
use core::net::{IpAddr, Ipv6Addr};

/// Bytes that a name may have in a request, which keeps one for its end.
pub(crate) const LONGEST_NAME: usize = 63;

/// Why nothing is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A line that says it.
    Text(String),
    /// The name is too long.
    Name,
}

/// The request for a path, with what is asked of it besides.
///
/// # Errors
/// What is no address.
pub(crate) fn question(args: &Args, format: Format, source: Option<&str>, dest: &str) -> Result<Request, Fault> {
    let no_delay = args.cached;
    match format {
        Format::Ip => {
            let read = |which: &str, text: &str| {
                text.parse::<IpAddr>()
                    .map_err(|_| Fault::Text(format!("inet_pton error on {which} address ({text}): 0x0")))
            };
            let source = source.map(|source| read("source", source)).transpose()?;
            let dest = read("destination", dest)?;
            if source.is_some_and(|source| source.is_ipv4() != dest.is_ipv4()) {
                return Err(Fault::Text("source and destination address families don't match".to_owned()));
            }
            Ok(Request::Resolve { source: source.map(Address::from), dest: dest.into(), no_delay })
        }
        Format::Name => {
            if dest.len().max(source.map_or(0, str::len)) > LONGEST_NAME {
                return Err(Fault::Name);
            }
            let name = |text: &str| Address::Name(Name::new(text.as_bytes()));
            Ok(Request::Resolve { source: source.map(name), dest: name(dest), no_delay })
        }
        Format::Lid => {
            // Cut to 16 bits.
            let lid = |text: &str| {
                let [low, high, ..] = atoi(text).to_le_bytes();
                Lid::new(u16::from_le_bytes([low, high]))
            };
            let path = PathRecord { slid: source.map_or(Lid::NONE, lid), dlid: lid(dest), ..one_reversible() };
            Ok(Request::Route { path: args.wanted.on(path), no_delay })
        }
        Format::Gid => {
            let read = |which: &str, text: &str| {
                let ip: Result<Ipv6Addr, _> = text.parse();
                ip.map(|ip| Gid::new(ip.octets()))
                    .map_err(|_| Fault::Text(format!("inet_pton error on {which} address ({text}): 0x0")))
            };
            let sgid = source.map(|source| read("source", source)).transpose()?.unwrap_or_default();
            let path = PathRecord { sgid, dgid: read("dest", dest)?, ..one_reversible() };
            Ok(Request::Route { path: args.wanted.on(path), no_delay })
        }
    }
}

/// What every path has to be.
fn one_reversible() -> PathRecord {
    let record = PathRecord::default();
    let reversible_paths = record.reversible_paths.with_reversible(true).with_num_path(1);
    PathRecord { reversible_paths, ..record }
}

/// Asks. A daemon knows one path to a name or an IP address: where another is wanted, it is asked for that by GID.
///
/// # Errors
/// The number of the error.
pub(crate) fn ask(server: &mut Server, args: &Args, request: &Request) -> Result<Resolved, i32> {
    let found = path(server, request)?;
    let (false, Request::Resolve { no_delay, .. }) = (args.wanted.is_nothing(), request) else { return Ok(found) };
    let PathRecord { sgid, dgid, pkey, .. } = found.path;
    let ends = PathRecord { sgid, dgid, pkey, ..one_reversible() };
    let wanted = path(server, &Request::Route { path: args.wanted.on(ends), no_delay: *no_delay })?;
    Ok(Resolved { path: wanted.path, ..found })
}

/// Asks subnet administration for the path between the same ends, as the user wants it.
///
/// # Errors
/// The number of the error.
pub(crate) fn ask_sa(server: &mut Server, args: &Args, path: &PathRecord) -> Result<PathRecord, i32> {
    let PathRecord { sgid, dgid, pkey, .. } = *path;
    let ends = args.wanted.on(PathRecord { sgid, dgid, pkey, ..one_reversible() });
    self::path(server, &Request::QuerySa { path: ends }).map(|found| found.path)
}

fn path(server: &mut Server, request: &Request) -> Result<Resolved, i32> {
    match server.ask(request)? {
        Answer::Path(found) => Ok(found),
        _ => Err(nix::libc::EPROTO),
    }
}
