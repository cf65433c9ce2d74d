extern crate std;
use super::*;
use crate::files::{LineError, Location};
use proptest::prelude::*;
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// Written by Debian's ib_acme; see testdata/config/README.md.
const SAMPLE: &[u8] = include_bytes!("../../../testdata/ibacm_opts.cfg");

fn one(text: &str) -> Result<Opt<'_>, LineErrorKind> {
    let mut entries = parse(text.as_bytes());
    let entry = entries.next().unwrap();
    assert_eq!(entries.next(), None, "{text}");
    entry.map(|(_, option)| option).map_err(|error| error.kind)
}

fn read(text: &[u8]) -> (Options<'_>, Vec<LineError>) {
    let (mut options, mut errors) = (Options::default(), Vec::new());
    for line in parse(text) {
        match line {
            Ok((_, option)) => options.set(option),
            Err(error) => errors.push(error),
        }
    }
    (options, errors)
}

#[test]
fn sample_of_ib_acme_has_the_default_values() {
    let (options, errors) = read(SAMPLE);
    // The C ibacm has no `auto`; ib_acme writes the C default, 1.
    let expected =
        Options { resolve_depth: Some(NonZeroU32::MIN), sa_depth: Some(NonZeroU32::MIN), ..Options::default() };
    assert_eq!((options, errors.as_slice()), (expected, [].as_slice()));
    let names: Vec<_> = parse(SAMPLE).map(|line| line.unwrap().1.to_string()).collect();
    assert_eq!(names.len(), 22);
    assert_eq!(names[0], "log_file /var/log/ibacm.log");
    assert_eq!(names[21], "addr_preload none");
    assert_eq!(parse(SAMPLE).next().unwrap().unwrap().0, Location { line: 18, column: 1 });
    let crlf = String::from_utf8(SAMPLE.to_vec()).unwrap().replace('\n', "\r\n");
    assert_eq!(read(crlf.trim_end().as_bytes()), (expected, Vec::new()));
}

#[test]
fn options_in_comments_of_the_sample_are_known() {
    // Commented-out options and examples, without the `# `.
    let text: Vec<_> = SAMPLE.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"# ")).collect();
    let examples = ["log_file", "route_data_file", "addr_data_file", "support_ips_in_addr_cfg", "provider_lib_path"];
    for name in examples.iter().chain(&["provider ibacmp"]) {
        let found: Vec<_> = text.iter().filter(|line| line.starts_with(format!("{name} ").as_bytes())).collect();
        assert!(!found.is_empty(), "{name}");
        found.iter().for_each(|line| assert!(parse(line).all(|line| line.is_ok()), "{name}"));
    }
    assert_eq!(
        one("provider ibacmp 0xFE80000000000000"),
        Ok(Opt::Provider(Provider { name: "ibacmp", subnets: ProviderSubnets::Prefix(0xfe80_0000_0000_0000) }))
    );
}

fn list(text: &str) -> ServiceIds<'_> {
    ServiceIds::List(super::super::ServiceIdList::new(text).unwrap())
}

