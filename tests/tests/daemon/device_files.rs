//! The daemon follows the files of a device, also without events of the device and messages of the kernel: removed,
//! replaced, and readable again.
use acm_tests::{Kind, Lab, LabNode, until};
use nix::sys::signal::Signal;
use std::{fs, path::PathBuf};

struct One {
    lab: Lab,
    node: LabNode,
}

impl One {
    fn start() -> Self {
        let lab = Lab::new(1, &[]);
        let node = lab.start(1, Kind::Rust, &[]);
        Self { lab, node }
    }

    fn control(&self, command: &str) {
        assert_eq!(self.lab.fabric.control(command), "ok\n", "{command}");
    }

    fn device(&self) -> PathBuf {
        self.lab.file(1, "sys/class/infiniband/ibsim0")
    }

    /// Removes the device's files.
    fn hide(&self) {
        fs::rename(self.device(), self.lab.file(1, "sys/hidden")).unwrap();
    }

    /// Restores the device's files and sends a message of the kernel.
    fn show(&self) {
        fs::rename(self.lab.file(1, "sys/hidden"), self.device()).unwrap();
        self.control("umad add node1 1");
    }

    fn write_guid(&self, text: &str) {
        fs::write(self.device().join("node_guid"), text).unwrap();
    }
}

#[test]
fn removed_files_are_noticed_at_the_next_kernel_message() {
    let one = One::start();
    one.hide();
    one.control("umad add node1 1");
    one.node.wait_for("ibsim0 is gone", 1);
    one.show();
    one.node.wait_for("join successful", 2);
}

#[test]
fn removed_files_are_noticed_at_the_next_port_event() {
    let one = One::start();
    // The fabric writes the files before the event, and the daemon handles the event after they are removed.
    one.node.process.signal(Signal::SIGSTOP);
    one.control("rereg node1 1");
    one.hide();
    one.node.process.signal(Signal::SIGCONT);
    one.node.wait_for("ibsim0 is gone", 1);
    one.show();
    one.node.wait_for("join successful", 2);
}

#[test]
fn removed_files_are_noticed_when_the_device_is_read_again() {
    let one = One::start();
    one.write_guid("?\n");
    one.control("rereg node1 1");
    one.node.wait_for("is not a GUID", 1);
    one.hide();
    one.node.wait_for("ibsim0 is gone", 1);
}

#[test]
fn new_guid_means_a_new_device() {
    let one = One::start();
    one.write_guid("0002:c903:0000:7770\n");
    one.control("rereg node1 1");
    one.node.wait_for("ibsim0 is another device now", 1);
    one.node.wait_for("join successful", 2);
    // An unreadable GUID leaves the device unchanged.
    one.write_guid("?\n");
    one.control("rereg node1 1");
    one.node.wait_for("is not a GUID", 1);
    one.write_guid("0002:c903:0000:8880\n");
    one.node.wait_for("ibsim0 is another device now", 2);
    one.node.wait_for("join successful", 4);
}

#[test]
fn changes_of_an_unreadable_device_are_applied_later() {
    let one = One::start();
    one.write_guid("?\n");
    one.control("pkeys node1 1 8001,ffff");
    one.node.wait_for("is not a GUID", 1);
    assert!(!one.node.log().contains("pkey 0x8001 opened"));
    one.write_guid("0002:c903:0000:0010\n");
    one.node.wait_for("pkey 0x8001 opened", 1);
}

#[test]
fn umad_device_that_returns_without_a_message_is_found() {
    let one = One::start();
    one.control("uevent lose node1");
    one.control("umad remove node1 1");
    one.node.wait_for("ibsim0 port 1 is down", 1);
    until("another failed attempt", || {
        one.node.process.signal(Signal::SIGUSR1);
        one.node.log().contains(" stats: open_failures: 1").then_some(())
    });
    one.control("umad add node1 1");
    one.node.wait_for("join successful", 2);
}

/// A port of an adapter for both networks may become one of Ethernet (`devlink`, `connectx_port_config`).
#[test]
fn port_that_becomes_ethernet_is_closed_and_loses_the_name_of_the_host() {
    let lab = Lab::new(1, &["--ports", "2"]);
    let node = lab.start(1, Kind::Rust, &[]);
    node.remove_addresses();
    node.process.signal(Signal::SIGHUP);
    let names = |port: &str| {
        let rows = node.acme(&["-e"]).endpoints().into_iter().filter(|row| row.port.to_string() == port);
        rows.map(|row| row.addresses.len()).sum::<usize>()
    };
    until("both ports", || (names("1") == 2 && names("2") == 1).then_some(()));
    assert_eq!(lab.fabric.control("ethernet node1 1"), "ok\n");
    lab.fabric.control("rereg node1 1");
    node.wait_for("ibsim0 port 1 is no InfiniBand port any more", 1);
    until("the other port", || (names("1") == 0 && names("2") == 2).then_some(()));
}
