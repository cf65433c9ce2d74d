//! Both files, from bytes to what they say, and what is wrong with them.
use super::{nearest::nearest, place::FilePlace};
use crate::regular;
use acm_wire::{
    Address,
    files::{
        LineError, LineErrorKind,
        addr::{self, PkeyChoice},
        opts::{self, Options},
    },
};
use core::net::IpAddr;
use ib_mad::Pkey;
use std::{
    io::{self, Read},
    path::Path,
};

/// The provider that is built in.
pub(crate) const BUILT_IN: &str = "ibacmp";

/// A local address from the address file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfiguredAddress {
    pub(crate) address: Address,
    pub(crate) device: String,
    pub(crate) port: u8,
    pub(crate) pkey: Option<Pkey>,
    /// Where it stands: `file:line`.
    pub(crate) place: String,
}

/// An IP address of the address file that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkippedIp {
    pub(crate) address: IpAddr,
    /// Where it stands: `file:line`.
    pub(crate) place: String,
    /// What is said of it among the problems.
    pub(crate) problem: String,
}

/// What a file gave.
pub(super) struct Found<T> {
    /// What could be understood of it.
    pub(super) value: T,
    /// Whether something could not.
    pub(super) bad: bool,
}

/// When a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Before the daemon starts: what cannot be understood is skipped, and what is not there was looked for before.
    First,
    /// While it runs: something is in force.
    Again,
}

impl Reading {
    /// What becomes of a line.
    const fn then(self) -> &'static str {
        match self {
            Self::First => "; the line is skipped",
            Self::Again => "",
        }
    }
}

/// The text of a file; `None` if it is not there.
fn read_file(file: &FilePlace, reading: Reading, problems: &mut Vec<String>) -> Found<Option<Vec<u8>>> {
    let path = file.path.display();
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        regular::open(&file.path)?.0.read_to_end(&mut text)?;
        Ok(text)
    };
    match read() {
        Ok(text) => Found { value: Some(text), bad: false },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let bad = file.is_named && reading == Reading::Again;
            if bad {
                problems.push(format!("{path}: there is none any more"));
            }
            Found { value: None, bad }
        }
        Err(error) => {
            problems.push(format!("{path}: {error}"));
            Found { value: None, bad: true }
        }
    }
}

/// The option file's text, and what is wrong with it.
pub(super) fn read_options(file: &FilePlace, reading: Reading, problems: &mut Vec<String>) -> Found<Vec<u8>> {
    let Found { value, mut bad } = read_file(file, reading, problems);
    let value = value.unwrap_or_default();
    for line in opts::parse(&value) {
        if let Err(error) = line {
            problems.push(problem(&file.path, &value, error, reading));
            bad = true;
        }
    }
    Found { value, bad }
}

pub(super) fn parse_options<'a>(text: &'a [u8], mut options: Options<'a>) -> Options<'a> {
    for (_, option) in opts::parse(text).flatten() {
        options.set(option);
    }
    options
}

fn problem(path: &Path, text: &[u8], error: LineError, reading: Reading) -> String {
    let word = error.word(text).escape_ascii().to_string();
    let meant = match error.kind {
        LineErrorKind::UnknownOption => nearest(error.word(text)).map(|name| format!(", perhaps {name}")),
        _ => None,
    };
    let (path, meant) = (path.display(), meant.unwrap_or_default());
    format!("{path}:{}:{}: {}: \"{word}\"{meant}{}", error.line, error.column, error.kind, reading.then())
}

/// What a file says of addresses: nothing if it is not there.
#[derive(Default)]
pub(super) struct Addresses {
    all: Option<Vec<ConfiguredAddress>>,
    skipped: Vec<SkippedIp>,
}

impl Addresses {
    pub(super) fn split(self) -> (Option<Vec<ConfiguredAddress>>, Vec<SkippedIp>) {
        (self.all, self.skipped)
    }
}

/// The address file's addresses, and what is wrong with it.
pub(super) fn read_addresses(
    file: &FilePlace,
    ips: bool,
    reading: Reading,
    problems: &mut Vec<String>,
) -> Found<Addresses> {
    let Found { value, mut bad } = read_file(file, reading, problems);
    let Some(text) = value else { return Found { value: Addresses::default(), bad } };
    let (mut addresses, mut skipped) = (Vec::new(), Vec::new());
    for line in addr::parse(&text) {
        let (location, line) = match line {
            Ok(line) => line,
            Err(error) => {
                problems.push(problem(&file.path, &text, error, reading));
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
    Found { value: Addresses { all: Some(addresses), skipped }, bad }
}
