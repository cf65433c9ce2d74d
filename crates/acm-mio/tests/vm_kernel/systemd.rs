//! The units under a real systemd.
use std::{path::Path, process::Command};

#[test]
fn units_start_reload_and_restart_the_daemon() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("sh")
        .arg(root.join("tests/vm_kernel/systemd.sh"))
        .args([root.join("../../dist"), env!("CARGO_BIN_EXE_acm-mio").into()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ok: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("ok ")).collect();
    let expected = [
        "started",
        "resolves",
        "shared",
        "state",
        "privileges",
        "kernel",
        "reloaded",
        "answered-over-a-restart",
        "killed-by-the-watchdog",
        "restarted",
        "socket-kept",
        "restarted-after-twenty-kills",
        "status",
    ];
    assert_eq!(ok, expected, "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}
