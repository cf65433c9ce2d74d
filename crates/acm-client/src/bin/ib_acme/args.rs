//! The command line: one-letter options with getopt's rules, and long options.
use crate::{number::atoi, requirements::Requirements};
use clap::{ArgAction, Parser, error::ErrorKind};
use std::ffi::OsString;

/// Default directory of the generated files.
const CONF_DIR: &str = "/etc/rdma";
const ADDR_FILE: &str = "ibacm_addr.cfg";
const OPTS_FILE: &str = "ibacm_opts.cfg";
/// Default socket of the daemon.
pub(crate) const SOCKET: &str = "/run/ibacm-unix.sock";

/// Queries a daemon (ibacm, acm-mio) for paths, counters and endpoints, and writes configuration files for it.
///
/// One-letter options, output and exit status are those of rdma-core's ib_acme. A list of names is written node[1-3,5],
/// which is node1 node2 node3 node5. The word vfabric in place of an option shows the parameters of a program's
/// traffic. The word groups shows, joins and leaves multicast groups of the fabric. The word
/// generate-hosts writes a host file for the daemon. Each has --help.
#[derive(Debug, Parser)]
#[command(name = "ib_acme", version, disable_help_flag = true, disable_version_flag = true, args_override_self = true)]
pub(crate) struct Args {
    /// Type of the addresses of -s and -d: i (IP address), n (name), l (LID) or g (GID). The default is an IP address,
    /// a host name that the system resolves, or a LID.
    #[arg(short = 'f', value_name = "FORMAT", allow_hyphen_values = true)]
    pub(crate) format: Option<String>,
    /// Source of the path: an address of the daemon's node. A list is allowed.
    #[arg(short = 's', value_name = "ADDRESS", allow_hyphen_values = true)]
    pub(crate) source: Option<String>,
    /// Destination of the path. A list is allowed.
    #[arg(short = 'd', value_name = "ADDRESS", allow_hyphen_values = true)]
    pub(crate) dest: Option<String>,
    /// Query the subnet administrator for the path, too.
    #[arg(short = 'v')]
    pub(crate) verify: bool,
    /// Return the daemon's cached path, without waiting.
    #[arg(short = 'c')]
    pub(crate) cached: bool,
    /// Show the endpoint with number N, or all.
    #[arg(short = 'e', value_name = "N", num_args = 0..=1, default_missing_value = "")]
    pub(crate) endpoint: Option<String>,
    /// Show counters: the daemon's in a row or in a column (`col`), those of endpoint N, of all endpoints (`all`), or
    /// of the endpoint with the address of -s (`s`).
    #[arg(short = 'P', value_name = "WHICH", num_args = 0..=1, default_missing_value = "")]
    pub(crate) perf: Option<String>,
    /// The daemon: the path of its socket, or a host. A list is allowed.
    #[arg(short = 'S', value_name = "SERVICE", allow_hyphen_values = true, default_value = SOCKET)]
    pub(crate) services: String,
    /// Number of requests for each path.
    #[arg(short = 'C', value_name = "COUNT", allow_hyphen_values = true)]
    pub(crate) repetitions: Option<String>,
    /// Write an address file for this host.
    #[arg(short = 'A', value_name = "FILE", num_args = 0..=1, default_missing_value = ADDR_FILE)]
    pub(crate) addr_file: Option<String>,
    /// Also write the IP addresses of interfaces into the address file. The daemons serve them from the file only with
    /// the option `support_ips_in_addr_cfg 1`.
    #[arg(long, requires = "addr_file")]
    pub(crate) with_addresses: bool,
    /// Write an option file with each option, its description and its default.
    #[arg(short = 'O', value_name = "FILE", num_args = 0..=1, default_missing_value = OPTS_FILE)]
    pub(crate) opts_file: Option<String>,
    /// Directory of the files of -A and -O. It is created if it does not exist.
    #[arg(short = 'D', value_name = "DIR", allow_hyphen_values = true, default_value = CONF_DIR)]
    pub(crate) dir: String,
    /// Print the names of the written files.
    #[arg(short = 'V')]
    pub(crate) verbose: bool,
    /// Further requirements on the path.
    #[command(flatten)]
    pub(crate) requirements: Requirements,
    /// Show the alternate paths, too: those between the other LIDs of both ports (LMC), at most N.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "127",
        requires = "dest", conflicts_with = "diff")]
    pub(crate) alternates: Option<usize>,
    /// Compare the daemon's path with the path of the subnet administrator. The exit status is 1 if they differ.
    #[arg(long, requires = "dest")]
    pub(crate) diff: bool,
    /// Diagnose a missing path: query step by step, and print the failed step with advice.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["dest", "json", "perf", "endpoint"])]
    pub(crate) trace: Option<String>,
    /// Print JSON.
    #[arg(long, conflicts_with_all = ["addr_file", "opts_file", "diff"])]
    pub(crate) json: bool,
    /// Repeat the query every SECONDS, and print the output when it changes.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "1",
        value_parser = clap::value_parser!(u16).range(1..), conflicts_with_all = ["addr_file", "opts_file"])]
    pub(crate) watch: Option<u16>,
    /// Print a completion script for the shell, and exit.
    #[arg(long, value_name = "SHELL", exclusive = true)]
    pub(crate) completions: Option<clap_complete::Shell>,
    /// Print help and exit.
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version and exit.
    #[arg(long, action = ArgAction::Version)]
    version: Option<bool>,
    /// Arguments that are not options.
    #[arg(hide = true)]
    stray: Vec<String>,
}

/// The type of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Ip,
    Name,
    Lid,
    Gid,
}

/// The requested counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Perf {
    Row,
    Column,
    Endpoint(i32),
    All,
    Source,
}

