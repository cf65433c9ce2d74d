//! The script `dist/acm-hardware-test`, with devices of a simulated fabric.
use acm_tests::{Binary, Finished, Kind, Lab, binary, until, write_script};
use std::{fs, path::Path};

/// Runs the script at node1, with a report in this folder.
fn hardware_test(lab: &Lab, folder: &Path, arguments: &str) -> Finished {
    hardware_test_with(lab, folder, "exec sh", arguments)
}

/// Does the same, with other words than `exec sh` before the script.
fn hardware_test_with(lab: &Lab, folder: &Path, shell: &str, arguments: &str) -> Finished {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("dist/acm-hardware-test");
    let programs = [binary(Binary::AcmMio), binary(Binary::IbAcme)];
    let [daemon, client] = programs.each_ref().map(|program| program.parent().unwrap().display());
    let (script, report) = (script.display(), folder.join("report"));
    let line = format!("PATH={daemon}:{client}:$PATH; {shell} {script} -o {} {arguments}", report.display());
    lab.run(1, Path::new("/bin/sh"), &["-c", &line])
}

#[test]
fn hardware_test_passes_beside_a_peer_and_writes_a_report() {
    let (lab, folder) = (Lab::new(2, &[]), tempfile::tempdir().unwrap());
    let _peer = lab.start(2, Kind::Rust, &[]);
    let finished = hardware_test(&lab, folder.path(), "-p node2");
    assert_eq!(finished.code, Some(0), "{finished}");
    for step in [
        "a port is active",
        "the group is joined",
        "the SA confirms the path",
        "the SA accepts a subscription to notices",
        "the SA confirms the path to node2",
        "100 requests are answered",
    ] {
        assert!(finished.stdout.contains(&format!("PASS {step}\n")), "{step}: {finished}");
    }
    let report = fs::read_to_string(folder.path().join("report")).unwrap();
    let parts = ["ports/1/link_layer:InfiniBand", "join successful", "node2 at ibsim0/1 ", "RESULT passed\n"];
    for part in parts {
        assert!(report.contains(part), "{part:?} in {report}");
    }
}

#[test]
fn hardware_test_names_the_step_that_fails() {
    let (lab, folder) = (Lab::new(1, &[]), tempfile::tempdir().unwrap());
    let finished = hardware_test(&lab, folder.path(), "-p node2");
    assert_eq!(finished.code, Some(1), "{finished}");
    assert!(finished.stdout.contains("FAIL peer node2 resolves\n"), "{finished}");
    assert!(finished.stdout.contains("RESULT failed\n"), "{finished}");
    // No other daemon is there, so the port must not stay in the group.
    assert!(finished.stdout.contains("PASS the daemon leaves its groups and ends\n"), "{finished}");
    assert!(!lab.fabric.control("groups").contains("1/1"), "{}", lab.fabric.control("groups"));
}

#[test]
fn hardware_test_names_each_port() {
    let lab = Lab::with_nodes(&["node1", "node1:1"], &["--ports", "2"]);
    lab.fabric.control("down node1 2");
    let folder = tempfile::tempdir().unwrap();
    let finished = hardware_test(&lab, folder.path(), "");
    assert_eq!(finished.code, Some(0), "{finished}");
    let served = "joins the group, and the SA confirms its path\n";
    for line in [
        "     ibsim0/1, with all steps\n",
        "SKIP port ibsim0/2: it is not active\n",
        &format!("PASS port ibsim1/1 {served}"),
        &format!("PASS port ibsim1/2 {served}"),
    ] {
        assert!(finished.stdout.contains(line), "{line:?} in {finished}");
    }
    assert!(!finished.stdout.contains("ibsim0/1 joins"), "{finished}");
}

#[test]
fn hardware_test_keeps_the_groups_of_the_daemon_beside_it() {
    for kind in [Kind::Rust, Kind::C] {
        let (lab, folder) = (Lab::new(2, &[]), tempfile::tempdir().unwrap());
        let [_beside, peer] = [(1, kind), (2, Kind::Rust)].map(|(number, kind)| lab.start(number, kind, &[]));
        let groups = lab.fabric.control("groups");
        assert!(groups.contains("1/1") && groups.contains("2/1"), "{groups}");
        let finished = hardware_test(&lab, folder.path(), "-p node2");
        assert_eq!(finished.code, Some(0), "{kind:?}: {finished}");
        assert!(finished.stdout.contains("PASS the daemon ends, and leaves no group of"), "{finished}");
        assert_eq!(lab.fabric.control("groups"), groups, "{kind:?}");
        let _ = peer.acme(&["-f", "n", "-s", "node2", "-d", "node1"]).finished.success();
    }
}

#[test]
fn interrupted_hardware_test_keeps_the_groups_of_the_daemon_beside_it() {
    let (lab, folder) = (Lab::new(1, &[]), tempfile::tempdir().unwrap());
    let _beside = lab.start(1, Kind::Rust, &[]);
    let groups = lab.fabric.control("groups");
    // The first request follows the join. In its place SIGINT is sent to the script and to all other processes of its
    // group, as a terminal does.
    write_script(&folder.path().join("acm-ib_acme"), "kill -INT 0");
    let folder_name = folder.path().display();
    let shell = format!("export TMPDIR={folder_name}; PATH={folder_name}:$PATH; exec setsid -w sh");
    let finished = hardware_test_with(&lab, folder.path(), &shell, "");
    assert_eq!(finished.code, Some(130), "{finished}");
    assert!(finished.stdout.ends_with("PASS the group is joined\n"), "{finished}");
    until("the end of the test's daemon", || (!run_below(folder.path())).then_some(()));
    assert_eq!(lab.fabric.control("groups"), groups);
}

/// True if a process has an argument with this folder.
fn run_below(folder: &Path) -> bool {
    let mut processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path().join("cmdline"));
    processes
        .any(|file| fs::read(file).is_ok_and(|line| String::from_utf8_lossy(&line).contains(folder.to_str().unwrap())))
}
