//! Runs the commands of `ib_acme`.
use super::{failure::Failure, generate_hosts, groups, vfabric};
use crate::output::{BROKEN_PIPE, Output};
use clap::{CommandFactory, Parser, Subcommand};
use std::{ffi::OsString, process::ExitCode};

/// Exit status if the output lacks parts that cannot be had.
const PARTIAL: u8 = 3;

/// Words that are commands in first position. Debian's program ignores words that are not options.
const WORDS: [&str; 3] = ["vfabric", "groups", "generate-hosts"];

#[derive(Debug, Parser)]
#[command(name = "ib_acme", version)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Vfabric(vfabric::Vfabric),
    Groups(groups::Groups),
    GenerateHosts(generate_hosts::GenerateHosts),
}

/// Runs the command if the first word is one.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let first = words.get(1)?.to_str()?;
    if !WORDS.contains(&first) {
        return None;
    }
    let line = match Line::try_parse_from(words) {
        Ok(line) => line,
        Err(error) => {
            // A closed pipe is no error.
            let _ = error.print();
            return Some(if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
    };
    let mut out = Output::default();
    let done = match &line.command {
        Command::Vfabric(command) => command.run(&mut out),
        Command::Groups(command) => command.run(&mut out),
        Command::GenerateHosts(command) => command.run(&mut out),
    };
    let flushed = out.flush();
    Some(match done.and_then(|()| flushed.map_err(Failure::from)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::BrokenPipe) => ExitCode::from(BROKEN_PIPE),
        Err(Failure::Printed) => ExitCode::FAILURE,
        Err(Failure::Partial) => ExitCode::from(PARTIAL),
        Err(Failure::Text(text)) => {
            eprintln!("ib_acme: {text}");
            ExitCode::FAILURE
        }
    })
}

/// Adds the commands to a command line, for completions and the manual.
pub(crate) fn add_to(command: clap::Command) -> clap::Command {
    command.subcommands(Line::command().get_subcommands().cloned())
}
