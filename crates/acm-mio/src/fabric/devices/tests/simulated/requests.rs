//! Outputs of the core: queue pairs, groups, datagrams, requests.
use super::*;
use ib_mad::{Method, sa::SaMad};

// docs/deadlines.md: sends
#[test]
fn datagrams_have_their_source() {
    let config = SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() };
    let Some(mut bench) = bench("requests::datagrams_have_their_source", &config) else { return };
    let ((first, near), (second, far)) = (bench.next_up(), bench.next_up());
    let (from, to) = (bench.open(ONE, first), bench.open(OTHER, second));
    // Requests have room of their own beside the responses.
    let config = bench.devices.endpoints[&ONE].pair.config();
    assert_eq!((config.recv_depth, config.send_depth), (8, 1 + 64));
    let source = bench.deliver(ONE, way_to(&far), (OTHER, to));
    assert_eq!(source, DatagramSource { lid: near.lid, path_bits: 0, qpn: from, gid: None, group: None });
    let grh = GlobalRoute {
        dgid: far.gid(),
        sgid_index: 0,
        flow_label: FlowLabel::default(),
        hop_limit: 1,
        traffic_class: 0,
    };
    assert_eq!(bench.deliver(ONE, way_to(&far).with_grh(grh), (OTHER, to)).gid, Some(near.gid()));
    assert_eq!((bench.count("sends_failed"), bench.count("receives_failed")), (0, 0));
    // A closed endpoint neither receives nor sends.
    bench.devices.close_endpoint(OTHER);
    bench.devices.send(OTHER, &SendTo { way: way_to(&near), qpn: from, qkey: Qkey::GSI }, &AcmMad::default());
    bench.deliver(ONE, way_to(&near), (ONE, from));
}

#[test]
fn burst_arrives_complete_and_in_order() {
    let Some(mut bench) = bench("requests::burst_arrives_complete_and_in_order", &SubnetConfig::default()) else {
        return;
    };
    let (id, port) = bench.next_up();
    bench.open(ONE, id);
    bench.devices.depths.receive = NonZeroU32::new(1024).unwrap();
    let qpn = bench.open(OTHER, id);
    for tid in 0..1000 {
        let mad = AcmMad { transaction_id: TransactionId::new(tid), ..AcmMad::default() };
        bench.devices.send(ONE, &SendTo { way: way_to(&port), qpn, qkey: Qkey::GSI }, &mad);
    }
    for tid in 0..1000 {
        let OwnedInput::Datagram(OTHER, _, payload) = bench.next() else { panic!("no datagram") };
        assert_eq!(<AcmMad as ib_mad::Wire>::parse(&payload).unwrap().transaction_id, TransactionId::new(tid));
    }
    assert_eq!((bench.count("sends_failed"), bench.count("sends_refused"), bench.at_once()), (0, 0, None));
}

#[test]
fn refusals_of_the_device_are_counted_and_attaching_is_retried() {
    let test = "requests::refusals_of_the_device_are_counted_and_attaching_is_retried";
    let Some(mut bench) = bench(test, &SubnetConfig::default()) else {
        return;
    };
    let (id, port) = bench.next_up();
    let qpn = bench.open(ONE, id);
    // The port has no GID with this index.
    let grh = GlobalRoute { dgid: port.gid(), sgid_index: 200, ..GlobalRoute::default() };
    let to = SendTo { way: way_to(&port).with_grh(grh), qpn, qkey: Qkey::GSI };
    bench.devices.send(ONE, &to, &AcmMad::default());
    assert_eq!((bench.count("sends_failed"), bench.count("sends_queued")), (1, 0));
    // The GID is no multicast group: attaching is retried until it is not needed.
    bench.devices.handle_timeout(seconds(3));
    bench.devices.attach(ONE, port.gid(), Lid::new(0xc000));
    assert_eq!((bench.count("attach_failures"), bench.devices.poll_timeout()), (1, Some(seconds(4))));
    bench.devices.handle_timeout(seconds(4));
    assert_eq!((bench.count("attach_failures"), bench.devices.poll_timeout()), (2, Some(seconds(6))));
    bench.devices.detach(OTHER, port.gid(), Lid::new(0xc000));
    bench.devices.detach(ONE, "ff12::1".parse().unwrap(), Lid::new(0xc000));
    assert_eq!(bench.devices.poll_timeout(), Some(seconds(6)), "another endpoint, or another group, was detached");
    bench.devices.detach(ONE, port.gid(), Lid::new(0xc000));
    assert_eq!(bench.devices.poll_timeout(), None);
    assert!(bench.devices.open_endpoint(OTHER, PortId(9), 0).is_err());
    assert!(bench.devices.open_endpoint(OTHER, id, 99).is_err(), "there is no such P_Key");
    assert_eq!(bench.devices.endpoints.len(), 1);
}

