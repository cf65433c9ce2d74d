//! Options and addresses, from the files to the core's configuration.
#[cfg(feature = "verbs")]
use crate::fabric::Depths;
use crate::{cli::Args, descriptors, regular};
use acm_sansio::{
    Config,
    config::{Limits, RouteProtocol, SaDepth, ServiceIds, Share, Subnets},
    door::Level,
};
use acm_wire::{
    Address,
    files::{
        self, LineError, LineErrorKind,
        addr::{self, PkeyChoice},
        opts::{self, LogLevel, LogTarget, LoopbackProt, Opt, Options, Percent, Provider, ProviderSubnets, RouteProt},
    },
};
use core::{net::IpAddr, num::NonZeroU32};
use ib_mad::Pkey;
use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

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

/// All that the daemon reads before it starts, and again at SIGHUP.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where the files are, wherever the daemon is.
    option_file: PathBuf,
    addr_file: PathBuf,
    /// The text of the option file; empty without one.
    text: Vec<u8>,
    /// What counts where the file says nothing.
    defaults: Options<'static>,
    pub(crate) addresses: Option<Vec<ConfiguredAddress>>,
    pub(crate) skipped_ips: Vec<SkippedIp>,
    /// What is wrong with the files, each with its place; said once there is a log.
    pub(crate) problems: Vec<String>,
}

/// What a file gave.
struct Found<T> {
    /// What could be understood of it.
    value: T,
    /// Whether something could not.
    bad: bool,
}

impl Settings {
    /// Reads both files. A file that is not there is no problem: defaults count, and addresses are made up from the
    /// host's name. Paths are taken from the present directory, before the daemon leaves it.
    pub(crate) fn read(args: &Args) -> Self {
        let place = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (option_file, addr_file) = (place(&args.option_file), place(&args.addr_file));
        let mut problems = Vec::new();
        let text = read_options(&option_file, SKIPPED, &mut problems).value;
        let mut defaults = Options::default();
        if args.log_to_stdout() {
            defaults.log_file = LogTarget::Stdout;
        }
        let ips = parse_options(&text, defaults).support_ips_in_addr_cfg;
        let (addresses, skipped_ips) = read_addresses(&addr_file, ips, SKIPPED, &mut problems).value.split();
        Self { option_file, addr_file, text, defaults, addresses, skipped_ips, problems }
    }

    /// Reads both files again. One with something that cannot be understood counts for nothing: what it said before
    /// does.
    pub(crate) fn read_again(&self) -> Self {
        let Self { option_file, addr_file, defaults, .. } = self;
        let mut problems = Vec::new();
        let options = read_options(option_file, "", &mut problems);
        let text = if options.bad { self.text.clone() } else { options.value };
        let ips = parse_options(&text, *defaults).support_ips_in_addr_cfg;
        let found = read_addresses(addr_file, ips, "", &mut problems);
        let before = || (self.addresses.clone(), self.skipped_ips.clone());
        let (addresses, skipped_ips) = if found.bad { before() } else { found.value.split() };
        for (bad, path) in [(options.bad, option_file), (found.bad, addr_file)] {
            if bad {
                problems.push(format!("{}: not applied; what it said before goes on", path.display()));
            }
        }
        let (option_file, addr_file) = (option_file.clone(), addr_file.clone());
        Self { option_file, addr_file, text, defaults: *defaults, addresses, skipped_ips, problems }
    }

    /// Where options are read.
    pub(crate) fn option_file(&self) -> &Path {
        &self.option_file
    }

    /// Where addresses are read.
    pub(crate) fn addr_file(&self) -> &Path {
        &self.addr_file
    }

