//! Reads the daemon's options of the protocol.
use acm_provider::daemon::{self, Level};
use acm_sansio::{
    Config,
    config::{Depth, Limits, Prefetch},
};
use acm_wire::files::opts::{self, Opt, Options};
use core::num::NonZeroU32;
use std::{fs, path::Path};

/// The options, which the engine reads at its start.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) recv_depth: NonZeroU32,
    pub(crate) send_depth: NonZeroU32,
}

impl Settings {
    /// Reads ibacm's option file. Malformed lines are skipped. Missing options have ibacm's defaults.
    pub(crate) fn read() -> Self {
        let path = daemon::options_file();
        // A missing file is no error in ibacm either.
        Self::parse(&path, &fs::read(&path).unwrap_or_default())
    }

    /// Reads the text of an option file. The path is for the log.
    fn parse(path: &Path, text: &[u8]) -> Self {
        let mut options = Options::default();
        for line in opts::parse(text) {
            match line {
                Ok((_, option)) => {
                    warn_if_unsupported(&option);
                    options.set(option);
                }
                Err(error) => {
                    let (line, word) = (error.line, error.word(text).escape_ascii().to_string());
                    let path = path.display();
                    daemon::log(Level::Info, format_args!("{path}:{line}: {}: {word}; skipped", error.kind));
                }
            }
        }
        let (recv_depth, send_depth) = (options.recv_depth, options.send_depth);
        Self { config: config(&options), recv_depth, send_depth }
    }
}

/// Logs options that this provider does not support: preloaded files, which ibacmp and acm-mio support.
fn warn_if_unsupported(option: &Opt<'_>) {
    use acm_wire::files::opts::{AddrPreload, RoutePreload};
    let ignored = match option {
        Opt::RoutePreload(kind) if *kind != RoutePreload::None => "route_preload",
        Opt::AddrPreload(kind) if *kind != AddrPreload::None => "addr_preload",
        _ => return,
    };
    daemon::log(Level::Always, format_args!("{ignored} is for ibacmp and acm-mio: it does nothing here"));
}

fn config(options: &Options<'_>) -> Config {
    let config = Config::from(options);
    Config {
        // ibacm sends `sa_depth` requests at a time (default 1) and queues further requests without a limit. With this
        // depth, the core queues requests instead of ibacm.
        sa_depth: Depth::Fixed(options.sa_depth.map_or(1, NonZeroU32::get)),
        // ibacm receives SA reports and does not pass them to providers.
        sa_notices: false,
        // This provider has neither, and ibacm limits the connections.
        prefetch: Prefetch::Off,
        shared_cache: false,
        limits: Limits { requests_per_client: u32::MAX, ..Limits::default() },
        ..config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_sansio::{api, config::RouteProt};
    use core::time::Duration;
    use ib_mad::{Mtu, Rate};

    fn parse(text: &str) -> Settings {
        Settings::parse(Path::new("opts"), text.as_bytes())
    }

    #[test]
    fn each_option_of_the_protocol_is_applied() {
        let text = "timeout 700\nretries 9\nmin_mtu 4096\nmin_rate 40\nroute_prot acm\naddr_timeout 3\n\
            route_timeout 4\nloopback_prot none\nresolve_depth 5\nsa_depth 6\nsend_depth 7\nrecv_depth 8\nlog_level 1\n\
            negative_timeout 9\ngroups 3\ngroup_sl 4";
        let settings = parse(text);
        let Settings { config, recv_depth, send_depth } = &settings;
        assert_eq!((config.timeout, config.retries), (Duration::from_millis(700), 9));
        assert_eq!((config.min_mtu, config.min_rate), (Mtu::B4096, Rate::GBPS_40));
        assert_eq!((config.route_prot, config.loopback), (RouteProt::Acm, false));
        let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
        assert_eq!((config.addr_timeout, config.route_timeout), (minutes(3), minutes(4)));
        assert_eq!(config.negative_timeout, Some(Duration::from_millis(9)));
        assert_eq!((config.groups, config.group_sl.get()), (3, 4));
        assert_eq!((config.resolve_depth, config.sa_depth), (Depth::Fixed(5), Depth::Fixed(6)));
        assert_eq!((send_depth.get(), recv_depth.get(), config.log_level), (7, 8, api::Level::Verbose));
    }

    #[test]
    fn defaults_are_those_of_ibacm_for_what_ibacm_does() {
        let settings = parse("");
        assert_eq!((settings.config.sa_depth, settings.config.sa_notices), (Depth::Fixed(1), false));
        assert_eq!(settings.config.limits.requests_per_client, u32::MAX);
        assert_eq!((settings.config.retries, settings.config.min_rate), (2, Rate::GBPS_10));
    }

    #[test]
    fn bad_lines_are_logged_and_skipped() {
        let settings = parse("retries many\nroute_preload opensm_full_v1\ntimeout 700\n");
        assert_eq!((settings.config.retries, settings.config.timeout), (2, Duration::from_millis(700)));
        let lines = acm_provider::testing::lines();
        // The provider's name depends on the tests that run at the same time.
        let parts: Vec<_> = lines.iter().map(|line| (&line[..2], line.split_once(": ").unwrap().1)).collect();
        let [("1 ", malformed), ("0 ", unsupported)] = parts[..] else { panic!("{lines:?}") };
        assert!(malformed.starts_with("opts:1: ") && malformed.ends_with("many; skipped"), "{malformed}");
        assert_eq!(unsupported, "route_preload is for ibacmp and acm-mio: it does nothing here");
    }
}
