//! The host's names, which its ports have without an address file.
use super::*;

/// How many addresses the core serves.
fn addresses(daemon: &Daemon) -> usize {
    let report = daemon.acm.report().to_string();
    let counts = report.lines().filter_map(|line| line.split_once(" addresses ")?.1.split(' ').next()?.parse().ok());
    counts.max().unwrap_or(0)
}

/// A daemon that has the host's names beside `node1`, at a port that may be taken away.
fn with_names(dir: &std::path::Path) -> (Daemon, Rc<RefCell<Vec<NamedPort>>>) {
    let mut daemon = daemon(dir);
    let ports = Rc::new(RefCell::new(vec![NamedPort { id: PortId(0), device: "sim0".into(), number: 1 }]));
    daemon.host.fabric = Some(Box::new(Chatter { ports: Rc::clone(&ports), ..Chatter::default() }));
    daemon.names = crate::names::DefaultNames::new("host");
    daemon.name_ports(Time::ZERO);
    assert_eq!(addresses(&daemon), 3, "node1, host, host-1");
    (daemon, ports)
}

#[test]
fn the_hosts_names_go_with_the_port() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, ports) = with_names(dir.path());
    ports.borrow_mut().clear();
    // The fabric tells of a port, whichever.
    daemon.host.fabric = Some(Box::new(Chatter { tells: 2, ports, ..Chatter::default() }));
    daemon.fabric_events(Time::ZERO).unwrap();
    assert_eq!(addresses(&daemon), 1);
}

#[test]
fn the_hosts_names_go_when_a_file_has_others() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, ports) = with_names(dir.path());
    let file = dir.path().join("addr");
    let args = ["acm-mio", "-O", "/none", "-A", file.to_str().unwrap()];
    daemon.reload.current = Settings::read(&Args::parse_from(args));
    let reload = |daemon: &mut Daemon, text: &str| {
        std::fs::write(&file, text).unwrap();
        daemon.reload(Time::ZERO);
    };
    reload(&mut daemon, "host sim0 1 default\nother sim0 1 default\n");
    assert_eq!(addresses(&daemon), 3, "host-1 is gone, and other is there");
    // What the file says of a port that is away counts, too.
    ports.borrow_mut().clear();
    reload(&mut daemon, "host sim0 1 default\n");
    assert_eq!(addresses(&daemon), 2);
    reload(&mut daemon, "");
    assert_eq!(addresses(&daemon), 1);
}
