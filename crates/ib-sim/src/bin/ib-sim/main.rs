//! Serves a simulated InfiniBand subnet to the processes of this machine, and controls it.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod enter;
mod fabric;
#[cfg(test)]
mod man;
mod record;
mod run;

use clap::{Args, Parser, Subcommand};
use core::error::Error;
use fabric::Fabric;
use ib_sim::client;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{io::Write, path::PathBuf, process::ExitCode, thread};

/// A simulated InfiniBand subnet for the processes of this machine.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves a subnet until it gets SIGTERM or SIGINT; prints one line when it is ready.
    Serve(Serve),
    /// Runs a program at each node, on the node's simulated devices, and waits for all of them.
    Run(run::Run),
    /// Becomes the program of `run` at one node.
    #[command(hide = true)]
    Enter(enter::Enter),
    /// Gives a served subnet a command and prints the answer; `help` lists them.
    Ctl {
        /// The server's socket.
        #[arg(long)]
        socket: PathBuf,
        /// The command.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct Serve {
    /// Socket to serve on.
    #[arg(long)]
    socket: PathBuf,
    #[command(flatten)]
    fabric: Fabric,
}

impl Serve {
    fn run(&self) -> Result<(), Box<dyn Error>> {
        let mut server = self.fabric.bind(&self.socket)?;
        let nodes = server.subnet_mut().node_count();
        let stopper = server.stopper();
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                stopper.stop();
            }
        });
        writeln!(std::io::stdout(), "ib-sim: {nodes} nodes on {}", self.socket.display())?;
        server.run()?;
        Ok(())
    }
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Serve(serve) => serve.run().map(|()| ExitCode::SUCCESS),
        Command::Run(run) => run.run(),
        Command::Enter(enter) => Err(enter.run()),
        Command::Ctl { socket, command } => client::control(&socket, &command.join(" "))
            .map_err(|error| format!("{}: {error}", socket.display()).into())
            .and_then(|output| match output.strip_prefix("error: ") {
                Some(error) => Err(error.trim_end().to_owned().into()),
                None => Ok(std::io::stdout().write_all(output.as_bytes()).map(|()| ExitCode::SUCCESS)?),
            }),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ib-sim: {error}");
            ExitCode::FAILURE
        }
    }
}
