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
mod endpoints;
mod generate;
mod lookup;
mod number;
mod output;
mod perf;
mod ranges;
mod resolve;
mod server;
mod services;
mod usage;

use output::Output;
use std::{env, io, process::ExitCode};

/// What a shell shows of a program whose reader is gone: 128 and the number of SIGPIPE.
const BROKEN_PIPE: u8 = 141;

fn main() -> ExitCode {
    let words: Vec<_> = env::args_os().collect();
    let args = match args::parse(&words) {
        Ok(args) => args,
        Err(refusal) => return usage::show(&words, &refusal),
    };
    match run(&args) {
        Ok(status) => ExitCode::from(status.to_le_bytes()[0]),
        // Nobody reads any more.
        Err(_) => ExitCode::from(BROKEN_PIPE),
    }
}

/// Does what is asked; the exit status before it is cut to a byte.
fn run(args: &args::Args) -> io::Result<i32> {
    let out = &mut Output::default();
    let mut status = if args.asks() { services::ask_all(args, out)? } else { 0 };
    if status == 0 {
        status = generate::generate(args, out)?;
    }
    if args.verbose || !args.generates() || status != 0 {
        out.line(format_args!("return status 0x{status:x}"))?;
    }
    out.flush()?;
    Ok(status)
}
