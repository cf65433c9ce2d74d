//! The costs of a large subnet: switches, link rates, the administrator's queue, tables.
use super::*;
use crate::{id::NodeId, settings::Tree};
use ib_mad::{MadRef, Method};

fn us(value: u64) -> Duration {
    Duration::from_micros(value)
}

#[test]
fn delay_grows_with_the_switches_between_two_nodes() {
    let tree = Tree { leaf: 2, pod: 2, hop_delay: us(1) };
    let between = |from, to| tree.switches(NodeId::new(from), NodeId::new(to));
    assert_eq!([between(1, 2), between(2, 3), between(1, 4), between(4, 5), between(1, 9)], [1, 3, 3, 5, 5]);
    assert_eq!(Tree::default().switches(NodeId::new(1), NodeId::new(9)), 1);
    let mut subnet = subnet(5);
    subnet.settings_mut().tree = tree;
    let mlid = join_all(&mut subnet);
    let from = qp(&mut subnet, 1);
    for node in 2..=5 {
        let to = qp(&mut subnet, node);
        subnet.attach(to, mgid()).unwrap();
    }
    subnet.send_datagram(T0, from, &Datagram::multicast(mlid, mgid(), QKEY, b"x")).unwrap();
    let arrivals: Vec<_> = payloads(&run(&mut subnet)).into_iter().map(|(at, _)| at).collect();
    assert_eq!(arrivals, [us(2), us(4), us(4), us(6)]);
}

#[test]
fn link_carries_one_packet_at_a_time() {
    let mut subnet = subnet(3);
    subnet.settings_mut().link_rates = true;
    let to = qp(&mut subnet, 3);
    let dlid = lid(&subnet, 3);
    let froms = [1, 2].map(|node| qp(&mut subnet, node));
    let rate = subnet.port(port(1)).unwrap().rate.mbps().unwrap();
    // 176 bytes of payload and 74 of headers are 2,000 bits.
    let wire = Duration::from_nanos(2_000_000 / u64::from(rate));
    for (from, first) in froms.into_iter().zip([1, 3]) {
        for number in first..first + 2 {
            let payload = [number; 176];
            subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, QKEY, &payload)).unwrap();
        }
    }
    let arrivals = payloads(&run(&mut subnet));
    // Both senders send at once, and the receiver's link is the bottleneck.
    assert_eq!(arrivals, [(wire * 2, 1), (wire * 3, 2), (wire * 4, 3), (wire * 5, 4)]);
}

fn queries(subnet: &mut Subnet, count: u64) -> Vec<(Duration, Event)> {
    let mad = Query::<PathRecord>::new().dgid(gid(subnet, 2)).sgid(gid(subnet, 1)).request(Method::GET, tid());
    for _ in 0..count {
        subnet.send_mad(T0, port(1), to_sa(ms(100), 0), &mad).unwrap();
    }
    run(subnet)
}

#[test]
fn requests_beyond_the_administrators_queue_are_lost() {
    let mut subnet = subnet(2);
    let sa = &mut subnet.settings_mut().sa;
    (sa.service_time, sa.queue) = (us(20), 3);
    let events = queries(&mut subnet, 5);
    let served: Vec<_> =
        events.iter().filter(|(_, event)| matches!(event, Event::Mad { .. })).map(|(at, _)| *at).collect();
    assert_eq!(served, [us(20), us(40), us(60)]);
    assert_eq!((subnet.counters().sa_overflows, subnet.counters().mad_timeouts), (2, 2));
}

#[test]
fn full_administrator_can_respond_busy() {
    let mut subnet = subnet(2);
    let sa = &mut subnet.settings_mut().sa;
    (sa.service_time, sa.queue, sa.delay, sa.busy_when_full) = (us(20), 3, us(5), true);
    let status = |event: &Event| match event {
        Event::Mad { mad, .. } => mad.header.status,
        other => panic!("{other:?}"),
    };
    let seen: Vec<_> = queries(&mut subnet, 4).iter().map(|(at, event)| (*at, status(event))).collect();
    assert_eq!(seen[0], (us(5), Status::BUSY));
    assert_eq!(seen[3], (us(65), Status::OK));
}

#[test]
fn table_takes_time_for_each_record_and_arrives_as_one_message() {
    let mut subnet = subnet(7);
    let sa = &mut subnet.settings_mut().sa;
    (sa.service_time, sa.record_time) = (us(20), us(2));
    let mut request = Query::<PathRecord>::new().sgid(gid(&subnet, 1)).request(Method::GET, tid());
    request.header.method = Method::GET_TABLE;
    subnet.send_mad(T0, port(1), to_sa(ms(100), 0), &request).unwrap();
    let mut unknown = request;
    unknown.header.attribute_id = ib_mad::AttributeId::NOTICE;
    subnet.send_mad(T0, port(1), to_sa(ms(100), 0), &unknown).unwrap();
    let events = run(&mut subnet);
    let [(at, Event::Table { agent, message, .. }), (later, Event::Mad { mad, .. })] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((*at, *agent, *later), (us(34), AgentId(9), us(54)));
    let table = MadRef::new(message).unwrap();
    assert_eq!((table.records::<PathRecord>().unwrap().count(), table.header().transaction_id), (7, tid()));
    assert_eq!(mad.header.status, Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
    // A lost table is a request without a response.
    subnet.settings_mut().sa.loss = Probability::ALWAYS;
    subnet.send_mad(*later, port(1), to_sa(ms(100), 0), &request).unwrap();
    assert!(matches!(run(&mut subnet)[..], [(_, Event::MadTimedOut { .. })]));
}