    /// The options in force.
    pub(crate) fn options(&self) -> Options<'_> {
        parse_options(&self.text, self.defaults)
    }

    /// Every option that the file sets, in its order.
    pub(crate) fn set_by_file(&self) -> impl Iterator<Item = Opt<'_>> {
        opts::parse(&self.text).filter_map(|line| Some(line.ok()?.1))
    }

    /// Which subnets `ibacmp` serves: those that a line gives it, and unless another provider is the default, all that
    /// no line gives to another.
    fn subnets(&self) -> Subnets {
        let (mut ours, mut others, mut default) = (Vec::new(), Vec::new(), true);
        for option in self.set_by_file() {
            let Opt::Provider(Provider { name, subnets }) = option else { continue };
            let here = name.eq_ignore_ascii_case(BUILT_IN);
            match subnets {
                ProviderSubnets::Default => default = here,
                ProviderSubnets::Prefix(prefix) if here => ours.push(prefix),
                ProviderSubnets::Prefix(prefix) => others.push(prefix),
            }
        }
        others.retain(|prefix| !ours.contains(prefix));
        if default { Subnets::AllBut(others) } else { Subnets::Only(ours) }
    }

    /// The core's share of the options, for a process that may have so many file descriptors.
    pub(crate) fn core(&self, descriptors: u64) -> Config {
        // All of them by name: an option that is read and goes nowhere does not compile.
        let Options {
            addr_timeout,
            route_prot,
            route_timeout,
            negative_timeout,
            path_service_ids,
            loopback_prot,
            timeout,
            retries,
            resolve_depth,
            sa_depth,
            sa_notices,
            groups,
            min_mtu,
            min_rate,
            log_level,
            connections,
            connection_share,
            requests,
            request_share,
            requests_per_client,
            lookups,
            lookup_share,
            stranger_queue,
            // The daemon's: files and sockets.
            log_file: _,
            lock_file: _,
            server_port: _,
            server_mode: _,
            acme_plus_kernel_only: _,
            client_timeout: _,
            metrics_listen: _,
            route_preload: _,
            route_data_file: _,
            addr_preload: _,
            addr_data_file: _,
            support_ips_in_addr_cfg: _,
            interface_addresses: _,
            // The devices'.
            send_depth: _,
            recv_depth: _,
            // They do nothing.
            umad_debug_level: _,
            addr_prot: _,
            provider_lib_path: _,
        } = self.options();
        let defaults = Config::default();
        let as_size = |number: NonZeroU32| usize::try_from(number.get()).unwrap_or(usize::MAX);
        let share = |total, percent: Percent| Share { total, percent: percent.get() };
        let connections = connections.map_or_else(|| descriptors::for_clients(descriptors), as_size);
        let limits = Limits {
            connections: share(connections, connection_share),
            requests: share(as_size(requests), request_share),
            lookups: share(as_size(lookups), lookup_share),
            requests_per_client: requests_per_client.get(),
            strangers: as_size(stranger_queue),
            ..defaults.limits
        };
        Config {
            addr_timeout,
            route_protocol: match route_prot {
                RouteProt::Sa => RouteProtocol::Sa,
                RouteProt::Acm => RouteProtocol::Acm,
            },
            route_timeout,
            negative_timeout,
            path_service_ids: service_ids(path_service_ids),
            loopback: loopback_prot == LoopbackProt::Local,
            timeout,
            retries,
            resolve_depth: resolve_depth.get(),
            sa_depth: sa_depth.map_or(SaDepth::Auto, |depth| SaDepth::Fixed(depth.get())),
            sa_notices,
            groups: groups.get(),
            min_mtu,
            min_rate,
            log_level: level(log_level),
            subnets: self.subnets(),
            limits,
            ..defaults
        }
    }

    /// How deep the queues of devices are.
    #[cfg(feature = "verbs")]
    pub(crate) fn depths(&self) -> Depths {
        let options = self.options();
        Depths { receive: options.recv_depth, send: options.send_depth }
    }

    /// How many interfaces on InfiniBand ports are looked at, and how many addresses of theirs.
    pub(crate) fn interface_addresses(&self) -> usize {
        usize::try_from(self.options().interface_addresses.get()).unwrap_or(usize::MAX)
    }

    /// The lock file; in the run directory, unless the options name another place.
    pub(crate) fn lock_file(&self, run_dir: &Path) -> PathBuf {
        let default = Options::default().lock_file;
        match self.options().lock_file {
            path if path == default => run_dir.join("ibacm.pid"),
            path => PathBuf::from(path),
        }
    }
}

