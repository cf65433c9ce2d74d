//! Events of devices, ports and queue pairs.
use super::*;

/// Returns endpoint `ONE` at the only port, which is up.
fn with_endpoint(test: &str) -> Option<(Bench, PortId, PortAttributes, Qpn)> {
    let mut bench = bench(&format!("events::{test}"), &SubnetConfig::default())?;
    let (id, port) = bench.next_up();
    let qpn = bench.open(ONE, id);
    Some((bench, id, port, qpn))
}

#[test]
fn each_change_of_a_port_is_reported_once() {
    let Some((mut bench, id, port, _)) = with_endpoint("each_change_of_a_port_is_reported_once") else { return };
    let reads = bench.count("device_reads");
    bench.control("lid node1 1 77");
    let (changed, now) = bench.next_up();
    assert_eq!((changed, now.lid), (id, Lid::new(77)));
    bench.control("smlid node1 1 9");
    assert_eq!(bench.next_up().1.sm_lid, Lid::new(9));
    bench.control("gid node1 1 2 fe80::7");
    let (_, now) = bench.next_up();
    assert_eq!(now.gids, [port.gid(), Gid::ZERO, "fe80::7".parse().unwrap()]);
    bench.control("down node1 1");
    // One input for the event, and one for the port's present state.
    assert_eq!((bench.next(), bench.next()), (OwnedInput::Down(id), OwnedInput::Down(id)));
    bench.control("up node1 1");
    assert_eq!(bench.next_up(), (id, now));
    bench.control("rereg node1 1");
    // The attributes come first: the subnet manager may be another one.
    assert_eq!(bench.next_up().0, id);
    assert_eq!(bench.next(), OwnedInput::Reregister(id));
    assert_eq!(bench.at_once(), None);
    assert_eq!(bench.count("device_reads"), reads + 6);
}

#[test]
fn failed_queue_pair_is_recovered() {
    let Some((mut bench, _, port, qpn)) = with_endpoint("failed_queue_pair_is_recovered") else { return };
    assert_eq!(bench.control("qp fail node1 1"), "1\n");
    bench.until("queue_pair_errors", 1);
    bench.deliver(ONE, way_to(&port), (ONE, qpn));
    assert_eq!((bench.count("queue_pair_errors"), bench.count("recovery_failures")), (1, 0));
    assert_eq!((bench.count("queue_pairs_replaced"), bench.worker.poll_timeout()), (0, None));
}

#[test]
fn queue_pair_with_lost_completions_is_replaced() {
    let test = "queue_pair_with_lost_completions_is_replaced";
    let Some((mut bench, _, port, before)) = with_endpoint(test) else { return };
    assert_eq!(bench.control("cq fail node1 1"), "1\n");
    let OwnedInput::Opened(ONE, qpn) = bench.next() else { panic!("no new queue pair") };
    assert_ne!(qpn, before);
    bench.deliver(ONE, way_to(&port), (ONE, qpn));
    // Events of the new queue pair are recognized by its own key.
    assert_eq!(bench.control("cq fail node1 1"), "1\n");
    assert!(matches!(bench.next(), OwnedInput::Opened(ONE, another) if another != qpn));
    assert_eq!((bench.count("queue_pairs_replaced"), bench.count("queue_pair_errors")), (2, 0));
}

#[test]
fn removed_device_is_closed() {
    let Some((mut bench, id, ..)) = with_endpoint("removed_device_is_closed") else { return };
    bench.control("device remove node1");
    assert_eq!((bench.next(), bench.next()), (OwnedInput::Down(id), OwnedInput::Lost(ONE)));
    assert_eq!((bench.count("devices_closed"), bench.at_once()), (1, None));
    bench.handle_timeout(seconds(1));
    assert!(bench.worker.is_removed && bench.worker.device.is_none());
    assert_eq!((bench.worker.endpoints.len(), bench.worker.queues.len()), (0, 0));
}

