//! Discovery, hot plug, async events.
use crate::lab::{cable, devices, lab, port, run, wait_for};
use ib_device::{
    Error, LinkLayer,
    sysfs::{Change, PortChange, changes},
    uevent::{Action, Hotplug, Subsystem, UeventSocket},
    umad::{ReceiveBuffer, UmadPort},
    verbs::{Context, Event, PortEvent},
};
use ib_mad::{Mtu, Pkey, PortState};

#[test]
fn sysfs_and_verbs_report_the_same_port() {
    let _lab = lab();
    let devices = devices();
    assert_eq!(devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>(), ["rxe0", "rxe1"]);
    let device = &devices[0];
    let port = &device.ports[0];
    assert!(device.uverbs.as_ref().unwrap().exists() && port.umad.as_ref().unwrap().path.exists());
    assert_eq!((port.state, port.link_layer), (PortState::ACTIVE, LinkLayer::Ethernet));
    assert_eq!(port.pkeys.iter().map(|entry| entry.pkey).collect::<Vec<_>>(), [Pkey::DEFAULT_FULL]);
    assert!(port.gids[0].gid.prefix() == 0xfe80 << 48 && port.gids[0].index == 0);
    let context = Context::open("rxe0").unwrap();
    let attributes = context.query_port(1).unwrap();
    assert_eq!((attributes.state, attributes.link_layer), (port.state, port.link_layer));
    assert_eq!((attributes.lid, attributes.lmc, attributes.sm_lid), (port.lid, port.lmc, port.sm_lid));
    // 1500 bytes of Ethernet less the headers.
    assert_eq!((attributes.active_mtu, attributes.rate), (Mtu::B1024, port.rate));
    assert!(matches!(context.query_port(2), Err(Error::Call { .. })));
    assert!(matches!(Context::open("rxe9"), Err(Error::NoDevice(name)) if name == "rxe9"));
}

#[test]
fn added_and_removed_device_is_reported_by_messages_and_scans() {
    let _lab = lab();
    cable("v2", "v3");
    let socket = UeventSocket::open().unwrap();
    // The kernel reports a device's files first, and the device when it is complete.
    let messages_until = |action, name: &str| {
        let mut seen = Vec::new();
        wait_for(&socket, "uevent", || {
            while let Some(event) = socket.next_event().unwrap() {
                let Hotplug::Device(event) = event else { panic!("lost events") };
                let last = event.action == action && event.subsystem == Subsystem::Infiniband && event.name == name;
                seen.push((event.action, event.subsystem));
                if last {
                    return Some(());
                }
            }
            None
        });
        seen
    };
    let before = devices();
    run("rdma link add rxe2 type rxe netdev v2");
    let seen = messages_until(Action::Add, "rxe2");
    assert!(seen.contains(&(Action::Add, Subsystem::Mad)) && seen.contains(&(Action::Add, Subsystem::Verbs)));
    let with = devices();
    assert_eq!(changes(&before, &with), [Change::Added("rxe2".into())]);
    let umad = UmadPort::open(&port("rxe2").umad.unwrap().path).unwrap();
    assert!(umad.receive(&mut ReceiveBuffer::default()).unwrap().is_none());

    run("rdma link delete rxe2");
    let seen = messages_until(Action::Remove, "rxe2");
    assert!(seen.contains(&(Action::Remove, Subsystem::Mad)) && seen.contains(&(Action::Remove, Subsystem::Verbs)));
    assert_eq!(changes(&with, &devices()), [Change::Removed("rxe2".into())]);
    assert!(matches!(umad.receive(&mut ReceiveBuffer::default()), Err(Error::Gone)));
    run("ip link delete v2");
}

#[test]
fn port_and_gid_changes_are_asynchronous_events() {
    let _lab = lab();
    let context = Context::open("rxe0").unwrap();
    let wait = |expected| {
        wait_for(context.async_fd(), &format!("event {expected:?}"), || {
            while let Some(event) = context.next_event().unwrap() {
                if event == (Event::Port { port: 1, event: expected }) {
                    return Some(());
                }
            }
            None
        });
    };
    let before = devices();
    run("ip link set v0 down");
    wait(PortEvent::Error);
    assert_eq!(port("rxe0").state, PortState::DOWN);
    let down = |change: &Change| matches!(change, Change::Port { device, port: 1, changed } if device == "rxe0" && changed.contains(PortChange::STATE));
    assert!(changes(&before, &devices()).iter().any(down));
    run("ip link set v0 up");
    wait(PortEvent::Active);
    assert_eq!(port("rxe0").state, PortState::ACTIVE);
    run("ip addr add 10.9.0.1/24 dev v0");
    wait(PortEvent::GidChange);
    let gid = "::ffff:10.9.0.1".parse().unwrap();
    assert!(port("rxe0").gid_index(gid).is_some());
    run("ip addr del 10.9.0.1/24 dev v0");
    wait(PortEvent::GidChange);
    assert!(port("rxe0").gid_index(gid).is_none());
    assert!(context.next_event().unwrap().is_none());
}
