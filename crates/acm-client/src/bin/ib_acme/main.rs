//! `ib_acme`: queries the daemon from a shell, and writes configuration files for it. Options, output and exit codes
//! are those of rdma-core's `ib_acme`, because scripts depend on them.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod args;
mod commands;
mod diff;
mod endpoints;
mod generate;
#[cfg(test)]
mod man;
mod number;
mod output;
mod path_request;
mod perf;
mod ranges;
mod report;
mod requirements;
mod resolve;
mod run_state;
mod server;
mod services;
#[cfg(test)]
mod testing;
mod trace;
mod usage;

use core::time::Duration;
use output::{BROKEN_PIPE, Output};
use std::{
    env,
    io::{self, Write},
    process::ExitCode,
    thread,
};

fn main() -> ExitCode {
    let words: Vec<_> = env::args_os().collect();
    if let Some(done) = commands::run(&words) {
        return done;
    }
    let args = match args::parse(&words) {
        Ok(args) => args,
        Err(refusal) => return usage::show(&words, &refusal),
    };
    let done = match (args.completions, args.watch) {
        (Some(shell), _) => usage::complete(shell, &words),
        (_, Some(seconds)) => watch(seconds, |out| run(&args, out)),
        _ => run(&args, &mut Output::default()),
    };
    match done {
        Ok(status) => ExitCode::from(status.to_le_bytes()[0]),
        // The reader of the output closed the pipe.
        Err(_) => ExitCode::from(BROKEN_PIPE),
    }
}

/// Runs the command line. Returns the exit status before it is truncated to a byte.
fn run(args: &args::Args, out: &mut Output) -> io::Result<i32> {
    let status = match &args.trace {
        Some(dest) => trace::trace(args, out, dest)?,
        None if args.json => report::report(args, out)?,
        None => run_options(args, out)?,
    };
    out.flush()?;
    Ok(status)
}

/// Runs the functions of rdma-core's ib_acme.
fn run_options(args: &args::Args, out: &mut Output) -> io::Result<i32> {
    let mut status = if args.asks() { services::ask_all(args, out)? } else { 0 };
    if status == 0 {
        status = generate::generate(args, out)?;
    }
    if args.verbose || !args.generates() || status != 0 {
        out.line(format_args!("return status 0x{status:x}"))?;
    }
    Ok(status)
}

/// Calls `run` every `seconds` and prints the output when it changes. Ends when the reader of the output closes the
/// pipe.
fn watch(seconds: u16, mut run: impl FnMut(&mut Output) -> io::Result<i32>) -> io::Result<i32> {
    let mut previous = Vec::new();
    loop {
        let mut out = Output::in_memory();
        run(&mut out)?;
        let bytes = out.into_bytes();
        if bytes != previous {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&bytes)?;
            stdout.flush()?;
            previous = bytes;
        }
        thread::sleep(Duration::from_secs(seconds.into()));
    }
}
