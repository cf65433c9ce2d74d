//! What the administrator answers.
use super::*;
use ib_mad::{AttributeId, Method, PacketLifeTime, Selected, Wire};
use proptest::prelude::*;

fn path_status(subnet: &mut Subnet, query: Query<PathRecord>) -> Status {
    ask(subnet, 1, &query.get(tid())).header.status
}

fn join_status(subnet: &mut Subnet, query: Query<McMemberRecord>) -> Status {
    ask(subnet, 1, &query.set(tid())).header.status
}

#[test]
fn a_path_between_two_ports() {
    let mut subnet = subnet(2);
    let (sgid, dgid) = (gid(&subnet, 1), gid(&subnet, 2));
    let answer =
        ask(&mut subnet, 1, &Query::<PathRecord>::new().dgid(dgid).sgid(sgid).pkey(Pkey::DEFAULT_FULL).get(tid()));
    assert_eq!((answer.header.status, answer.header.method), (Status::OK, Method::GET_RESP));
    let record = *answer.record::<PathRecord>().unwrap();
    assert_eq!((record.dgid, record.sgid), (dgid, sgid));
    assert_eq!((record.dlid, record.slid), (Lid::new(17), Lid::new(16)));
    assert_eq!((record.pkey, record.mtu), (Pkey::DEFAULT_FULL, Selected::exactly(Mtu::B4096)));
    assert_eq!(record.rate, Selected::exactly(Rate::GBPS_100));
    assert_eq!(record.packet_life_time, Selected::exactly(PacketLifeTime::of::<18>()));
    assert!(record.reversible_paths.reversible());
    // By LID, from the asker's own port, the answer is the same.
    let by_lid = ask(&mut subnet, 1, &Query::<PathRecord>::new().dlid(Lid::new(17)).get(tid()));
    assert_eq!(by_lid.record::<PathRecord>(), Ok(&record));
    // To itself it takes no time.
    let own = ask(&mut subnet, 1, &Query::<PathRecord>::new().dgid(sgid).get(tid()));
    assert_eq!(own.record::<PathRecord>().unwrap().packet_life_time.value(), PacketLifeTime::ZERO);
}

#[test]
fn paths_that_are_not_there() {
    let mut subnet = subnet(2);
    let new = Query::<PathRecord>::new;
    let dgid = gid(&subnet, 2);
    let unknown: Gid = "fe80::99".parse().unwrap();
    assert_eq!(path_status(&mut subnet, new()), Status::SA_INSUFFICIENT_COMPONENTS);
    assert_eq!(path_status(&mut subnet, new().dgid(unknown)), Status::SA_NO_RECORDS);
    assert_eq!(path_status(&mut subnet, new().dlid(Lid::new(999))), Status::SA_NO_RECORDS);
    assert_eq!(path_status(&mut subnet, new().dgid(dgid).dlid(Lid::new(16))), Status::SA_NO_RECORDS);
    assert_eq!(path_status(&mut subnet, new().dgid(dgid).pkey(Pkey::new(0x8001))), Status::SA_NO_RECORDS);
    let fast = new().dgid(dgid).rate(Selector::GreaterThan, Rate::GBPS_100);
    assert_eq!(path_status(&mut subnet, fast), Status::SA_NO_RECORDS);
    subnet.settings_mut().sa.unknown_gid_status = Status::SA_INVALID_GID;
    assert_eq!(path_status(&mut subnet, new().dgid(unknown)), Status::SA_INVALID_GID);
    subnet.settings_mut().path.reversible = false;
    assert_eq!(path_status(&mut subnet, new().dgid(dgid).reversible(true)), Status::SA_NO_RECORDS);
    subnet.set_port_state(port(2), PortState::INIT).unwrap();
    assert!(matches!(subnet.poll_event(), Some(Event::Port { .. })));
    assert_eq!(path_status(&mut subnet, new().dgid(dgid)), Status::SA_NO_RECORDS);
}

