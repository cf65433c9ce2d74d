//! The source of paths (a daemon or the SA), and the peers.
use super::{arguments::Local, failure::Failure};
use crate::{
    args::SOCKET,
    output::{Output, strerror},
    path_request::reversible_path,
    server::Server,
};
use acm_client::{
    Address, Request,
    fabric::{Administration, FabricError, GroupName, Join, LINK_SCOPE, LocalPort, NodeNames},
    ib_mad::{
        Gid, Lid, Pkey,
        sa::{McMemberRecord, PathRecord, Query},
    },
};
use core::net::IpAddr;
use ib_device::sysfs;

/// The source of paths.
pub(super) enum Paths {
    /// A daemon. It forwards QUERY_SA requests to the SA, and resolves names and IP addresses.
    Daemon {
        /// The daemon.
        server: Box<Server>,
        /// The daemon's first address.
        local_address: Address,
        /// The partitions of its endpoints.
        pkeys: Vec<Pkey>,
        /// GID of the port with this address.
        sgid: Gid,
    },
    /// The SA, through umad.
    Umad(Box<Administration>, NodeNames),
}

/// The destination of a path.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// The name that the user gave.
    pub(super) name: String,
    /// The record of a request: both ends, and one reversible path.
    pub(super) ends: PathRecord,
}

impl Paths {
    /// Opens the daemon with this name. Without a name, opens this node's daemon, or the SA if there is no daemon.
    pub(super) fn open(service: Option<&str>, umad: bool, local: &Local, out: &mut Output) -> Result<Self, Failure> {
        let direct =
            || local.administration().map(|administration| Self::Umad(Box::new(administration), NodeNames::default()));
        if umad || (service.is_none() && (local.device.is_some() || local.port.is_some())) {
            return Ok(direct()?);
        }
        let name = service.unwrap_or(SOCKET);
        match (Server::connect(name, nix::libc::ENOENT, out)?, service) {
            (Ok(server), _) => Self::of_daemon(Box::new(server)),
            (Err(refused), Some(_)) => Err(Failure::Text(format!(
                "no daemon answers at {name}: {}; without -S, subnet administration is queried directly",
                strerror(refused.errno)
            ))),
            (Err(_), None) => {
                direct().map_err(|error| Failure::Text(format!("no daemon answers at {name}, and here: {error}")))
            }
        }
    }

    fn of_daemon(mut server: Box<Server>) -> Result<Self, Failure> {
        let endpoints = server.endpoints();
        let local_address = endpoints.iter().flat_map(|endpoint| &endpoint.addresses).next();
        let Some(local_address) = local_address else {
            let name = &server.name;
            return Err(Failure::Text(format!("the daemon at {name} has no address yet: ib_acme -e, and its log")));
        };
        let local_address = Address::from_text(local_address);
        let mut pkeys = Vec::new();
        for endpoint in &endpoints {
            if !pkeys.contains(&endpoint.pkey) {
                pkeys.push(endpoint.pkey);
            }
        }
        let to_itself =
            Request::Resolve { source: Some(local_address), dest: local_address, conditions: None, no_delay: false };
        match server.path(&to_itself) {
            Ok(found) => Ok(Self::Daemon { server, local_address, pkeys, sgid: found.path.sgid }),
            Err(errno) => Err(Failure::Text(format!(
                "the daemon at {} has no path to its own address {local_address}: {}; ib_acme --trace {local_address}",
                server.name,
                strerror(errno)
            ))),
        }
    }

