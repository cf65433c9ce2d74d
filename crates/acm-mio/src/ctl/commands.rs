//! Command line of `acmctl`, and the program.
use super::{
    age::Age,
    as_service, ask, bundle, cache, config, fleet, log_level, metrics, record, reload, status,
    watch::{self, Times},
};
use crate::{
    check, cli,
    output::{self, Failure, Outcome, Output, note},
};
use clap::{Parser, Subcommand};
use std::{io, path::PathBuf, process::ExitCode, thread};

/// Shows, checks and controls acm-mio, the assistant to the InfiniBand communication manager.
#[derive(Debug, Parser)]
#[command(name = "acmctl", version)]
pub(super) struct Ctl {
    #[command(subcommand)]
    command: Command,
    /// Directory of the daemon's sockets. With the default, the daemon of the service unit comes first, whose directory
    /// is /run/acm-mio.
    #[arg(long, global = true, value_name = "DIR", default_value = "/run")]
    run_dir: PathBuf,
    /// Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show whether the daemon serves, and what is wrong. Exits with 0, or with 4 if something is.
    Status {
        /// All states and counters, without counters of zero.
        #[arg(long)]
        all: bool,
        /// Also what counters gain in this time.
        #[arg(long, value_name = "TIME")]
        delta: Option<Age>,
        /// Again whenever it changes, or after each time of --delta, until you interrupt it.
        #[arg(long)]
        watch: bool,
    },
    /// Check what the daemon needs on this machine, with the options that it is started with, and print advice. Exits
    /// with 0 if it would serve, 1 if not, 4 if it would serve and a reload would not apply a file.
    Check {
        /// The options of the daemon.
        #[command(flatten)]
        daemon: Box<cli::Args>,
        /// Check as systemd would run the daemon: with the user, groups, capabilities, limits, sandbox and options of
        /// acm-mio.service and its drop-ins. For root.
        #[arg(long, conflicts_with_all = [
            "addr_file", "option_file", "systemd", "fabric", "kernel", "interfaces", "record", "require_device",
        ])]
        as_service: bool,
        /// Print only what is wrong.
        #[arg(short, long)]
        quiet: bool,
    },
    /// Show what is cached for a destination, where it comes from, when it expires and who used it. Exits with 1 if
    /// nothing is cached.
    Explain {
        /// A name, an IP address, a LID or a GID.
        #[arg(value_name = "DEST")]
        dest: String,
    },
    /// List or remove entries of the cache.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Make the daemon read its files again, as SIGHUP does, and wait until they are applied. Exits with 1 if a file is
    /// not applied. For root and the daemon's user.
    Reload,
    /// Show the options in force, and where their values come from. Standard error has what waits for a restart, what
    /// does nothing, and what costs something. For root, the daemon's user and members of its group.
    Config {
        /// Only options whose value is not by default, or that wait for a restart.
        #[arg(long)]
        changed: bool,
    },
    /// Show the log level, or set another one for a time, without a change of a file. To set it: for root and the
    /// daemon's user. A reload does not end it.
    LogLevel {
        #[command(flatten)]
        change: log_level::Change,
    },
    /// Wait until the daemon serves: a port is active and its multicast groups are joined. Exits with 4 if that takes
    /// longer, and with 3 if no daemon answers.
    WaitReady {
        /// The longest time to wait.
        #[arg(long, value_name = "TIME", default_value = "1m")]
        timeout: Age,
    },
    /// Record the inputs and outputs of the daemon's core, for Wireshark and counting.
    #[command(subcommand)]
    Record(record::Command),
    /// Print the metrics of the daemon as OpenMetrics text, or write them into a file.
    Metrics {
        /// The file of node_exporter's textfile collector. A new file with mode 0644 replaces it at once. If that fails,
        /// it is removed. A file that has something other than metrics of acm-mio, a link, a device and a pipe are
        /// refused and stay.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Write one file for a bug report: status, metrics, configuration, cache, log, a recording, versions and adapters.
    /// Names and IP addresses are replaced. For root and the daemon's user.
    Bundle {
        #[command(flatten)]
        choice: bundle::Choice,
    },
    /// Compare nodes by their outputs of `acmctl --json`, and show which has a wrong path, or another path, option or
    /// version than most. Exits with 0 if none, 1 if a path is wrong or a file cannot be read, 4 if something differs.
    Fleet {
        /// A file for each node, with the node's name: the outputs of `status`, `config` and `cache list` with `--json`,
        /// one after the other.
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Print a line for each entry. For root, the daemon's user and members of its group.
    List {
        #[command(flatten)]
        conditions: cache::Conditions,
        /// Print no line of titles.
        #[arg(long)]
        no_header: bool,
    },
    /// Remove entries, so that the next request starts a lookup. For root and the daemon's user.
    Flush {
        #[command(flatten)]
        conditions: cache::Conditions,
        /// Remove all entries.
        #[arg(long, required_unless_present = "conditions", conflicts_with = "conditions")]
        all: bool,
    },
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    let ctl = match Ctl::try_parse() {
        Ok(ctl) => ctl,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { output::USAGE } else { 0 });
        }
    };
    let mut stdout = io::stdout().lock();
    let mut output = Output::new(&mut stdout, ctl.json);
    match run(&ctl, &mut output) {
        Ok(outcome) => outcome.exit_code(),
        Err(failure) => {
            note(&failure.to_string());
            failure.exit_code()
        }
    }
}