#[test]
fn requests_are_counted_by_what_they_ask_for() {
    let mut subnet = subnet(1);
    let own = gid(&subnet, 1);
    let counts = |subnet: &Subnet| {
        let now = subnet.counters();
        [now.sa_path_queries, now.sa_joins, now.sa_leaves, now.sa_other, now.sa_errors]
    };
    let member = |method| {
        let mut mad = join(own).set(tid());
        mad.header.method = method;
        mad
    };
    for (mad, after) in [
        (Query::<PathRecord>::new().dgid(own).get(tid()), [1, 0, 0, 0, 0]),
        (Query::<PathRecord>::new().get(tid()), [2, 0, 0, 0, 1]),
        (member(Method::SET), [2, 1, 0, 0, 1]),
        (member(Method::GET), [2, 1, 0, 1, 1]),
        (member(Method::DELETE), [2, 1, 1, 1, 1]),
        (member(Method::DELETE), [2, 1, 2, 1, 2]),
        (SaMad::request(Method::GET, AttributeId::CLASS_PORT_INFO, tid()), [2, 1, 2, 2, 2]),
    ] {
        ask(&mut subnet, 1, &mad);
        assert_eq!(counts(&subnet), after, "{mad:?}");
    }
}

#[test]
fn a_gid_that_was_given_up_leads_nowhere() {
    let mut subnet = subnet(3);
    let (old, new): (Gid, Gid) = (gid(&subnet, 2), "fe80::77".parse().unwrap());
    let to = |dgid| Query::<PathRecord>::new().dgid(dgid);
    let port_with = |subnet: &Subnet, gid| Port { gids: vec![gid], ..subnet.port(port(2)).unwrap().clone() };
    assert_eq!(
        [path_status(&mut subnet, to(old)), path_status(&mut subnet, to(new))],
        [Status::OK, Status::SA_NO_RECORDS]
    );
    let changed = port_with(&subnet, new);
    subnet.set_port(port(2), changed).unwrap();
    while subnet.poll_event().is_some() {}
    assert_eq!(
        [path_status(&mut subnet, to(old)), path_status(&mut subnet, to(new))],
        [Status::SA_NO_RECORDS, Status::OK]
    );
    let third = gid(&subnet, 3);
    assert_eq!(path_status(&mut subnet, to(third)), Status::OK);
}

#[test]
fn requests_that_it_does_not_serve() {
    let mut subnet = subnet(1);
    let request = |method, attribute| SaMad::request(method, attribute, tid());
    let unsupported = Status::METHOD_ATTRIBUTE_NOT_SUPPORTED;
    for (method, attribute) in [
        (Method::SET, AttributeId::PATH_RECORD),
        (Method::GET_TABLE, AttributeId::PATH_RECORD),
        (Method::GET, AttributeId::NOTICE),
        (Method::new(0x7f), AttributeId::MC_MEMBER_RECORD),
    ] {
        assert_eq!(ask(&mut subnet, 1, &request(method, attribute)).header.status, unsupported, "{method} {attribute}");
    }
    let mut old = request(Method::GET, AttributeId::PATH_RECORD);
    old.header.class_version = 1;
    assert_eq!(ask(&mut subnet, 1, &old).header.status, Status::BAD_VERSION);
    let info = ask(&mut subnet, 1, &request(Method::GET, AttributeId::CLASS_PORT_INFO));
    assert_eq!((info.header.status, info.data.0[..2].to_vec()), (Status::OK, vec![1, 2]));
    let mut answer = request(Method::GET_RESP, AttributeId::PATH_RECORD);
    answer.header.status = Status::BUSY;
    subnet.send_mad(T0, port(1), to_sa(T0, 0), &answer).unwrap();
    assert_eq!((subnet.poll_event(), subnet.counters().mad_unclaimed), (None, 0));
}

#[test]
fn a_group_is_made_joined_and_left() {
    let mut subnet = subnet(2);
    let [one, two] = [1, 2].map(|node| gid(&subnet, node));
    let made = ask(&mut subnet, 1, &join(one).set(tid()));
    let record = *made.record::<McMemberRecord>().unwrap();
    assert_eq!((made.header.status, record.mlid), (Status::OK, Lid::new(0xc000)));
    assert_eq!((record.mtu, record.rate), (Selected::exactly(Mtu::B2048), Selected::exactly(Rate::GBPS_10)));
    assert_eq!((record.scope_state.scope(), record.scope_state.join_state()), (5, JoinState::FULL_MEMBER));
    assert_eq!((record.qkey, record.pkey, record.port_gid), (QKEY, Pkey::DEFAULT_FULL, one));
    assert_eq!(ask(&mut subnet, 2, &join(two).set(tid())).record::<McMemberRecord>().unwrap().mlid, Lid::new(0xc000));

    let seen = ask(&mut subnet, 1, &Query::<McMemberRecord>::new().mgid(mgid()).port_gid(two).get(tid()));
    assert_eq!(seen.record::<McMemberRecord>().unwrap().scope_state.join_state(), JoinState::FULL_MEMBER);

    let left = |subnet: &mut Subnet, port_gid| ask(subnet, 1, &leave(port_gid).delete(tid())).header;
    assert_eq!(
        (left(&mut subnet, one).status, left(&mut subnet, one).status),
        (Status::OK, Status::SA_REQUEST_INVALID)
    );
    assert!(!subnet.group(mgid()).unwrap().may_send(port(1)));
    assert_eq!((left(&mut subnet, two).method, subnet.groups().count()), (Method::DELETE_RESP, 0));
    let gone = ask(&mut subnet, 1, &Query::<McMemberRecord>::new().mgid(mgid()).get(tid()));
    assert_eq!(gone.header.status, Status::SA_NO_RECORDS);
}

