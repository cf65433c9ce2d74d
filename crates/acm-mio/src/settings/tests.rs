//! Files, and what the daemon takes from them.
use super::*;
use crate::in_time::in_time;
use clap::Parser;
use nix::{sys::stat::Mode, unistd::mkfifo};
use std::fs;

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

fn settings_of(text: &str) -> Settings {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opts");
    fs::write(&path, text).unwrap();
    Settings::read(&Args::try_parse_from(["acm-mio", "-O", path.to_str().unwrap(), "-A", "/none"]).unwrap())
}

#[test]
fn providers_divide_the_subnets() {
    let cases: [(&str, Subnets); 8] = [
        ("", Subnets::AllBut(vec![])),
        ("provider ibacmp default\n", Subnets::AllBut(vec![])),
        // The last default counts, and without one it is ours, as in C ibacm.
        ("provider other default\nprovider ibacmp default\n", Subnets::AllBut(vec![])),
        ("provider ibacmp 2\n", Subnets::AllBut(vec![])),
        ("provider other 0x1\nprovider Ibacmp 2\n", Subnets::AllBut(vec![1])),
        ("provider other default\n", Subnets::Only(vec![])),
        ("provider other default\nprovider ibacmp 0x2\n", Subnets::Only(vec![2])),
        ("provider other 3\nprovider ibacmp 3\n", Subnets::AllBut(vec![])),
    ];
    for (text, expected) in cases {
        assert_eq!(settings_of(text).core(1024).subnets, expected, "{text}");
    }
}

#[test]
fn a_bad_file_counts_for_nothing_when_it_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let (opts, addrs) = (dir.path().join("opts"), dir.path().join("addrs"));
    fs::write(&opts, "timeout 500\n").unwrap();
    fs::write(&addrs, "node1 a 1 default\n").unwrap();
    let (o, a) = (opts.to_str().unwrap(), addrs.to_str().unwrap());
    let first = Settings::read(&Args::try_parse_from(["acm-mio", "-O", o, "-A", a]).unwrap());
    assert!(first.problems.is_empty());
    fs::write(&opts, "timeout 600\nretries x\n").unwrap();
    fs::write(&addrs, "node2 a 1 default\n").unwrap();
    let second = first.read_again();
    assert_eq!(second.options().timeout.as_millis(), 500);
    assert_eq!(second.addresses.as_ref().unwrap()[0].address, Address::from_text("node2"));
    assert_eq!(second.problems.len(), 2, "{:?}", second.problems);
    assert!(second.problems[0].contains("opts:2:9: ") && !second.problems[0].contains("skipped"));
    assert!(second.problems[1].ends_with("not applied; what it said before goes on"));
    fs::write(&opts, "timeout 600\n").unwrap();
    fs::write(&addrs, "node3\n").unwrap();
    let third = second.read_again();
    assert_eq!(third.options().timeout.as_millis(), 600);
    assert_eq!(third.addresses, second.addresses);
    // Files that are gone are as at the start: defaults.
    fs::remove_file(&opts).unwrap();
    fs::remove_file(&addrs).unwrap();
    let fourth = third.read_again();
    assert_eq!((fourth.options().timeout.as_millis(), fourth.addresses, fourth.problems.len()), (2000, None, 0));
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let (opts, addrs) = (dir.path().join("opts"), dir.path().join("addrs"));
    let args = Args::try_parse_from(["acm-mio", "-O", opts.to_str().unwrap(), "-A", addrs.to_str().unwrap()]).unwrap();
    fs::write(&opts, "timeout 500\n").unwrap();
    fs::write(&addrs, "node1 a 1 default\n").unwrap();
    let good = Settings::read(&args);
    for path in [&opts, &addrs] {
        fs::remove_file(path).unwrap();
        mkfifo(path, Mode::S_IRWXU).unwrap();
    }
    let said = |path: &Path| format!("{}: not a regular file", path.display());
    let first = in_time(move || Settings::read(&args));
    assert_eq!(first.problems, [said(&opts), said(&addrs)]);
    assert_eq!((first.options(), &first.addresses), (Options::default(), &None));
    let (before, again) = (good.clone(), in_time(move || good.read_again()));
    assert_eq!((again.options(), &again.addresses), (before.options(), &before.addresses));
    assert!(again.problems.contains(&said(&opts)) && again.problems.contains(&said(&addrs)), "{:?}", again.problems);
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
                sa_notices no\ngroups 5\nnegative_timeout 70\npath_service_ids udp:2-3,lustre\n";
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
    assert_eq!((config.log_level, config.sa_notices, config.groups), (Level::Debug, false, 5));
    assert_eq!(config.negative_timeout, Some(core::time::Duration::from_millis(70)));
    let id = ib_mad::ServiceId::new;
    let ids = [id(0x0106_03db)..=id(0x0106_03db), id(0x0111_0002)..=id(0x0111_0003)];
    assert_eq!(config.path_service_ids, ServiceIds::Ranges(ids.to_vec()));
    fs::write(&opts, "connections auto\nsa_depth auto\n").unwrap();
    let config = Settings::read(&args).core(65_536);
    assert_eq!((config.limits.connections.total, config.sa_depth), (65_280, SaDepth::Auto));
}