fn run(ctl: &Ctl, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let ask = |method: &str, target: &str| ask::ask(&ctl.run_dir, method, target);
    match &ctl.command {
        Command::Status { all, delta, watch } => {
            watch::run(&ask, Times { delta: *delta, watch: *watch }, *all, output, &mut thread::sleep)
        }
        Command::Check { as_service: true, quiet, .. } => as_service::run(*quiet, output),
        Command::Check { daemon, quiet, .. } => match daemon.stray.first() {
            Some(word) => Err(Failure::Usage(format!("{word:?} is no option of the daemon"))),
            None => check::run(daemon, *quiet, output),
        },
        Command::Explain { dest } => cache::explain(&ask, dest, output),
        Command::Cache(CacheCommand::List { conditions, no_header }) => {
            cache::list(&ask, conditions, *no_header, output)
        }
        Command::Cache(CacheCommand::Flush { conditions, .. }) => cache::flush(&ask, conditions, output),
        Command::Reload => reload::run(&ask, output),
        Command::Config { changed } => config::run(&ask, *changed, output),
        Command::LogLevel { change } => log_level::run(&ask, change, output),
        Command::WaitReady { timeout } => status::wait_ready(&ask, timeout.0, output),
        Command::Record(command) => record::run(&ask, command, output),
        Command::Bundle { choice } => bundle::run(&ask, &ctl.run_dir, choice, output, &mut thread::sleep),
        Command::Fleet { files } => fleet::run(files, output),
        Command::Metrics { file } => metrics::run(&ask, file.as_deref(), output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(words: &[&str]) -> Result<Ctl, clap::Error> {
        Ctl::try_parse_from([&["acmctl"], words].concat())
    }

    #[test]
    fn command_line_is_consistent() {
        Ctl::command().debug_assert();
    }

    #[test]
    fn run_directory_and_json_stand_before_or_after_the_command() {
        for words in [&["--run-dir", "/x", "--json", "status"][..], &["status", "--json", "--run-dir", "/x"]] {
            let ctl = parse(words).unwrap();
            assert_eq!((ctl.json, ctl.run_dir), (true, PathBuf::from("/x")), "{words:?}");
        }
        for words in [&["--run-dir", "/x", "check"][..], &["check", "--run-dir", "/x", "--systemd", "-A", "a"]] {
            let Command::Check { daemon, .. } = parse(words).unwrap().command else { panic!("{words:?}") };
            assert_eq!(daemon.run_dir, PathBuf::from("/x"), "{words:?}");
        }
    }

    #[test]
    fn wrong_command_lines_are_refused() {
        for words in [
            &[][..],
            &["lst"],
            &["explain"],
            &["explain", "a", "b"],
            &["cache"],
            &["cache", "flush"],
            &["cache", "flush", "--all", "node1"],
            &["cache", "list", "--older", "x"],
            &["cache", "list", "--partition", "0x8001"],
            &["wait-ready", "--timeout", "soon"],
            &["record", "start"],
            &["log-level", "3"],
            &["log-level", "--for", "1m"],
            &["log-level", "default", "--dest", "node2", "--for"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
        for words in [
            &["cache", "flush", "--all"][..],
            &["cache", "flush", "node1", "node2"],
            &["cache", "list", "--state", "ready", "--user", "7", "a", "b"],
        ] {
            assert!(parse(words).is_ok(), "{words:?}");
        }
    }
}
