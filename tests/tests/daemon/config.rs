//! Configuration files with errors: each error is reported with its location, and the other lines apply.
use acm_tests::{Binary, Fabric, Kind, Lab, Node, Process, binary, run, until, write_script};
use nix::sys::signal::Signal;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    process::Command,
};

/// Returns the locations of errors in `file` of the run directory, from the log.
fn error_locations(node: &Node, file: &str) -> Vec<String> {
    let start = format!("config: {}:", node.dir().join(file).display());
    let log = node.log();
    let rests = log.lines().filter_map(|line| Some(line.split_once(&start)?.1));
    rests.map(|rest| rest.split(": ").next().unwrap().to_owned()).collect()
}

fn addresses(node: &Node) -> Vec<String> {
    node.acme(&["-e"]).endpoints().into_iter().flat_map(|row| row.addresses).collect()
}

#[test]
fn errors_in_the_option_file_are_located() {
    let node = Node::embedded()
        .options(
            "# a comment\n\
             log_file stderr\n\
             log_level 2\n\
             TIMEOUT   500 # the name's case does not matter\n\
             retrys 3\n\
             retries\n\
             min_mtu 77\n\
             \tmin_rate fast\n\
             provider other 0x1\n\
             \n\
             server_mode closed\n\
             route_prot acm\n\
             addr_timeout 5",
        )
        .join();
    assert_eq!(error_locations(&node, "opts"), ["5:1", "6:8", "7:9", "8:11", "11:13", "9:1"]);
    let log = node.log();
    for option in ["timeout 500", "retries 2", "min_mtu 2048", "route_prot acm", "addr_timeout 5", "server_mode unix"] {
        assert!(log.contains(&format!("options: {option}\n")), "{option}");
    }
    assert_eq!(addresses(&node), ["node1"]);
}

#[test]
fn binary_options_are_errors() {
    let node = Node::embedded().option("timeout \u{1b}[2J\nsa_depth 4 four\nr\u{e9}tries 9\nsa_depth 3").join();
    let log = node.log();
    assert!(!log.contains('\u{1b}'), "{log}");
    assert!(log.contains("options: sa_depth 3\n"), "{log}");
    let locations = error_locations(&node, "opts");
    assert!(locations.contains(&"4:9".to_owned()) && locations.contains(&"6:1".to_owned()), "{locations:?}");
}

#[test]
fn errors_in_the_address_file_are_located() {
    let node = Node::embedded()
        .addresses(
            "# address device port pkey\n\
             node1 sim0 1 default\n\
             node1-b sim0\n\
             node1-c sim0 0 default\n\
             node1-d sim0 1 zz\n\
             node1-e sim1 1 default\n\
             node1-f sim0 2 default\n\
             node1-g sim0 1 8001\n\
             NODE1 sim0 1 default\n\
             10.77.0.1 sim0 1 ffff # the end\n\
             last sim0 1 7fff",
        )
        .join();
    assert_eq!(error_locations(&node, "addr"), ["3:13", "4:14", "5:16", "6", "7"]);
    let log = node.log();
    for complaint in ["unable to assign node1-g: pkey 0x8001", "duplicate address NODE1"] {
        until(complaint, || node.log().to_lowercase().contains(&complaint.to_lowercase()).then_some(()));
    }
    assert_eq!(addresses(&node), ["node1", "10.77.0.1", "last"], "{log}");
}

#[test]
fn ip_addresses_in_the_address_file_need_support_ips_in_addr_cfg() {
    let text = "10.77.0.1 sim0 1 default\nnode1 sim0 1 default\nfd00::1 sim0 1 default\n";
    let node = Node::embedded().option("support_ips_in_addr_cfg 0").addresses(text).join();
    assert_eq!(error_locations(&node, "addr"), ["1", "3"]);
    assert_eq!(addresses(&node), ["node1"]);
    let node = Node::embedded().option("support_ips_in_addr_cfg 1").addresses(text).join();
    assert!(error_locations(&node, "addr").is_empty());
    assert_eq!(addresses(&node), ["10.77.0.1", "node1", "fd00::1"]);
}

/// Several simulated nodes on one host would otherwise share the host's name.
#[test]
fn simulated_node_without_an_address_file_has_its_name_on_the_fabric() {
    let one = Node::alone().argument("--fabric=embedded").join();
    assert_eq!(addresses(&one), ["node1", "node1-1"]);
    let fabric = one.dir().join("fabric.sock");
    let two = Node::alone().argument(&format!("--fabric=sim:{}?node=node2", fabric.display())).join();
    assert_eq!(addresses(&two), ["node2", "node2-1"]);
    let path = one.acme(&["-f", "n", "-s", "node1", "-d", "node2", "-v"]).verified();
    assert_ne!(path.dgid, path.sgid);
    assert!(!one.dir().join("addr").exists(), "the daemon writes no address file");
}

