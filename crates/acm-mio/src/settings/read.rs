//! Reads the option file and the address file, and collects their problems.
use super::{NO_PROVIDER, unreadable::UnreadableFile};
use crate::{
    cli::{ADDR_FILE, Args, OPTION_FILE},
    host_name::is_localhost,
    regular,
};
use acm_wire::{
    Address,
    files::{
        LineError, LineErrorKind,
        addr::{self, PkeyChoice},
        opts::{self, DECLARATIONS, Opt, Options},
    },
};
use core::net::IpAddr;
use ib_mad::Pkey;
use std::{
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

/// Name of the built-in provider.
pub(crate) const BUILT_IN: &str = "ibacmp";

/// Size of the largest option or address file in bytes. The event loop reads them: 1 MiB takes milliseconds.
const LARGEST: u64 = 1 << 20;

/// A file of the command line.
#[derive(Clone, Debug)]
pub(super) struct ConfigFile {
    pub(super) what: &'static str,
    /// The absolute path.
    pub(super) path: PathBuf,
    /// True if the path is not ibacm's default. A file at the default path may be missing.
    pub(super) is_named: bool,
}

impl ConfigFile {
    /// Returns the file with an absolute path. A relative path starts at the current directory, before the daemon
    /// changes it.
    fn new(what: &'static str, path: &Path, default: &str) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { what, path: absolute, is_named: path.as_os_str() != default }
    }

    /// Returns the option file of the command line.
    pub(super) fn of_options(args: &Args) -> Self {
        Self::new("option file", &args.option_file, OPTION_FILE)
    }

    /// Returns the address file of the command line.
    pub(super) fn of_addresses(args: &Args) -> Self {
        Self::new("address file", &args.addr_file, ADDR_FILE)
    }
}

/// A file that the command line names and that is missing.
#[derive(Debug, thiserror::Error)]
#[error("{what} {path}: there is none; make it, correct -{option}, or leave it out: {then}")]
pub(crate) struct MissingFile {
    what: &'static str,
    path: PathBuf,
    option: char,
    then: &'static str,
}

impl MissingFile {
    /// Returns an error for the first file that is missing.
    pub(crate) fn check(args: &Args) -> Result<(), Self> {
        Self::all(args).next().map_or(Ok(()), Err)
    }

    /// Returns all files that are missing.
    pub(crate) fn all(args: &Args) -> impl Iterator<Item = Self> {
        let both = [
            (ConfigFile::of_options(args), &args.option_file, 'O', "every option has a default"),
            (ConfigFile::of_addresses(args), &args.addr_file, 'A', "the node then has its own name"),
        ];
        both.into_iter().filter_map(|(file, path, option, then)| {
            let is_missing = path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
            (file.is_named && is_missing).then(|| Self { what: file.what, path: path.clone(), option, then })
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfiguredAddress {
    pub(crate) address: Address,
    pub(crate) device: String,
    pub(crate) port: u8,
    pub(crate) pkey: Option<Pkey>,
    /// Location of the line: `file:line`.
    pub(crate) place: String,
}

/// An IP address of the address file that is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkippedIp {
    pub(crate) address: IpAddr,
    /// Location of the line: `file:line`.
    pub(crate) place: String,
    /// The problem of the line.
    pub(crate) problem: String,
}

/// The result of reading a file.
pub(super) struct Found<T> {
    /// The content, without malformed lines.
    pub(super) value: T,
    /// True if a line is malformed, or the file cannot be read.
    pub(super) bad: bool,
    /// The reason why a file that exists cannot be read.
    pub(super) unreadable: Option<UnreadableFile>,
}

/// Occasion of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The start of the daemon: malformed lines are skipped, and a missing file was already reported.
    First,
    /// SIGHUP while the daemon runs, with settings in force.
    Again {
        /// True if the file previously had no content, or was missing.
        was_empty: bool,
    },
}

/// Reads a file; `None` if it is missing.
fn read_file(file: &ConfigFile, reading: Reading, problems: &mut Vec<String>) -> Found<Option<Vec<u8>>> {
    let path = file.path.display();
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        regular::open(&file.path)?.0.take(LARGEST + 1).read_to_end(&mut text)?;
        let is_within = u64::try_from(text.len()).is_ok_and(|size| size <= LARGEST);
        is_within.then_some(text).ok_or_else(|| io::Error::new(ErrorKind::FileTooLarge, "it has more than 1 MiB"))
    };
    match read() {
        Ok(text) => {
            // A program that rewrites a file truncates it first, and on a full disk the file stays empty.
            let bad = reading == Reading::Again { was_empty: false } && text.trim_ascii().is_empty();
            if bad {
                problems.push(format!("{path}: it is empty"));
            }
            Found { value: Some(text), bad, unreadable: None }
        }
        Err(error) => {
            let unreadable = UnreadableFile::new(file.what, &file.path, &error);
            let bad = unreadable.is_some() || file.is_named && reading != Reading::First;
            match &unreadable {
                // At the start, the daemon ends with it.
                Some(_) if reading == Reading::First => {}
                Some(unreadable) => problems.push(unreadable.to_string()),
                None if bad => problems.push(format!("{path}: there is none any more")),
                None => {}
            }
            Found { value: None, bad, unreadable }
        }
    }
}

/// Returns a function that reports whether a line with an error may be an option of a provider in a library: if one is
/// configured, the daemon ignores lines of others (ibacm_prov(7)). A name like that of an option is a mistake.
pub(super) fn is_of_provider(text: &[u8]) -> impl Fn(&LineError) -> bool {
    let is_library = |name: &str| ![BUILT_IN, NO_PROVIDER].iter().any(|known| name.eq_ignore_ascii_case(known));
    let mut options = opts::parse(text).flatten();
    let has_library = options.any(|(_, option)| matches!(option, Opt::Provider(line) if is_library(line.name)));
    move |error| has_library && error.kind == LineErrorKind::UnknownOption && nearest(error.word(text)).is_none()
}

/// Reads the option file and adds its problems. If `libraries` of providers are loaded, a line with an unknown name is
/// skipped even while the daemon runs, because it may be an option of a provider.
pub(super) fn read_options(
    file: &ConfigFile,
    reading: Reading,
    libraries: bool,
    problems: &mut Vec<String>,
) -> Found<Vec<u8>> {
    let Found { value, mut bad, unreadable } = read_file(file, reading, problems);
    let value = value.unwrap_or_default();
    {
        let is_of_provider = is_of_provider(&value);
        for error in opts::parse(&value).filter_map(Result::err).filter(|error| !is_of_provider(error)) {
            let skipped = reading == Reading::First || (libraries && error.kind == LineErrorKind::UnknownOption);
            problems.push(problem(&file.path, &value, error, skipped));
            bad |= !skipped;
        }
    }
    Found { value, bad, unreadable }
}

pub(super) fn parse_options<'a>(text: &'a [u8], mut options: Options<'a>) -> Options<'a> {
    for (_, option) in opts::parse(text).flatten() {
        options.set(option);
    }
    options
}

fn problem(path: &Path, text: &[u8], error: LineError, skipped: bool) -> String {
    let word = error.word(text).escape_ascii().to_string();
    let meant = match error.kind {
        LineErrorKind::UnknownOption => nearest(error.word(text)).map(|name| format!(", perhaps {name}")),
        _ => None,
    };
    let (path, meant) = (path.display(), meant.unwrap_or_default());
    let then = if skipped { "; the line is skipped" } else { "" };
    format!("{path}:{}:{}: {}: \"{word}\"{meant}{then}", error.line, error.column, error.kind)
}

/// Returns the option with the most similar name; `None` if more than a third of the letters differ.
fn nearest(word: &[u8]) -> Option<&'static str> {
    let word = core::str::from_utf8(word).ok()?.to_ascii_lowercase();
    let distances = DECLARATIONS.iter().map(|option| (strsim::damerau_levenshtein(&word, option.name), option.name));
    let (distance, name) = distances.min()?;
    (distance * 3 <= name.len()).then_some(name)
}

/// Content of the address file: its addresses, `None` if the file is missing, and the IP addresses that are skipped.
type Addresses = (Option<Vec<ConfiguredAddress>>, Vec<SkippedIp>);

/// Reads the address file and adds its problems.
pub(super) fn read_addresses(
    file: &ConfigFile,
    ips: bool,
    reading: Reading,
    problems: &mut Vec<String>,
) -> Found<Addresses> {
    let Found { value, mut bad, unreadable } = read_file(file, reading, problems);
    let Some(text) = value else { return Found { value: Addresses::default(), bad, unreadable } };
    let (mut addresses, mut skipped) = (Vec::new(), Vec::new());
    for line in addr::parse(&text) {
        let (location, line) = match line {
            Ok(line) => line,
            Err(error) => {
                problems.push(problem(&file.path, &text, error, reading == Reading::First));
                bad = true;
                continue;
            }
        };
        let place = format!("{}:{}", file.path.display(), location.line);
        if let Some(address) = line.address.ip().filter(|_| !ips) {
            let problem = format!(
                "{place}: IP address {address} is skipped: addresses of interfaces come from the kernel (or set \
                 support_ips_in_addr_cfg 1)"
            );
            problems.push(problem.clone());
            skipped.push(SkippedIp { address, place, problem });
            continue;
        }
        if let Address::Name(name) = &line.address
            && is_localhost(&name.to_string())
        {
            let advice = "every host has it: set the host's name, and run ib_acme -A again";
            problems.push(format!("{place}: the name {name} is skipped: {advice}"));
            continue;
        }
        addresses.push(ConfiguredAddress {
            address: line.address,
            device: line.device.to_owned(),
            port: line.port,
            pkey: match line.pkey {
                PkeyChoice::Default => None,
                PkeyChoice::Pkey(pkey) => Some(pkey),
            },
            place,
        });
    }
    Found { value: (Some(addresses), skipped), bad, unreadable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_option_has_a_suggestion() {
        for (word, name) in [
            ("retrys", Some("retries")),
            ("time_out", Some("timeout")),
            ("Log_Fiel", Some("log_file")),
            ("addr_timout", Some("addr_timeout")),
            ("mtu", None),
            ("wholly_different", None),
            ("", None),
        ] {
            assert_eq!(nearest(word.as_bytes()), name, "{word}");
        }
        assert_eq!(nearest(b"r\xe9tries"), None);
        assert!(
            DECLARATIONS.iter().all(|option| nearest(option.name.as_bytes()) == Some(option.name)),
            "each name is nearest to itself"
        );
    }
}
