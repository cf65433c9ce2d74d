//! The programs.
use crate::{cli, ctl, providers, server, starter};
use clap::Parser;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// The program `acm-mio`: the daemon.
#[must_use]
pub fn daemon() -> ExitCode {
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
    if args.remove_port_files {
        return match server::PortFiles::remove_stale(&args.run_dir).problem() {
            None => ExitCode::SUCCESS,
            Some((what, advice)) => {
                print_error(&format!("{what}: {advice}"));
                ExitCode::FAILURE
            }
        };
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

/// The program `acmctl`: shows, checks and controls a daemon.
#[must_use]
pub fn acmctl() -> ExitCode {
    ctl::main()
}

/// Prints a line to standard error. A failure is ignored: a daemon has no standard error.
fn print_error(line: &str) {
    let _ = writeln!(io::stderr(), "acm-mio: {line}");
}

/// Returns the error for a word that is not an option: such a command line does not start the daemon.
fn stray(word: &str) -> String {
    let hint = match word {
        "check" | "status" | "reload" => format!("it is acmctl {word}"),
        "help" | "version" => format!("it is --{word}"),
        _ => "see --help".to_owned(),
    };
    format!("{word:?} is no option: {hint}; nothing is started")
}

#[cfg(test)]
mod tests {
    #[test]
    fn word_like_an_option_is_refused_with_a_hint() {
        assert_eq!(super::stray("check"), "\"check\" is no option: it is acmctl check; nothing is started");
        assert_eq!(super::stray("stop"), "\"stop\" is no option: see --help; nothing is started");
    }
}