#[test]
fn each_option_accepts_its_values() {
    let minutes = |minutes: u64| Some(Duration::from_secs(minutes * 60));
    for (text, expected) in [
        ("LOG_FILE stdOUT", Opt::LogFile(LogTarget::Stdout)),
        ("log_file stderr", Opt::LogFile(LogTarget::Stderr)),
        ("log_file /a#b", Opt::LogFile(LogTarget::File("/a#b"))),
        ("acme_plus_kernel_only 0x1", Opt::AcmePlusKernelOnly(true)),
        ("acme_plus_kernel_only 0x0", Opt::AcmePlusKernelOnly(false)),
        ("log_level 1", Opt::LogLevel(LogLevel::Verbose)),
        ("log_level 9", Opt::LogLevel(LogLevel::Operation)),
        ("umad_debug_level\t2", Opt::UmadDebugLevel(2)),
        ("lock_file x y z", Opt::LockFile("x")),
        ("addr_prot ACM", Opt::AddrProt(AddrProt::Acm)),
        ("addr_timeout -1", Opt::AddrTimeout(None)),
        ("addr_timeout 0", Opt::AddrTimeout(minutes(0))),
        ("Route_Timeout 60", Opt::RouteTimeout(minutes(60))),
        ("route_prot Acm # fast", Opt::RouteProt(RouteProt::Acm)),
        ("loopback_prot none", Opt::LoopbackProt(LoopbackProt::None)),
        ("server_port 40001", Opt::ServerPort(40001)),
        ("server_mode loop", Opt::ServerMode(ServerMode::Loop)),
        ("server_mode open", Opt::ServerMode(ServerMode::Open)),
        ("acme_plus_kernel_only TRUE", Opt::AcmePlusKernelOnly(true)),
        ("acme_plus_kernel_only yes", Opt::AcmePlusKernelOnly(true)),
        ("acme_plus_kernel_only -7", Opt::AcmePlusKernelOnly(true)),
        ("acme_plus_kernel_only 0", Opt::AcmePlusKernelOnly(false)),
        ("timeout 1", Opt::Timeout(Duration::from_millis(1))),
        ("retries 0", Opt::Retries(0)),
        ("resolve_depth 7", Opt::ResolveDepth(NonZeroU32::new(7))),
        ("resolve_depth auto", Opt::ResolveDepth(None)),
        ("sa_depth 32", Opt::SaDepth(NonZeroU32::new(32))),
        ("sa_depth Auto", Opt::SaDepth(None)),
        ("send_depth 8", Opt::SendDepth(NonZeroU32::new(8).unwrap())),
        ("recv_depth 9", Opt::RecvDepth(NonZeroU32::new(9).unwrap())),
        ("min_mtu 4096", Opt::MinMtu(Mtu::B4096)),
        ("group_sl 15", Opt::GroupSl(ServiceLevel::of::<15>())),
        ("min_rate 2", Opt::MinRate(Rate::GBPS_2_5)),
        ("min_rate 2.5", Opt::MinRate(Rate::GBPS_2_5)),
        ("route_preload no", Opt::RoutePreload(RoutePreload::None)),
        ("route_preload opensm_full_v1", Opt::RoutePreload(RoutePreload::OpenSmFullV1)),
        ("route_preload full_opensm_v1", Opt::RoutePreload(RoutePreload::OpenSmFullV1)),
        ("route_data_file r", Opt::RouteDataFile("r")),
        ("addr_preload acm_hosts", Opt::AddrPreload(AddrPreload::AcmHosts)),
        ("addr_data_file a", Opt::AddrDataFile("a")),
        ("support_ips_in_addr_cfg 1", Opt::SupportIpsInAddrCfg(true)),
        ("provider_lib_path /p", Opt::ProviderLibPath("/p")),
        ("metrics_listen NONE", Opt::MetricsListen(MetricsTarget::None)),
        ("metrics_listen /run/m", Opt::MetricsListen(MetricsTarget::Unix("/run/m"))),
        ("metrics_listen [::1]:9", Opt::MetricsListen(MetricsTarget::Loopback("[::1]:9".parse().unwrap()))),
        ("connections 5000", Opt::Connections(NonZeroU32::new(5000))),
        ("connections AUTO", Opt::Connections(None)),
        ("connection_share 1", Opt::ConnectionShare(Percent::new(1).unwrap())),
        ("requests 7", Opt::Requests(nonzero(7))),
        ("request_share 100", Opt::RequestShare(Percent::new(100).unwrap())),
        ("lookups 8", Opt::Lookups(nonzero(8))),
        ("lookup_share 90", Opt::LookupShare(Percent::MOST)),
        ("stranger_queue 10", Opt::StrangerQueue(nonzero(10))),
        ("interface_addresses 12", Opt::InterfaceAddresses(nonzero(12))),
        ("sa_notices no", Opt::SaNotices(false)),
        ("witness no", Opt::Witness(false)),
        ("prefetch AUTO", Opt::Prefetch(Prefetch::Auto)),
        ("shared_cache ON", Opt::SharedCache(Sharing::On)),
        ("shared_cache auto", Opt::SharedCache(Sharing::Auto)),
        ("shared_cache off", Opt::SharedCache(Sharing::Off)),
        ("shared_cache_entries 9", Opt::SharedCacheEntries(nonzero(9))),
        ("groups 6", Opt::Groups(GroupCount::new(6).unwrap())),
        ("requests_per_client 11", Opt::RequestsPerClient(nonzero(11))),
        ("client_timeout 1", Opt::ClientTimeout(Duration::from_secs(1))),
        ("path_service_ids Auto", Opt::PathServiceIds(ServiceIds::Auto)),
        ("path_service_ids NONE", Opt::PathServiceIds(ServiceIds::None)),
        ("path_service_ids all", Opt::PathServiceIds(ServiceIds::All)),
        ("path_service_ids lustre,tcp:1-5", Opt::PathServiceIds(list("lustre,tcp:1-5"))),
        ("negative_timeout 0", Opt::NegativeTimeout(None)),
        ("negative_timeout 7", Opt::NegativeTimeout(Some(Duration::from_millis(7)))),
        ("PROVIDER\tx\tDEFAULT", Opt::Provider(Provider { name: "x", subnets: ProviderSubnets::Default })),
    ] {
        assert_eq!(one(text), Ok(expected), "{text}");
    }
    for (rate, _) in Rate::KNOWN {
        let text = Opt::MinRate(*rate).to_string();
        assert_eq!(one(&text), Ok(Opt::MinRate(*rate)), "{text}");
    }
}

