//! Kernel modules, devices, ports, device files.
use super::{paths::Paths, report::Report};
use core::time::Duration;
use ib_device::{
    LinkLayer,
    sysfs::{Device, Port, Sysfs},
};
use ib_mad::PortState;
use nix::unistd::{AccessFlags, access};
use std::{path::Path, sync::mpsc, thread};

/// Longest time to check a device.
const FIRMWARE: Duration = Duration::from_secs(10);

/// Classes that RDMA modules create, the most important one first.
const CLASSES: [(&str, &str); 3] = [
    ("infiniband", "load the driver of the adapter (mlx5_ib, mlx4_ib, hfi1, ...): modprobe NAME"),
    ("infiniband_mad", "modprobe ib_umad; subnet administration is asked by its files"),
    ("infiniband_verbs", "modprobe ib_uverbs; queue pairs are made by its files"),
];

pub(super) fn modules(paths: &Paths, report: &mut Report) {
    for (class, advice) in CLASSES {
        let path = paths.class.join(class);
        let entries = std::fs::read_dir(&path).map_or(0, Iterator::count);
        // If a class has only abi_version, the module is loaded and there is no device. Devices are checked one by one.
        if entries > 0 {
            report.ok(path.display().to_string());
        } else {
            report.fail(format!("{} is not there, or empty", path.display()), advice);
        }
    }
}

pub(super) fn devices(paths: &Paths, report: &mut Report) {
    devices_within(paths, FIRMWARE, report);
}

/// Checks each device in a thread, which waits for the device's firmware.
fn devices_within(paths: &Paths, limit: Duration, report: &mut Report) {
    let names = match paths.sysfs().names() {
        Ok(names) => names,
        Err(error) => return report.fail(format!("devices: {error}"), "run as a user who may read /sys/class"),
    };
    let mut usable = 0;
    for name in names {
        let (done, result) = mpsc::channel();
        let (sysfs, of) = (paths.sysfs(), name.clone());
        // A thread that waits is left behind, and ends with the program.
        thread::spawn(move || {
            let mut report = Report::default();
            let usable = device(&sysfs, &of, &mut report);
            let _ = done.send((usable, report));
        });
        match result.recv_timeout(limit) {
            Ok((ports, of_device)) => {
                usable += ports;
                report.findings.extend(of_device.findings);
            }
            Err(_) => report.fail(
                format!("{name} does not respond within {} s", limit.as_secs()),
                "its firmware may be dead: see the kernel's log; other devices are served",
            ),
        }
    }
    if usable == 0 {
        report.fail(
            "no active InfiniBand port",
            "the daemon starts and waits for one; serve a simulated one by --fabric",
        );
    }
}

/// Checks a device. Returns the number of its usable ports.
fn device(sysfs: &Sysfs, name: &str, report: &mut Report) -> usize {
    let device = match sysfs.device(name) {
        Ok(Some(device)) => device,
        Ok(None) => return 0,
        Err(error) => {
            report.fail(format!("{name}: {error}"), "the device is not served; see the kernel's log");
            return 0;
        }
    };
    let (infiniband, other): (Vec<_>, Vec<_>) =
        device.ports.iter().partition(|port| port.link_layer == LinkLayer::InfiniBand);
    for port in other {
        report.ok(format!("{name} port {}: not InfiniBand, not served", port.number));
    }
    if !infiniband.is_empty() {
        verbs(&device, report);
    }
    for port in &infiniband {
        state(&device, port, report);
        umad(&device, port, report);
    }
    infiniband.iter().filter(|port| port.is_usable()).count()
}

fn state(device: &Device, port: &Port, report: &mut Report) {
    let name = format!("{} port {}", device.name, port.number);
    match port.state {
        PortState::ACTIVE if port.lid.is_unicast() && port.sm_lid.is_unicast() => {
            report.ok(format!("{name}: active, LID {}, SM LID {}", port.lid, port.sm_lid));
        }
        PortState::ACTIVE => report.warn(
            format!("{name}: active with LID {} and SM LID {}", port.lid, port.sm_lid),
            "no subnet manager has configured it; see the subnet manager's log",
        ),
        PortState::INIT | PortState::ARMED => {
            report.warn(format!("{name}: {}", port.state), "no subnet manager; start one in this subnet (opensm)")
        }
        state => report.warn(format!("{name}: {state}"), "no link; look at cable and switch"),
    }
}

fn umad(device: &Device, port: &Port, report: &mut Report) {
    match &port.umad {
        Some(file) => file_access(&file.path, report),
        None => {
            report.fail(format!("{} port {}: no umad file", device.name, port.number), "modprobe ib_umad");
        }
    }
}

fn verbs(device: &Device, report: &mut Report) {
    match &device.uverbs {
        Some(path) => file_access(path, report),
        None => return report.fail(format!("{}: no uverbs file", device.name), "modprobe ib_uverbs"),
    }
    #[cfg(feature = "verbs")]
    match ib_device::verbs::Context::open(&device.name) {
        Ok(_) => report.ok(format!("{}: libibverbs opens it", device.name)),
        Err(error) => report.fail(
            format!("{}: libibverbs: {error}", device.name),
            "install the adapter's provider library (Debian: ibverbs-providers), and see the file's permissions above",
        ),
    }
    #[cfg(not(feature = "verbs"))]
    report.fail(
        format!("{}: this acm-mio was built without the feature `verbs`", device.name),
        "build it with the feature",
    );
}