/// Each option with another value than its default, and whether the core has to know of it. Where it has not: the
/// test that sees what it does, or that nothing does.
const OTHER_VALUES: [(&str, &str, Option<&str>); 41] = [
    ("log_file", "stderr", Some("tests/ log")),
    ("log_level", "2", None),
    ("umad_debug_level", "1", Some("does nothing")),
    ("lock_file", "/run/other.pid", Some("lock_file below")),
    ("addr_prot", "acm", Some("does nothing")),
    ("addr_timeout", "7", None),
    ("route_prot", "acm", None),
    ("route_timeout", "7", None),
    ("loopback_prot", "none", None),
    ("server_port", "7", Some("tests/ server_modes")),
    ("server_mode", "loop", Some("tests/ server_modes")),
    ("acme_plus_kernel_only", "yes", Some("tests/ server_modes")),
    ("timeout", "7", None),
    ("retries", "7", None),
    ("resolve_depth", "7", None),
    ("sa_depth", "7", None),
    ("send_depth", "7", Some("tests/ bursts")),
    ("recv_depth", "7", Some("ib-device")),
    ("min_mtu", "4096", None),
    ("min_rate", "40", None),
    ("route_preload", "opensm_full_v1", Some("tests/ preload_files")),
    ("route_data_file", "/other", Some("tests/ preload_files")),
    ("addr_preload", "acm_hosts", Some("tests/ preload_files")),
    ("addr_data_file", "/other", Some("tests/ preload_files")),
    ("support_ips_in_addr_cfg", "yes", Some("tests/ config")),
    ("provider_lib_path", "/other", Some("does nothing")),
    ("provider", "none default", None),
    ("connections", "7", None),
    ("connection_share", "7", None),
    ("requests", "7", None),
    ("request_share", "7", None),
    ("lookups", "7", None),
    ("lookup_share", "7", None),
    ("interface_addresses", "7", Some("tests/ interfaces")),
    ("stranger_queue", "7", None),
    ("sa_notices", "no", None),
    ("groups", "6", None),
    ("requests_per_client", "7", None),
    ("negative_timeout", "7", None),
    ("path_service_ids", "all", None),
    ("metrics_listen", "127.0.0.1:7", Some("tests/ metrics")),
];

#[test]
fn each_option_counts_where_it_should() {
    let dir = tempfile::tempdir().unwrap();
    let opts = dir.path().join("opts");
    let read = |text: &str| {
        fs::write(&opts, text).unwrap();
        Settings::read(&Args::try_parse_from(["acm-mio", "-O", opts.to_str().unwrap(), "-A", "/none"]).unwrap())
    };
    let default = read("");
    let mut names: Vec<&str> = OTHER_VALUES.iter().map(|(name, ..)| *name).collect();
    for (name, value, elsewhere) in OTHER_VALUES {
        let settings = read(&format!("{name} {value}\n"));
        assert!(settings.problems.is_empty() || name == "provider", "{name}: {:?}", settings.problems);
        let reaches_core = settings.core(1024) != default.core(1024);
        assert_eq!(reaches_core, elsewhere.is_none(), "{name} {value}");
        let said = settings.options() != default.options();
        assert!(said || matches!(name, "provider" | "addr_prot"), "{name} {value}");
    }
    let place = |text: &str| read(text).lock_file(Path::new("/run"));
    assert_eq!(place("lock_file /run/other.pid\n"), PathBuf::from("/run/other.pid"));
    names.sort_unstable();
    let mut all = opts::NAMES.to_vec();
    all.sort_unstable();
    assert_eq!(names, all);
}
