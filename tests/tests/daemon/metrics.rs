//! Metrics: Prometheus's parser reads them, and scrapers do not disturb other clients.
use acm_tests::{Binary, Connection, Entry, Fabric, Finished, Node, Process, TcpPort, binary, program, run, until};
use acm_wire::client::ClientStatus;
use core::net::SocketAddr;
use nix::sys::signal::Signal;
use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::{fs::PermissionsExt, net::UnixStream, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

const GET: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Prints `type name` for each family and `name labels value` for each sample.
const PARSE: &str = r"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    print('family', family.type, family.name)
    for sample in family.samples:
        labels = ','.join('%s=%s' % pair for pair in sorted(sample.labels.items()))
        print('sample', sample.name, '{' + labels + '}', sample.value)
";

fn get(mut stream: impl Read + Write, request: &[u8]) -> (String, String) {
    stream.write_all(request).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
    (head.to_owned(), body.to_owned())
}

/// Returns the families and samples that Prometheus's parser reads.
fn parsed(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics");
    fs::write(&file, text).unwrap();
    // The Python of Debian, for which its package python3-prometheus-client is installed.
    let python = Path::new("/usr/bin/python3");
    let script = format!("exec {} -c \"$0\" < {}", python.display(), file.display());
    run("/bin/sh", &["-c", &script, PARSE]).success()
}

fn value(parsed: &str, sample: &str) -> f64 {
    let start = format!("sample {sample} ");
    let mut lines = parsed.lines().filter_map(|line| line.strip_prefix(&start));
    lines.next().unwrap_or_else(|| panic!("no {sample} in\n{parsed}")).parse().unwrap()
}

fn resolve(client: &mut Connection, dest: &str) -> ClientStatus {
    client.request(1, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, dest)])
}

