//! The devices rxe0 on v0 and rxe1 on v1, connected by a cable, and functions that wait for events.
use ib_device::sysfs::{Device, Port, Sysfs};
use ib_mad::{AddressVector, Gid, GlobalRoute};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::{
    fs,
    os::fd::AsFd,
    process::Command,
    sync::{Mutex, MutexGuard, OnceLock},
};

/// Lock on the devices, for one test at a time.
static LAB: OnceLock<Mutex<()>> = OnceLock::new();

/// Locks the devices. The first call creates them.
pub(crate) fn lab() -> MutexGuard<'static, ()> {
    assert!(std::env::var_os("ACM_VM").is_some(), "not in the virtual machine: run `cargo xtask vm-test`");
    let make = || {
        cable("v0", "v1");
        add_devices();
        Mutex::new(())
    };
    LAB.get_or_init(make).lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Creates the two devices on the cable.
pub(crate) fn add_devices() {
    for (netdev, device) in [("v0", "rxe0"), ("v1", "rxe1")] {
        run(&format!("rdma link add {device} type rxe netdev {netdev}"));
    }
}

/// Creates two connected Ethernet devices in this namespace.
pub(crate) fn cable(one: &str, other: &str) {
    run(&format!("ip link add {one} type veth peer name {other}"));
    for name in [one, other] {
        for (family, knob, value) in
            [("ipv4", "accept_local", "1"), ("ipv4", "rp_filter", "0"), ("ipv6", "accept_dad", "0")]
        {
            for of in [name, "all"] {
                fs::write(format!("/proc/sys/net/{family}/conf/{of}/{knob}"), value).unwrap();
            }
        }
    }
    for name in [one, other] {
        run(&format!("ip link set {name} up"));
    }
}

pub(crate) fn run(line: &str) {
    let status = Command::new("sh").args(["-ec", line]).status().unwrap();
    assert!(status.success(), "{line}: {status}");
}

pub(crate) fn devices() -> Vec<Device> {
    let scan = Sysfs::default().scan().unwrap();
    assert!(scan.failures.is_empty(), "{:?}", scan.failures);
    scan.devices
}

pub(crate) fn port(name: &str) -> Port {
    Sysfs::default().device(name).unwrap().unwrap().ports.remove(0)
}

/// Returns the path to GID 0 of a device, from the local GID 0.
pub(crate) fn path_to(name: &str) -> AddressVector {
    path_to_gid(port(name).gids[0].gid)
}

pub(crate) fn path_to_gid(dgid: Gid) -> AddressVector {
    AddressVector::default().with_grh(GlobalRoute { dgid, hop_limit: 64, ..GlobalRoute::default() })
}

/// Time limit of all waits for an event, in milliseconds.
pub(crate) const LIMIT_MS: u16 = 60_000;

/// Polls until there is a result. Waits on the file edge-triggered, at most [`LIMIT_MS`] for each event.
pub(crate) fn wait_for<T>(file: impl AsFd, what: &str, poll: impl FnMut() -> Option<T>) -> T {
    poll_for(file, LIMIT_MS, poll).unwrap_or_else(|| panic!("no {what}"))
}

/// Polls until there is a result, or no event arrived for `quiet_ms` milliseconds.
pub(crate) fn poll_for<T>(file: impl AsFd, quiet_ms: u16, mut poll: impl FnMut() -> Option<T>) -> Option<T> {
    let epoll = Epoll::new(EpollCreateFlags::empty()).unwrap();
    epoll.add(&file, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 0)).unwrap();
    loop {
        if let Some(found) = poll() {
            return Some(found);
        }
        if epoll.wait(&mut [EpollEvent::empty()], EpollTimeout::from(quiet_ms)).unwrap() == 0 {
            return poll();
        }
    }
}
