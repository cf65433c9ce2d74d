//! Devices that libibverbs does not have: they can be read but not opened. Tests with devices that open are in
//! `simulated`.
mod simulated;

use super::table::{Depths, Devices};
use crate::{fabric::Fabric, log::Lines, testing::captured_log};
use acm_sansio::{Input, PortId, Time};
use core::{num::NonZeroU32, time::Duration};
use ib_device::sysfs::Sysfs;
use std::{fs, path::Path};

/// Writes the files of a device with one InfiniBand port.
fn write_device(root: &Path, name: &str) {
    let port = root.join("class/infiniband").join(name).join("ports/1");
    fs::create_dir_all(port.join("gids")).unwrap();
    fs::create_dir_all(port.join("pkeys")).unwrap();
    fs::write(port.join("../../node_guid"), "0002:c903:0000:0010\n").unwrap();
    for (file, text) in [
        ("state", "4: ACTIVE"),
        ("link_layer", "InfiniBand"),
        ("lid", "0x10"),
        ("lid_mask_count", "0"),
        ("sm_lid", "0x1"),
        ("sm_sl", "0"),
        ("gids/0", "fe80:0000:0000:0000:0002:c903:0000:0011"),
        ("pkeys/0", "0xffff"),
    ] {
        fs::write(port.join(file), text).unwrap();
    }
}

fn devices(root: &Path) -> Devices {
    let sysfs = Sysfs::new(root.join("class"), root.join("dev"));
    let one = NonZeroU32::MIN;
    Devices::looking_at(sysfs, None, Depths { receive: one, send: one }, Lines::default())
}

fn count(devices: &Devices, name: &str) -> u64 {
    devices.counters().into_iter().find(|(other, _)| *other == name).unwrap().1
}

const fn seconds(seconds: u64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

// docs/deviations.md: device-returns
#[test]
fn device_that_cannot_be_opened_is_retried_with_growing_pauses() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let mut devices = devices(dir.path());
    devices.scan();
    assert!(matches!(devices.next_event(), Ok(Some(Input::PortDown(PortId(0))))), "it is visible");
    assert_eq!((devices.known_ports()[0].to_string().as_str(), devices.ports()), ("mlx9_0/1", vec![]));
    let mut tries = Vec::new();
    for second in 0..200 {
        let before = count(&devices, "open_failures");
        devices.handle_timeout(seconds(second));
        if count(&devices, "open_failures") > before {
            tries.push(second);
            // A scan because of a message of the kernel is one more attempt, and does not delay the next retry.
            devices.scan();
        }
    }
    assert_eq!(tries, [1, 3, 7, 15, 31, 63, 123, 183]);
    assert!(devices.is_empty() && devices.next_event().unwrap().is_none());
    // A retry reads the one device only.
    assert_eq!(count(&devices, "scans"), 9);
}

#[test]
fn removed_device_is_not_retried() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let mut devices = devices(dir.path());
    devices.scan();
    assert!(devices.poll_timeout().is_some());
    fs::remove_dir_all(dir.path().join("class/infiniband/mlx9_0")).unwrap();
    devices.handle_timeout(seconds(5));
    assert_eq!(devices.poll_timeout(), None);
    write_device(dir.path(), "mlx9_0");
    devices.scan();
    fs::remove_dir_all(dir.path().join("class/infiniband/mlx9_0")).unwrap();
    devices.scan();
    assert_eq!(devices.poll_timeout(), None);
}

#[test]
fn device_that_cannot_be_read_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let state = dir.path().join("class/infiniband/mlx9_0/ports/1/state");
    fs::write(&state, "?").unwrap();
    let mut devices = devices(dir.path());
    devices.scan();
    assert_eq!((count(&devices, "read_failures"), count(&devices, "open_failures")), (1, 0));
    assert_eq!(devices.poll_timeout(), Some(Time::ZERO + Duration::from_secs(1)));
    fs::write(&state, "4: ACTIVE").unwrap();
    devices.handle_timeout(seconds(1));
    assert_eq!((count(&devices, "read_failures"), count(&devices, "open_failures")), (1, 1));
    // If the class itself cannot be read, no device is closed.
    fs::rename(dir.path().join("class/infiniband"), dir.path().join("class/aside")).unwrap();
    fs::write(dir.path().join("class/infiniband"), "").unwrap();
    devices.scan();
    assert_eq!(count(&devices, "read_failures"), 2);
    fs::remove_file(dir.path().join("class/infiniband")).unwrap();
    fs::rename(dir.path().join("class/aside"), dir.path().join("class/infiniband")).unwrap();
    let scans = count(&devices, "scans");
    devices.handle_timeout(seconds(2));
    assert_eq!(count(&devices, "scans"), scans + 1);
}

#[test]
fn log_of_a_device_that_comes_and_goes_is_limited() {
    let dir = tempfile::tempdir().unwrap();
    let mut devices = devices(dir.path());
    let text = captured_log(tracing::Level::INFO, || {
        for _ in 0..100 {
            write_device(dir.path(), "mlx9_0");
            devices.scan();
            fs::remove_dir_all(dir.path().join("class/infiniband/mlx9_0")).unwrap();
            devices.scan();
        }
    });
    assert_eq!(count(&devices, "open_failures"), 100);
    assert_eq!(text.matches("mlx9_0: ").count(), 20, "{text}");
    assert_eq!(devices.lines.due(), Some(seconds(60)), "the further lines are counted");
}
