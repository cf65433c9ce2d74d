//! A provider that finds paths in a file, for a small and static subnet. It sends no requests.
//!
//! A line of the file is `ADDRESS GID LID`. The address is a name or an IP address. The line `hosts_file PATH` in the
//! daemon's option file names the file. The default is `/etc/rdma/hosts.data`. The file is read when a port becomes
//! active, and when the subnet manager requests a client reregistration.
mod table;

use acm_provider::{
    daemon::{self, Counter, Level},
    ib_mad::{
        Gid, Mtu, PacketLifeTime, Pkey, Rate, Selected,
        sa::{PathRecord, ReversiblePaths},
    },
    plugin::{Address, Endpoint, Port, Provider, Refused, Request, Status},
};
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::RwLock;
use table::{Host, Table};

acm_provider::export!(Hosts, "hosts");

struct Hosts(RwLock<Table>);

/// An open endpoint: the source of its paths, and its counters.
struct Source {
    gid: Gid,
    pkey: Pkey,
    failed: AtomicU64,
    resolves: AtomicU64,
}

impl Provider for Hosts {
    type Port = Gid;
    type Endpoint = Source;

    fn load() -> Result<Self, Refused> {
        Ok(Self(RwLock::new(Table::default())))
    }

    fn open_port(&self, port: &Port) -> Result<Gid, Refused> {
        self.read()?;
        port.gid(0).ok_or_else(|| Refused::new(format_args!("port {} has no GID", port.number())))
    }

    fn open_endpoint(&self, port: &Gid, endpoint: &Endpoint) -> Result<Source, Refused> {
        Ok(Source { gid: *port, pkey: endpoint.pkey(), failed: AtomicU64::new(0), resolves: AtomicU64::new(0) })
    }

    fn resolve(&self, source: &Source, request: Request) {
        source.resolves.fetch_add(1, Ordering::Relaxed);
        let path = self.0.read().ok().and_then(|table| source.path(&table, &request));
        match path {
            Some(path) => {
                daemon::count(Counter::RouteCache);
                request.answer(&path);
            }
            None => {
                source.failed.fetch_add(1, Ordering::Relaxed);
                daemon::log(Level::Info, format_args!("no path: {request:?}"));
                request.fail(Status::ENODATA);
            }
        }
    }

    fn reregister(&self, _port: &Gid) {
        if let Err(why) = self.read() {
            daemon::log(Level::Always, format_args!("ERROR - {why}"));
        }
    }

    /// Returns the number of errors and of resolves.
    fn counters(&self, source: &Source) -> Vec<u64> {
        [&source.failed, &source.resolves].map(|counter| counter.load(Ordering::Relaxed)).to_vec()
    }
}

impl Hosts {
    fn read(&self) -> Result<(), Refused> {
        let table = Table::read().map_err(Refused::new)?;
        daemon::log(Level::Always, format_args!("{} addresses", table.len()));
        *self.0.write().map_err(Refused::new)? = table;
        Ok(())
    }
}

impl Source {
    /// Returns the path from this port to the destination of the request.
    fn path(&self, table: &Table, request: &Request) -> Option<PathRecord> {
        let to = match (request.destination(), request.requested_path()) {
            (Some(Address::Gid(gid)), _) => table.find(|host| host.gid == gid)?,
            (Some(Address::Lid(lid)), _) => table.find(|host| host.lid == lid)?,
            (Some(address), _) => table.get(address)?,
            (None, Some(path)) if path.dlid.get() != 0 => table.find(|host| host.lid == path.dlid)?,
            (None, Some(path)) => table.find(|host| host.gid == path.dgid)?,
            (None, None) => return None,
        };
        let from = table.find(|host| host.gid == self.gid)?;
        Some(self.between(&from, &to))
    }

    fn between(&self, from: &Host, to: &Host) -> PathRecord {
        PathRecord {
            sgid: from.gid,
            slid: from.lid,
            dgid: to.gid,
            dlid: to.lid,
            pkey: self.pkey,
            reversible_paths: ReversiblePaths::default().with_reversible(true).with_num_path(1),
            // Values that every device supports.
            mtu: Selected::exactly(Mtu::B2048),
            rate: Selected::exactly(Rate::GBPS_10),
            packet_life_time: Selected::exactly(PacketLifeTime::of::<16>()),
            ..PathRecord::default()
        }
    }
}
