//! Management datagrams: time-outs, retransmissions, and the path to the administrator.
use super::*;
use crate::{port::SaMode, settings::Settings};
use ib_mad::Method;
use ib_mad::sa::ScopeState;

fn path(subnet: &Subnet) -> SaMad {
    Query::<PathRecord>::new().dgid(gid(subnet, 2)).sgid(gid(subnet, 1)).request(Method::GET, tid())
}

#[test]
fn request_without_response_times_out_after_its_retries() {
    type Change = fn(&mut Subnet);
    let cases: [(&str, Change); 6] = [
        ("mute", |subnet| subnet.settings_mut().sa.mute = true),
        ("lost", |subnet| subnet.settings_mut().sa.loss = Probability::ALWAYS),
        ("down", |subnet| subnet.set_port_state(port(1), PortState::DOWN).unwrap()),
        ("not up yet", |subnet| subnet.set_port_state(port(1), PortState::INIT).unwrap()),
        ("Ethernet", |subnet| {
            let old = subnet.port(port(1)).unwrap().clone();
            subnet.set_port(port(1), Port { ethernet: true, ..old }).unwrap();
        }),
        ("in another partition", |subnet| {
            let old = subnet.port(port(1)).unwrap().clone();
            subnet.set_port(port(1), Port { pkeys: vec![Pkey::new(0x8001), Pkey::DEFAULT_FULL], ..old }).unwrap();
        }),
    ];
    for (name, change) in cases {
        let mut subnet = subnet(2);
        change(&mut subnet);
        let mad = path(&subnet);
        let send = to_sa(ms(100), 2);
        subnet.send_mad(T0, port(1), send, &mad).unwrap();
        let events: Vec<_> =
            run(&mut subnet).into_iter().filter(|(_, event)| !matches!(event, Event::Port { .. })).collect();
        let timed_out = Event::MadTimedOut { port: port(1), agent: send.agent, mad: mad.into() };
        assert_eq!(events, [(ms(300), timed_out)], "{name}");
        assert_eq!((subnet.counters().mad_retries, subnet.counters().mad_timeouts), (2, 1), "{name}");
    }
}

#[test]
fn request_to_another_lid_queue_pair_or_class_times_out() {
    let mut subnet = subnet(2);
    let mad = path(&subnet);
    for send in [MadSend { dlid: Lid::new(2), ..to_sa(ms(10), 0) }, MadSend { qpn: Qpn::of::<5>(), ..to_sa(ms(10), 0) }]
    {
        subnet.send_mad(T0, port(1), send, &mad).unwrap();
    }
    let mut other_class = mad;
    other_class.header.mgmt_class = ib_mad::MgmtClass::PERF;
    subnet.send_mad(T0, port(1), to_sa(ms(10), 0), &other_class).unwrap();
    let events = run(&mut subnet);
    assert!(events.len() == 3 && events.iter().all(|(_, event)| matches!(event, Event::MadTimedOut { .. })));
    assert_eq!(subnet.counters().sa_unreachable, 3);
    assert_eq!(subnet.send_mad(ms(10), port(9), to_sa(ms(10), 0), &mad), Err(Error::NoSuchPort(port(9))));
}

#[test]
fn response_ends_the_request() {
    let mut subnet = subnet(2);
    subnet.settings_mut().sa.delay = ms(30);
    let mad = path(&subnet);
    subnet.send_mad(T0, port(1), to_sa(ms(100), 5), &mad).unwrap();
    let events = run(&mut subnet);
    assert!(matches!(&events[..], [(at, Event::Mad { agent: AgentId(9), .. })] if *at == ms(30)), "{events:?}");
}

#[test]
fn late_response_ends_the_retransmitted_request() {
    let mut subnet = subnet(2);
    subnet.settings_mut().sa.delay = ms(150);
    let mad = path(&subnet);
    subnet.send_mad(T0, port(1), to_sa(ms(100), 1), &mad).unwrap();
    let events = run(&mut subnet);
    // The response to the first transmission arrives while the second waits. The response to the second is unclaimed.
    assert!(matches!(&events[..], [(at, Event::Mad { .. })] if *at == ms(150)), "{events:?}");
    assert_eq!((subnet.counters().sa_path_queries, subnet.counters().mad_unclaimed), (2, 1));
}