// docs/deviations.md: option-values
#[test]
fn bad_values_are_reported_and_skipped() {
    for text in [
        "log_level x",
        "log_level -1",
        "addr_prot sa",
        "addr_timeout -2",
        "addr_timeout 1h",
        "route_prot ip",
        "server_port 0",
        "server_port 65536",
        "server_mode tcp",
        "acme_plus_kernel_only maybe",
        "timeout 0",
        "timeout 2000ms",
        "retries -1",
        "sa_depth 0",
        "resolve_depth 0",
        "sa_depth automatic",
        "prefetch yes",
        "connections 0",
        "connections -1",
        "connection_share 0",
        "connection_share 101",
        "request_share 50%",
        "lookup_share auto",
        "requests 0",
        "lookups many",
        "stranger_queue 0",
        "interface_addresses 0",
        "groups 0",
        "groups 7",
        "requests_per_client 0",
        "client_timeout 0",
        "client_timeout 30s",
        "negative_timeout -1",
        "negative_timeout off",
        "path_service_ids lustre,",
        "path_service_ids tcp:9-1",
        "recv_depth -5",
        "min_mtu 1500",
        "group_sl 16",
        "shared_cache yes",
        "shared_cache_entries 0",
        "min_rate 11",
        "min_rate 2147483648000",
        "route_preload full",
        "provider ibacmp fe80",
    ] {
        assert!(matches!(one(text), Err(LineErrorKind::Bad { .. })), "{text}: {:?}", one(text));
    }
    assert!(matches!(one("provider ibacmp"), Err(LineErrorKind::Missing { .. })));
    assert_eq!(one("time 5"), Err(LineErrorKind::UnknownOption));

    let (_, errors) = read(b"connection_share 101\nsa_depth  auto 5\nrequest_share\n  lookups 0");
    let found: Vec<_> = errors.iter().map(|error| (error.line, error.column, error.to_string())).collect();
    let expected = |line: u32, column: u32, text: &str| (line, column, format!("line {line}, column {column}: {text}"));
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], expected(1, 18, "expected a percentage, 1 to 100"));
    assert_eq!(found[2], expected(4, 11, "expected a number, at least 1"));

    let (options, errors) = read(b"timeout 1\nretries many\nnonsense 1\nretries\n\ntimeout 2\nretries 5");
    assert_eq!((options.timeout, options.retries), (Duration::from_millis(2), 5));
    let locations: Vec<_> = errors.iter().map(|error| (error.line, error.column)).collect();
    assert_eq!(locations, [(2, 9), (3, 1), (4, 8)]);
}

