//! Options and addresses, from the files to the core's configuration.
#[cfg(feature = "verbs")]
use crate::fabric::Depths;
use crate::{
    cli::{ADDR_FILE, Args, OPTION_FILE},
    descriptors,
};
use acm_sansio::{
    Config,
    api::{Level, ProviderId},
    config::{Limits, RouteProtocol, SaDepth, ServiceIds, Share, Subnets},
};
use acm_wire::files::{
    self,
    opts::{self, LogLevel, LogTarget, LoopbackProt, Opt, Options, Percent, Provider, ProviderSubnets, RouteProt},
};
use core::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// All that the daemon reads before it starts, and again at SIGHUP.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    option_file: FilePlace,
    addr_file: FilePlace,
    /// The text of the option file; empty without one.
    text: Vec<u8>,
    /// What counts where the file says nothing.
    defaults: Options<'static>,
    pub(crate) addresses: Option<Vec<ConfiguredAddress>>,
    pub(crate) skipped_ips: Vec<SkippedIp>,
    /// What is wrong with the files, each with its place; said once there is a log.
    pub(crate) problems: Vec<String>,
    /// Files that were read again and not applied.
    pub(crate) not_applied: u64,
    /// Providers that were loaded when the daemon began.
    pub(crate) providers: Vec<Known>,
}

impl Settings {
    /// Reads both files. A file that is not there is no problem: defaults count, and addresses are made up from the
    /// host's name. Paths are taken from the present directory, before the daemon leaves it.
    pub(crate) fn read(args: &Args) -> Self {
        let option_file = FilePlace::new(&args.option_file, OPTION_FILE);
        let addr_file = FilePlace::new(&args.addr_file, ADDR_FILE);
        let mut problems = Vec::new();
        let text = read_options(&option_file, Reading::First, &mut problems).value;
        let mut defaults = Options::default();
        if args.log_to_stdout() {
            defaults.log_file = LogTarget::Stdout;
        }
        let ips = parse_options(&text, defaults).support_ips_in_addr_cfg;
        let (addresses, skipped_ips) = read_addresses(&addr_file, ips, Reading::First, &mut problems).value.split();
        Self {
            option_file,
            addr_file,
            text,
            defaults,
            addresses,
            skipped_ips,
            problems,
            not_applied: 0,
            providers: Vec::new(),
        }
    }

    /// Reads both files again. One with something that cannot be understood counts for nothing: what it said before
    /// does. So it is with one that somebody has named and that is gone.
    pub(crate) fn read_again(&self) -> Self {
        let Self { option_file, addr_file, defaults, .. } = self;
        let mut problems = Vec::new();
        let options = read_options(option_file, Reading::Again, &mut problems);
        self.not_loaded(&options.value, &mut problems);
        let text = if options.bad { self.text.clone() } else { options.value };
        let ips = parse_options(&text, *defaults).support_ips_in_addr_cfg;
        let found = read_addresses(addr_file, ips, Reading::Again, &mut problems);
        let before = || (self.addresses.clone(), self.skipped_ips.clone());
        let (addresses, skipped_ips) = if found.bad { before() } else { found.value.split() };
        let mut not_applied = 0;
        for (bad, file) in [(options.bad, option_file), (found.bad, addr_file)] {
            if bad {
                problems.push(format!("{}: not applied; what it said before goes on", file.path.display()));
                not_applied += 1;
            }
        }
        let (option_file, addr_file, defaults) = (option_file.clone(), addr_file.clone(), *defaults);
        let providers = self.providers.clone();
        Self { option_file, addr_file, text, defaults, addresses, skipped_ips, problems, not_applied, providers }
    }

    /// Where options are read.
    pub(crate) fn option_file(&self) -> &Path {
        &self.option_file.path
    }

    /// Whether each of both files was named on the command line: options, addresses.
    pub(crate) const fn are_named(&self) -> [bool; 2] {
        [self.option_file.is_named, self.addr_file.is_named]
    }

    /// Where addresses are read.
    pub(crate) fn addr_file(&self) -> &Path {
        &self.addr_file.path
    }

    /// The options in force.
    pub(crate) fn options(&self) -> Options<'_> {
        parse_options(&self.text, self.defaults)
    }

    /// Every option that the file sets, in its order.
    pub(crate) fn set_by_file(&self) -> impl Iterator<Item = Opt<'_>> {
        opts::parse(&self.text).filter_map(|line| Some(line.ok()?.1))
    }

    /// Which provider a line means; `None` if there is no such one.
    fn provider(&self, name: &str) -> Option<ProviderId> {
        if name.eq_ignore_ascii_case(BUILT_IN) {
            return Some(ProviderId::BUILT_IN);
        }
        self.providers.iter().find(|known| known.is_called(name)).map(|known| known.id)
    }

    /// Which provider serves which subnets: those that a line gives it, and the default one all that no line gives to
    /// another. That is the built-in one, unless a line says otherwise; it has, too, what lines give to it and to others.
    fn subnets(&self) -> Subnets {
        let mut subnets = Subnets::default();
        for option in self.set_by_file() {
            let Opt::Provider(Provider { name, subnets: which }) = option else { continue };
            let provider = self.provider(name);
            match which {
                ProviderSubnets::Default => subnets.default = provider,
                ProviderSubnets::Prefix(prefix) if provider == Some(ProviderId::BUILT_IN) => {
                    subnets.by_prefix.insert(prefix, provider);
                }
                ProviderSubnets::Prefix(prefix) => {
                    subnets.by_prefix.entry(prefix).or_insert(provider);
                }
            }
        }
        let default = subnets.default;
        subnets.by_prefix.retain(|_, provider| *provider != default);
        subnets
    }

    /// Says which lines of a file that was read again name providers that were not loaded: libraries are when the daemon
    /// begins.
    fn not_loaded(&self, text: &[u8], problems: &mut Vec<String>) {
        for (place, name) in self.providers_of(text) {
            if self.provider(name).is_none() && !name.eq_ignore_ascii_case(NOBODY) {
                let name = name.escape_debug();
                problems.push(format!("{place}: provider {name}: needs a restart; its subnets are not served"));
            }
        }
    }

    /// The lines `provider`: where each stands, and which provider it names.
    pub(crate) fn provider_lines(&self) -> impl Iterator<Item = (String, &str)> {
        self.providers_of(&self.text)
    }

    fn providers_of<'a>(&self, text: &'a [u8]) -> impl Iterator<Item = (String, &'a str)> {
        let file = self.option_file.path.display().to_string();
        opts::parse(text).flatten().filter_map(move |(place, option)| match option {
            Opt::Provider(Provider { name, .. }) => Some((format!("{file}:{}:{}", place.line, place.column), name)),
            _ => None,
        })
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
            // The libraries'.
            provider_lib_path: _,
            // They do nothing.
            umad_debug_level: _,
            addr_prot: _,
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
            remote_lookups: as_size(stranger_queue),
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
            providers: self.providers.iter().map(|known| known.name.clone()).collect(),
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

mod loaded;
mod missing;
mod nearest;
mod place;
mod read;
pub(crate) use loaded::{Known, NOBODY};
pub(crate) use missing::MissingFile;
use place::FilePlace;
pub(crate) use read::{BUILT_IN, ConfiguredAddress, SkippedIp};
use read::{Reading, parse_options, read_addresses, read_options};

#[cfg(test)]
pub(crate) mod tests;
