//! The effect of each option.
use super::*;
/// The place where an option has its effect.
enum Effect {
    /// In the core: the change of its configuration.
    InCore(fn(&mut Config)),
    /// Elsewhere: the test of the effect. The core's configuration does not change.
    Elsewhere(&'static str),
}
use Effect::{Elsewhere, InCore};

const MINUTES: Option<Duration> = Some(Duration::from_secs(7 * 60));
const MILLISECONDS: Duration = Duration::from_millis(7);

/// Each option with a value other than its default.
const OTHER_VALUES: &[(&str, &str, Effect)] = &[
    ("log_file", "stderr", Elsewhere("tests/ log")),
    ("log_level", "2", InCore(|core| core.log_level = Level::Debug)),
    ("umad_debug_level", "1", Elsewhere("does nothing")),
    ("lock_file", "/run/other.pid", Elsewhere("lock_file below")),
    ("addr_prot", "acm", Elsewhere("does nothing")),
    ("addr_timeout", "7", InCore(|core| core.addr_timeout = MINUTES)),
    ("route_prot", "acm", InCore(|core| core.route_prot = RouteProt::Acm)),
    ("route_timeout", "7", InCore(|core| core.route_timeout = MINUTES)),
    ("loopback_prot", "none", InCore(|core| core.loopback = false)),
    ("server_port", "7", Elsewhere("tests/ server_modes")),
    ("server_mode", "loop", Elsewhere("tests/ server_modes")),
    ("acme_plus_kernel_only", "yes", Elsewhere("tests/ server_modes")),
    ("timeout", "7", InCore(|core| core.timeout = MILLISECONDS)),
    ("retries", "7", InCore(|core| core.retries = 7)),
    ("resolve_depth", "7", InCore(|core| core.resolve_depth = Depth::Fixed(7))),
    ("sa_depth", "7", InCore(|core| core.sa_depth = Depth::Fixed(7))),
    ("send_depth", "7", Elsewhere("depths below")),
    ("recv_depth", "7", Elsewhere("depths below")),
    ("min_mtu", "4096", InCore(|core| core.min_mtu = Mtu::B4096)),
    ("min_rate", "40", InCore(|core| core.min_rate = Rate::GBPS_40)),
    ("route_preload", "opensm_full_v1", Elsewhere("tests/ preload_files")),
    ("route_data_file", "/other", Elsewhere("tests/ preload_files")),
    ("addr_preload", "acm_hosts", Elsewhere("tests/ preload_files")),
    ("addr_data_file", "/other", Elsewhere("tests/ preload_files")),
    ("support_ips_in_addr_cfg", "yes", Elsewhere("tests/ config")),
    ("provider_lib_path", "/other", Elsewhere("tests/ providers")),
    ("provider", "none default", InCore(|core| core.subnets = Subnets::only([]))),
    ("connections", "7", InCore(|core| core.limits.connections.total = 7)),
    ("connection_share", "7", InCore(|core| core.limits.connections.percent = 7)),
    ("requests", "7", InCore(|core| core.limits.requests.total = 7)),
    ("request_share", "7", InCore(|core| core.limits.requests.percent = 7)),
    ("lookups", "7", InCore(|core| core.limits.lookups.total = 7)),
    ("lookup_share", "7", InCore(|core| core.limits.lookups.percent = 7)),
    ("interface_addresses", "7", Elsewhere("interface_addresses below, tests/ interfaces")),
    ("stranger_queue", "7", InCore(|core| core.limits.remote_lookups = 7)),
    ("prefetch", "on", InCore(|core| core.prefetch = Prefetch::On)),
    ("shared_cache", "on", InCore(|core| core.shared_cache = true)),
    ("shared_cache_entries", "7", Elsewhere("shared.rs")),
    ("sa_notices", "no", InCore(|core| core.sa_notices = false)),
    ("witness", "no", InCore(|core| core.witness = false)),
    ("groups", "6", InCore(|core| core.groups = 6)),
    ("group_sl", "7", InCore(|core| core.group_sl = ServiceLevel::of::<7>())),
    ("requests_per_client", "7", InCore(|core| core.limits.requests_per_client = 7)),
    ("negative_timeout", "7", InCore(|core| core.negative_timeout = Some(MILLISECONDS))),
    ("path_service_ids", "all", InCore(|core| core.path_service_ids = ServiceIds::All)),
    ("client_timeout", "7", Elsewhere("tests/ reload")),
    ("metrics_listen", "127.0.0.1:7", Elsewhere("tests/ metrics")),
];

#[test]
fn each_option_changes_the_core_or_nothing_there() {
    let default = settings_of("");
    let mut names: Vec<&str> = OTHER_VALUES.iter().map(|(name, ..)| *name).collect();
    for &(name, value, ref effect) in OTHER_VALUES {
        let settings = settings_of(&format!("{name} {value}\n"));
        assert!(settings.problems.is_empty(), "{name}: {:?}", settings.problems);
        let mut expected = default.core(1024);
        let place = match effect {
            InCore(change) => {
                change(&mut expected);
                assert_ne!(expected, default.core(1024), "{name} {value} is the default");
                "the core"
            }
            Elsewhere(place) => *place,
        };
        assert_eq!(settings.core(1024), expected, "{name} {value}: {place}");
        let changed = settings.options() != default.options();
        assert!(changed || matches!(name, "provider" | "addr_prot"), "{name} {value}");
    }
    names.sort_unstable();
    let mut all: Vec<&str> = opts::DECLARATIONS.iter().map(|option| option.name).collect();
    all.sort_unstable();
    assert_eq!(names, all);
}