#[test]
fn joins_that_it_refuses() {
    let mut subnet = subnet(2);
    let own = gid(&subnet, 1);
    let new = || join(own);
    let invalid = Status::SA_REQUEST_INVALID;
    let without = |mask| join(own).without(mask);
    use ib_mad::sa::McMemberMask as Mask;
    for mask in [
        Mask::MGID,
        Mask::PORT_GID,
        Mask::JOIN_STATE,
        Mask::QKEY,
        Mask::PKEY,
        Mask::SL,
        Mask::FLOW_LABEL,
        Mask::TRAFFIC_CLASS,
    ] {
        assert_eq!(join_status(&mut subnet, without(mask)), Status::SA_INSUFFICIENT_COMPONENTS, "{mask:?}");
    }
    assert_eq!(join_status(&mut subnet, new().join_state(JoinState::SEND_ONLY_NON_MEMBER)), invalid);
    assert_eq!(join_status(&mut subnet, new().join_state(JoinState::empty())), invalid);
    assert_eq!(join_status(&mut subnet, new().mgid(own)), invalid);
    assert_eq!(join_status(&mut subnet, new().port_gid("fe80::99".parse().unwrap())), invalid);
    assert_eq!(join_status(&mut subnet, new().pkey(Pkey::new(0x8001))), invalid);
    assert_eq!(join_status(&mut subnet, new().rate(Selector::Exactly, Rate::GBPS_200)), invalid);
    assert_eq!(subnet.groups().count(), 0);

    assert_eq!(join_status(&mut subnet, new()), Status::OK);
    for other in [
        new().qkey(Qkey::new(1)),
        new().mtu(Selector::Exactly, Mtu::B4096),
        new().mtu(Selector::GreaterThan, Mtu::B2048),
        new().rate(Selector::LessThan, Rate::GBPS_10),
        new().sl(ServiceLevel::of::<1>()),
        new().flow_label(FlowLabel::of::<1>()),
        new().traffic_class(1),
    ] {
        assert_eq!(join_status(&mut subnet, other), invalid, "{other:?}");
    }
    assert_eq!(join_status(&mut subnet, new().mtu(Selector::GreaterThan, Mtu::B1024)), Status::OK);
    assert_eq!(join_status(&mut subnet, new().rate(Selector::LessThan, Rate::GBPS_20)), Status::OK);
    // A slower port cannot take the group's packets.
    let slow = subnet.port(port(2)).unwrap().clone();
    subnet.set_port(port(2), Port { rate: Rate::GBPS_5, ..slow }).unwrap();
    let two = gid(&subnet, 2);
    assert_eq!(join_status(&mut subnet, join(two)), invalid);
}

#[test]
fn a_send_only_member_receives_nothing() {
    let mut subnet = subnet(2);
    let two = gid(&subnet, 2);
    let one = gid(&subnet, 1);
    assert_eq!(join_status(&mut subnet, join(one)), Status::OK);
    assert_eq!(join_status(&mut subnet, join(two).join_state(JoinState::SEND_ONLY_NON_MEMBER)), Status::OK);
    let group = subnet.group(mgid()).unwrap();
    assert!(group.may_send(port(2)) && !group.receives(port(2)) && group.receives(port(1)));
    // It does not keep the group alive either.
    assert_eq!(ask(&mut subnet, 1, &leave(one).delete(tid())).header.status, Status::OK);
    assert_eq!(subnet.groups().count(), 0);
}

