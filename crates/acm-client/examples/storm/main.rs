//! Loads a daemon with many connections, each with many requests in flight, and measures the latency of responses. With
//! --ranks, simulates the start of an MPI job on a simulated fabric, with daemons and without.
mod args;
mod by_daemon;
mod by_sa;
mod compare;
mod job;
mod load;
mod result;
mod site;

use args::Args;
use clap::Parser;
use std::time::Instant;

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let args = Args::parse();
    let address = match (args.ranks, &args.address) {
        (Some(ranks), _) => return compare::run(&args, ranks),
        (None, Some(address)) => address,
        (None, None) => return Err("no address".into()),
    };
    let result = load::run(&args, address)?;
    if args.json {
        println!("{}", result.json());
    } else {
        println!("{result}");
    }
    Ok(())
}

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "the example measures durations")]
fn now() -> Instant {
    Instant::now()
}
