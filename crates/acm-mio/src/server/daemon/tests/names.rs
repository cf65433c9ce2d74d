//! Names of ports without an address file, made from the host's name.
use super::*;

/// Returns the number of addresses that the core serves.
fn addresses(daemon: &Daemon) -> usize {
    let report = daemon.acm.report().to_string();
    let counts = report.lines().filter_map(|line| line.split_once(" addresses ")?.1.split(' ').next()?.parse().ok());
    counts.max().unwrap_or(0)
}

/// Returns a daemon with the host's names beside `node1`, and its ports, which a test may remove.
fn with_names(dir: &std::path::Path) -> (Daemon, Rc<RefCell<Vec<NamedPort>>>) {
    let mut daemon = daemon(dir);
    let ports = Rc::new(RefCell::new(vec![NamedPort { id: PortId(0), device: "sim0".into(), number: 1 }]));
    daemon.host.fabric = Some(Box::new(TestFabric { ports: Rc::clone(&ports), ..TestFabric::default() }));
    daemon.names = crate::names::DefaultNames::called("host");
    daemon.name_ports(Time::ZERO);
    assert_eq!(addresses(&daemon), 3, "node1, host, host-1");
    (daemon, ports)
}

#[test]
fn default_names_are_removed_with_their_port() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, ports) = with_names(dir.path());
    ports.borrow_mut().clear();
    // Any event of a port makes the daemon choose names again.
    daemon.host.fabric = Some(Box::new(TestFabric { events: 2, ports, ..TestFabric::default() }));
    daemon.fabric_events(Time::ZERO).unwrap();
    assert_eq!(addresses(&daemon), 1);
}

#[test]
fn default_names_are_removed_when_an_address_file_appears() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, ports) = with_names(dir.path());
    let file = dir.path().join("addr");
    let args = ["acm-mio", "-O", "/none", "-A", file.to_str().unwrap()];
    daemon.reload.current = Settings::read(&Args::parse_from(args));
    let reload = |daemon: &mut Daemon, text: &str| {
        std::fs::write(&file, text).unwrap();
        let new = daemon.reload.current.read_again();
        daemon.apply(Time::ZERO, new);
    };
    reload(&mut daemon, "host sim0 1 default\nother sim0 1 default\n");
    assert_eq!(addresses(&daemon), 3, "host-1 was removed, other was added");
    // Lines of a port whose device was removed count as well.
    ports.borrow_mut().clear();
    reload(&mut daemon, "host sim0 1 default\n");
    assert_eq!(addresses(&daemon), 2);
    reload(&mut daemon, "");
    assert_eq!(addresses(&daemon), 2, "a file that became empty is not applied");
    reload(&mut daemon, "# none\n");
    assert_eq!(addresses(&daemon), 1);
}

/// A name of the file in one partition is not the host's name in the first partition.
#[test]
fn name_in_a_partition_is_removed_with_the_address_file_although_it_is_a_default_name() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, _) = with_names(dir.path());
    let attributes = PortAttributes {
        lid: Lid::new(1),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)],
        ..PortAttributes::default()
    };
    daemon.input(Time::ZERO, Input::PortUp { port: PortId(0), attributes });
    let file = dir.path().join("addr");
    std::fs::write(&file, "host sim0 1 0x8001\n").unwrap();
    let args = ["acm-mio", "-O", "/none", "-A", file.to_str().unwrap()];
    let without_file = core::mem::replace(&mut daemon.reload.current, Settings::read(&Args::parse_from(args)));
    daemon.change_addresses(Time::ZERO, &[]);
    let is_served = |daemon: &Daemon| daemon.acm.report().to_string().contains("0x8001");
    assert!(is_served(&daemon), "{}", daemon.acm.report());
    let before = core::mem::replace(&mut daemon.reload.current, without_file).addresses.unwrap();
    daemon.change_addresses(Time::ZERO, &before);
    assert!(!is_served(&daemon), "{}", daemon.acm.report());
}

#[test]
fn addresses_of_a_device_that_is_added_later_are_served() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let file = dir.path().join("addr");
    std::fs::write(&file, "other sim0 1 default\n").unwrap();
    daemon.reload.current = Settings::read(&Args::parse_from(["acm-mio", "-O", "/none", "-A", file.to_str().unwrap()]));
    let ports = Rc::default();
    daemon.host.fabric = Some(Box::new(TestFabric { ports: Rc::clone(&ports), ..TestFabric::default() }));
    daemon.fabric_events(Time::ZERO).unwrap();
    assert_eq!(addresses(&daemon), 1, "node1");
    ports.borrow_mut().push(NamedPort { id: PortId(0), device: "sim0".into(), number: 1 });
    daemon.host.fabric = Some(Box::new(TestFabric { ports, has_new_ports: true, ..TestFabric::default() }));
    daemon.fabric_events(Time::ZERO).unwrap();
    assert_eq!(addresses(&daemon), 2);
}

// docs/deviations.md: sighup
#[test]
fn files_are_applied_when_they_have_not_changed_for_half_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, _) = with_names(dir.path());
    let file = dir.path().join("addr");
    std::fs::write(&file, "node1 sim0 1 default\n").unwrap();
    daemon.reload.current =
        Settings::read(&Args::parse_from(["acm-mio", "-O", "/dev/null", "-A", file.to_str().unwrap()]));
    let has = |daemon: &Daemon, count| daemon.reload.addresses().unwrap().len() == count;
    let half = Duration::from_millis(500);
    daemon.begin_reload(Time::ZERO);
    // A program writes the file: each check sees another one.
    std::fs::write(&file, "node1 sim0 1 default\nother si").unwrap();
    let mut at = Time::ZERO;
    for text in ["node1 sim0 1 default\nother sim0 1 default\nthi", "node2 sim0 1 default\nother sim0 1 default\n"] {
        at = at + half;
        assert_eq!(daemon.reload.due(), Some(at));
        daemon.continue_reload(at);
        std::fs::write(&file, text).unwrap();
        assert!(has(&daemon, 1));
    }
    daemon.continue_reload(at + half);
    assert!(has(&daemon, 1), "it was seen once");
    daemon.continue_reload(at + half + (half - Duration::from_nanos(1)));
    assert!(has(&daemon, 1));
    daemon.continue_reload(at + half + half);
    assert!(has(&daemon, 2));
    assert_eq!((daemon.reload.due(), daemon.reload.not_applied), (None, 0));
}

#[test]
fn files_that_change_for_ten_seconds_are_not_applied() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, _) = with_names(dir.path());
    let file = dir.path().join("addr");
    std::fs::write(&file, "node1 sim0 1 default\n").unwrap();
    daemon.reload.current =
        Settings::read(&Args::parse_from(["acm-mio", "-O", "/dev/null", "-A", file.to_str().unwrap()]));
    daemon.begin_reload(Time::ZERO);
    let mut checks = 0;
    while let Some(at) = daemon.reload.due() {
        checks += 1;
        std::fs::write(&file, "other sim0 1 default\n".repeat(checks)).unwrap();
        daemon.continue_reload(at);
    }
    assert_eq!((checks, daemon.reload.not_applied), (20, 1));
    assert_eq!(daemon.reload.addresses().unwrap().len(), 1);
}
