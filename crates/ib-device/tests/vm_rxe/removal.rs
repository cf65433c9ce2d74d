//! A device that is deleted while it is in use and added again, and a driver that is unloaded and loaded again.
use crate::lab::{add_devices, cable, devices, lab, path_to, port, run, wait_for};
use ib_device::{
    Error,
    sysfs::Sysfs,
    uevent::{Action, Hotplug, UeventSocket},
    umad::{ReceiveBuffer, UmadPort},
    verbs::{Completion, Context, UdConfig, UdQueuePair},
};
use ib_mad::Qkey;
use std::{path::Path, thread};

/// Waits for a message of the kernel about one of these devices or files.
fn wait_for_message(socket: &UeventSocket, action: Action, names: &[String]) {
    wait_for(socket, &format!("{action:?} of {names:?}"), || {
        while let Some(event) = socket.next_event().unwrap() {
            let Hotplug::Device(event) = event else { panic!("lost events") };
            if event.action == action && names.contains(&event.name) {
                return Some(());
            }
        }
        None
    });
}

fn open(device: &str) -> (Context, UdQueuePair) {
    let context = Context::open(device).unwrap();
    let pair = UdQueuePair::new(&context, UdConfig { recv_depth: 8, send_depth: 4, ..UdConfig::new(1, 0) }).unwrap();
    (context, pair)
}

/// Sends a datagram to the queue pair `to` of this device and waits until it is received.
fn send_and_receive(from: &mut UdQueuePair, device: &str, context: &Context, to: &mut UdQueuePair, payload: u8) {
    from.send(&path_to(device), to.qpn(), Qkey::GSI, &[payload]).unwrap();
    wait_for(context.completion_fd(), "datagram", || {
        while context.next_completion().unwrap().is_some() {}
        match to.poll().unwrap() {
            Some(Completion::Received(datagram)) => {
                assert_eq!(datagram.payload, [payload]);
                Some(())
            }
            _ => None,
        }
    });
}

#[test]
fn datagrams_arrive_before_a_driver_is_unloaded_and_after_it_is_loaded_again() {
    let _lab = lab();
    for round in 0..3 {
        let (sender, mut from) = open("rxe0");
        let (context, mut to) = open("rxe1");
        send_and_receive(&mut from, "rxe1", &context, &mut to, round);
        drop((sender, from, to));
        assert_eq!(context.leaked(), 0);
        drop(context);
        run("rdma link delete rxe0; rdma link delete rxe1; rmmod rdma_rxe");
        assert!(!Path::new("/sys/module/rdma_rxe").exists() && devices().is_empty());
        run("modprobe rdma_rxe");
        add_devices();
    }
}

#[test]
fn datagrams_arrive_before_a_device_is_deleted_and_after_it_is_added_again() {
    let _lab = lab();
    cable("v4", "v5");
    run("rdma link add rxe4 type rxe netdev v4");
    let socket = UeventSocket::open().unwrap();
    let mut seen = Vec::new();
    for round in 0..3u8 {
        run("rdma link add rxe5 type rxe netdev v5");
        wait_for_message(&socket, Action::Add, &["rxe5".into()]);
        let info = Sysfs::default().device("rxe5").unwrap().unwrap();
        let file = info.ports[0].umad.clone().unwrap();
        let (_sender, mut from) = open("rxe4");
        let (context, mut to) = open("rxe5");
        let umad = UmadPort::open(&file.path).unwrap();
        send_and_receive(&mut from, "rxe5", &context, &mut to, round);

        // This driver waits until all programs have closed the device. Its first message is about a removed file.
        let deleting = thread::spawn(|| run("rdma link delete rxe5"));
        let uverbs = info.uverbs.as_ref().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        wait_for_message(&socket, Action::Remove, &[file.name, uverbs]);
        let now = Sysfs::default().device("rxe5").unwrap();
        assert!(now.is_none_or(|now| !now.is_same_device(&info) || now.ports[0].umad.is_none()));
        drop(to);
        assert_eq!(context.leaked(), 0);
        drop(context);
        deleting.join().unwrap();
        assert!(matches!(umad.receive(&mut ReceiveBuffer::default()), Err(Error::Gone)));
        assert!(devices().iter().all(|device| device.name != "rxe5"));
        seen.push(info);
    }
    // The driver derives the GUID from the network device's address, so that it is the same device again.
    assert!(seen.iter().all(|info| info.node_guid == seen[0].node_guid));
    assert!(port("rxe4").umad.is_some());
    run("rdma link delete rxe4");
    run("ip link delete v4");
}
