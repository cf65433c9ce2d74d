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
    let config = bench.worker.endpoints[&ONE].pair.config();
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
    bench.carry_out(DeviceCommand::Close(OTHER));
    bench.send(OTHER, way_to(&near), from, &AcmMad::default());
    bench.deliver(ONE, way_to(&near), (ONE, from));
}

#[test]
fn burst_arrives_complete_and_in_order() {
    let Some(mut bench) = bench("requests::burst_arrives_complete_and_in_order", &SubnetConfig::default()) else {
        return;
    };
    let (id, port) = bench.next_up();
    bench.open(ONE, id);
    bench.worker.depths.receive = NonZeroU32::new(1024).unwrap();
    let qpn = bench.open(OTHER, id);
    for tid in 0..1000 {
        let mad = AcmMad { transaction_id: TransactionId::new(tid), ..AcmMad::default() };
        bench.send(ONE, way_to(&port), qpn, &mad);
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
    bench.send(ONE, way_to(&port).with_grh(grh), qpn, &AcmMad::default());
    assert_eq!((bench.count("sends_failed"), bench.count("sends_queued")), (1, 0));
    // The GID is no multicast group: attaching is retried until it is not needed.
    bench.handle_timeout(seconds(3));
    bench.carry_out(DeviceCommand::Attach(ONE, port.gid(), Lid::new(0xc000)));
    assert_eq!((bench.count("attach_failures"), bench.worker.poll_timeout()), (1, Some(seconds(4))));
    bench.handle_timeout(seconds(4));
    assert_eq!((bench.count("attach_failures"), bench.worker.poll_timeout()), (2, Some(seconds(6))));
    bench.carry_out(DeviceCommand::Detach(OTHER, port.gid()));
    bench.carry_out(DeviceCommand::Detach(ONE, "ff12::1".parse().unwrap()));
    assert_eq!(bench.worker.poll_timeout(), Some(seconds(6)), "another endpoint, or another group, was detached");
    bench.carry_out(DeviceCommand::Detach(ONE, port.gid()));
    assert_eq!(bench.worker.poll_timeout(), None);
    // There is no such port, and no such P_Key.
    for (port, pkey_index) in [(PortId(9), 0), (id, 99)] {
        bench.carry_out(DeviceCommand::Open { endpoint: OTHER, port, pkey_index, name: "other".into() });
        assert_eq!(bench.at_once(), Some(OwnedInput::NotOpened(OTHER)));
    }
    assert_eq!(bench.worker.endpoints.len(), 1);
}

pub(super) fn request(port: PortId, attributes: &PortAttributes, tid: u32, timeout: Duration) -> SaSend {
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
        bench.carry_out(DeviceCommand::SaSend(sent));
        let OwnedInput::Response(request, mad) = bench.next() else { panic!("no response") };
        let mad = SaMad::parse(&mad).unwrap();
        assert_eq!((request, mad.header.method), (sent.id, Method::GET_RESP));
        let path = mad.record::<PathRecord>().unwrap();
        assert_eq!((path.slid, path.dlid), (port.lid, port.lid));
    }
    // This LID has no subnet administration.
    let mut nowhere = request(id, &port, 8, Duration::from_millis(1));
    nowhere.to.lid = port.lid;
    bench.carry_out(DeviceCommand::SaSend(nowhere));
    assert_eq!(bench.next(), OwnedInput::Failed(nowhere.id, SendFailure::TimedOut));
    let no_port = request(PortId(9), &port, 9, long);
    bench.carry_out(DeviceCommand::SaSend(no_port));
    assert_eq!(bench.at_once(), Some(OwnedInput::Failed(no_port.id, SendFailure::NotSent)));
    // Open requests fail when their port is closed.
    let mut lost = request(id, &port, 10, long);
    lost.to.lid = port.lid;
    bench.carry_out(DeviceCommand::SaSend(lost));
    bench.control("umad remove node1 1");
    assert_eq!((bench.next(), bench.next()), (OwnedInput::Down(id), OwnedInput::Failed(lost.id, SendFailure::NotSent)));
    assert!(bench.worker.device.is_none() && bench.worker.requests.is_empty());
    let late = request(id, &port, 11, long);
    bench.carry_out(DeviceCommand::SaSend(late));
    assert_eq!(bench.at_once(), Some(OwnedInput::Failed(late.id, SendFailure::NotSent)));
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
    bench.carry_out(DeviceCommand::SaSend(sent));
    // The response comes from the LID of the subnet manager, which is another port's from now on.
    let other = SaAddress { lid: port.lid, ..sent.to };
    bench.worker.requests.get_mut(&(id, 7)).unwrap().sent =
        SaSend { to: other, timeout: Duration::from_millis(1), ..sent };
    assert_eq!(
        bench.next(),
        OwnedInput::Failed(sent.id, SendFailure::TimedOut),
        "this LID has no subnet administration"
    );
    assert_eq!(bench.count("sa_responses_forged"), 1);
    assert!(bench.worker.requests.is_empty());
    // After three more tries the request fails.
    bench.carry_out(DeviceCommand::SaSend(sent));
    bench.worker.requests.get_mut(&(id, 7)).unwrap().sent.to.lid = port.lid;
    bench.worker.requests.get_mut(&(id, 7)).unwrap().resends = 3;
    assert_eq!(bench.next(), OwnedInput::Failed(sent.id, SendFailure::TimedOut));
    assert_eq!(bench.count("sa_responses_forged"), 2);
    // The response of the subnet administrator is accepted.
    bench.carry_out(DeviceCommand::SaSend(sent));
    let OwnedInput::Response(of, _) = bench.next() else { panic!("no response") };
    assert_eq!(of, sent.id);
}
