//! `ib_acme vfabric`.
use super::{
    failure::Failure,
    lines,
    local::Local,
    peers::{Paths, Peer},
    services::Row,
};
use crate::{output::Output, ranges::Names, wanted::service_id};
use acm_client::ib_mad::{Pkey, ServiceId};

/// Show which P_Key, SL, MTU and rate a program's traffic gets: subnet administration's answer by service id.
///
/// For programs that ask no path queries and have to be told, and to see what a policy (OpenSM: qos-policy.conf,
/// partitions.conf) does. The daemon is asked if there is one, else subnet administration itself, through
/// /dev/infiniband/umad.
#[derive(Debug, clap::Args)]
pub(crate) struct Vfabric {
    /// For this service: a number, tcp:PORT, udp:PORT, ib:PORT, lustre or storage-scale; may be given several times.
    /// Without it: for no service in particular.
    #[arg(long, value_name = "ID", value_parser = service_id)]
    service_id: Vec<ServiceId>,
    /// In this partition; may be given several times. Without it: in the one that subnet administration chooses.
    #[arg(long, value_name = "PKEY")]
    pkey: Vec<Pkey>,
    /// In each partition of this port.
    #[arg(long, conflicts_with = "pkey")]
    each_partition: bool,
    /// With this class of quality of service, up to 4095.
    #[arg(long, value_name = "CLASS", value_parser = clap::value_parser!(u16).range(..4096))]
    qos_class: Option<u16>,
    /// To this peer: a name, an IP address, a GID or a LID; a list is allowed, and the option several times. Without it:
    /// to this port itself.
    #[arg(long, value_name = "ADDRESS")]
    to: Vec<String>,
    /// Print shell variables, for one service and partition: what holds for all peers.
    #[arg(long, conflicts_with_all = ["json", "each_partition"])]
    shell: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The daemon to ask: the path of its socket, or a host.
    #[arg(short = 'S', value_name = "SERVICE")]
    service: Option<String>,
    /// Ask subnet administration itself.
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
                rows.push(Row::ask(&mut paths, &peers, service, *pkey, self.qos_class));
            }
        }
        match rows.as_slice() {
            [row] if self.shell => match &row.common {
                Ok(common) => lines::shell(out, row, common, paths.own_gid())?,
                Err(why) => return Err(Failure::Text(why.clone())),
            },
            rows if self.json => lines::json(out, rows, &paths.whom(), paths.own_gid())?,
            rows => lines::table(out, rows, &paths.whom())?,
        }
        if rows.iter().any(|row| row.common.is_err()) { Err(Failure::Said) } else { Ok(()) }
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