fn file_access(path: &Path, report: &mut Report) {
    match access(path, AccessFlags::R_OK | AccessFlags::W_OK) {
        Ok(()) => report.ok(format!("{} can be read and written", path.display())),
        Err(errno) => report.fail(
            format!("{}: {errno}", path.display()),
            "run as root, or let a udev rule give the daemon's user access, as 60-acm-mio.rules does",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::report::Verdict;
    use std::fs;

    /// Returns the paths of a machine with one device with one port.
    fn machine(state: &str, lid: &str, link_layer: &str) -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("class/infiniband/mlx5_0/node_guid", "0002:c903:0000:0010");
        for (file, text) in [
            ("state", state),
            ("lid", lid),
            ("lid_mask_count", "0"),
            ("sm_lid", lid),
            ("sm_sl", "0"),
            ("link_layer", link_layer),
            ("gids/0", "fe80:0000:0000:0000:0002:c903:0000:0011"),
            ("pkeys/0", "0xffff"),
        ] {
            put(&format!("class/infiniband/mlx5_0/ports/1/{file}"), text);
        }
        for (class, entry) in [("infiniband_mad", "umad0"), ("infiniband_verbs", "uverbs0")] {
            put(&format!("class/{class}/{entry}/ibdev"), "mlx5_0");
            put(&format!("class/{class}/{entry}/port"), "1");
        }
        put("dev/umad0", "");
        let paths = Paths { class: dir.path().join("class"), dev: dir.path().join("dev"), ..Paths::default() };
        (dir, paths)
    }

    fn checked(paths: &Paths) -> Report {
        Report::of(|report| {
            modules(paths, report);
            devices(paths, report);
        })
    }

    fn report(paths: &Paths) -> Vec<(Verdict, String)> {
        checked(paths).findings_in(paths.class.parent().unwrap())
    }

    fn has(report: &[(Verdict, String)], verdict: Verdict, what: &str) -> bool {
        report.iter().any(|(found, text)| *found == verdict && text == what)
    }

    #[test]
    fn machine_without_rdma_fails_with_advice() {
        let paths = Paths { class: "/nonexistent".into(), ..Paths::default() };
        let report = checked(&paths);
        assert!(report.findings.len() == 4 && report.findings.iter().all(|finding| finding.verdict == Verdict::Fail));
        assert!(report.findings.iter().all(|finding| !finding.advice.is_empty()));
    }

    #[test]
    fn active_port_is_ok_and_its_files_are_checked() {
        let (_dir, paths) = machine("4: ACTIVE", "0x11", "InfiniBand");
        let report = report(&paths);
        assert!(has(&report, Verdict::Ok, "mlx5_0 port 1: active, LID 17, SM LID 17"), "{report:?}");
        assert!(has(&report, Verdict::Ok, "/dev/umad0 can be read and written"), "{report:?}");
        // The file of uverbs is missing, and libibverbs has no such device.
        assert!(report.iter().any(|(verdict, what)| *verdict == Verdict::Fail && what.starts_with("/dev/uverbs0: ")));
        assert!(report.iter().any(|(verdict, what)| *verdict == Verdict::Fail && what.starts_with("mlx5_0: ")));
        assert!(!has(&report, Verdict::Fail, "no active InfiniBand port"));
    }

    #[test]
    fn port_that_is_not_ready_has_its_reason() {
        for (state, lid, what) in [
            ("2: INIT", "0x0", "mlx5_0 port 1: init: no subnet manager; start one in this subnet (opensm)"),
            ("1: DOWN", "0x0", "mlx5_0 port 1: down: no link; look at cable and switch"),
            (
                "4: ACTIVE",
                "0x0",
                "mlx5_0 port 1: active with LID 0 and SM LID 0: no subnet manager has configured it; see the subnet \
                 manager's log",
            ),
        ] {
            let (_dir, paths) = machine(state, lid, "InfiniBand");
            let lines = Report::of(|report| devices(&paths, report)).lines();
            assert!(lines.contains(&format!("warn {what}")), "{lines:?}");
            let report = report(&paths);
            assert!(has(&report, Verdict::Fail, "no active InfiniBand port"), "{report:?}");
        }
    }

    #[test]
    fn device_that_does_not_respond_is_reported() {
        let (dir, paths) = machine("4: ACTIVE", "0x11", "InfiniBand");
        // The file has no writer, so that reading it does not end.
        let state = dir.path().join("class/infiniband/mlx5_0/ports/1/state");
        fs::remove_file(&state).unwrap();
        nix::unistd::mkfifo(&state, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let lines = Report::of(|report| devices_within(&paths, Duration::ZERO, report)).lines();
        assert!(lines[0].starts_with("FAIL mlx5_0 does not respond within 0 s: its firmware may be dead"), "{lines:?}");
        assert_eq!(FIRMWARE, Duration::from_secs(10));
    }

    #[test]
    fn ethernet_port_is_not_served() {
        let (_dir, paths) = machine("4: ACTIVE", "0x0", "Ethernet");
        let report = report(&paths);
        assert!(has(&report, Verdict::Ok, "mlx5_0 port 1: not InfiniBand, not served"), "{report:?}");
        assert!(!report.iter().any(|(_, what)| what.contains("umad0")), "its files are not checked");
    }
}
