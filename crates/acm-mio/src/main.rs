//! The daemon of the InfiniBand communication management assistant: a drop-in for ibacm.
//!
//! One thread, one loop: `server/daemon/` waits for events, turns each into one
//! [`Input`](acm_sansio::Input) of the core, and carries out the core's [`Output`](acm_sansio::Output)s.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod addresses;
mod check;
mod cli;
mod clock;
mod descriptors;
mod detach;
mod effects;
mod fabric;
#[cfg(test)]
mod in_time;
mod kernel;
mod lock;
mod log;
mod metrics;
mod names;
mod peer;
mod preload;
mod providers;
mod record;
mod regular;
mod server;
mod settings;
mod source;
mod starter;
mod stream;

use clap::Parser;
use std::{
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    let args = match cli::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            // ibacm exits with 1 on an unknown option; help and version are no errors.
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    if let Some(word) = args.stray.first() {
        say(&stray(word));
        return ExitCode::FAILURE;
    }
    if args.check {
        return ExitCode::from(check::run(&args));
    }
    if args.status {
        return ExitCode::from(u8::from(!metrics::run(&args.run_dir)));
    }
    if args.leaves_terminal() {
        return match starter::run(args.start_limit()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                if let Some(line) = error.line() {
                    say(&line);
                }
                ExitCode::from(error.exit_code())
            }
        };
    }
    match server::run(&args) {
        Ok(()) => providers::exit(0),
        Err(error) => {
            // For a person at the terminal, if it is still there. The log has it already, unless it goes there, too.
            say(&error.to_string());
            providers::exit(error.exit_code())
        }
    }
}

/// A line for a person at the terminal, if there is one.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "acm-mio: {line}");
}

/// Words that are no options start nothing: a daemon is not what `acm-mio check` asks for.
fn stray(word: &str) -> String {
    let hint = match word {
        "check" | "status" | "help" | "version" => format!("it is --{word}"),
        _ => "see --help".to_owned(),
    };
    format!("{word:?} is no option: {hint}; nothing is started")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_word_that_is_an_option_elsewhere_is_said_to_be_one() {
        assert_eq!(super::stray("check"), "\"check\" is no option: it is --check; nothing is started");
        assert_eq!(super::stray("stop"), "\"stop\" is no option: see --help; nothing is started");
    }
}
