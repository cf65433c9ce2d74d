//! Requests for paths.
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

/// Longest name in a request, in bytes. The protocol's field has one byte more, for the terminating zero.
pub(crate) const LONGEST_NAME: usize = 63;

/// The reason why there is no request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AddressError {
    /// A malformed address, with the message to print.
    Text(String),
    /// A name that is too long.
    NameTooLong,
}

impl From<AddressError> for String {
    fn from(fault: AddressError) -> Self {
        match fault {
            AddressError::Text(text) => text,
            AddressError::NameTooLong => "the name is too long".to_owned(),
        }
    }
}

/// Returns the request for a path with the requirements of the command line.
///
/// # Errors
/// An address is malformed.
pub(crate) fn path_request(
    args: &Args,
    format: Format,
    source: Option<&str>,
    dest: &str,
) -> Result<Request, AddressError> {
    let no_delay = args.cached;
    let requirements = args.requirements.of_request();
    let conditions = (!requirements.is_empty()).then(|| requirements.apply_to(PathRecord::default()));
    match format {
        Format::Ip => {
            let source: Option<IpAddr> = source.map(|source| read("source", source)).transpose()?;
            let dest: IpAddr = read("destination", dest)?;
            if source.is_some_and(|source| source.is_ipv4() != dest.is_ipv4()) {
                return Err(AddressError::Text("source and destination address families don't match".to_owned()));
            }
            Ok(Request::Resolve { source: source.map(Address::from), dest: dest.into(), conditions, no_delay })
        }
        Format::Name => {
            if dest.len().max(source.map_or(0, str::len)) > LONGEST_NAME {
                return Err(AddressError::NameTooLong);
            }
            let name = |text: &str| Address::Name(Name::new(text.as_bytes()));
            Ok(Request::Resolve { source: source.map(name), dest: name(dest), conditions, no_delay })
        }
        Format::Lid => {
            // LIDs are truncated to 16 bits, as in rdma-core.
            let lid = |text: &str| {
                let [low, high, ..] = atoi(text).to_le_bytes();
                Lid::new(u16::from_le_bytes([low, high]))
            };
            let path = PathRecord { slid: source.map_or(Lid::NONE, lid), dlid: lid(dest), ..reversible_path() };
            Ok(Request::Route { path: requirements.apply_to(path), no_delay })
        }
        Format::Gid => {
            let sgid = source.map(|source| read("source", source)).transpose()?.unwrap_or_default();
            let path = PathRecord { sgid, dgid: read("dest", dest)?, ..reversible_path() };
            Ok(Request::Route { path: requirements.apply_to(path), no_delay })
        }
    }
}

/// Parses an address.
fn read<T: FromStr>(which: &str, text: &str) -> Result<T, AddressError> {
    text.parse().map_err(|_| AddressError::Text(format!("inet_pton error on {which} address ({text}): 0x0")))
}

/// Returns a path record that requires one reversible path.
pub(crate) fn reversible_path() -> PathRecord {
    let record = PathRecord::default();
    let reversible_paths = record.reversible_paths.with_reversible(true).with_num_path(1);
    PathRecord { reversible_paths, ..record }
}

/// Requests a path from the daemon, and with `--any-pkey` then from the SA.
///
/// # Errors
/// An error number.
pub(crate) fn path(server: &mut Server, args: &Args, request: &Request) -> Result<Resolved, i32> {
    let found = server.path(request)?;
    let Some(conditions) = args.requirements.of_later_query() else { return Ok(found) };
    let path = server.path(&found.query_sa(&conditions))?.path;
    Ok(Resolved { path, ..found })
}

/// Queries the SA for the path between the same ends, with the requirements of the command line.
///
/// # Errors
/// An error number.
pub(crate) fn query_sa(server: &mut Server, args: &Args, path: &PathRecord) -> Result<PathRecord, i32> {
    let PathRecord { sgid, dgid, pkey, .. } = *path;
    let ends = args.requirements.apply_to(PathRecord { sgid, dgid, pkey, ..reversible_path() });
    server.path(&Request::QuerySa { path: ends }).map(|found| found.path)
}
