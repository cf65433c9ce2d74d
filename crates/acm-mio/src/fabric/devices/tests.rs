//! Devices that libibverbs does not have: they can be read but not opened. Tests with devices that open are in
//! `simulated`.
mod simulated;

use super::{
    counters::Counters,
    messages::Report,
    table::{DeviceKey, Devices, EndpointState},
    thread::DeviceThread,
    worker::{Depths, Work, Worker},
};
use crate::{
    fabric::{Fabric, NamedPort},
    log::Lines,
    testing::{captured_log, wait_until},
};
use acm_sansio::{
    EndpointId, Input, PortId, SaRequestId, Time,
    api::{SendFailure, SendTo},
};
use core::{num::NonZeroU32, time::Duration};
use ib_device::sysfs::Sysfs;
use ib_mad::{AddressVector, Lid, Qkey, Qpn, acm::AcmMad};
use std::{
    fs,
    path::Path,
    sync::{Arc, mpsc},
};

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

fn worker(root: &Path) -> Worker {
    let (sysfs, one) = (Sysfs::new(root.join("class"), root.join("dev")), NonZeroU32::MIN);
    Worker::new(DeviceKey(0), "mlx9_0".into(), sysfs, Depths { receive: one, send: one }, Arc::default())
}

fn devices(root: &Path) -> Devices {
    let (sysfs, one) = (Sysfs::new(root.join("class"), root.join("dev")), NonZeroU32::MIN);
    Devices::looking_at(sysfs, None, Depths { receive: one, send: one }, Lines::default()).unwrap()
}

fn handle_timeout(worker: &mut Worker, now: Time) {
    worker.handle_timeout(now);
    while worker.retry() {}
}

fn count(counters: &Counters, name: &str) -> u64 {
    counters.iter().find(|(other, _)| *other == name).unwrap().1
}

const fn seconds(seconds: u64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

// docs/deviations.md: port-changes
#[test]
fn device_that_cannot_be_opened_is_retried_with_growing_pauses() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let mut worker = worker(dir.path());
    worker.read();
    assert!(matches!(worker.next_report(|| ()), Some(Report::PortDown(PortId(1)))), "it is visible");
    let mut tries = Vec::new();
    for second in 0..200 {
        let before = count(&worker.counters, "open_failures");
        handle_timeout(&mut worker, seconds(second));
        if count(&worker.counters, "open_failures") > before {
            tries.push(second);
            // A read because of a message of the kernel is one more attempt, and does not delay the next retry.
            worker.read();
        }
    }
    assert_eq!(tries, [1, 3, 7, 15, 31, 63, 123, 183]);
    assert!(worker.device.is_none() && worker.next_report(|| ()).is_none());
}

#[test]
fn removed_device_is_not_retried() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let mut worker = worker(dir.path());
    worker.read();
    assert!(worker.poll_timeout().is_some() && !worker.is_removed);
    fs::remove_dir_all(dir.path().join("class/infiniband/mlx9_0")).unwrap();
    handle_timeout(&mut worker, seconds(5));
    assert!(worker.poll_timeout().is_none() && worker.is_removed);
}

#[test]
fn device_that_cannot_be_read_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let state = dir.path().join("class/infiniband/mlx9_0/ports/1/state");
    fs::write(&state, "?").unwrap();
    let mut worker = worker(dir.path());
    worker.read();
    let failures = |worker: &Worker| ["read_failures", "open_failures"].map(|name| count(&worker.counters, name));
    assert_eq!(failures(&worker), [1, 0]);
    assert_eq!(worker.poll_timeout(), Some(Time::ZERO + Duration::from_secs(1)));
    fs::write(&state, "4: ACTIVE").unwrap();
    handle_timeout(&mut worker, seconds(1));
    assert_eq!(failures(&worker), [1, 1]);
}