#[test]
fn slow_administrator_queues_requests() {
    let mut subnet = subnet(2);
    subnet.settings_mut().sa.service_time = ms(10);
    let mad = path(&subnet);
    for _ in 0..3 {
        subnet.send_mad(T0, port(1), to_sa(ms(1000), 0), &mad).unwrap();
    }
    let times: Vec<Duration> = run(&mut subnet).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [ms(10), ms(20), ms(30)]);
}

#[test]
fn request_without_time_out_is_executed_without_an_event() {
    let mut subnet = subnet(1);
    let mad = join(gid(&subnet, 1)).request(Method::SET, tid());
    subnet.send_mad(T0, port(1), to_sa(T0, 3), &mad).unwrap();
    assert_eq!((subnet.poll_event(), subnet.poll_timeout()), (None, None));
    assert!(subnet.group(mgid()).unwrap().receives(port(1)));
}

#[test]
fn cancelled_request_does_not_time_out() {
    let mut subnet = subnet(2);
    subnet.settings_mut().sa.mute = true;
    let mad = path(&subnet);
    subnet.send_mad(T0, port(1), to_sa(ms(10), 3), &mad).unwrap();
    subnet.send_mad(T0, port(1), MadSend { agent: AgentId(1), ..to_sa(ms(10), 0) }, &mad).unwrap();
    subnet.cancel_mads(port(1), AgentId(9));
    let events = run(&mut subnet);
    assert!(matches!(&events[..], [(_, Event::MadTimedOut { agent: AgentId(1), .. })]), "{events:?}");
}

#[test]
fn external_administrator_gets_requests_and_its_responses_update_the_groups() {
    let mut subnet = subnet_of(2, SubnetConfig { sa: SaMode::External, ..SubnetConfig::default() });
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    subnet.attach(to, mgid()).unwrap();
    for node in [1, 2] {
        let mad = join(gid(&subnet, node)).request(Method::SET, tid());
        subnet.send_mad(T0, port(node), to_sa(ms(100), 1), &mad).unwrap();
        let Some(Event::SaRequest { request, port: requester, mad: received }) = subnet.poll_event() else { panic!() };
        assert_eq!((requester, *received), (port(node), mad));
        let mut response = mad;
        response.header.method = ib_mad::Method::GET_RESP;
        response.header.transaction_id = TransactionId::new(77);
        let record = McMemberRecord {
            mlid: Lid::new(0xc123),
            scope_state: ScopeState::default().with_scope(5).with_join_state(JoinState::FULL_MEMBER),
            ..*mad.record::<McMemberRecord>().unwrap()
        };
        response.data.0[..52].copy_from_slice(ib_mad::as_bytes(&record));
        subnet.respond_to_mad(T0, request, &response);
        let Some(Event::Mad { mad: delivered, .. }) = subnet.poll_event() else { panic!() };
        assert_eq!((delivered.header.transaction_id, delivered.record::<McMemberRecord>()), (tid(), Ok(&record)));
        subnet.respond_to_mad(T0, request, &response);
        assert_eq!((subnet.poll_event(), subnet.counters().mad_unclaimed), (None, u64::from(node)));
    }
    subnet.send_datagram(T0, from, &Datagram::multicast(Lid::new(0xc123), mgid(), QKEY, b"x")).unwrap();
    assert!(matches!(subnet.poll_event(), Some(Event::Datagram { .. })));
    // A retransmission has the same id.
    let mad = path(&subnet);
    subnet.send_mad(T0, port(1), to_sa(ms(100), 1), &mad).unwrap();
    let ids: Vec<_> = run(&mut subnet)
        .into_iter()
        .map(|(at, event)| match event {
            Event::SaRequest { request, .. } => (at, Some(request)),
            _ => (at, None),
        })
        .collect();
    assert_eq!((ids.len(), ids[0].1, ids[2]), (3, ids[1].1, (ms(200), None)));
}

#[test]
fn status_set_by_name_is_in_the_response() {
    let mut subnet = subnet(2);
    subnet.settings_mut().set("sa_status", "0x0001").unwrap();
    let mad = path(&subnet);
    assert_eq!(request(&mut subnet, 1, &mad).header.status, Status::BUSY);
    *subnet.settings_mut() = Settings::default();
    assert_eq!(request(&mut subnet, 1, &mad).header.status, Status::OK);
}
