//! `acmctl check` on a machine with RDMA modules and two devices that are not InfiniBand.
use crate::lab::{Daemon, lab};
use std::process::Command;

#[test]
fn check_reports_modules_devices_privileges_and_a_running_daemon() {
    let _lab = lab();
    let daemon = Daemon::start("/run", &["--fabric", "embedded"], "node1 sim0 1 default\n");
    let options = "/tmp/vm_kernel/check.opts";
    std::fs::write(options, "lock_file /tmp/vm_kernel/run/lock\nretrys 3\n").unwrap();
    let check = Command::new(env!("CARGO_BIN_EXE_acmctl")).args(["check", "-A", "/none", "-O", options]).output();
    let check = check.unwrap();
    let text = String::from_utf8(check.stdout).unwrap();
    for line in [
        "ok /sys/class/infiniband_mad\n",
        "ok rxe2 port 1: not InfiniBand, not served\n",
        "ok CAP_NET_ADMIN\n",
        "ok NETLINK_RDMA: ",
        "ok run directory /run can be written\n",
        "FAIL no active InfiniBand port: ",
        "warn /tmp/vm_kernel/check.opts:2:1: ",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    assert!(text.contains(&format!("warn process {} has /tmp/vm_kernel/run/lock: ", daemon.id())), "{text}");
    assert_eq!(check.status.code(), Some(1));
}
