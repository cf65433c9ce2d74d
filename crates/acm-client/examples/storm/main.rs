//! Loads a daemon: many connections, each with many requests under way, and how long the answers take.
mod args;
mod load;
mod result;

use args::Args;
use clap::Parser;

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let args = Args::parse();
    let result = load::run(&args)?;
    if args.json {
        println!("{}", result.json());
    } else {
        println!("{result}");
    }
    Ok(())
}