    /// Returns a text for the source.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Daemon { server, .. } => format!("the daemon at {}", server.name),
            Self::Umad(administration, _) => format!("subnet administration, from {}", administration.port().name()),
        }
    }

    /// Returns the P_Keys in the table of the local port. If the daemon's port is not at this host, returns the P_Keys
    /// of the daemon's endpoints.
    pub(super) fn partitions(&self) -> Vec<Pkey> {
        let of = |port: &sysfs::Port| port.pkeys.iter().map(|entry| entry.pkey).collect();
        match self {
            Self::Daemon { pkeys, sgid, .. } => {
                LocalPort::with_gid(*sgid).map_or_else(|| pkeys.clone(), |(_, port)| of(&port))
            }
            Self::Umad(administration, _) => of(&administration.port().port),
        }
    }

    /// Returns the GID of the local port.
    pub(super) fn local_gid(&self) -> Gid {
        match self {
            Self::Daemon { sgid, .. } => *sgid,
            Self::Umad(administration, _) => administration.port().gid(),
        }
    }

    /// Returns a peer by its GID, LID, IP address or name; without a name, the local port.
    pub(super) fn peer(&mut self, name: Option<&str>) -> Result<Peer, String> {
        let sgid = self.local_gid();
        let mut ends = PathRecord { sgid, dgid: sgid, ..reversible_path() };
        let Some(name) = name else { return Ok(Peer { name: "itself".to_owned(), ends }) };
        let gid = name.parse::<Gid>().ok().filter(|gid| gid.prefix() == sgid.prefix());
        match (gid, name.parse::<u16>()) {
            (Some(dgid), _) => ends.dgid = dgid,
            (None, Ok(lid)) => (ends.dgid, ends.dlid) = (Gid::ZERO, Lid::new(lid)),
            (None, Err(_)) => ends.dgid = self.look_up(name)?,
        }
        Ok(Peer { name: name.to_owned(), ends })
    }

    /// Returns the parameters of a group as a path to it. If there is no such group, but a broadcast group of IP over
    /// InfiniBand that determines its parameters, returns those, and a name that ends with `(new)`.
    pub(super) fn group(&mut self, name: GroupName, pkey: Pkey) -> (String, Result<PathRecord, String>) {
        let mgid = name.mgid(pkey, LINK_SCOPE);
        let Self::Umad(administration, _) = self else {
            return (mgid.to_string(), Err("a daemon sends no queries for groups".to_owned()));
        };
        let query = Query::<McMemberRecord>::new().mgid(mgid);
        let mut find = || -> Result<_, FabricError> {
            Ok(match administration.table("the group", &query)?.records.first() {
                Some(group) => (mgid.to_string(), Some(*group)),
                None => (format!("{mgid} (new)"), Join { pkey, ..Join::new(name) }.broadcast(administration)?),
            })
        };
        match find() {
            Ok((name, Some(group))) => (name, Ok(to_group(&group))),
            Ok((_, None)) => (mgid.to_string(), Err("there is no such group".to_owned())),
            Err(error) => (mgid.to_string(), Err(error.to_string())),
        }
    }

    /// Resolves an IP address or a name to a GID.
    fn look_up(&mut self, name: &str) -> Result<Gid, String> {
        match self {
            Self::Daemon { server, local_address, .. } => {
                let dest = Address::from_text(name);
                let source = if name.parse::<IpAddr>().is_ok() { None } else { Some(*local_address) };
                let found = server.path(&Request::Resolve { source, dest, conditions: None, no_delay: false });
                let found = found.map_err(|errno| format!("the daemon does not find {name}: {}", strerror(errno)))?;
                Ok(found.path.dgid)
            }
            Self::Umad(administration, names) => match names.find(administration, name) {
                Ok(Some(gid)) => Ok(gid),
                Ok(None) => Err(format!("no node is called {name}: give a GID or a LID, or start a daemon")),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    /// Queries the SA for a path.
    pub(super) fn path(&mut self, record: &PathRecord) -> Result<PathRecord, String> {
        match self {
            Self::Daemon { server, .. } => {
                server.path(&Request::QuerySa { path: *record }).map(|found| found.path).map_err(strerror)
            }
            Self::Umad(administration, _) => {
                let query = Query::from_non_zero(*record);
                administration.get("the path", &query).map_err(|error| error.to_string())
            }
        }
    }
}

/// Returns the path to a group with these parameters.
fn to_group(group: &McMemberRecord) -> PathRecord {
    let McMemberRecord { mgid, mlid, pkey, sl_flow_hop, traffic_class, mtu, rate, packet_life_time, .. } = *group;
    let path =
        PathRecord { dgid: mgid, dlid: mlid, pkey, traffic_class, mtu, rate, packet_life_time, ..reversible_path() };
    PathRecord { qos_sl: path.qos_sl.with_sl(sl_flow_hop.sl()), ..path }
}
