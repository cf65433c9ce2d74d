//! `ib_acme vfabric`: shows parameters of a program's traffic.
use super::{
    arguments::Local,
    failure::Failure,
    format,
    library::Library,
    peers::{Paths, Peer},
    service_paths::ServicePaths,
    virtual_fabrics,
};
use crate::{output::Output, ranges::Names, requirements::service_id};
use acm_client::{
    fabric::GroupName,
    ib_mad::{
        Pkey, ServiceId, ServiceLevel,
        sa::{PathRecord, QosSl},
    },
};

/// Show P_Key, SL, MTU and rate of a program's traffic, as the subnet administrator returns them for a service id.
///
/// Use it to configure programs that send no path queries, and to test a policy (OpenSM: qos-policy.conf,
/// partitions.conf). The query goes to the daemon if there is one, otherwise to the subnet administrator through
/// /dev/infiniband/umad.
#[derive(Debug, clap::Args)]
pub(crate) struct Vfabric {
    /// Service: a number, tcp:PORT, udp:PORT, ib:PORT, lustre, storage-scale, iser, nfs-rdma or rdma. May be repeated. The
    /// default is no service.
    #[arg(long, value_name = "ID", value_parser = service_id)]
    service_id: Vec<ServiceId>,
    /// Partition. May be repeated. By default the subnet administrator chooses it.
    #[arg(long, value_name = "PKEY")]
    pkey: Vec<Pkey>,
    /// Query each partition in the port's table of P_Keys.
    #[arg(long, conflicts_with = "pkey")]
    each_partition: bool,
    /// List the virtual fabrics of Omni-Path's fabric manager. Implies --umad.
    #[arg(long, conflicts_with_all = ["service_id", "pkey", "each_partition", "name", "qos_class", "to", "mgid", "shell", "service"])]
    list: bool,
    /// Virtual fabric of Omni-Path's fabric manager: its P_Key and service level are in the queries. Implies --umad.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pkey", "each_partition", "mgid", "service"])]
    name: Option<String>,
    /// Quality of service class, up to 4095.
    #[arg(long, value_name = "CLASS", value_parser = clap::value_parser!(u16).range(..4096))]
    qos_class: Option<u16>,
    /// Peer: a name, an IP address, a GID or a LID. A list is allowed, and the option may be repeated. The default is
    /// this port.
    #[arg(long, value_name = "ADDRESS")]
    to: Vec<String>,
    /// Multicast group: its MGID, or a name as in `ib_acme groups`. May be repeated. If the group does not exist, shows
    /// the parameters with which `groups join --create` creates it. Implies --umad.
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["each_partition", "qos_class", "service"])]
    mgid: Vec<GroupName>,
    /// Print the common parameters of all peers as shell variables, for one service and partition.
    #[arg(long, conflicts_with_all = ["json", "each_partition"])]
    shell: bool,
    /// With --shell, print the variables of a library.
    #[arg(long = "for", value_name = "LIBRARY", requires = "shell")]
    library: Option<Library>,
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
        let is_one = self.service_id.len() <= 1 && self.pkey.len() <= 1 && self.mgid.len() <= 1;
        if self.shell && (!is_one || !self.mgid.is_empty() && !self.to.is_empty()) {
            return Err(Failure::Text("--shell is for one service or group, and one partition".to_owned()));
        }
        if self.list {
            return virtual_fabrics::list(&mut self.local.administration()?, self.json, out);
        }
        let fabric = match &self.name {
            Some(name) => Some(virtual_fabrics::named(&mut self.local.administration()?, name)?),
            None => None,
        };
        let is_direct = self.umad || fabric.is_some() || !self.mgid.is_empty();
        let mut paths = Paths::open(self.service.as_deref(), is_direct, &self.local, out)?;
        let groups = self.groups(&mut paths);
        let peers = if groups.is_empty() || !self.to.is_empty() { self.peers(&mut paths)? } else { Vec::new() };
        let services = if self.service_id.is_empty() { vec![None] } else { somes(&self.service_id) };
        let pkeys = match self.pkey.as_slice() {
            _ if self.each_partition => somes(&paths.partitions()),
            [] if fabric.is_some() => fabric.iter().map(|fabric| Some(fabric.pkey)).collect(),
            [] => vec![None],
            named => somes(named),
        };
        // Service levels above 15 of Omni-Path do not fit into a path record: then the P_Key alone is the condition.
        let sl = fabric.and_then(|fabric| ServiceLevel::checked(fabric.base_sl.sl())).unwrap_or_default();
        let qos_sl = QosSl::default().with_qos_class(self.qos_class.unwrap_or_default()).with_sl(sl);
        let mut rows: Vec<ServicePaths> =
            groups.into_iter().map(|group| ServicePaths::new(None, vec![group])).collect();
        for service in services.into_iter().filter(|_| !peers.is_empty()) {
            for pkey in &pkeys {
                let conditions = PathRecord {
                    service_id: service.unwrap_or_default(),
                    pkey: pkey.unwrap_or_default(),
                    qos_sl,
                    ..PathRecord::default()
                };
                rows.push(ServicePaths::query(&mut paths, &peers, &conditions));
            }
        }
        match rows.as_slice() {
            [row] if self.shell => match &row.common {
                Ok(common) => format::shell(out, row, common, paths.local_gid(), self.library)?,
                Err(why) => return Err(Failure::Text(why.clone())),
            },
            rows if self.json => format::json(out, rows, &paths.description(), paths.local_gid())?,
            rows => format::table(out, rows, &paths.description())?,
        }
        if rows.iter().any(|row| row.common.is_err()) { Err(Failure::Printed) } else { Ok(()) }
    }

    /// Returns the groups of all partitions, each with its parameters.
    fn groups(&self, paths: &mut Paths) -> Vec<(String, Result<PathRecord, String>)> {
        let pkeys = if self.pkey.is_empty() { &[Pkey::DEFAULT_FULL][..] } else { &self.pkey };
        let all = self.mgid.iter().flat_map(|name| pkeys.iter().map(move |pkey| (*name, *pkey)));
        all.map(|(name, pkey)| paths.group(name, pkey)).collect()
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
