//! Who tells of paths, a daemon or subnet administration, and where they lead.
use super::{failure::Failure, local::Local};
use crate::{
    args::SOCKET,
    output::{Output, strerror},
    question::one_reversible,
    server::Server,
};
use acm_client::{
    Address, Request,
    fabric::{Administration, NodeNames},
    ib_mad::{
        Gid, Lid, Pkey,
        sa::{PathRecord, Query},
    },
};
use core::net::IpAddr;

/// Who is asked.
pub(super) enum Paths {
    /// A daemon, which asks subnet administration (QUERY_SA), and knows where names and IP addresses are.
    Daemon {
        /// The daemon.
        server: Box<Server>,
        /// Its first address.
        own: Address,
        /// The partitions of its endpoints.
        pkeys: Vec<Pkey>,
        /// The GID of that address's port.
        sgid: Gid,
    },
    /// Subnet administration itself.
    Umad(Box<Administration>),
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// As the user writes it.
    pub(super) name: String,
    /// Its ends, and that one path is wanted for both directions.
    pub(super) ends: PathRecord,
}

impl Paths {
    /// The daemon that is named; else this node's, and if there is none, subnet administration.
    pub(super) fn open(service: Option<&str>, umad: bool, local: &Local, out: &mut Output) -> Result<Self, Failure> {
        let direct = || local.administration().map(|administration| Self::Umad(Box::new(administration)));
        if umad || (service.is_none() && (local.device.is_some() || local.port.is_some())) {
            return Ok(direct()?);
        }
        let name = service.unwrap_or(SOCKET);
        match (Server::connect(name, nix::libc::ENOENT, out)?, service) {
            (Ok(server), _) => Self::of_daemon(Box::new(server)),
            (Err(refused), Some(_)) => Err(Failure::Text(format!(
                "no daemon answers at {name}: {}; without -S, subnet administration is asked itself",
                strerror(refused.errno)
            ))),
            (Err(_), None) => {
                direct().map_err(|error| Failure::Text(format!("no daemon answers at {name}, and here: {error}")))
            }
        }
    }

    fn of_daemon(mut server: Box<Server>) -> Result<Self, Failure> {
        let endpoints = server.endpoints();
        let own = endpoints.iter().flat_map(|endpoint| &endpoint.addresses).next();
        let Some(own) = own else {
            let name = &server.name;
            return Err(Failure::Text(format!("the daemon at {name} has no address yet: ib_acme -e, and its log")));
        };
        let own = Address::from_text(own);
        let mut pkeys = Vec::new();
        for endpoint in &endpoints {
            if !pkeys.contains(&endpoint.pkey) {
                pkeys.push(endpoint.pkey);
            }
        }
        let to_itself = Request::Resolve { source: Some(own), dest: own, no_delay: false };
        match server.path(&to_itself) {
            Ok(found) => Ok(Self::Daemon { server, own, pkeys, sgid: found.path.sgid }),
            Err(errno) => Err(Failure::Text(format!(
                "the daemon at {} has no path to its own address {own}: {}; ib_acme --trace {own}",
                server.name,
                strerror(errno)
            ))),
        }
    }

    /// Who is asked, in words.
    pub(super) fn whom(&self) -> String {
        match self {
            Self::Daemon { server, .. } => format!("the daemon at {}", server.name),
            Self::Umad(administration) => format!("subnet administration, from {}", administration.port().name()),
        }
    }

    /// The partitions that paths may be in.
    pub(super) fn partitions(&self) -> Vec<Pkey> {
        match self {
            Self::Daemon { pkeys, .. } => pkeys.clone(),
            Self::Umad(administration) => administration.port().port.pkeys.iter().map(|entry| entry.pkey).collect(),
        }
    }

    /// The asking port's GID.
    pub(super) fn own_gid(&self) -> Gid {
        match self {
            Self::Daemon { sgid, .. } => *sgid,
            Self::Umad(administration) => administration.port().gid(),
        }
    }

    /// A peer by its GID, LID, IP address or name; this port itself without one.
    pub(super) fn peer(&mut self, name: Option<&str>) -> Result<Peer, String> {
        let sgid = self.own_gid();
        let mut ends = PathRecord { sgid, dgid: sgid, ..one_reversible() };
        let Some(name) = name else { return Ok(Peer { name: "itself".to_owned(), ends }) };
        let gid = name.parse::<Gid>().ok().filter(|gid| gid.prefix() == sgid.prefix());
        match (gid, name.parse::<u16>()) {
            (Some(dgid), _) => ends.dgid = dgid,
            (None, Ok(lid)) => (ends.dgid, ends.dlid) = (Gid::ZERO, Lid::new(lid)),
            (None, Err(_)) => ends.dgid = self.look_up(name)?,
        }
        Ok(Peer { name: name.to_owned(), ends })
    }

    /// The GID behind an IP address or a name.
    fn look_up(&mut self, name: &str) -> Result<Gid, String> {
        match self {
            Self::Daemon { server, own, .. } => {
                let dest = Address::from_text(name);
                let source = if name.parse::<IpAddr>().is_ok() { None } else { Some(*own) };
                let found = server.path(&Request::Resolve { source, dest, no_delay: false });
                let found = found.map_err(|errno| format!("the daemon does not find {name}: {}", strerror(errno)))?;
                Ok(found.path.dgid)
            }
            Self::Umad(administration) => match NodeNames::find(administration, name) {
                Ok(Some(gid)) => Ok(gid),
                Ok(None) => Err(format!("no node is called {name}: say a GID or a LID, or have a daemon run")),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    /// The path that subnet administration has for this.
    pub(super) fn path(&mut self, wanted: &PathRecord) -> Result<PathRecord, String> {
        match self {
            Self::Daemon { server, .. } => {
                server.path(&Request::QuerySa { path: *wanted }).map(|found| found.path).map_err(strerror)
            }
            Self::Umad(administration) => {
                let query = Query::from_non_zero(*wanted);
                administration.get("the path", &query).map_err(|error| error.to_string())
            }
        }
    }
}
