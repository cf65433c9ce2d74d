//! Options and addresses, from the files to the core's configuration.
use crate::{cli::Args, descriptors, fabric::NamedPort};
use acm_sansio::{
    Config,
    config::{Limits, RouteProtocol, SaDepth, ServiceIds, Share},
    door::Level,
};
use acm_wire::{
    Address,
    files::{
        self, LineError,
        addr::{self, PkeyChoice},
        opts::{self, LogLevel, LoopbackProt, Opt, Options, Percent, RouteProt},
    },
};
use core::num::NonZeroU32;
use ib_mad::Pkey;
use std::{
    fs, io,
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

/// All that the daemon reads before it starts.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) options: Options<'static>,
    pub(crate) addresses: Option<Vec<ConfiguredAddress>>,
    /// What is wrong with the files, each with its place; said once there is a log.
    pub(crate) problems: Vec<String>,
}

impl Settings {
    /// Reads both files. A file that is not there is no problem: defaults count, and addresses are made up from the
    /// host's name. Paths are taken from the present directory, before the daemon leaves it.
    pub(crate) fn read(args: &Args) -> Self {
        let mut problems = Vec::new();
        // Options borrow from their text, and count for as long as the process lives.
        let text: &'static [u8] = read_file(&args.option_file, &mut problems).unwrap_or_default().leak();
        let mut options = Options::default();
        for line in opts::parse(text) {
            match line {
                Ok((_, Opt::Provider(provider))) if provider.name == "ibacmp" => {}
                Ok((location, Opt::Provider(provider))) => problems.push(format!(
                    "{}:{}:{}: provider {} is not built in; ibacmp serves all subnets",
                    args.option_file.display(),
                    location.line,
                    location.column,
                    provider.name.escape_debug()
                )),
                Ok((_, option)) => options.set(option),
                Err(error) => problems.push(problem(&args.option_file, text, error)),
            }
        }
        let addresses = read_file(&args.addr_file, &mut problems)
            .map(|text| read_addresses(&args.addr_file, &text, options.support_ips_in_addr_cfg, &mut problems));
        Self { options, addresses, problems }
    }

    /// The core's share of the options, for a process that may have so many file descriptors.
    pub(crate) fn core(&self, descriptors: u64) -> Config {
        let options = &self.options;
        let defaults = Config::default();
        let as_size = |number: NonZeroU32| usize::try_from(number.get()).unwrap_or(usize::MAX);
        let share = |total, percent: Percent| Share { total, percent: percent.get() };
        let connections = options.connections.map_or_else(|| descriptors::for_clients(descriptors), as_size);
        let limits = Limits {
            connections: share(connections, options.connection_share),
            requests: share(as_size(options.requests), options.request_share),
            lookups: share(as_size(options.lookups), options.lookup_share),
            requests_per_client: options.requests_per_client.get(),
            strangers: as_size(options.stranger_queue),
            ..defaults.limits
        };
        Config {
            addr_timeout: options.addr_timeout,
            route_protocol: match options.route_prot {
                RouteProt::Sa => RouteProtocol::Sa,
                RouteProt::Acm => RouteProtocol::Acm,
            },
            route_timeout: options.route_timeout,
            negative_timeout: options.negative_timeout,
            path_service_ids: match options.path_service_ids {
                files::ServiceIds::None => ServiceIds::None,
                files::ServiceIds::All => ServiceIds::All,
                files::ServiceIds::List(list) => ServiceIds::ranges(list.ranges()),
            },
            loopback: options.loopback_prot == LoopbackProt::Local,
            timeout: options.timeout,
            retries: options.retries,
            resolve_depth: options.resolve_depth.get(),
            sa_depth: options.sa_depth.map_or(SaDepth::Auto, |depth| SaDepth::Fixed(depth.get())),
            min_mtu: options.min_mtu,
            min_rate: options.min_rate,
            log_level: match options.log_level {
                LogLevel::Basic => Level::Always,
                LogLevel::Verbose => Level::Verbose,
                LogLevel::Operation => Level::Debug,
            },
            limits,
            ..defaults
        }
    }

    /// The lock file; in the run directory, unless the options name another place.
    pub(crate) fn lock_file(&self, run_dir: &Path) -> PathBuf {
        let default = Options::default().lock_file;
        match self.options.lock_file {
            path if path == default => run_dir.join("ibacm.pid"),
            path => PathBuf::from(path),
        }
    }
}

fn read_file(path: &Path, problems: &mut Vec<String>) -> Option<Vec<u8>> {
    match fs::read(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            problems.push(format!("{}: {error}", path.display()));
            None
        }
    }
}

fn problem(path: &Path, text: &[u8], error: LineError) -> String {
    let word = error.word(text).escape_ascii().to_string();
    format!("{}:{}:{}: {}: \"{word}\"; the line is skipped", path.display(), error.line, error.column, error.kind)
}

