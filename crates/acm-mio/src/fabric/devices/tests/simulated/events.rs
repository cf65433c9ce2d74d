//! What happens to devices, ports and queue pairs.
use super::*;

/// Endpoint `ONE` at the only port, which is up.
fn with_endpoint(test: &str) -> Option<(Bench, PortId, PortAttributes, Qpn)> {
    let mut bench = bench(&format!("events::{test}"), &SubnetConfig::default())?;
    let (id, port) = bench.next_up();
    let qpn = bench.open(ONE, id);
    assert!(bench.devices.has_new_ports());
    Some((bench, id, port, qpn))
}

#[test]
fn each_change_of_a_port_is_told_once() {
    let Some((mut bench, id, port, _)) = with_endpoint("each_change_of_a_port_is_told_once") else { return };
    let reads = bench.count("device_reads");
    bench.control("lid node1 1 77");
    let (told, now) = bench.next_up();
    assert_eq!((told, now.lid), (id, Lid::new(77)));
    bench.control("smlid node1 1 9");
    assert_eq!(bench.next_up().1.sm_lid, Lid::new(9));
    bench.control("gid node1 1 2 fe80::7");
    let (_, now) = bench.next_up();
    assert_eq!(now.gids, [port.gid(), Gid::ZERO, "fe80::7".parse().unwrap()]);
    bench.control("down node1 1");
    // Once for the event, and once for what the port is now.
    assert_eq!((bench.next(), bench.next()), (Told::Down(id), Told::Down(id)));
    bench.control("up node1 1");
    assert_eq!(bench.next_up(), (id, now));
    bench.control("rereg node1 1");
    // What the port is comes first: its subnet manager may be another one.
    assert_eq!(bench.next_up().0, id);
    assert_eq!(bench.next(), Told::Reregister(id));
    assert_eq!(bench.at_once(), None);
    assert_eq!(bench.count("device_reads"), reads + 6);
    assert!(!bench.devices.has_new_ports());
}

#[test]
fn a_queue_pair_that_failed_goes_on() {
    let Some((mut bench, _, port, qpn)) = with_endpoint("a_queue_pair_that_failed_goes_on") else { return };
    assert_eq!(bench.control("qp fail node1 1"), "1\n");
    bench.until("queue_pair_errors", 1);
    bench.carries(ONE, here(&port), (ONE, qpn));
    assert_eq!((bench.count("queue_pair_errors"), bench.count("recovery_failures")), (1, 0));
    assert_eq!((bench.count("queue_pairs_replaced"), bench.devices.poll_timeout()), (0, None));
}

#[test]
fn a_queue_pair_whose_completions_are_lost_has_a_successor() {
    let test = "a_queue_pair_whose_completions_are_lost_has_a_successor";
    let Some((mut bench, _, port, before)) = with_endpoint(test) else { return };
    assert_eq!(bench.control("cq fail node1 1"), "1\n");
    let Told::Opened(ONE, qpn) = bench.next() else { panic!("no successor") };
    assert_ne!(qpn, before);
    bench.carries(ONE, here(&port), (ONE, qpn));
    // The successor is known by its own key.
    assert_eq!(bench.control("cq fail node1 1"), "1\n");
    assert!(matches!(bench.next(), Told::Opened(ONE, another) if another != qpn));
    assert_eq!((bench.count("queue_pairs_replaced"), bench.count("queue_pair_errors")), (2, 0));
}