fn request(port: PortId, attributes: &PortAttributes, tid: u32, timeout: Duration) -> SaSend {
    let query = PathRecord { sgid: attributes.gid(), dgid: attributes.gid(), ..PathRecord::default() };
    SaSend {
        port,
        id: SaRequestId::new(tid, 3),
        to: SaAddress { lid: attributes.sm_lid, sl: attributes.sm_sl, pkey_index: 0 },
        mad: Query::from_non_zero(query).request(Method::GET, TransactionId::new(u64::from(tid))),
        timeout,
        retries: 0,
    }
}

#[test]
fn request_to_the_sa_is_answered_or_fails() {
    let test = "requests::request_to_the_sa_is_answered_or_fails";
    let Some(mut bench) = bench(test, &SubnetConfig::default()) else { return };
    let (id, port) = bench.next_up();
    let long = Duration::from_secs(30);
    for tid in [0x0102_0304, 7] {
        let sent = request(id, &port, tid, long);
        assert!(bench.devices.sa_send(&sent));
        let OwnedInput::Response(request, mad) = bench.next() else { panic!("no response") };
        let mad = SaMad::parse(&mad).unwrap();
        assert_eq!((request, mad.header.method), (sent.id, Method::GET_RESP));
        let path = mad.record::<PathRecord>().unwrap();
        assert_eq!((path.slid, path.dlid), (port.lid, port.lid));
    }
    // This LID has no subnet administration.
    let mut nowhere = request(id, &port, 8, Duration::from_millis(1));
    nowhere.to.lid = port.lid;
    assert!(bench.devices.sa_send(&nowhere));
    assert_eq!(bench.next(), OwnedInput::Failed(nowhere.id, SendFailure::TimedOut));
    assert!(!bench.devices.sa_send(&request(PortId(9), &port, 9, long)));
    // Open requests fail when their port is closed.
    let mut lost = request(id, &port, 10, long);
    lost.to.lid = port.lid;
    assert!(bench.devices.sa_send(&lost));
    bench.control("umad remove node1 1");
    assert_eq!((bench.next(), bench.next()), (OwnedInput::Down(id), OwnedInput::Failed(lost.id, SendFailure::NotSent)));
    assert!(bench.devices.is_empty() && bench.devices.requests.is_empty());
    assert!(!bench.devices.sa_send(&request(id, &port, 11, long)));
}

// docs/deviations.md: sa-source
// docs/deadlines.md: sa-forged
#[test]
fn forged_response_of_the_sa_is_dropped_and_the_request_sent_again() {
    let test = "requests::forged_response_of_the_sa_is_dropped_and_the_request_sent_again";
    let Some(mut bench) = bench(test, &SubnetConfig::default()) else { return };
    let (id, port) = bench.next_up();
    let long = Duration::from_secs(30);
    let sent = request(id, &port, 7, long);
    assert!(bench.devices.sa_send(&sent));
    // The response comes from the LID of the subnet manager, which is another port's from now on.
    let other = SaAddress { lid: port.lid, ..sent.to };
    bench.devices.requests.get_mut(&(id, 7)).unwrap().sent =
        SaSend { to: other, timeout: Duration::from_millis(1), ..sent };
    assert_eq!(
        bench.next(),
        OwnedInput::Failed(sent.id, SendFailure::TimedOut),
        "this LID has no subnet administration"
    );
    assert_eq!(bench.count("sa_responses_forged"), 1);
    assert!(bench.devices.requests.is_empty());
    // After three more tries the request fails.
    assert!(bench.devices.sa_send(&sent));
    bench.devices.requests.get_mut(&(id, 7)).unwrap().sent.to.lid = port.lid;
    bench.devices.requests.get_mut(&(id, 7)).unwrap().resends = 3;
    assert_eq!(bench.next(), OwnedInput::Failed(sent.id, SendFailure::TimedOut));
    assert_eq!(bench.count("sa_responses_forged"), 2);
    // The response of the subnet administrator is accepted.
    assert!(bench.devices.sa_send(&sent));
    let OwnedInput::Response(of, _) = bench.next() else { panic!("no response") };
    assert_eq!(of, sent.id);
}