#[test]
fn prometheus_parser_reads_the_metrics() {
    assert!(
        run("/usr/bin/python3", &["-c", "import prometheus_client.openmetrics.parser"]).code == Some(0),
        "install Debian's python3-prometheus-client"
    );
    let port = TcpPort::reserve();
    let address = SocketAddr::from(([127, 0, 0, 1], port.number()));
    let node =
        Node::embedded().option(&format!("metrics_listen {address}\ntimeout 50\nretries 1\nsa_notices no")).join();
    let mut client = node.connect();
    assert_eq!(resolve(&mut client, "node1"), ClientStatus::SUCCESS);
    assert_eq!(resolve(&mut client, "nobody"), ClientStatus::ETIMEDOUT);
    let (head, body) = get(TcpStream::connect(address).unwrap(), GET);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0"), "{head}");
    let parsed = parsed(&body);
    assert_eq!(value(&parsed, "acm_resolve_total {}"), 3.0 - 1.0);
    assert_eq!(value(&parsed, "acm_requests_repeated_total {}"), 1.0);
    assert_eq!(value(&parsed, "acm_joins_total {}"), 1.0);
    assert_eq!(value(&parsed, "acm_clients {account=user}"), 1.0);
    assert_eq!(value(&parsed, "acm_destinations {state=ready}"), 1.0);
    assert_eq!(value(&parsed, "acm_port_active {port=sim0/1}"), 1.0);
    assert_eq!(value(&parsed, "acm_groups_joined {pkey=0xffff,port=sim0/1}"), 1.0);
    assert_eq!(value(&parsed, "acm_request_seconds_count {account=user}"), 1.0);
    assert_eq!(value(&parsed, "acm_phase_seconds_count {phase=sa_round_trip}"), 1.0);
    assert_eq!(value(&parsed, "acm_requests_refused_total {account=kernel}"), 0.0);
    assert!(value(&parsed, "acm_request_seconds_sum {account=user}") > 1.0, "twice the subnet's time-out of 1 s");
    // The public port does not serve the status, which has users.
    let (head, start) = get(TcpStream::connect(address).unwrap(), b"GET / HTTP/1.0\r\n\r\n");
    assert!(head.contains("text/html") && start.contains("<a href=\"/metrics\">"), "{head}{start}");
    let (head, _) = get(TcpStream::connect(address).unwrap(), b"GET /status HTTP/1.0\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
}

#[test]
fn port_that_was_never_active_is_visible_and_wanted_if_it_is_in_the_address_file() {
    let fabric = Fabric::serve(1, &["--ports", "2"]);
    for port in [1, 2] {
        fabric.control(&format!("down node1 {port}"));
    }
    let mut node = Node::at(&fabric, 1).option("metrics_listen DIR/m").serve();
    node.process.wait_for("sim0 port 1 is down", 1);
    node.process.wait_for("sim0 port 2 is down", 1);
    let values = |name: &str| {
        let (_, body) = get(UnixStream::connect(node.dir().join("m")).unwrap(), GET);
        let parsed = parsed(&body);
        [1, 2].map(|port| value(&parsed, &format!("acm_{name} {{port=sim0/{port}}}")))
    };
    assert_eq!((values("port_active"), values("port_wanted")), ([0.0, 0.0], [1.0, 0.0]));
    let status = node.status();
    assert!(status.contains("\nsim0 port 1: down ") && status.contains("\nsim0 port 2: down "), "{status}");
    // A port that is active once is wanted from then on.
    fabric.control("up node1 2");
    until("port 2 is active", || (values("port_active") == [0.0, 1.0]).then_some(()));
    fabric.control("down node1 2");
    until("port 2 is down", || (values("port_active") == [0.0, 0.0]).then_some(()));
    assert_eq!(values("port_wanted"), [1.0, 1.0]);
}

/// Returns the names of all families without `acm_`.
fn names(parsed: &str) -> BTreeSet<String> {
    let families = parsed.lines().filter_map(|line| line.strip_prefix("family "));
    families.map(|line| line.split_once(" acm_").unwrap().1.to_owned()).collect()
}

#[test]
fn manual_and_dashboard_match_the_metrics() {
    let node = Node::embedded().option("metrics_listen DIR/m").join();
    let (_, body) = get(UnixStream::connect(node.dir().join("m")).unwrap(), GET);
    let parsed = parsed(&body);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let manual = fs::read_to_string(root.join("docs/metrics.md")).unwrap();
    let missing: Vec<String> =
        names(&parsed).into_iter().filter(|name| !manual.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/metrics.md does not name {missing:?}");
    let helps = body.lines().filter(|line| line.starts_with("# HELP"));
    let empty: Vec<&str> = helps.filter(|line| line.split_whitespace().count() < 4).collect();
    assert!(empty.is_empty(), "metrics without a HELP text: {empty:?}");
    let dashboard = fs::read_to_string(root.join("dist/grafana-dashboard.json")).unwrap();
    let samples: BTreeSet<&str> =
        parsed.lines().filter_map(|line| line.strip_prefix("sample ")?.split(' ').next()).collect();
    let words = dashboard.split(|end: char| !end.is_ascii_alphanumeric() && end != '_');
    let named: BTreeSet<&str> = words.filter(|word| word.starts_with("acm_")).collect();
    assert!(named.len() > 12, "{named:?}");
    let unknown: Vec<_> = named.difference(&samples).collect();
    assert!(unknown.is_empty(), "the dashboard draws {unknown:?}, which are not served");
    let json = Command::new("/usr/bin/python3")
        .args(["-c", "import json,sys; json.load(open(sys.argv[1]))"])
        .arg(root.join("dist/grafana-dashboard.json"))
        .status()
        .unwrap();
    assert!(json.success());
}

#[test]
fn scrapers_that_do_not_read_do_not_block_others() {
    // More connections than the limit: half of them send a request and do not read, the others send nothing.
    const SCRIPT: &str = r#"use IO::Socket::UNIX; $SIG{PIPE} = 'IGNORE'; $| = 1; my @all;
        for my $number (0 .. 39) {
            my $client = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!;
            syswrite($client, "GET /metrics HTTP/1.1\r\n\r\n") if $number % 2 == 0;
            push @all, $client;
        }
        print "begins\n"; sysread($all[39], my $byte, 1); print "closed\n"; sleep;"#;
    let node = Node::embedded().option("metrics_listen DIR/m").join();
    fs::set_permissions(node.dir(), fs::Permissions::from_mode(0o711)).unwrap();
    let socket = node.dir().join("m");
    let mut command = Command::new(program("perl", "perl-base"));
    let mut hog = Process::start(command.args(["-e", SCRIPT, socket.to_str().unwrap()]).uid(65_534).gid(65_534));
    hog.wait_for("begins", 1);
    let (head, body) = get(UnixStream::connect(&socket).unwrap(), GET);
    assert!(head.starts_with("HTTP/1.1 200 ") && body.ends_with("# EOF\n"), "{head}");
    assert_eq!(resolve(&mut node.connect(), "node1"), ClientStatus::SUCCESS);
    let open = fs::read_dir(format!("/proc/{}/fd", node.process.id())).unwrap().count();
    assert!(open < 40, "{open} descriptors");
    // The last silent connection is closed after its time-out.
    hog.wait_for("closed", 1);
}

/// Scrapers have a separate limit and do not close connections for the status.
#[test]
fn scrapers_do_not_displace_status_connections() {
    let node = Node::embedded().option("metrics_listen DIR/m").join();
    let slow = UnixStream::connect(node.dir().join("acm-mio.status")).unwrap();
    until("the status is served", || {
        let (_, body) = get(UnixStream::connect(node.dir().join("acm-mio.status")).unwrap(), GET);
        body.ends_with("# EOF\n").then_some(())
    });
    let socket = node.dir().join("m");
    let _hogs: Vec<UnixStream> = (0..40).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    let (head, _) = get(UnixStream::connect(&socket).unwrap(), GET);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let (head, _) = get(slow, b"GET /status HTTP/1.0\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}

#[test]
fn invalid_http_requests_get_an_error() {
    let node = Node::embedded().join();
    let socket = node.dir().join("acm-mio.status");
    for (request, status) in [
        (&b"GET /none HTTP/1.1\r\n\r\n"[..], "404"),
        (b"PUT /metrics HTTP/1.1\r\n\r\n", "405"),
        (b"hello\n\n", "400"),
        (b"GET /status HTTP/1.0\r\n\r\n", "200"),
    ] {
        let (head, _) = get(UnixStream::connect(&socket).unwrap(), request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
    }
    let mut long = UnixStream::connect(&socket).unwrap();
    let _ = long.write_all(&[b'a'; 9000]);
    assert_eq!(long.read(&mut [0; 1]).unwrap_or(0), 0);
    assert_eq!(resolve(&mut node.connect(), "node1"), ClientStatus::SUCCESS);
}

#[test]
fn status_is_readable_and_restricted_to_its_group() {
    // Each subscription to notices has an answer, too.
    let node = Node::embedded().option("sa_notices no").join();
    assert_eq!(resolve(&mut node.connect(), "node1"), ClientStatus::SUCCESS);
    let dir = node.dir().to_str().unwrap();
    let text = node.status();
    for part in [
        "OK\ndaemon: acm-mio ",
        ", up 0 d ",
        "sim0 port 1: active lid 1",
        "joins: 1",
        "answers of subnet administration: 1, half within",
        "\nnote: counters of endpoints and of the daemon need not add up",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = node.ctl(&["status", "--all", "--json"]).success();
    let line = r#"{"kind":"gauge","labels":{"port":"sim0/1"},"name":"port_active","value":1}"#;
    assert!(json.contains(line) && json.contains(r#""verdict":"ok""#), "{json}");
    let empty = tempfile::tempdir().unwrap();
    let none = run(binary(Binary::AcmCtl), &["status", "--run-dir", empty.path().to_str().unwrap()]);
    assert!(none.code == Some(3) && none.stderr.contains("no daemon answers"), "{none}");
    let mode = run(program("stat", "coreutils"), &["-c", "%a", &format!("{dir}/acm-mio.status")]).success();
    assert_eq!(mode.trim(), "660");
}

#[test]
fn metrics_listen_needs_a_local_address_and_can_be_reloaded() {
    let mut node = Node::embedded().option("metrics_listen 0.0.0.0:9999").join();
    assert!(node.log().contains("opts:4:16: "), "{}", node.log());
    let first = node.dir().join("first");
    fs::write(node.dir().join("opts"), format!("log_file stderr\nmetrics_listen {}\n", first.display())).unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("files read again", 1);
    let (head, _) = get(UnixStream::connect(&first).unwrap(), GET);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    fs::write(node.dir().join("opts"), "log_file stderr\nmetrics_listen none\n").unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("files read again", 2);
    assert!(UnixStream::connect(&first).is_err() && !first.exists());
    // A file that is not a socket is kept.
    fs::write(&first, "precious").unwrap();
    fs::write(node.dir().join("opts"), format!("log_file stderr\nmetrics_listen {}\n", first.display())).unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("metrics are not served there", 1);
    assert_eq!(fs::read_to_string(&first).unwrap(), "precious");
    let ended = |process: &mut Process| process.wait().code;
    node.process.signal(Signal::SIGTERM);
    assert_eq!(ended(&mut node.process), Some(0));
    until("no socket", || (!node.dir().join("acm-mio.status").exists()).then_some(()));
}

/// Returns the directory of this repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A member of the group connects as fast as it can, sends requests and reads no response.
#[test]
fn member_of_the_group_does_not_block_commands_of_root() {
    const SCRIPT: &str = r#"use IO::Socket::UNIX; $SIG{PIPE} = 'IGNORE'; $| = 1; print "begins\n"; my @all;
        while (1) {
            my $client = IO::Socket::UNIX->new(Peer => $ARGV[0]) or next;
            syswrite($client, "GET /cache?name=a HTTP/1.0\r\n\r\n");
            push @all, $client;
            shift @all if @all > 100;
        }"#;
    let node = Node::embedded().join();
    fs::set_permissions(node.dir(), fs::Permissions::from_mode(0o711)).unwrap();
    let socket = node.dir().join("acm-mio.status");
    // The group of the socket is that of root.
    let mut member = Command::new(program("perl", "perl-base"))
        .args(["-e", SCRIPT, socket.to_str().unwrap()])
        .stdout(Stdio::piped())
        .uid(65_534)
        .gid(0)
        .spawn()
        .unwrap();
    assert_eq!(member.stdout.as_mut().unwrap().read(&mut [0; 7]).unwrap(), 7);
    let finished: Vec<Finished> = (0..20)
        .flat_map(|_| [node.ctl(&["status"]), node.ctl(&["cache", "list"])])
        .chain([node.ctl(&["reload"])])
        .collect();
    let still_runs = member.try_wait().unwrap().is_none();
    member.kill().unwrap();
    member.wait().unwrap();
    assert!(still_runs);
    let failed: Vec<&Finished> = finished.iter().filter(|finished| finished.code != Some(0)).collect();
    assert!(failed.is_empty(), "{} of {}, first {}", failed.len(), finished.len(), failed[0]);
}

#[test]
fn file_for_node_exporter_is_read_by_prometheus() {
    let node = Node::embedded().join();
    let mut client = node.connect();
    assert_eq!(resolve(&mut client, "node1"), ClientStatus::SUCCESS);
    let file = node.dir().join("acm-mio.prom");
    let written = || node.ctl(&["metrics", file.to_str().unwrap()]);
    // The second file replaces the first one.
    assert_eq!([written().success(), written().success()], [""; 2]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("# TYPE acm_resolve_total counter\n") && !text.contains("EOF"), "{text}");
    let promtool = program("promtool", "prometheus").display().to_string();
    let checked = run("/bin/sh", &["-c", &format!("exec {promtool} check metrics < {}", file.display())]);
    assert_eq!(checked.code, Some(0), "{checked}");
    drop(client);
    node.process.signal(Signal::SIGKILL);
    until("the daemon ends", || (written().code == Some(3)).then_some(()));
    assert!(!file.exists(), "no numbers of a daemon that does not run");
}

#[test]
fn prometheus_rules_have_tests_and_use_existing_metrics() {
    let promtool = program("promtool", "prometheus");
    let files = ["rules", "days"].map(|name| root().join(format!("testdata/prometheus/{name}.test.yml")));
    // One after the other, so that each has the time limit: promtool computes for seconds.
    for file in &files {
        let finished = run(&promtool, &["test", "rules", file.to_str().unwrap()]);
        assert_eq!(finished.code, Some(0), "{finished}");
    }
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let tests = files.map(|file| fs::read_to_string(file).unwrap()).concat();
    let (rules, page) = (read("dist/acm-mio.rules.yml"), read("docs/alerts.md"));
    let alerts: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    for alert in &alerts {
        assert!(tests.contains(&format!("alertname: {alert}\n")), "{alert} has no test");
        assert!(page.contains(&format!("| `{alert}` |")), "docs/alerts.md does not describe {alert}");
    }
    assert!(alerts.len() > 5, "{alerts:?}");
    let node = Node::embedded().option("metrics_listen DIR/m").join();
    let (_, body) = get(UnixStream::connect(node.dir().join("m")).unwrap(), GET);
    let parsed = parsed(&body);
    // The counters of devices are in the manual; a simulated fabric has others.
    let counters = read("docs/metrics.md");
    let of_devices = |name: &str| {
        let counter = name.strip_prefix("acm_fabric_").and_then(|name| name.strip_suffix("_total"));
        counter.is_some_and(|counter| counters.contains(&format!("| `fabric_{counter}` |")))
    };
    let words = rules.split(|end: char| !end.is_ascii_alphanumeric() && end != '_');
    for name in words.filter(|word| word.starts_with("acm_")) {
        let is_served = parsed.contains(&format!("sample {name} ")) || of_devices(name);
        assert!(is_served, "the rules use {name}, which is not served");
    }
}

#[test]
fn prometheus_configuration_of_the_manual_is_valid() {
    let page = fs::read_to_string(root().join("docs/alerts.md")).unwrap();
    let (_, from) = page.split_once("   ```text\n   global:").expect("docs/alerts.md has a configuration");
    let (block, _) = from.split_once("   ```\n").unwrap();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("prometheus.yml"), format!("global:{}", block.replace("\n   ", "\n"))).unwrap();
    fs::write(dir.path().join("nodes.yml"), "- targets:\n  - node1:9100\n").unwrap();
    fs::copy(root().join("dist/acm-mio.rules.yml"), dir.path().join("acm-mio.rules.yml")).unwrap();
    let file = dir.path().join("prometheus.yml");
    let checked = run(program("promtool", "prometheus"), &["check", "config", file.to_str().unwrap()]);
    assert!(checked.code == Some(0) && checked.stdout.matches("SUCCESS").count() == 3, "{checked}");
}