// docs/deviations.md: no-address-file
#[test]
fn host_without_an_address_file_has_its_host_name() {
    let lab = Lab::new(1, &[]);
    let node = lab.start(1, Kind::Rust, &[]);
    node.remove_addresses();
    node.process.signal(Signal::SIGHUP);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().split('.').next().unwrap();
    let expected = [host.to_owned(), format!("{host}-1")];
    until(host, || {
        let rows = node.acme(&["-e"]).endpoints();
        (rows.into_iter().flat_map(|row| row.addresses).collect::<Vec<String>>() == expected).then_some(())
    });
}

/// DHCP sets the name after the daemon has started.
// docs/deviations.md: host-name
#[test]
fn names_follow_that_of_the_host() {
    let lab = Lab::new(1, &[]);
    let script = lab.file(1, "daemon");
    // A host name of its own, so that this machine keeps its name.
    let daemon = binary(Binary::AcmMio);
    write_script(
        &script,
        &format!(
            "exec unshare --uts sh -c 'hostname localhost.localdomain; exec {} \"$@\"' sh \"$@\"",
            daemon.display()
        ),
    );
    let node = lab.start_build(1, &script, &[]);
    node.write_addresses("localhost ibsim0 1 default\nlocalhost-1 ibsim0 1 default\n10.77.0.1 ibsim0 1 default\n");
    node.process.signal(Signal::SIGHUP);
    let addresses =
        || node.acme(&["-e"]).endpoints().into_iter().flat_map(|row| row.addresses).collect::<Vec<String>>();
    let has = |expected: &[&str]| until(&format!("{expected:?}"), || (addresses() == expected).then_some(()));
    has(&["10.77.0.1"]);
    node.wait_for("the name localhost-1 is skipped: every host has it", 1);
    node.remove_addresses();
    node.process.signal(Signal::SIGHUP);
    node.wait_for("this host has no name of its own, and no name is served until it has one", 1);
    let pid = node.process.id().to_string();
    for name in ["node7", "node8"] {
        let whole = format!("{name}.example.org");
        let _ = run("nsenter", &["--target", &pid, "--uts", "hostname", &whole]).success();
        has(&[name, &format!("{name}-1")]);
    }
}

/// ibacm ran as root, and its files may be for root alone.
// docs/deviations.md: missing-file
#[test]
fn file_that_cannot_be_read_ends_the_start() {
    // Root without the capabilities that override modes.
    let start = |plain: &Command| {
        let mut command = Command::new("setpriv");
        command.arg("--bounding-set=-dac_override,-dac_read_search").arg(plain.get_program()).args(plain.get_args());
        Process::start(&mut command).wait()
    };
    let options = "min_rate 40\naddr_preload acm_hosts\naddr_data_file DIR/hosts\nroute_preload opensm_full_v1\n\
                   route_data_file DIR/routes\n";
    let node = Node::embedded().options(options);
    for (what, name) in
        [("option file", "opts"), ("address file", "addr"), ("addr_data_file", "hosts"), ("route_data_file", "routes")]
    {
        let dir = tempfile::tempdir().unwrap();
        drop(node.command(dir.path()));
        for file in ["hosts", "routes"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let secret = dir.path().join(name);
        fs::set_permissions(&secret, Permissions::from_mode(0o000)).unwrap();
        let line = format!("{what} {}: Permission denied (os error 13)", secret.display());
        let refused = start(&node.command(dir.path()));
        assert_eq!(refused.code, Some(255), "{refused}");
        assert!(refused.stderr.starts_with(&format!("acm-mio: {line}; ")), "{refused}");
        let checked = start(&node.check_command(dir.path()));
        assert!(checked.stdout.contains(&format!("FAIL {line}: ")) && checked.code == Some(1), "{checked}");
        for false_line in ["is empty", "no address file"] {
            assert!(!checked.stdout.contains(false_line), "{checked}");
        }
    }
}

/// Reading a pipe without a writer would block the daemon.
#[test]
fn pipe_as_option_file_is_not_read() {
    let mut node = Node::embedded().join();
    let options = node.dir().join("opts");
    fs::remove_file(&options).unwrap();
    nix::unistd::mkfifo(&options, nix::sys::stat::Mode::S_IRWXU).unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("files read again", 1);
    let line = format!("{}: not a regular file", options.display());
    assert!(node.log().contains(&line), "{}", node.log());
    assert_eq!(addresses(&node), ["node1"]);
}

#[test]
fn host_name_belongs_to_an_active_port_and_stays_there() {
    let fabric = Fabric::serve(1, &["--ports", "2"]);
    fabric.control("down node1 1");
    let node = Node::alone().argument(&format!("--fabric=sim:{}?node=node1", fabric.socket().display())).join();
    let (name, one, two) = ("node1", "node1-1", "node1-2");
    let has = |expected: &[&str]| {
        until(&format!("{expected:?}"), || (addresses(&node) == expected).then_some(()));
    };
    has(&[name, two]);
    fabric.control("up node1 1");
    has(&[one, name, two]);
    fabric.control("down node1 2");
    has(&[one, name]);
    fabric.control("up node1 2");
    has(&[one, name, two]);
}
