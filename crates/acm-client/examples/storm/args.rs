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
    /// The name or IP address to ask for.
    pub(crate) address: String,
}
