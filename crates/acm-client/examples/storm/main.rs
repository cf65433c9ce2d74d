//! Loads a daemon: many connections, each with many requests under way, and how long the answers take. With --ranks: the
//! start of an MPI job on a simulated fabric, with daemons and without.
mod args;
mod by_daemon;
mod by_sa;
mod clock;
mod compare;
mod job;
mod load;
mod result;
mod site;

use args::Args;
use clap::Parser;

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