#[test]
fn class_that_cannot_be_listed_is_listed_again_and_closes_no_device() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let mut devices = devices(dir.path());
    devices.scan();
    fs::rename(dir.path().join("class/infiniband"), dir.path().join("class/aside")).unwrap();
    fs::write(dir.path().join("class/infiniband"), "").unwrap();
    devices.scan();
    assert_eq!((count(&devices.counters, "scans"), devices.threads.len()), (2, 1));
    fs::remove_file(dir.path().join("class/infiniband")).unwrap();
    fs::rename(dir.path().join("class/aside"), dir.path().join("class/infiniband")).unwrap();
    devices.handle_timeout(seconds(1));
    assert_eq!((count(&devices.counters, "scans"), devices.threads.len()), (3, 1));
    devices.handle_timeout(seconds(100));
    assert_eq!(count(&devices.counters, "scans"), 3);
}

/// Passes on reports until this number of devices has a thread and all of them are read.
fn settle(devices: &mut Devices, threads: usize) -> Vec<PortId> {
    let mut down = Vec::new();
    wait_until(|| {
        while let Some(input) = devices.next_event().unwrap() {
            let Input::PortDown(port) = input else { panic!("{input:?}") };
            down.push(port);
        }
        devices.threads.len() == threads && devices.threads.values().all(|thread| thread.is_read)
    });
    down.sort_unstable();
    down
}

#[test]
fn device_has_a_thread_until_it_is_removed_and_keeps_its_ids_when_it_returns() {
    let dir = tempfile::tempdir().unwrap();
    let mut devices = devices(dir.path());
    write_device(dir.path(), "mlx9_10");
    write_device(dir.path(), "mlx9_9");
    devices.scan();
    assert_eq!(settle(&mut devices, 2), [PortId(1), PortId(0x101)]);
    let known: Vec<String> = devices.known_ports().iter().map(ToString::to_string).collect();
    assert_eq!((known, devices.ports()), (vec!["mlx9_9/1".to_owned(), "mlx9_10/1".to_owned()], vec![]));
    fs::remove_dir_all(dir.path().join("class/infiniband/mlx9_9")).unwrap();
    devices.scan();
    assert_eq!(settle(&mut devices, 1), []);
    write_device(dir.path(), "mlx9_9");
    devices.scan();
    assert_eq!(settle(&mut devices, 2), [PortId(1)]);
    assert_eq!(devices.known_port("mlx9_10", 1), Some(PortId(0x101)));
}

// docs/deadlines.md: commands
#[test]
fn device_that_does_not_respond_is_closed_until_it_responds() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let (mut devices, worker_root) = (devices(dir.path()), dir.path().to_owned());
    let (respond, firmware) = mpsc::channel();
    let hung = move || {
        firmware.recv().unwrap();
        worker(&worker_root)
    };
    let key = devices.key_of("mlx9_0");
    devices.threads.insert(key, DeviceThread::start("mlx9_0", Arc::clone(&devices.wake.0), hung).unwrap());
    let (port, [open, opening]) = (key.port(1), [0, 1].map(|index| EndpointId::new(index, 0)));
    devices.ports.insert(port, NamedPort { id: port, device: "mlx9_0".into(), number: 1 });
    devices.endpoints.insert(open, EndpointState { port, is_open: true });
    assert!(matches!(devices.open_endpoint(opening, port, 0), Ok(None)));
    devices.requests.insert(SaRequestId::new(3, 0), port);
    // The first check may come before the thread works.
    wait_until(|| devices.threads[&key].is_working());
    let text = captured_log(tracing::Level::INFO, || {
        for second in [0, 4, 5, 9] {
            devices.handle_timeout(seconds(second));
        }
        assert_eq!((devices.stalled_devices(), devices.poll_timeout()), (0, Some(seconds(10))));
        devices.handle_timeout(seconds(10));
    });
    assert!(text.contains("mlx9_0 does not respond: its ports are down until it does"), "{text}");
    assert_eq!((devices.stalled_devices(), count(&devices.counters, "devices_stalled")), (1, 1));
    assert!(devices.ports().is_empty() && !devices.attach(open, "ff12::1".parse().unwrap(), Lid::new(0xc000)));
    assert!(matches!(devices.next_event(), Ok(Some(Input::PortDown(of))) if of == port));
    assert!(matches!(devices.next_event(), Ok(Some(Input::EndpointLost(of))) if of == open));
    assert!(matches!(devices.next_event(), Ok(Some(Input::EndpointFailed(of))) if of == opening));
    assert!(matches!(devices.next_event(), Ok(Some(Input::SaFailed { failure: SendFailure::NotSent, .. }))));
    assert!(devices.next_event().unwrap().is_none());
    // It has no second thread meanwhile.
    devices.scan();
    devices.handle_timeout(seconds(15));
    assert_eq!((devices.threads.len(), devices.stalled_devices()), (0, 1));
    respond.send(()).unwrap();
    wait_until(|| devices.stalled[&key].is_finished());
    let text = captured_log(tracing::Level::INFO, || devices.handle_timeout(seconds(20)));
    assert!(text.contains("mlx9_0 responds again"), "{text}");
    assert_eq!((settle(&mut devices, 1), devices.stalled_devices()), (vec![port], 0));
}