#[test]
fn failed_device_is_opened_again_after_a_second() {
    let test = "failed_device_is_opened_again_after_a_second";
    let Some((mut bench, id, ..)) = with_endpoint(test) else { return };
    bench.handle_timeout(seconds(5));
    bench.control("device fail node1");
    assert_eq!((bench.next(), bench.next()), (OwnedInput::Down(id), OwnedInput::Lost(ONE)));
    assert_eq!(bench.worker.poll_timeout(), Some(seconds(6)));
    assert_eq!((bench.count("devices_closed"), bench.worker.endpoints.len(), bench.worker.queues.len()), (1, 0, 0));
    bench.handle_timeout(seconds(6));
    assert_eq!(bench.next_up().0, id);
    assert_eq!((bench.worker.poll_timeout(), bench.count("devices_opened")), (None, 2));
}

#[test]
fn port_without_umad_is_closed_alone() {
    let config = SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() };
    let Some(mut bench) = bench("events::port_without_umad_is_closed_alone", &config) else { return };
    let ((first, _), (second, port)) = (bench.next_up(), bench.next_up());
    let qpn = bench.open(OTHER, second);
    bench.open(ONE, first);
    bench.control("umad remove node1 1");
    assert_eq!((bench.next(), bench.next()), (OwnedInput::Down(first), OwnedInput::Lost(ONE)));
    let open = |bench: &Bench| bench.worker.device.as_ref().map(|device| device.ports.len());
    assert_eq!((open(&bench), bench.count("devices_closed")), (Some(1), 0));
    bench.deliver(OTHER, way_to(&port), (OTHER, qpn));
    bench.control("umad add node1 1");
    // The kernel reports the new file.
    bench.carry_out(DeviceCommand::Read);
    // All open ports are reported, because their events may have been missed, and then the port that is opened.
    assert_eq!([(); 3].map(|()| bench.next_up().0), [second, first, first]);
    assert_eq!((open(&bench), bench.count("devices_opened")), (Some(2), 1));
    bench.open(ONE, first);
}

#[test]
fn device_has_256_events_handled_in_a_turn() {
    let test = "device_has_256_events_handled_in_a_turn";
    let Some((mut bench, id, port, qpn)) = with_endpoint(test) else { return };
    for _ in 0..257 {
        bench.control("rereg node1 1");
    }
    // A datagram that is sent after the events arrives after them.
    bench.send(ONE, way_to(&port), qpn, &AcmMad::default());
    while bench.worker.next_datagram(ONE).is_none() {
        let mut events = Events::with_capacity(16);
        bench.poll.poll(&mut events, Some(LIMIT)).unwrap();
        assert!(!events.is_empty(), "nothing came");
    }
    let reads = bench.count("device_reads");
    bench.worker.async_events();
    assert_eq!(bench.count("device_reads"), reads + 1);
    let left = || bench.worker.device.as_ref().unwrap().context.next_event().unwrap();
    assert!(left().is_some() && left().is_none(), "one event was left");
    // However many events there were, they are one input.
    assert_eq!((bench.next_up().0, bench.next(), bench.at_once()), (id, OwnedInput::Reregister(id), None));
}

#[test]
fn datagram_that_waits_is_sent_after_a_send_failed() {
    let test = "datagram_that_waits_is_sent_after_a_send_failed";
    let Some((mut bench, id, port, _)) = with_endpoint(test) else { return };
    let other = bench.open(OTHER, id);
    // A datagram waits, as if the send queue were full, and the device reports the loss of another one.
    bench.send(ONE, way_to(&port), other, &AcmMad::default());
    let mad = AcmMad { transaction_id: TransactionId::new(77), ..AcmMad::default() };
    let datagram = OutgoingDatagram { way: way_to(&port), qpn: other, qkey: Qkey::GSI, mad };
    let endpoint = bench.worker.endpoints.get_mut(&ONE).unwrap();
    let _ = endpoint.outbox.send(datagram, |_| Err(ib_device::Error::SendQueueFull { depth: 1 }));
    endpoint.pair.flush().unwrap();
    bench.worker.recover(ONE);
    while !matches!(bench.next(), OwnedInput::Datagram(OTHER, _, payload) if payload == as_bytes(&mad)) {}
    assert_eq!(bench.count("sends_failed"), 1);
}
