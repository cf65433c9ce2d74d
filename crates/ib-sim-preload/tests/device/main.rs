//! `ib-device` on a simulated node. Each test runs itself again in a child process under the preload library.
mod client;
mod groups;
#[expect(dead_code, unreachable_pub, reason = "a module of the end-to-end tests")]
#[path = "../../../../tests/src/poll.rs"]
mod poll;
mod umad;

use ib_device::{
    Error,
    sysfs::Sysfs,
    uevent::{Action, Hotplug, UeventSocket},
    umad::{ReceiveBuffer, UmadPort},
    verbs::{Completion, Context, Event, PortEvent, UdConfig, UdQueuePair},
};
use ib_mad::{AddressVector, FlowLabel, Gid, GlobalRoute, Lid, Pkey, Qkey, ServiceLevel};
use ib_sim::{Subnet, SubnetConfig, client::control, server::Server};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use poll::LIMIT;
use std::{
    env,
    os::fd::{AsFd, BorrowedFd},
    path::{Path, PathBuf},
    process::Command,
    thread,
};

/// In the child: returns the socket of the server. In the parent: runs the test in a child and returns `None`.
fn at_node(test: &str) -> Option<PathBuf> {
    if let Some(socket) = env::var_os("IB_SIM_SOCKET") {
        return Some(socket.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let (socket, tree) = (folder.path().join("socket"), folder.path().join("tree"));
    let mut subnet = Subnet::new(SubnetConfig::default(), 1);
    subnet.add_node().unwrap();
    subnet.add_node().unwrap();
    let mut server = Server::bind(&socket, subnet).unwrap();
    server.set_tree(&tree).unwrap();
    let stopper = server.stopper();
    let serving = thread::spawn(move || server.run());
    let me = env::current_exe().unwrap();
    let library = me.with_file_name("libib_sim_preload.so");
    assert!(library.is_file(), "{} was not built", library.display());
    let child = Command::new(&me)
        .args(["--exact", test, "--nocapture"])
        .env("LD_PRELOAD", library)
        .env("IB_SIM_SOCKET", &socket)
        .env("IB_SIM_NODE", "node1")
        .env("IB_SIM_TREE", tree.join("node1"))
        .output()
        .unwrap();
    stopper.stop();
    serving.join().unwrap().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && output.contains("1 passed"),
        "{output}{}",
        String::from_utf8_lossy(&child.stderr)
    );
    None
}

fn wait_for(fd: BorrowedFd<'_>) {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    assert_eq!(poll(&mut fds, PollTimeout::try_from(LIMIT).unwrap()), Ok(1), "no event");
}

/// Waits for the next datagram. Returns its payload and the destination in its global route header.
fn datagram(context: &Context, pair: &mut UdQueuePair) -> (Vec<u8>, Option<Gid>) {
    loop {
        while let Some(completion) = pair.poll().unwrap() {
            match completion {
                Completion::Received(datagram) => return (datagram.payload.to_vec(), datagram.destination_gid()),
                Completion::Sent(_) => {}
                other => panic!("{other:?}"),
            }
        }
        wait_for(context.completion_fd());
        while context.next_completion().unwrap().is_some() {}
    }
}

#[test]
fn datagrams_arrive_with_and_without_a_global_route() {
    if at_node("datagrams_arrive_with_and_without_a_global_route").is_none() {
        return;
    }
    let device = Sysfs::default().scan().unwrap().devices.remove(0);
    let port = &device.ports[0];
    let context = Context::open(&device.name).unwrap();
    let config = UdConfig { recv_depth: 4, send_depth: 4, max_payload: 2048, ..UdConfig::new(1, 0) };
    let mut one = UdQueuePair::new(&context, config).unwrap();
    let mut other = UdQueuePair::new(&context, config).unwrap();
    let local = AddressVector::local(port.lid, ServiceLevel::ZERO);
    let grh = GlobalRoute {
        dgid: port.gids[0].gid,
        sgid_index: 0,
        flow_label: FlowLabel::ZERO,
        hop_limit: 1,
        traffic_class: 0,
    };
    // More datagrams than buffers, so that buffers are posted again. Long payloads are not sent inline.
    for round in 0..20u8 {
        let payload = vec![round; 1 + 100 * usize::from(round)];
        let to = if round % 2 == 0 { local } else { local.with_grh(grh) };
        one.send(&to, other.qpn(), Qkey::GSI, &payload).unwrap();
        let route = (round % 2 == 1).then_some(port.gids[0].gid);
        assert_eq!(datagram(&context, &mut other), (payload, route));
        while one.poll().unwrap().is_some() {}
    }
    // A datagram with a wrong key is dropped. After a restart the queue pair receives again.
    one.send(&local, other.qpn(), Qkey::new(7), b"lost").unwrap();
    other.recover().unwrap();
    one.send(&local, other.qpn(), Qkey::GSI, b"after").unwrap();
    assert_eq!(datagram(&context, &mut other).0, b"after");
}

#[test]
fn too_long_datagram_is_reported_and_does_no_harm() {
    if at_node("too_long_datagram_is_reported_and_does_no_harm").is_none() {
        return;
    }
    let device = Sysfs::default().scan().unwrap().devices.remove(0);
    let context = Context::open(&device.name).unwrap();
    let config = UdConfig { recv_depth: 4, send_depth: 4, ..UdConfig::new(1, 0) };
    let mut one = UdQueuePair::new(&context, UdConfig { max_payload: 4096, ..config }).unwrap();
    let mut other = UdQueuePair::new(&context, config).unwrap();
    let to = AddressVector::local(device.ports[0].lid, ServiceLevel::ZERO);
    for round in 0..20u8 {
        one.send(&to, other.qpn(), Qkey::GSI, &[round; 4096]).unwrap();
        one.send(&to, other.qpn(), Qkey::GSI, &[round; 257]).unwrap();
        one.send(&to, other.qpn(), Qkey::GSI, &[round; 256]).unwrap();
        let mut seen = Vec::new();
        while seen.last() != Some(&256) {
            match other.poll().unwrap() {
                Some(Completion::TooLong { len, src_qpn, .. }) if src_qpn == one.qpn() => seen.push(len),
                Some(Completion::Received(datagram)) => {
                    assert_eq!(datagram.payload, [round; 256]);
                    seen.push(256);
                }
                Some(unexpected) => panic!("{unexpected:?}"),
                None => {
                    wait_for(context.completion_fd());
                    while context.next_completion().unwrap().is_some() {}
                }
            }
        }
        assert_eq!(seen, [4096, 257, 256]);
        while one.poll().unwrap().is_some() {}
    }
}

#[test]
fn completed_sends_free_slots_and_are_reported_before_receives() {
    if at_node("completed_sends_free_slots_and_are_reported_before_receives").is_none() {
        return;
    }
    let device = Sysfs::default().scan().unwrap().devices.remove(0);
    let context = Context::open(&device.name).unwrap();
    let config = UdConfig { recv_depth: 512, send_depth: 4, ..UdConfig::new(1, 0) };
    let mut pair = UdQueuePair::new(&context, config).unwrap();
    let to = AddressVector::local(device.ports[0].lid, ServiceLevel::ZERO);
    let qpn = pair.qpn();
    // Many more sends to itself than slots, without a poll.
    for round in 0..100u8 {
        pair.send(&to, qpn, Qkey::GSI, &[round]).unwrap();
    }
    // After all datagrams were received, the sends are reported first.
    let mut kinds = String::new();
    while kinds.matches('r').count() < 100 {
        match pair.poll().unwrap() {
            Some(Completion::Sent(_)) => kinds.push('s'),
            Some(Completion::Received(_)) => kinds.push('r'),
            Some(unexpected) => panic!("{unexpected:?}"),
            None => {
                wait_for(context.completion_fd());
                while context.next_completion().unwrap().is_some() {}
            }
        }
    }
    assert!(kinds.starts_with(&"s".repeat(100)), "{kinds}");
}

#[test]
fn recover_restarts_only_a_failed_queue_pair() {
    if at_node("recover_restarts_only_a_failed_queue_pair").is_none() {
        return;
    }
    let device = Sysfs::default().scan().unwrap().devices.remove(0);
    let context = Context::open(&device.name).unwrap();
    let config = UdConfig { recv_depth: 8, send_depth: 8, ..UdConfig::new(1, 0) };
    let mut pair = UdQueuePair::new(&context, config).unwrap();
    let to = AddressVector::local(device.ports[0].lid, ServiceLevel::ZERO);
    let qpn = pair.qpn();
    let send = |pair: &mut UdQueuePair, payload: u8| pair.send(&to, qpn, Qkey::GSI, &[payload]).unwrap();
    // Posted work of a working queue pair is not lost.
    let first = send(&mut pair, 1);
    pair.recover().unwrap();
    let (mut sent, mut received) = (false, false);
    while !(sent && received) {
        match pair.poll().unwrap() {
            Some(Completion::Sent(id)) if id == first => sent = true,
            Some(Completion::Received(datagram)) if datagram.payload == [1] => received = true,
            Some(unexpected) => panic!("{unexpected:?}"),
            None => {
                wait_for(context.completion_fd());
                while context.next_completion().unwrap().is_some() {}
            }
        }
    }
    for round in 0..3 {
        let lost = send(&mut pair, 2);
        pair.flush().unwrap();
        if round == 2 {
            pair.recover().unwrap();
        }
        // The send may have been completed before the flush. It is reported in both cases.
        let reported = pair.poll().unwrap();
        assert!(
            matches!(reported, Some(Completion::Sent(id) | Completion::SendFailed { id, .. }) if id == lost),
            "{reported:?}"
        );
        while pair.poll().unwrap().is_some() {}
        send(&mut pair, 3);
        loop {
            let (payload, _) = datagram(&context, &mut pair);
            if payload == [3] {
                break;
            }
        }
    }
    assert_eq!(context.leaked(), 0);
}

/// Waits for the next event.
fn event(context: &Context) -> Event {
    loop {
        if let Some(event) = context.next_event().unwrap() {
            return event;
        }
        wait_for(context.async_fd());
    }
}

#[test]
fn every_change_of_a_port_is_an_event_and_in_sysfs() {
    let Some(socket) = at_node("every_change_of_a_port_is_an_event_and_in_sysfs") else { return };
    let context = Context::open("ibsim0").unwrap();
    let read = || Sysfs::default().device("ibsim0").unwrap().unwrap().ports.remove(0);
    let change = |command: &str| assert_eq!(control(Path::new(&socket), command).unwrap(), "ok\n", "{command}");
    for (command, expected) in [
        ("lid node1 1 77", PortEvent::LidChange),
        ("smlid node1 1 5", PortEvent::SmChange),
        ("pkeys node1 1 ffff,8001", PortEvent::PkeyChange),
        ("gid node1 1 3 fe80::3", PortEvent::GidChange),
        ("rereg node1 1", PortEvent::ClientReregister),
        ("down node1 1", PortEvent::Error),
        ("up node1 1", PortEvent::Active),
    ] {
        change(command);
        assert_eq!(event(&context), Event::Port { port: 1, event: expected }, "{command}");
        // The files and the device have the same attributes when the event arrives.
        assert_eq!((read().lid, read().state, read().link_layer), {
            let now = context.query_port(1).unwrap();
            (now.lid, now.state, now.link_layer)
        });
    }
    let port = read();
    assert_eq!((port.lid, port.sm_lid), (Lid::new(77), Lid::new(5)));
    assert_eq!((port.pkey_index(Pkey::new(0x8001)), port.gid_index("fe80::3".parse().unwrap())), (Some(1), Some(3)));
}

#[test]
fn removed_device_frees_nothing_and_returns_as_another_device() {
    let Some(socket) = at_node("removed_device_frees_nothing_and_returns_as_another_device") else { return };
    let uevents = UeventSocket::open().unwrap();
    // The kernel reports a device's files first, and the device last.
    let messages = |action: Action| {
        let mut names = Vec::new();
        while names.last().is_none_or(|name| name != "ibsim0") {
            match uevents.next_event().unwrap() {
                Some(Hotplug::Device(event)) => {
                    assert_eq!(event.action, action);
                    names.push(event.name);
                }
                Some(Hotplug::Lost) => panic!("lost"),
                None => wait_for(uevents.as_fd()),
            }
        }
        names
    };
    let context = Context::open("ibsim0").unwrap();
    let pair = UdQueuePair::new(&context, UdConfig::new(1, 0)).unwrap();
    let before = Sysfs::default().scan().unwrap().devices.remove(0);
    let umad = UmadPort::open(&before.ports[0].umad.as_ref().unwrap().path).unwrap();
    let unused = UdQueuePair::new(&context, UdConfig::new(1, 0)).unwrap();
    drop(unused);
    assert_eq!(context.leaked(), 0);
    assert_eq!(control(Path::new(&socket), "device remove node1").unwrap(), "ok\n");
    assert_eq!(messages(Action::Remove), ["umad0", "uverbs0", "ibsim0"]);
    assert_eq!(event(&context), Event::DeviceFatal);
    wait_for(umad.as_fd());
    assert!(matches!(umad.receive(&mut ReceiveBuffer::default()), Err(Error::Gone)));
    assert!(matches!(context.query_port(1), Err(Error::Gone)));
    assert!(Sysfs::default().scan().unwrap().devices.is_empty());
    assert!(Context::open("ibsim0").is_err());
    drop(pair);
    // The queue pair, its two completion queues, its three memory regions.
    assert_eq!(context.leaked(), 6);
    drop(context);
    assert_eq!(control(Path::new(&socket), "device add node1 0x0002c90300007770").unwrap(), "ok\n");
    assert_eq!(messages(Action::Add), ["umad0", "uverbs0", "ibsim0"]);
    let after = Sysfs::default().scan().unwrap().devices.remove(0);
    assert!(!before.is_same_device(&after));
    let context = Context::open("ibsim0").unwrap();
    UdQueuePair::new(&context, UdConfig::new(1, 0)).unwrap();
    assert_eq!(after.ports[0].guid().unwrap().get(), 0x0002_c903_0000_7771);
}
