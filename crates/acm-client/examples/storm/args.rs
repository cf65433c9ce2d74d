//! The command line.
use acm_client::Service;
use clap::Parser;

/// Asks a daemon for paths as fast as it answers.
#[derive(Parser)]
pub(crate) struct Args {
    /// The daemon: the path of its socket, or a host and its port. Without it: where librdmacm looks.
    #[arg(long)]
    pub(crate) service: Option<Service>,
    /// How many connections.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// How many requests are under way on each.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,
    /// How many requests in all.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) requests: u64,
    /// An address of the daemon's node.
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// Ask for ADDRESS1, ADDRESS2 and so on, each once, so that nothing is cached.
    #[arg(long)]
    pub(crate) cold: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Play the start of an MPI job with so many ranks: each asks for the path to each rank of another node, in the
    /// order of an all-to-all; once with a daemon at each node, once without. Starts a simulated fabric and the daemons.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=4096),
        conflicts_with_all = ["address", "service", "source", "cold"])]
    pub(crate) ranks: Option<u32>,
    /// On so many nodes.
    #[arg(long, value_name = "M", default_value_t = 4, requires = "ranks", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) nodes: u32,
    /// Administered by the subnet manager of a running ibsim, whose nodes are called node1, node2, ... (at most 9).
    #[arg(long, value_name = "NAME", requires = "ranks")]
    pub(crate) ibsim: Option<String>,
    /// A setting of the fabric, such as sa_service_time=20us; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "ranks")]
    pub(crate) settings: Vec<String>,
    /// What a process at a node does: ask as its ranks.
    #[arg(long, hide = true, requires = "ranks")]
    pub(crate) worker: Option<String>,
    /// The name or IP address to ask for.
    #[arg(required_unless_present = "ranks")]
    pub(crate) address: Option<String>,
}
