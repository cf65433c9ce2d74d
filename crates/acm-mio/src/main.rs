//! The daemon of the InfiniBand communication management assistant: a drop-in for ibacm.
//!
//! One thread runs one loop: `server/daemon/` waits for events, passes each to the core as an
//! [`Input`](acm_sansio::Input), and carries out the core's [`Output`](acm_sansio::Output)s.
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
mod closing;
mod control;
mod descriptors;
mod detach;
mod effects;
mod fabric;
mod host_name;
mod kernel;
mod lock;
mod log;
mod loop_times;
mod metrics;
mod names;
mod owners;
mod peer;
mod preload;
mod providers;
mod record;
mod regular;
mod server;
mod settings;
mod shared;
mod starter;
mod stream;
#[cfg(test)]
mod testing;

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
            // ibacm exits with 1 on an unknown option. --help and --version are errors of clap, but exit with 0.
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    if let Some(word) = args.stray.first() {
        print_error(&stray(word));
        return ExitCode::FAILURE;
    }
    if args.check {
        return ExitCode::from(check::run(&args));
    }
    if args.remove_port_files {
        return match server::PortFiles::remove_stale(&args.run_dir).problem() {
            None => ExitCode::SUCCESS,
            Some((what, advice)) => {
                print_error(&format!("{what}: {advice}"));
                ExitCode::FAILURE
            }
        };
    }
    if let Some(result) = request(&args) {
        // The reader of a pipe may have closed it.
        let printed = result.map(|text| io::stdout().write_all(text.as_bytes()).is_ok());
        let is_done = printed.unwrap_or_else(|problem| {
            print_error(&problem);
            false
        });
        return ExitCode::from(u8::from(!is_done));
    }
    if args.leaves_terminal() {
        return match starter::run(args.start_limit()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                if let Some(line) = error.line() {
                    print_error(&line);
                }
                ExitCode::from(error.exit_code())
            }
        };
    }
    match server::run(&args) {
        Ok(()) => providers::exit(0),
        Err(error) => {
            // The line is for a user at the terminal, if there is one. The log contains the line, too, unless log and
            // standard error are the same file.
            print_error(&error.to_string());
            providers::exit(error.exit_code())
        }
    }
}

/// Sends the request of the command line to a running daemon and returns the output for the user. Returns `None` if the
/// command line has no request.
fn request(args: &cli::Args) -> Option<Result<String, String>> {
    let run_dir = &args.run_dir;
    if args.status {
        return Some(metrics::run(run_dir, args.json));
    }
    if let Some(file) = &args.metrics {
        return Some(metrics::run_metrics(run_dir, file));
    }
    if !args.cache.is_empty() {
        let printed = control::run_cache(run_dir, &args.cache, args.json, &mut io::stdout().lock());
        return Some(printed.map(|()| String::new()));
    }
    if args.reload {
        let remarks = control::run_reload(run_dir, &mut |line| print_error(line));
        return Some(remarks.map(|remarks| {
            remarks.iter().for_each(|remark| print_error(remark));
            String::new()
        }));
    }
    (!args.recording.is_empty()).then(|| control::run_recording(run_dir, &args.recording))
}

/// Prints a line to standard error. A failure is ignored: a daemon has no standard error.
fn print_error(line: &str) {
    let _ = writeln!(io::stderr(), "acm-mio: {line}");
}

/// Returns the error for a word that is not an option: such a command line does not start the daemon.
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
    fn word_like_an_option_is_refused_with_a_hint() {
        assert_eq!(super::stray("check"), "\"check\" is no option: it is --check; nothing is started");
        assert_eq!(super::stray("stop"), "\"stop\" is no option: see --help; nothing is started");
    }
}