#[test]
fn group_lids_run_out() {
    let mut subnet = subnet(1);
    let own = gid(&subnet, 1);
    subnet.restart_sm(Some(Lid::new(0xfffe)));
    assert!(matches!(subnet.poll_event(), Some(Event::Port { change: PortChange::ClientReregister, .. })));
    let nth = |n: u8| Gid::new([0xff, 0x15, 0x40, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n]);
    let mlid = |subnet: &mut Subnet, n| {
        ask(subnet, 1, &join(own).mgid(nth(n)).set(tid())).record::<McMemberRecord>().unwrap().mlid
    };
    assert_eq!([1, 2].map(|n| mlid(&mut subnet, n)), [Lid::new(0xfffe), Lid::new(0xc000)]);
}

#[test]
fn more_groups_than_one_are_too_many() {
    let mut subnet = subnet(1);
    let own = gid(&subnet, 1);
    for n in 1..=2 {
        let mgid = Gid::new([0xff, 0x15, 0x40, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n]);
        assert_eq!(join_status(&mut subnet, join(own).mgid(mgid)), Status::OK);
    }
    let all = Query::<McMemberRecord>::new().port_gid(own);
    assert_eq!(ask(&mut subnet, 1, &all.get(tid())).header.status, Status::SA_TOO_MANY_RECORDS);
    let one = ask(&mut subnet, 1, &all.mlid(Lid::new(0xc001)).get(tid()));
    assert_eq!(one.record::<McMemberRecord>().unwrap().mgid.get()[15], 2);
}

proptest! {
    #[test]
    fn any_request_is_answered(
        bytes in any::<[[u8; 32]; 8]>(), method in 0_u8..0x80, attribute in prop_oneof![Just(0x35_u16), Just(0x38), any::<u16>()],
        known in any::<bool>(),
    ) {
        let mut subnet = subnet(2);
        let mut mad = *SaMad::parse(bytes.as_flattened()).unwrap();
        mad.header.base_version = 1;
        mad.header.class_version = 2;
        mad.header.mgmt_class = ib_mad::MgmtClass::SUBN_ADM;
        mad.header.method = Method::new(if known { 1 + method % 2 } else { method });
        mad.header.attribute_id = AttributeId::new(attribute);
        if known {
            let own = gid(&subnet, 1).get();
            mad.data.0[16..32].copy_from_slice(&own);
            mad.data.0[0] = 0xff;
        }
        prop_assume!(mad.header.method.response().is_some());
        let answer = ask(&mut subnet, 1, &mad);
        prop_assert!(answer.header.method.is_response());
        prop_assert_eq!(subnet.poll_event(), None);
    }

    #[test]
    fn any_answer_from_outside_is_taken(bytes in any::<[[u8; 32]; 8]>()) {
        let mut subnet = subnet_of(1, SubnetConfig { sa: crate::SaMode::External, ..SubnetConfig::default() });
        let mad = join(gid(&subnet, 1)).set(tid());
        subnet.send_mad(T0, port(1), to_sa(ms(1), 0), &mad).unwrap();
        let Some(Event::SaRequest { request, .. }) = subnet.poll_event() else { panic!() };
        subnet.answer_mad(T0, request, SaMad::parse(bytes.as_flattened()).unwrap());
        let is_answer = matches!(subnet.poll_event(), Some(Event::Mad { mad, .. }) if mad.header.transaction_id == tid());
        prop_assert!(is_answer);
    }
}

#[test]
fn path_bits_are_those_of_the_setting_within_the_lmc() {
    for (lmc, bits) in [(0, 0), (1, 1), (2, 3)] {
        let mut subnet =
            subnet_of(2, SubnetConfig { lmc: ib_mad::id::Lmc::new(lmc).unwrap(), ..SubnetConfig::default() });
        subnet.settings_mut().path.path_bits = 7;
        let query = Query::<PathRecord>::new().dgid(gid(&subnet, 2)).sgid(gid(&subnet, 1));
        let answer = ask(&mut subnet, 1, &query.get(tid()));
        let path = answer.record::<PathRecord>().unwrap();
        let base = [lid(&subnet, 1), lid(&subnet, 2)];
        assert_eq!([path.slid, path.dlid], base.map(|lid| Lid::new(lid.get() + bits)), "LMC {lmc}");
    }
}