const fn level(level: LogLevel) -> Level {
    match level {
        LogLevel::Basic => Level::Always,
        LogLevel::Verbose => Level::Verbose,
        LogLevel::Operation => Level::Debug,
    }
}

fn service_ids(ids: files::ServiceIds<'_>) -> ServiceIds {
    match ids {
        files::ServiceIds::None => ServiceIds::None,
        files::ServiceIds::All => ServiceIds::All,
        files::ServiceIds::List(list) => ServiceIds::ranges(list.ranges()),
    }
}

/// The provider that is built in.
const BUILT_IN: &str = "ibacmp";
/// What becomes of a line at the start.
const SKIPPED: &str = "; the line is skipped";

/// The text of a file; `None` if it is not there.
fn read_file(path: &Path, problems: &mut Vec<String>) -> Found<Option<Vec<u8>>> {
    let read = |path: &Path| -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        regular::open(path)?.0.read_to_end(&mut text)?;
        Ok(text)
    };
    match read(path) {
        Ok(text) => Found { value: Some(text), bad: false },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found { value: None, bad: false },
        Err(error) => {
            problems.push(format!("{}: {error}", path.display()));
            Found { value: None, bad: true }
        }
    }
}

/// The option file's text, and what is wrong with it.
fn read_options(path: &Path, then: &str, problems: &mut Vec<String>) -> Found<Vec<u8>> {
    let Found { value, mut bad } = read_file(path, problems);
    let value = value.unwrap_or_default();
    for line in opts::parse(&value) {
        match line {
            Ok((location, Opt::Provider(provider))) if !provider.name.eq_ignore_ascii_case(BUILT_IN) => {
                problems.push(format!(
                    "{}:{}:{}: provider {} is not built in: its subnets are not served",
                    path.display(),
                    location.line,
                    location.column,
                    provider.name.escape_debug()
                ));
            }
            Ok(_) => {}
            Err(error) => {
                problems.push(problem(path, &value, error, then));
                bad = true;
            }
        }
    }
    Found { value, bad }
}

fn parse_options<'a>(text: &'a [u8], mut options: Options<'a>) -> Options<'a> {
    for (_, option) in opts::parse(text).flatten() {
        options.set(option);
    }
    options
}

fn problem(path: &Path, text: &[u8], error: LineError, then: &str) -> String {
    let word = error.word(text).escape_ascii().to_string();
    let meant = match error.kind {
        LineErrorKind::UnknownOption => nearest(error.word(text)).map(|name| format!(", perhaps {name}")),
        _ => None,
    };
    let (path, meant) = (path.display(), meant.unwrap_or_default());
    format!("{path}:{}:{}: {}: \"{word}\"{meant}{then}", error.line, error.column, error.kind)
}

/// What a file says of addresses: nothing if it is not there.
#[derive(Default)]
struct Addresses {
    all: Option<Vec<ConfiguredAddress>>,
    skipped: Vec<SkippedIp>,
}

impl Addresses {
    fn split(self) -> (Option<Vec<ConfiguredAddress>>, Vec<SkippedIp>) {
        (self.all, self.skipped)
    }
}

/// The address file's addresses, and what is wrong with it.
fn read_addresses(path: &Path, ips: bool, then: &str, problems: &mut Vec<String>) -> Found<Addresses> {
    let Found { value, mut bad } = read_file(path, problems);
    let Some(text) = value else { return Found { value: Addresses::default(), bad } };
    let (mut addresses, mut skipped) = (Vec::new(), Vec::new());
    for line in addr::parse(&text) {
        let (location, line) = match line {
            Ok(line) => line,
            Err(error) => {
                problems.push(problem(path, &text, error, then));
                bad = true;
                continue;
            }
        };
        let place = format!("{}:{}", path.display(), location.line);
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

mod missing;
mod nearest;
pub(crate) use missing::MissingFile;
use nearest::nearest;

#[cfg(test)]
mod tests;
