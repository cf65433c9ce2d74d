//! The devices rxe0 on v0 and rxe1 on v1, two ends of one cable; and how to wait.
use ib_device::sysfs::{Device, Port, Sysfs};
use ib_mad::{AddressVector, Gid, GlobalRoute};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::{
    fs,
    os::fd::AsFd,
    process::Command,
    sync::{Mutex, MutexGuard, OnceLock},
};

/// One test at a time has the devices.
static LAB: OnceLock<Mutex<()>> = OnceLock::new();

/// Takes the devices, which the first caller makes.
pub(crate) fn lab() -> MutexGuard<'static, ()> {
    assert!(std::env::var_os("ACM_VM").is_some(), "not in the virtual machine: run `cargo xtask vm-test`");
    let make = || {
        cable("v0", "v1");
        add_devices();
        Mutex::new(())
    };
    LAB.get_or_init(make).lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Makes the two devices on the cable.
pub(crate) fn add_devices() {
    for (netdev, device) in [("v0", "rxe0"), ("v1", "rxe1")] {
        run(&format!("rdma link add {device} type rxe netdev {netdev}"));
    }
}

/// A pair of Ethernet devices in this namespace that talk to each other.
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

/// The way to a device's GID 0, from ours with index 0.
pub(crate) fn way_to(name: &str) -> AddressVector {
    way_to_gid(port(name).gids[0].gid)
}

pub(crate) fn way_to_gid(dgid: Gid) -> AddressVector {
    AddressVector::default().with_grh(GlobalRoute { dgid, hop_limit: 64, ..GlobalRoute::default() })
}

/// Looks until there is something, waiting on the file edge-triggered; at most 8 s each time.
pub(crate) fn wait_for<T>(file: impl AsFd, what: &str, look: impl FnMut() -> Option<T>) -> T {
    look_for(file, 8000, look).unwrap_or_else(|| panic!("no {what}"))
}

/// Looks for that many ms after the last sign of life.
pub(crate) fn look_for<T>(file: impl AsFd, quiet_ms: u16, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let epoll = Epoll::new(EpollCreateFlags::empty()).unwrap();
    epoll.add(&file, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 0)).unwrap();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if epoll.wait(&mut [EpollEvent::empty()], EpollTimeout::from(quiet_ms)).unwrap() == 0 {
            return look();
        }
    }
}