fn read_addresses(path: &Path, text: &[u8], ips: bool, problems: &mut Vec<String>) -> Vec<ConfiguredAddress> {
    let mut addresses = Vec::new();
    for line in addr::parse(text) {
        let (location, line) = match line {
            Ok(line) => line,
            Err(error) => {
                problems.push(problem(path, text, error));
                continue;
            }
        };
        let place = format!("{}:{}", path.display(), location.line);
        if line.address.ip().is_some() && !ips {
            problems.push(format!(
                "{place}: IP address {} is skipped: addresses of interfaces come from the kernel (or set \
                 support_ips_in_addr_cfg 1)",
                line.address
            ));
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
    addresses
}

/// What `ib_acme -A` writes when there is no address file: the host's name on the first port, and name-1, name-2 ...
/// on each. Kept in memory: a daemon does not write its own configuration.
pub(crate) fn default_addresses(ports: &[NamedPort]) -> Vec<ConfiguredAddress> {
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default();
    let host = host.split('.').next().unwrap_or_default().to_owned();
    let entry = |name: &str, port: &NamedPort| ConfiguredAddress {
        address: Address::Name(acm_wire::Name::new(name.as_bytes())),
        device: port.device.clone(),
        port: port.number,
        pkey: None,
        place: "default".into(),
    };
    let first = ports.first().map(|port| entry(&host, port));
    let each = (1..).zip(ports).map(|(number, port): (u32, _)| entry(&format!("{host}-{number}"), port));
    first.into_iter().chain(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn problems_have_their_place_and_nothing_else_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let (opts, addrs) = (dir.path().join("opts"), dir.path().join("addrs"));
        fs::write(&opts, "timeout 500\nretrys 3\nroute_prot acm\nprovider other default\nmin_mtu 77\n").unwrap();
        fs::write(&addrs, "node1 mlx5_0 1 default\n10.0.0.1 mlx5_0 1 default\nx mlx5_0 0 default\nnode1 a 2 8001\n")
            .unwrap();
        let (o, a) = (opts.to_str().unwrap(), addrs.to_str().unwrap());
        let settings = Settings::read(&Args::try_parse_from(["acm-mio", "-O", o, "-A", a]).unwrap());
        assert_eq!(settings.core(1024).timeout.as_millis(), 500);
        assert_eq!(settings.core(1024).route_protocol, RouteProtocol::Acm);
        let places: Vec<String> = settings
            .problems
            .iter()
            .map(|problem| problem.rsplit('/').next().unwrap().split(": ").next().unwrap().to_owned())
            .collect();
        assert_eq!(places, ["opts:2:1", "opts:4:1", "opts:5:9", "addrs:2", "addrs:3:10"]);
        let addresses = settings.addresses.unwrap();
        assert_eq!(addresses.len(), 2);
        assert_eq!((addresses[1].pkey, addresses[1].port), (Some(Pkey::new(0x8001)), 2));
    }

    #[test]
    fn without_files_there_are_defaults() {
        let settings = Settings::read(&Args::try_parse_from(["acm-mio", "-O", "/none", "-A", "/none"]).unwrap());
        let limits = Limits { connections: Share { total: 768, percent: 90 }, ..Limits::default() };
        let expected = Config { limits, log_level: Level::Always, ..Config::default() };
        assert_eq!(settings.core(1024), expected);
        assert_eq!((settings.addresses, settings.problems.len()), (None, 0));
    }

    #[test]
    fn bounds_are_options() {
        let dir = tempfile::tempdir().unwrap();
        let opts = dir.path().join("opts");
        let text = "connections 7\nconnection_share 1\nrequests 8\nrequest_share 2\nlookups 12\nlookup_share 3\n\
                    requests_per_client 9\nstranger_queue 10\nsa_depth 11\nlog_level 2\n\
                    negative_timeout 70\npath_service_ids udp:2-3,lustre\n";
        fs::write(&opts, text).unwrap();
        let args = Args::try_parse_from(["acm-mio", "-O", opts.to_str().unwrap(), "-A", "/none"]).unwrap();
        let config = Settings::read(&args).core(1024);
        let limits = Limits {
            connections: Share { total: 7, percent: 1 },
            requests: Share { total: 8, percent: 2 },
            lookups: Share { total: 12, percent: 3 },
            requests_per_client: 9,
            strangers: 10,
            ..Limits::default()
        };
        assert_eq!((config.limits, config.sa_depth), (limits, SaDepth::Fixed(11)));
        assert_eq!(config.log_level, Level::Debug);
        assert_eq!(config.negative_timeout, Some(core::time::Duration::from_millis(70)));
        let id = ib_mad::ServiceId::new;
        let ids = [id(0x0106_03db)..=id(0x0106_03db), id(0x0111_0002)..=id(0x0111_0003)];
        assert_eq!(config.path_service_ids, ServiceIds::Ranges(ids.to_vec()));
        fs::write(&opts, "connections auto\nsa_depth auto\n").unwrap();
        let config = Settings::read(&args).core(65_536);
        assert_eq!((config.limits.connections.total, config.sa_depth), (65_280, SaDepth::Auto));
    }
}