/// The reason why the command line was rejected.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The options do not fit together.
    Together,
    /// An option is invalid, or help or the version is requested.
    Clap(clap::Error),
}

/// Parses the command line.
pub(crate) fn parse(words: &[OsString]) -> Result<Args, Refusal> {
    let args = Args::try_parse_from(words).map_err(Refusal::Clap)?;
    if args.format.is_some() && args.format().is_none() {
        return Err(Refusal::Together);
    }
    let of_source = args.perf() == Some(Perf::Source);
    let is_missing = of_source && args.source.is_none();
    let is_useless = args.source.is_some() && args.dest.is_none() && args.trace.is_none() && !of_source;
    let does_nothing = !args.asks() && !args.generates() && args.completions.is_none();
    if is_missing || is_useless || does_nothing {
        return Err(Refusal::Together);
    }
    Ok(args)
}

impl Args {
    /// Returns the address type of `-f`.
    pub(crate) fn format(&self) -> Option<Format> {
        match self.format.as_ref()?.chars().next()? {
            'i' => Some(Format::Ip),
            'n' => Some(Format::Name),
            'l' => Some(Format::Lid),
            'g' => Some(Format::Gid),
            _ => None,
        }
    }

    /// Returns the requested counters.
    pub(crate) fn perf(&self) -> Option<Perf> {
        let which = self.perf.as_deref()?;
        let starts = |word: &str| which.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        Some(match atoi(which) {
            _ if starts("col") => Perf::Column,
            _ if starts("all") => Perf::All,
            _ if which == "s" => Perf::Source,
            number @ 1.. => Perf::Endpoint(number),
            _ => Perf::Row,
        })
    }

    /// Returns the number of the requested endpoint; 0 for all.
    pub(crate) fn endpoint(&self) -> Option<i32> {
        self.endpoint.as_deref().map(|number| atoi(number).max(0))
    }

    /// Returns the number of requests for each path. A negative number means none.
    pub(crate) fn repetitions(&self) -> i32 {
        match self.repetitions.as_deref().map_or(1, atoi) {
            0 => 1,
            count => count,
        }
    }

    /// Reports whether the daemon is queried.
    pub(crate) const fn asks(&self) -> bool {
        self.dest.is_some() || self.trace.is_some() || self.perf.is_some() || self.endpoint.is_some()
    }

    /// Reports whether files are written.
    pub(crate) const fn generates(&self) -> bool {
        self.addr_file.is_some() || self.opts_file.is_some()
    }
}

impl Refusal {
    /// Returns the letter of an unknown one-letter option.
    pub(crate) fn unknown_letter(&self) -> Option<char> {
        self.letter(ErrorKind::UnknownArgument)
    }

    /// Returns the letter of a one-letter option without its value.
    pub(crate) fn letter_without_value(&self) -> Option<char> {
        self.letter(ErrorKind::InvalidValue)
    }

    fn letter(&self, kind: ErrorKind) -> Option<char> {
        use clap::error::{ContextKind, ContextValue};
        let Self::Clap(error) = self else { return None };
        let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
        let mut letters = argument.strip_prefix('-')?.chars();
        let letter = letters.next().filter(|letter| *letter != '-')?;
        (error.kind() == kind).then_some(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &[&str]) -> Result<Args, Refusal> {
        let words: Vec<OsString> = [&["ib_acme"], words].concat().into_iter().map(OsString::from).collect();
        parse(&words)
    }

    #[test]
    fn optional_values_may_be_missing() {
        let args = parse_words(&["-e", "-P", "col", "stray", "-A", "-Ox", "-d", "-n", "-C", "-3"]).unwrap();
        assert_eq!((args.endpoint(), args.perf(), args.repetitions()), (Some(0), Some(Perf::Column), -3));
        assert_eq!((args.addr_file.as_deref(), args.opts_file.as_deref()), (Some(ADDR_FILE), Some("x")));
        assert_eq!(args.dest.as_deref(), Some("-n"));
        let args = parse_words(&["-e", "7", "-P3", "-C", "x", "-C", "0"]).unwrap();
        assert_eq!((args.endpoint(), args.perf(), args.repetitions()), (Some(7), Some(Perf::Endpoint(3)), 1));
        for (word, perf) in [("COLUMN", Perf::Column), ("All", Perf::All), ("s", Perf::Source), ("sx", Perf::Row)] {
            assert_eq!(parse_words(&["-s", "a", "-d", "b", "-P", word]).unwrap().perf(), Some(perf), "{word}");
        }
    }

    #[test]
    fn options_that_do_not_fit_together_are_rejected() {
        for words in
            [&[][..], &["-v"], &["-s", "a"], &["-P", "s"], &["-s", "a", "-e"], &["-d", "a", "-f", "u"], &["-V"]]
        {
            assert!(matches!(parse_words(words), Err(Refusal::Together)), "{words:?}");
        }
        for words in [&["-P"][..], &["-e"], &["-d", "a"], &["-P", "s", "-s", "a"], &["-O"], &["-d", "a", "-fname"]] {
            assert!(parse_words(words).is_ok(), "{words:?}");
        }
    }

    #[test]
    fn refused_letters_are_those_of_getopt() {
        let letters = |words: &[&str]| {
            let refusal = parse_words(words).unwrap_err();
            (refusal.unknown_letter(), refusal.letter_without_value())
        };
        assert_eq!(letters(&["-x"]), (Some('x'), None));
        assert_eq!(letters(&["-vh"]), (Some('h'), None));
        assert_eq!(letters(&["-d"]), (None, Some('d')));
        assert_eq!(letters(&["--none"]), (None, None));
        assert_eq!(letters(&["--help"]), (None, None));
    }
}