#[test]
fn a_device_that_is_taken_away_takes_all_with_it_and_comes_back_as_it_was_called() {
    let test = "a_device_that_is_taken_away_takes_all_with_it_and_comes_back_as_it_was_called";
    let Some((mut bench, id, port, _)) = with_endpoint(test) else { return };
    bench.control("device remove node1");
    assert_eq!((bench.next(), bench.next()), (Told::Down(id), Told::Lost(ONE)));
    bench.until("scans", 2);
    assert_eq!((bench.count("devices_closed"), bench.devices.ports(), bench.at_once()), (1, vec![], None));
    assert!(bench.devices.is_empty());
    assert_eq!(bench.devices.known_port("ibsim0", 1), Some(id), "it may come back");
    bench.control("device add node1 0x0002c90300007770");
    let (back, now) = bench.next_up();
    assert_eq!((back, now.device_guid), (id, Guid::new(0x0002_c903_0000_7770)));
    assert!(now.lid == port.lid && bench.devices.has_new_ports());
    let qpn = bench.open(OTHER, id);
    bench.carries(OTHER, here(&now), (OTHER, qpn));
    // Of the queue pair that went, nothing is left.
    bench.devices.close_endpoint(ONE);
    assert_eq!((bench.count("devices_opened"), bench.devices.endpoints.len(), bench.devices.queues.len()), (2, 1, 1));
}

#[test]
fn a_device_that_failed_is_opened_again_after_a_second() {
    let test = "a_device_that_failed_is_opened_again_after_a_second";
    let Some((mut bench, id, ..)) = with_endpoint(test) else { return };
    bench.devices.handle_timeout(seconds(5));
    bench.control("device fail node1");
    assert_eq!((bench.next(), bench.next()), (Told::Down(id), Told::Lost(ONE)));
    assert_eq!(bench.devices.poll_timeout(), Some(seconds(6)));
    assert_eq!((bench.count("devices_closed"), bench.devices.endpoints.len(), bench.devices.queues.len()), (1, 0, 0));
    bench.devices.handle_timeout(seconds(6));
    assert_eq!(bench.next_up().0, id);
    assert_eq!((bench.devices.poll_timeout(), bench.count("devices_opened")), (None, 2));
}

#[test]
fn a_port_without_umad_is_closed_alone() {
    let config = SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() };
    let Some(mut bench) = bench("events::a_port_without_umad_is_closed_alone", &config) else { return };
    let ((first, _), (second, port)) = (bench.next_up(), bench.next_up());
    let qpn = bench.open(OTHER, second);
    bench.open(ONE, first);
    bench.control("umad remove node1 1");
    assert_eq!((bench.next(), bench.next()), (Told::Down(first), Told::Lost(ONE)));
    assert_eq!((bench.devices.ports().len(), bench.count("devices_closed")), (1, 0));
    bench.carries(OTHER, here(&port), (OTHER, qpn));
    bench.control("umad add node1 1");
    // What it was while that could not be read is told of all its ports, and then of the new one.
    assert_eq!([(); 3].map(|()| bench.next_up().0), [second, first, first]);
    assert_eq!((bench.devices.ports().len(), bench.count("devices_opened")), (2, 1));
    bench.open(ONE, first);
}

#[test]
fn so_many_events_are_taken_before_it_is_anothers_turn() {
    let test = "so_many_events_are_taken_before_it_is_anothers_turn";
    let Some((mut bench, id, port, qpn)) = with_endpoint(test) else { return };
    for _ in 0..257 {
        bench.control("rereg node1 1");
    }
    // What is sent after them arrives after them.
    let letter = SendTo { way: here(&port), qpn, qkey: Qkey::GSI };
    bench.devices.send(ONE, &letter, &AcmMad::default());
    while bench.devices.next_datagram(ONE).is_none() {
        let mut events = Events::with_capacity(16);
        bench.poll.poll(&mut events, Some(Duration::from_secs(30))).unwrap();
        assert!(!events.is_empty(), "nothing came");
    }
    let key = bench.devices.key_of("ibsim0").unwrap();
    let reads = bench.count("device_reads");
    bench.devices.async_events(key);
    assert_eq!(bench.count("device_reads"), reads + 1);
    let left = || bench.devices.devices[&key].context.next_event().unwrap();
    assert!(left().is_some() && left().is_none(), "one was left");
    // However many there were, they are told once.
    assert_eq!((bench.next_up().0, bench.next(), bench.at_once()), (id, Told::Reregister(id), None));
}
