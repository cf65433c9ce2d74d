//! What is asked for a path.
use crate::{
    args::{Args, Format},
    number::atoi,
    server::Server,
};
use acm_client::{
    Address, Name, Request, Resolved,
    ib_mad::{Lid, sa::PathRecord},
};
use core::{net::IpAddr, str::FromStr};

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

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Text(text) => text,
            Fault::Name => "the name is too long".to_owned(),
        }
    }
}

/// The request for a path, with what is asked of it besides.
///
/// # Errors
/// What is no address.
pub(crate) fn question(args: &Args, format: Format, source: Option<&str>, dest: &str) -> Result<Request, Fault> {
    let no_delay = args.cached;
    match format {
        Format::Ip => {
            let source: Option<IpAddr> = source.map(|source| read("source", source)).transpose()?;
            let dest: IpAddr = read("destination", dest)?;
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
            let sgid = source.map(|source| read("source", source)).transpose()?.unwrap_or_default();
            let path = PathRecord { sgid, dgid: read("dest", dest)?, ..one_reversible() };
            Ok(Request::Route { path: args.wanted.on(path), no_delay })
        }
    }
}

/// An address, if the text is one.
fn read<T: FromStr>(which: &str, text: &str) -> Result<T, Fault> {
    text.parse().map_err(|_| Fault::Text(format!("inet_pton error on {which} address ({text}): 0x0")))
}

/// What every path has to be.
pub(crate) fn one_reversible() -> PathRecord {
    let record = PathRecord::default();
    let reversible_paths = record.reversible_paths.with_reversible(true).with_num_path(1);
    PathRecord { reversible_paths, ..record }
}

/// Asks. A daemon knows one path to a name or an IP address: where another is wanted, it is asked for that by GID.
///
/// # Errors
/// The number of the error.
pub(crate) fn ask(server: &mut Server, args: &Args, request: &Request) -> Result<Resolved, i32> {
    let found = server.path(request)?;
    let (false, Request::Resolve { no_delay, .. }) = (args.wanted.is_nothing(), request) else { return Ok(found) };
    let PathRecord { sgid, dgid, pkey, .. } = found.path;
    let ends = PathRecord { sgid, dgid, pkey, ..one_reversible() };
    let wanted = server.path(&Request::Route { path: args.wanted.on(ends), no_delay: *no_delay })?;
    Ok(Resolved { path: wanted.path, ..found })
}

/// Asks subnet administration for the path between the same ends, as the user wants it.
///
/// # Errors
/// The number of the error.
pub(crate) fn ask_sa(server: &mut Server, args: &Args, path: &PathRecord) -> Result<PathRecord, i32> {
    let PathRecord { sgid, dgid, pkey, .. } = *path;
    let ends = args.wanted.on(PathRecord { sgid, dgid, pkey, ..one_reversible() });
    server.path(&Request::QuerySa { path: ends }).map(|found| found.path)
}
