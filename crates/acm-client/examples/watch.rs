//! Prints a daemon's counters each second if they changed, and a line after each reconnection:
//! `watch [--service SERVICE] [--times N]`.
use acm_client::{Client, ClientError, PerfTarget, Service};
use clap::Parser;
use core::time::Duration;
use std::thread;

#[derive(Parser)]
struct Args {
    /// The daemon: the path of its socket, or a host and its port. The default is the address that librdmacm uses.
    #[arg(long)]
    service: Option<Service>,
    /// Number of queries. The default is no limit.
    #[arg(long)]
    times: Option<u64>,
}

fn main() -> Result<(), ClientError> {
    let args = Args::parse();
    let service = args.service.map_or_else(Service::find, Ok)?;
    let mut client = Client::connect(service)?;
    let (mut before, mut reconnects) = (None, 0);
    for time in 0..args.times.unwrap_or(u64::MAX) {
        if time > 0 {
            thread::sleep(Duration::from_secs(1));
        }
        let counters = client.counters(PerfTarget::Total)?;
        if client.reconnects() > reconnects {
            reconnects = client.reconnects();
            println!("{}: connected again", client.service());
        }
        if before != Some(counters) {
            println!("{counters:?}");
            before = Some(counters);
        }
    }
    Ok(())
}
