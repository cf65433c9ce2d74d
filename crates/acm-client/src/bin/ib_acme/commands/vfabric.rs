//! `ib_acme vfabric`: shows parameters of a program's traffic.
use super::{
    arguments::Local,
    failure::Failure,
    format,
    peers::{Paths, Peer},
    service_paths::ServicePaths,
};
use crate::{output::Output, ranges::Names, requirements::service_id};
use acm_client::ib_mad::{Pkey, ServiceId};

/// Show P_Key, SL, MTU and rate of a program's traffic, as the subnet administrator returns them for a service id.
///
/// Use it to configure programs that send no path queries, and to test a policy (OpenSM: qos-policy.conf,
/// partitions.conf). The query goes to the daemon if there is one, otherwise to the subnet administrator through
/// /dev/infiniband/umad.
#[derive(Debug, clap::Args)]
pub(crate) struct Vfabric {
    /// Service: a number, tcp:PORT, udp:PORT, ib:PORT, lustre, storage-scale, iser or nfs-rdma. May be repeated. The
    /// default is no service.
    #[arg(long, value_name = "ID", value_parser = service_id)]
    service_id: Vec<ServiceId>,
    /// Partition. May be repeated. By default the subnet administrator chooses it.
    #[arg(long, value_name = "PKEY")]
    pkey: Vec<Pkey>,
    /// Query each partition of this port.
    #[arg(long, conflicts_with = "pkey")]
    each_partition: bool,
    /// Quality of service class, up to 4095.
    #[arg(long, value_name = "CLASS", value_parser = clap::value_parser!(u16).range(..4096))]
    qos_class: Option<u16>,
    /// Peer: a name, an IP address, a GID or a LID. A list is allowed, and the option may be repeated. The default is
    /// this port.
    #[arg(long, value_name = "ADDRESS")]
    to: Vec<String>,
    /// Print the common parameters of all peers as shell variables, for one service and partition.
    #[arg(long, conflicts_with_all = ["json", "each_partition"])]
    shell: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The daemon: the path of its socket, or a host.
    #[arg(short = 'S', value_name = "SERVICE")]
    service: Option<String>,
    /// Query the subnet administrator without the daemon.
    #[arg(long, conflicts_with = "service")]
    umad: bool,
    #[command(flatten)]
    local: Local,
}

impl Vfabric {
    pub(crate) fn run(&self, out: &mut Output) -> Result<(), Failure> {
        if self.shell && (self.service_id.len() > 1 || self.pkey.len() > 1) {
            return Err(Failure::Text("--shell is for one service and one partition".to_owned()));
        }
        let mut paths = Paths::open(self.service.as_deref(), self.umad, &self.local, out)?;
        let peers = self.peers(&mut paths)?;
        let services = if self.service_id.is_empty() { vec![None] } else { somes(&self.service_id) };
        let pkeys = match self.pkey.as_slice() {
            _ if self.each_partition => somes(&paths.partitions()),
            [] => vec![None],
            named => somes(named),
        };
        let mut rows = Vec::new();
        for service in services {
            for pkey in &pkeys {
                rows.push(ServicePaths::query(&mut paths, &peers, service, *pkey, self.qos_class));
            }
        }
        match rows.as_slice() {
            [row] if self.shell => match &row.common {
                Ok(common) => format::shell(out, row, common, paths.local_gid())?,
                Err(why) => return Err(Failure::Text(why.clone())),
            },
            rows if self.json => format::json(out, rows, &paths.description(), paths.local_gid())?,
            rows => format::table(out, rows, &paths.description())?,
        }
        if rows.iter().any(|row| row.common.is_err()) { Err(Failure::Printed) } else { Ok(()) }
    }

    fn peers(&self, paths: &mut Paths) -> Result<Vec<Peer>, Failure> {
        if self.to.is_empty() {
            return Ok(vec![paths.peer(None).map_err(Failure::Text)?]);
        }
        let mut peers = Vec::new();
        for list in &self.to {
            let names = Names::parse(list).ok_or_else(|| Failure::Text(format!("no address in {list:?}")))?;
            for name in names {
                peers.push(paths.peer(Some(&name)).map_err(Failure::Text)?);
            }
        }
        Ok(peers)
    }
}

fn somes<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    values.iter().copied().map(Some).collect()
}
