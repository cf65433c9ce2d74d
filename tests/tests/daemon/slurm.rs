//! Slurm's health check and prolog of docs/rollout.md, with a daemon and a stand-in for `scontrol`.
use acm_tests::{Binary, Finished, Node, Process, binary, program};
use nix::sys::signal::Signal;
use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

/// Runs a script of `dist/slurm` as Slurm does. Programs that it calls have the daemon's run directory.
fn slurm(script: &str, node: &Node, programs: &Path, nodes: &str) -> Finished {
    let run_dir = node.dir().display();
    for (name, text) in [
        ("acm-mio", format!("exec {} --run-dir {run_dir} \"$@\"", binary(Binary::AcmMio).display())),
        ("ib_acme", format!("exec {} -S {} \"$@\"", program("ib_acme", "ibacm").display(), node.socket().display())),
        ("scontrol", format!("echo \"$@\" >> {}", programs.join("calls").display())),
    ] {
        let file = programs.join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/slurm").join(script);
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let mut command = Command::new(script);
    Process::start(command.env("PATH", path).env("SLURMD_NODENAME", "node1").env("SLURM_JOB_NODELIST", nodes)).wait()
}

#[test]
fn health_check_drains_a_node_without_a_daemon() {
    let (mut node, programs) = (Node::embedded().spawn(), tempfile::tempdir().unwrap());
    node.process.wait_for("join successful", 1);
    let calls = || fs::read_to_string(programs.path().join("calls")).unwrap_or_default();
    assert_eq!(slurm("health", &node, programs.path(), "").success(), "");
    assert_eq!(calls(), "");
    node.process.signal(Signal::SIGKILL);
    node.process.wait();
    assert_eq!(slurm("health", &node, programs.path(), "").success(), "");
    assert!(
        calls().starts_with("update NodeName=node1 State=DRAIN Reason=acm-mio: no daemon answers: "),
        "{}",
        calls()
    );
}

#[test]
fn prolog_starts_lookups_and_never_fails() {
    let (mut node, programs) = (Node::embedded().option("log_level 2").spawn(), tempfile::tempdir().unwrap());
    node.process.wait_for("join successful", 1);
    assert_eq!(slurm("prolog", &node, programs.path(), "x[01-02,7],y,z[3-4]").success(), "");
    for name in ["x01", "x02", "x7", "y", "z3", "z4"] {
        node.process.wait_for(&format!("requesting the location of {name},"), 1);
    }
    assert_eq!(slurm("prolog", &node, programs.path(), "").success(), "");
    node.process.signal(Signal::SIGKILL);
    node.process.wait();
    assert_eq!(slurm("prolog", &node, programs.path(), "x").success(), "");
}