// docs/deadlines.md: commands
#[test]
fn device_with_4096_waiting_commands_gets_no_datagram_and_is_closed_by_the_next_other_command() {
    let dir = tempfile::tempdir().unwrap();
    let mut devices = devices(dir.path());
    let (respond, firmware) = mpsc::channel::<()>();
    let worker_root = dir.path().to_owned();
    let hung = move || {
        let _ = firmware.recv();
        worker(&worker_root)
    };
    let key = devices.key_of("mlx9_0");
    devices.threads.insert(key, DeviceThread::start("mlx9_0", Arc::clone(&devices.wake.0), hung).unwrap());
    let (port, endpoint) = (key.port(1), EndpointId::new(1, 0));
    devices.endpoints.insert(endpoint, EndpointState { port, is_open: true });
    let to = SendTo { way: AddressVector::default(), qpn: Qpn::of::<2>(), qkey: Qkey::GSI };
    for _ in 0..4096 {
        devices.send(endpoint, &to, &AcmMad::default());
    }
    assert_eq!(count(&devices.counters, "sends_refused"), 0);
    devices.send(endpoint, &to, &AcmMad::default());
    assert_eq!((count(&devices.counters, "sends_refused"), devices.stalled_devices()), (1, 0));
    devices.detach(endpoint, "ff12::1".parse().unwrap(), Lid::new(0xc000));
    assert_eq!(devices.stalled_devices(), 1);
    assert!(matches!(devices.next_event(), Ok(Some(Input::EndpointLost(of))) if of == endpoint));
    drop(respond);
}

#[test]
fn infiniband_devices_beyond_128_are_not_served() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..129 {
        write_device(dir.path(), &format!("mlx9_{number}"));
        let ethernet = format!("irdma{number}");
        write_device(dir.path(), &ethernet);
        fs::write(dir.path().join("class/infiniband").join(ethernet).join("ports/1/link_layer"), "Ethernet").unwrap();
    }
    let mut devices = devices(dir.path());
    let text = captured_log(tracing::Level::ERROR, || devices.scan());
    assert_eq!(devices.threads.len(), 128);
    assert!(text.contains("mlx9_128 is not served: there are more than 128 devices"), "{text}");
}

#[test]
fn log_of_a_port_that_fails_again_and_again_is_limited() {
    let dir = tempfile::tempdir().unwrap();
    write_device(dir.path(), "mlx9_0");
    let mut worker = worker(dir.path());
    let text = captured_log(tracing::Level::INFO, || {
        for _ in 0..100 {
            worker.read();
            worker.retries.clear(&Work::Device);
        }
    });
    assert_eq!(count(&worker.counters, "open_failures"), 100);
    assert_eq!(text.matches("mlx9_0: ").count(), 20, "{text}");
    assert_eq!(worker.poll_timeout(), Some(seconds(60)), "the further lines are counted");
}