fn option() -> impl Strategy<Value = String> {
    let depths = (1_u32.., 1_u32.., 1_u32.., 1_u32..);
    let text = "[!-~]{1,80}";
    (0..DECLARATIONS.len(), text, any::<(u32, u16, bool, u64)>(), depths).prop_map(
        |(index, text, (number, port, yes, prefix), d)| {
            let time = yes.then(|| Duration::from_secs(u64::from(number) * 60));
            let depth = |number| NonZeroU32::new(number).unwrap();
            let options = Options {
                log_file: LogTarget::read(&text).unwrap(),
                log_level: [LogLevel::Basic, LogLevel::Verbose, LogLevel::Operation][number as usize % 3],
                umad_debug_level: number,
                lock_file: &text,
                addr_timeout: time,
                route_prot: if yes { RouteProt::Acm } else { RouteProt::Sa },
                route_timeout: time,
                loopback_prot: if yes { LoopbackProt::Local } else { LoopbackProt::None },
                server_port: port.max(1),
                server_mode: [ServerMode::Unix, ServerMode::Loop, ServerMode::Open][number as usize % 3],
                acme_plus_kernel_only: yes,
                timeout: Duration::from_millis(number.max(1).into()),
                retries: number,
                resolve_depth: (!yes).then(|| depth(d.0)),
                sa_depth: yes.then(|| depth(d.1)),
                send_depth: depth(d.2),
                recv_depth: depth(d.3),
                group_sl: ServiceLevel::masked(port.to_be_bytes()[0]),
                shared_cache: [Sharing::Auto, Sharing::On, Sharing::Off][number as usize % 3],
                shared_cache_entries: depth(d.3),
                min_mtu: Mtu::KNOWN[number as usize % Mtu::KNOWN.len()].0,
                min_rate: Rate::KNOWN[number as usize % Rate::KNOWN.len()].0,
                route_preload: if yes { RoutePreload::OpenSmFullV1 } else { RoutePreload::None },
                route_data_file: &text,
                addr_preload: if yes { AddrPreload::AcmHosts } else { AddrPreload::None },
                addr_data_file: &text,
                support_ips_in_addr_cfg: yes,
                provider_lib_path: &text,
                connections: (!yes).then(|| depth(d.0)),
                connection_share: Percent::new(1 + (port % 100) as u8).unwrap(),
                requests: depth(d.1),
                request_share: Percent::new(1 + (number % 100) as u8).unwrap(),
                lookups: depth(d.2),
                lookup_share: Percent::new(1 + (prefix % 100) as u8).unwrap(),
                stranger_queue: depth(d.0),
                interface_addresses: depth(d.2),
                requests_per_client: depth(d.1),
                client_timeout: Duration::from_secs(d.3.into()),
                metrics_listen: match number % 3 {
                    0 => MetricsTarget::None,
                    1 => MetricsTarget::Loopback(([127, 0, 0, 1], port.max(1)).into()),
                    _ => MetricsTarget::Unix("/run/x"),
                },
                sa_notices: yes,
                witness: yes,
                prefetch: [Prefetch::Off, Prefetch::Auto, Prefetch::On][number as usize % 3],
                groups: GroupCount::new(1 + (port % 6) as u8).unwrap(),
                path_service_ids: if yes { ServiceIds::All } else { list("storage-scale,0x20-0x30") },
                negative_timeout: (number > 0).then(|| Duration::from_millis(number.into())),
                ..Options::default()
            };
            let subnets = if yes { ProviderSubnets::Default } else { ProviderSubnets::Prefix(prefix) };
            let provider = Opt::Provider(Provider { name: &text, subnets });
            options.iter().chain([provider]).nth(index).unwrap().to_string()
        },
    )
}

proptest! {
    #[test]
    fn printed_option_is_read_back(text in option()) {
        prop_assert_eq!(one(&text).map(|option| option.to_string()), Ok(text));
    }

    #[test]
    fn any_bytes_do_not_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        crate::files::fuzz::opts(&text);
    }

    #[test]
    fn damaged_options_do_not_panic(
        text in "((log_level|timeout|provider|min_rate|#)?[ \t]{0,2}[-0-9a-z]{0,4} ?(-1|0x1|default)?\r?\n){0,9}",
    ) {
        crate::files::fuzz::opts(text.as_bytes());
    }
}

#[test]
fn metrics_address_must_be_loopback_with_a_port() {
    for text in ["metrics_listen 10.0.0.1:80", "metrics_listen [::]:80", "metrics_listen 127.0.0.1:0"] {
        assert!(one(text).is_err(), "{text}");
    }
}
