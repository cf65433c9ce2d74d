//! The command line: options of one letter as getopt reads them, and long ones of ours.
use crate::{number::atoi, wanted::Wanted};
use clap::{ArgAction, Parser, error::ErrorKind};
use std::ffi::OsString;

/// Where the generated files go.
const CONF_DIR: &str = "/etc/rdma";
const ADDR_FILE: &str = "ibacm_addr.cfg";
const OPTS_FILE: &str = "ibacm_opts.cfg";
/// Where the daemon's clients find it.
pub(crate) const SOCKET: &str = "/run/ibacm-unix.sock";

/// Asks a daemon (ibacm, acm-mio) for paths, counters and endpoints, and writes files for it to begin with.
///
/// Options of one letter, output and exit status are those of rdma-core's ib_acme. A list of names is written
/// node[1-3,5], which is node1 node2 node3 node5. In place of an option, the word vfabric shows what a program's traffic
/// gets, and groups shows the fabric's multicast groups, joins and leaves them; each has --help.
#[derive(Debug, Parser)]
#[command(name = "ib_acme", version, disable_help_flag = true, disable_version_flag = true, args_override_self = true)]
pub(crate) struct Args {
    /// What -s and -d are: i (IP address), n (name), l (LID) or g (GID). Without it: an IP address, a host name that the
    /// system knows the IP address of, or a LID.
    #[arg(short = 'f', value_name = "FORMAT", allow_hyphen_values = true)]
    pub(crate) format: Option<String>,
    /// Where the path begins: an address of the daemon's node. A list is allowed.
    #[arg(short = 's', value_name = "ADDRESS", allow_hyphen_values = true)]
    pub(crate) source: Option<String>,
    /// Where the path leads. A list is allowed.
    #[arg(short = 'd', value_name = "ADDRESS", allow_hyphen_values = true)]
    pub(crate) dest: Option<String>,
    /// Have the path looked up by subnet administration, too.
    #[arg(short = 'v')]
    pub(crate) verify: bool,
    /// Take what is in the daemon's cache, and do not wait.
    #[arg(short = 'c')]
    pub(crate) cached: bool,
    /// Show the endpoint with number N, or all.
    #[arg(short = 'e', value_name = "N", num_args = 0..=1, default_missing_value = "")]
    pub(crate) endpoint: Option<String>,
    /// Show counters: those of the daemon in a row or in a column (`col`), of endpoint N, of all endpoints (`all`), or of
    /// the endpoint with the address of -s (`s`).
    #[arg(short = 'P', value_name = "WHICH", num_args = 0..=1, default_missing_value = "")]
    pub(crate) perf: Option<String>,
    /// The daemon to ask: the path of its socket, or a host. A list is allowed.
    #[arg(short = 'S', value_name = "SERVICE", allow_hyphen_values = true, default_value = SOCKET)]
    pub(crate) services: String,
    /// How often to ask for each path.
    #[arg(short = 'C', value_name = "COUNT", allow_hyphen_values = true)]
    pub(crate) repetitions: Option<String>,
    /// Write an address file for this host.
    #[arg(short = 'A', value_name = "FILE", num_args = 0..=1, default_missing_value = ADDR_FILE)]
    pub(crate) addr_file: Option<String>,
    /// Write an option file with each option, what it does, and its default.
    #[arg(short = 'O', value_name = "FILE", num_args = 0..=1, default_missing_value = OPTS_FILE)]
    pub(crate) opts_file: Option<String>,
    /// Where -A and -O write. It is made if it is missing.
    #[arg(short = 'D', value_name = "DIR", allow_hyphen_values = true, default_value = CONF_DIR)]
    pub(crate) dir: String,
    /// Say what is written.
    #[arg(short = 'V')]
    pub(crate) verbose: bool,
    /// What a path is to be besides.
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Show in which fields the daemon's path and subnet administration's differ; status 1 if they do.
    #[arg(long, requires = "dest")]
    pub(crate) diff: bool,
    /// Find out why a path is not found: ask step by step, and say what is missing and what to do.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["dest", "json", "perf", "endpoint"])]
    pub(crate) trace: Option<String>,
    /// Print JSON.
    #[arg(long, conflicts_with_all = ["addr_file", "opts_file", "diff"])]
    pub(crate) json: bool,
    /// Ask again and again, each SECONDS, and print what differs from the time before.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "1",
        value_parser = clap::value_parser!(u16).range(1..), conflicts_with_all = ["addr_file", "opts_file"])]
    pub(crate) watch: Option<u16>,
    /// Print what the shell's completion needs, and exit.
    #[arg(long, value_name = "SHELL", exclusive = true)]
    pub(crate) completions: Option<clap_complete::Shell>,
    /// Print this and exit.
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version and exit.
    #[arg(long, action = ArgAction::Version)]
    version: Option<bool>,
    /// Words that are no options.
    #[arg(hide = true)]
    stray: Vec<String>,
}

/// What an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Ip,
    Name,
    Lid,
    Gid,
}

/// Whose counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Perf {
    Row,
    Column,
    Endpoint(i32),
    All,
    Source,
}

/// Why there are no arguments.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// They do not go together.
    Together,
    /// One of them is wrong, or help or the version is asked for.
    Clap(clap::Error),
}

/// Reads the command line.
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
    /// What all addresses are, if `-f` says so.
    pub(crate) fn format(&self) -> Option<Format> {
        match self.format.as_ref()?.chars().next()? {
            'i' => Some(Format::Ip),
            'n' => Some(Format::Name),
            'l' => Some(Format::Lid),
            'g' => Some(Format::Gid),
            _ => None,
        }
    }

    /// Whose counters are asked for.
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

    /// Which endpoint is asked for; 0 for all.
    pub(crate) fn endpoint(&self) -> Option<i32> {
        self.endpoint.as_deref().map(|number| atoi(number).max(0))
    }

    /// How often; less than once is never.
    pub(crate) fn repetitions(&self) -> i32 {
        match self.repetitions.as_deref().map_or(1, atoi) {
            0 => 1,
            count => count,
        }
    }

    /// Whether a daemon is asked.
    pub(crate) const fn asks(&self) -> bool {
        self.dest.is_some() || self.trace.is_some() || self.perf.is_some() || self.endpoint.is_some()
    }

    /// Whether files are written.
    pub(crate) const fn generates(&self) -> bool {
        self.addr_file.is_some() || self.opts_file.is_some()
    }
}

impl Refusal {
    /// The option of one letter that is not known.
    pub(crate) fn unknown_letter(&self) -> Option<char> {
        self.letter(ErrorKind::UnknownArgument)
    }

    /// The option of one letter that lacks its value.
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
    fn values_that_need_not_be_there() {
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
    fn what_does_not_go_together() {
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
    fn what_getopt_would_say() {
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
