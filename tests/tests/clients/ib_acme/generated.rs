//! `-A` and `-O`, which write files.
use super::programs::Both;
use acm_tests::{Binary, Kind, Lab, Node, binary};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

/// Returns the files that Debian's and this project's ib_acme write, and checks that both print the same.
fn generated(lab: &Lab, both: &Both, option: &str, file: &str) -> [String; 2] {
    let dir = tempfile::tempdir().unwrap();
    let words = ["-D", dir.path().to_str().unwrap(), option, "-V"];
    let [(theirs, their_text), (ours, our_text)] = both.0.each_ref().map(|program| {
        let finished = lab.run(1, program, &words);
        (finished, fs::read_to_string(dir.path().join(file)).unwrap())
    });
    assert_eq!((ours.code, &ours), (Some(0), &theirs));
    [their_text, our_text]
}

// docs/deviations.md: tool-comments
#[test]
fn generated_files_are_equivalent_to_debians() {
    let (both, lab) = (Both::new(), Lab::new(1, &["--ports", "2"]));
    let addresses = generated(&lab, &both, "-A", "ibacm_addr.cfg");
    let lines = addresses.each_ref().map(|text| {
        let read = acm_wire::files::addr::parse(text.as_bytes());
        read.map(|line| format!("{:?}", line.unwrap().1)).collect::<Vec<_>>()
    });
    assert!(lines[0] == lines[1] && lines[0].len() == 3, "{lines:?}");

    let options = generated(&lab, &both, "-O", "ibacm_opts.cfg");
    // Without the lines that select this machine's log.
    let is_log = |line: &&str| line.starts_with("log_file ") || line.starts_with("log_level ");
    let options = options.map(|text| text.lines().filter(|line| !is_log(line)).collect::<Vec<_>>().join("\n"));
    let started = |text: &str, addresses: &str| {
        lab.write(1, "ibacm_addr.cfg", addresses);
        let mut node = lab.start(1, Kind::C, &[text]);
        let endpoints = node.acme(&["-e"]).endpoints();
        node.process.signal(nix::sys::signal::Signal::SIGTERM);
        node.process.wait();
        let of_options = |line: &str| Some(line.split_once("_log_options: ")?.1.to_owned());
        (node.log().lines().filter_map(of_options).collect::<Vec<_>>(), endpoints)
    };
    let theirs = started(&options[0], &addresses[0]);
    assert!(theirs.0.len() > 20 && !theirs.1.is_empty(), "{theirs:?}");
    assert_eq!(started(&options[1], &addresses[1]), theirs);
}

#[test]
fn failures_to_generate_files_equal_debians() {
    let (both, dir) = (Both::new(), tempfile::tempdir().unwrap());
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let (dir, file) = (dir.path().to_str().unwrap(), file.to_str().unwrap());
    for words in [
        &["-D", "/proc/none", "-O"][..],
        &["-D", "/proc/none", "-A", "-V"],
        &["-D", file, "-O"],
        &["-D", dir, "-O", "/proc/none/x", "-V"],
        &["-D", dir, "-A", "none/x", "-O"],
        &["-S", "/none", "-P", "-O", "-D", dir],
    ] {
        assert_ne!(both.same(words).code, Some(0), "{words:?}");
    }
    assert!(!Path::new(dir).join("ibacm_opts.cfg").exists());
    for words in [["-D", dir, "-O", "-V"], ["-D", dir, "-Oname", "-V"], ["-D", dir, "-O", file]] {
        assert_eq!(both.same(&words).code, Some(0), "{words:?}");
    }
}

/// Debian's ib_acme writes to other places, or leaves files incomplete.
// docs/deviations.md: tool-no-device
#[test]
fn generated_files_are_in_the_given_directory() {
    let (dir, acme) = (tempfile::tempdir().unwrap(), binary(Binary::IbAcme));
    let file = dir.path().join("ibacm_addr.cfg");
    fs::write(&file, "login1 mlx5_0 1 default\n").unwrap();
    let none = Node::alone().without_devices().serve();
    let finished = none.run_inside(&acme, &["-A", "-D", dir.path().to_str().unwrap()]);
    let output = "ibv_get_device_list - no devices present?\nreturn status 0xffffffff\n";
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(255), output));
    assert_eq!(fs::read_to_string(&file).unwrap(), "login1 mlx5_0 1 default\n", "the file is unchanged");
    none.process.signal(nix::sys::signal::Signal::SIGTERM);

    let lab = Lab::new(1, &["--ports", "2"]);
    lab.fabric.control("ethernet node1 2");
    let script = format!("cd {} && umask 022 && exec {} -D sub -A -O", dir.path().display(), acme.display());
    let finished = lab.run(1, Path::new("/bin/sh"), &["-c", &script]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""));
    let sub = dir.path().join("sub");
    assert_eq!(fs::metadata(&sub).unwrap().permissions().mode() & 0o777, 0o755, "the directory can be entered");
    assert!(sub.join("ibacm_opts.cfg").exists(), "beside the address file");
    let text = fs::read_to_string(sub.join("ibacm_addr.cfg")).unwrap();
    assert!(text.contains(" ibsim0 1 default") && !text.contains(" ibsim0 2 default"), "no Ethernet port: {text}");
}

#[test]
fn daemon_resolves_hosts_of_the_generated_file_without_a_peer() {
    let (lab, acme) = (Lab::new(3, &[]), binary(Binary::IbAcme));
    let file = lab.run(1, &acme, &["generate-hosts"]).success();
    let expected: Vec<String> = (1..=3).map(|number| format!("node{number} {}", lab.fabric.port(number).gid)).collect();
    assert_eq!(file.lines().skip(1).collect::<Vec<_>>(), expected);
    lab.write(1, "hosts", &file);
    let options = ["addr_preload acm_hosts", "addr_data_file /etc/rdma/hosts"];
    let node = lab.start(1, Kind::Rust, &options);
    // No daemon runs at node3, which could respond to a multicast request.
    let path = node.acme(&["-f", "n", "-s", "node1", "-d", "node3"]).path();
    assert_eq!(path.dgid, lab.fabric.port(3).gid);
    let some = lab.run(1, &acme, &["generate-hosts", "node[3-4]"]);
    assert_eq!((some.code, some.stdout.lines().last()), (Some(3), expected.last().map(String::as_str)), "{some}");
    assert!(some.stderr.contains("node4 is left out: the subnet administrator has no such host"), "{some}");
    // A script installs the file of status 0 or 3, and a daemon would preload nothing of an empty one.
    let none = lab.run(1, &acme, &["generate-hosts", "node[001-003]"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""), "{none}");
    assert!(none.stderr.contains("node003 is left out") && none.stderr.contains("no host is left"), "{none}");
}
