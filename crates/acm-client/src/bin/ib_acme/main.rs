//! `ib_acme`: asks the daemon from a shell, and writes files for it to begin with. What it prints, its options and its
//! exit codes are those of rdma-core's `ib_acme`, which scripts read.
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
mod asker;
mod commands;
mod diff;
mod endpoints;
mod fields;
mod generate;
mod lookup;
#[cfg(test)]
mod man;
mod number;
mod output;
mod perf;
mod question;
mod ranges;
mod report;
mod resolve;
mod server;
mod services;
mod trace;
mod usage;
mod wanted;
mod watch;

use output::{BROKEN_PIPE, Output};
use std::{env, io, process::ExitCode};

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
        (Some(shell), _) => usage::complete(shell),
        (_, Some(seconds)) => watch::watch(seconds, |out| run(&args, out)),
        _ => run(&args, &mut Output::default()),
    };
    match done {
        Ok(status) => ExitCode::from(status.to_le_bytes()[0]),
        // Nobody reads any more.
        Err(_) => ExitCode::from(BROKEN_PIPE),
    }
}

/// Does what is asked; the exit status before it is cut to a byte.
fn run(args: &args::Args, out: &mut Output) -> io::Result<i32> {
    let status = match &args.trace {
        Some(dest) => trace::trace(args, out, dest)?,
        None if args.json => report::report(args, out)?,
        None => as_ever(args, out)?,
    };
    out.flush()?;
    Ok(status)
}

/// What rdma-core's does, too.
fn as_ever(args: &args::Args, out: &mut Output) -> io::Result<i32> {
    let mut status = if args.asks() { services::ask_all(args, out)? } else { 0 };
    if status == 0 {
        status = generate::generate(args, out)?;
    }
    if args.verbose || !args.generates() || status != 0 {
        out.line(format_args!("return status 0x{status:x}"))?;
    }
    Ok(status)
}
