//! The command line.
use acm_client::Service;
use clap::Parser;

/// Sends path requests to a daemon as fast as it responds.
#[derive(Parser)]
pub(crate) struct Args {
    /// The daemon: the path of its socket, or a host and its port. The default is the address that librdmacm uses.
    #[arg(long)]
    pub(crate) service: Option<Service>,
    /// Number of connections.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// Number of requests in flight on each connection.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,
    /// Total number of requests.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) requests: u64,
    /// An address of the daemon's node.
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// Request ADDRESS1, ADDRESS2 and so on, each once, so that no path is cached.
    #[arg(long)]
    pub(crate) cold: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Simulate the start of an MPI job with this number of ranks. Each rank requests the path to each rank of another
    /// node, in the order of an all-to-all: once with a daemon at each node, once without. The program starts a
    /// simulated fabric and the daemons.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=4096),
        conflicts_with_all = ["address", "service", "source", "cold"])]
    pub(crate) ranks: Option<u32>,
    /// Number of nodes of the MPI job.
    #[arg(long, value_name = "M", default_value_t = 4, requires = "ranks", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) nodes: u32,
    /// Use the subnet manager of a running ibsim. Its nodes must have the names node1, node2, ... (at most 9).
    #[arg(long, value_name = "NAME", requires = "ranks")]
    pub(crate) ibsim: Option<String>,
    /// A setting of the fabric, such as sa_service_time=20us. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "ranks")]
    pub(crate) settings: Vec<String>,
    /// Run as the process of a node, and send the requests of its ranks.
    #[arg(long, hide = true, requires = "ranks")]
    pub(crate) worker: Option<String>,
    /// The host name or IP address to resolve.
    #[arg(required_unless_present = "ranks")]
    pub(crate) address: Option<String>,
}
