//! The units under a real systemd.
use std::{path::Path, process::Command};

/// Runs a script in this directory with the directory `dist` and the daemon, and compares its checks.
fn checks(script: &str, expected: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("sh")
        .arg(root.join("tests/vm_kernel").join(script))
        .args([root.join("../../dist"), env!("CARGO_BIN_EXE_acm-mio").into()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ok: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("ok ")).collect();
    assert_eq!(ok, expected, "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn daemon_opens_ports_whose_files_udev_gives_to_its_user() {
    checks(
        "adapter.sh",
        &[
            "kernel gives the file to root alone",
            "udev gives the file to the user acm",
            "drivers are not loaded",
            "service starts without drivers",
            "daemon opens the port of a driver that loads later",
            "daemon is no root",
            "daemon opens a port that comes later",
        ],
    );
}

#[test]
fn units_start_reload_and_restart_the_daemon() {
    checks(
        "systemd.sh",
        &[
            "started",
            "resolves",
            "shared",
            "stale-port-files",
            "state",
            "privileges",
            "follows",
            "kernel",
            "reloaded",
            "answered-over-a-restart",
            "killed-by-the-watchdog",
            "restarted",
            "socket-kept",
            "connection-kept",
            "restarted-after-twenty-kills",
            "status",
        ],
    );
}
