//! Responses of the administrator.
use super::*;
use ib_mad::{AttributeId, MadHeader, Method, PacketLifeTime, Selected, Wire};
use proptest::prelude::*;

fn path_status(subnet: &mut Subnet, query: Query<PathRecord>) -> Status {
    request(subnet, 1, &query.request(Method::GET, tid())).header.status
}

fn join_status(subnet: &mut Subnet, query: Query<McMemberRecord>) -> Status {
    request(subnet, 1, &query.request(Method::SET, tid())).header.status
}

#[test]
fn path_query_returns_the_path_between_two_ports() {
    let mut subnet = subnet(2);
    let (sgid, dgid) = (gid(&subnet, 1), gid(&subnet, 2));
    let response = request(
        &mut subnet,
        1,
        &Query::<PathRecord>::new().dgid(dgid).sgid(sgid).pkey(Pkey::DEFAULT_FULL).request(Method::GET, tid()),
    );
    assert_eq!((response.header.status, response.header.method), (Status::OK, Method::GET_RESP));
    let record = *response.record::<PathRecord>().unwrap();
    assert_eq!((record.dgid, record.sgid), (dgid, sgid));
    assert_eq!((record.dlid, record.slid), (Lid::new(17), Lid::new(16)));
    assert_eq!((record.pkey, record.mtu), (Pkey::DEFAULT_FULL, Selected::exactly(Mtu::B4096)));
    assert_eq!(record.rate, Selected::exactly(Rate::GBPS_100));
    assert_eq!(record.packet_life_time, Selected::exactly(PacketLifeTime::of::<18>()));
    assert!(record.reversible_paths.reversible());
    // A query by LID from the requester's port has the same response.
    let by_lid = request(&mut subnet, 1, &Query::<PathRecord>::new().dlid(Lid::new(17)).request(Method::GET, tid()));
    assert_eq!(by_lid.record::<PathRecord>(), Ok(&record));
    // A path to the port itself has the packet lifetime 0.
    let to_itself = request(&mut subnet, 1, &Query::<PathRecord>::new().dgid(sgid).request(Method::GET, tid()));
    assert_eq!(to_itself.record::<PathRecord>().unwrap().packet_life_time.value(), PacketLifeTime::ZERO);
}

#[test]
fn query_without_a_matching_path_returns_an_error_status() {
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
fn requests_are_counted_by_kind_and_errors_by_status() {
    let mut subnet = subnet(1);
    let port_gid = gid(&subnet, 1);
    let counts = |subnet: &Subnet| {
        let counters = subnet.counters();
        [counters.sa_path_queries, counters.sa_joins, counters.sa_leaves, counters.sa_other, counters.sa_errors]
    };
    let member = |method| {
        let mut mad = join(port_gid).request(Method::SET, tid());
        mad.header.method = method;
        mad
    };
    for (mad, after) in [
        (Query::<PathRecord>::new().dgid(port_gid).request(Method::GET, tid()), [1, 0, 0, 0, 0]),
        (Query::<PathRecord>::new().request(Method::GET, tid()), [2, 0, 0, 0, 1]),
        (member(Method::SET), [2, 1, 0, 0, 1]),
        (member(Method::GET), [2, 1, 0, 1, 1]),
        (member(Method::DELETE), [2, 1, 1, 1, 1]),
        (member(Method::DELETE), [2, 1, 2, 1, 2]),
        (SaMad::request(Method::GET, AttributeId::CLASS_PORT_INFO, tid()), [2, 1, 2, 2, 2]),
    ] {
        request(&mut subnet, 1, &mad);
        assert_eq!(counts(&subnet), after, "{mad:?}");
    }
}

#[test]
fn removed_gid_has_no_path() {
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
fn unsupported_requests_are_refused_and_responses_are_ignored() {
    let mut subnet = subnet(1);
    let mad = |method, attribute| SaMad::request(method, attribute, tid());
    let unsupported = Status::METHOD_ATTRIBUTE_NOT_SUPPORTED;
    for (method, attribute) in [
        (Method::SET, AttributeId::PATH_RECORD),
        (Method::GET_TABLE, AttributeId::NOTICE),
        (Method::GET, AttributeId::NOTICE),
        (Method::new(0x7f), AttributeId::MC_MEMBER_RECORD),
    ] {
        assert_eq!(request(&mut subnet, 1, &mad(method, attribute)).header.status, unsupported, "{method} {attribute}");
    }
    let mut old = mad(Method::GET, AttributeId::PATH_RECORD);
    old.header.class_version = 1;
    assert_eq!(request(&mut subnet, 1, &old).header.status, Status::BAD_VERSION);
    let info = request(&mut subnet, 1, &mad(Method::GET, AttributeId::CLASS_PORT_INFO));
    assert_eq!((info.header.status, info.data.0[..2].to_vec()), (Status::OK, vec![1, 2]));
    let mut response = mad(Method::GET_RESP, AttributeId::PATH_RECORD);
    response.header.status = Status::BUSY;
    subnet.send_mad(T0, port(1), to_sa(T0, 0), &response).unwrap();
    assert_eq!((subnet.poll_event(), subnet.counters().mad_unclaimed), (None, 0));
}

#[test]
fn first_join_creates_a_group_and_last_leave_deletes_it() {
    let mut subnet = subnet(2);
    let [one, two] = [1, 2].map(|node| gid(&subnet, node));
    let created = request(&mut subnet, 1, &join(one).request(Method::SET, tid()));
    let record = *created.record::<McMemberRecord>().unwrap();
    assert_eq!((created.header.status, record.mlid), (Status::OK, Lid::new(0xc000)));
    assert_eq!((record.mtu, record.rate), (Selected::exactly(Mtu::B2048), Selected::exactly(Rate::GBPS_10)));
    assert_eq!((record.scope_state.scope(), record.scope_state.join_state()), (5, JoinState::FULL_MEMBER));
    assert_eq!((record.qkey, record.pkey, record.port_gid), (QKEY, Pkey::DEFAULT_FULL, one));
    assert_eq!(
        request(&mut subnet, 2, &join(two).request(Method::SET, tid())).record::<McMemberRecord>().unwrap().mlid,
        Lid::new(0xc000)
    );

    let found =
        request(&mut subnet, 1, &Query::<McMemberRecord>::new().mgid(mgid()).port_gid(two).request(Method::GET, tid()));
    assert_eq!(found.record::<McMemberRecord>().unwrap().scope_state.join_state(), JoinState::FULL_MEMBER);

    let left =
        |subnet: &mut Subnet, port_gid| request(subnet, 1, &leave(port_gid).request(Method::DELETE, tid())).header;
    assert_eq!(
        (left(&mut subnet, one).status, left(&mut subnet, one).status),
        (Status::OK, Status::SA_REQUEST_INVALID)
    );
    assert!(!subnet.group(mgid()).unwrap().may_send(port(1)));
    assert_eq!((left(&mut subnet, two).method, subnet.groups().count()), (Method::DELETE_RESP, 0));
    let deleted = request(&mut subnet, 1, &Query::<McMemberRecord>::new().mgid(mgid()).request(Method::GET, tid()));
    assert_eq!(deleted.header.status, Status::SA_NO_RECORDS);
}

#[test]
fn incomplete_or_conflicting_join_is_refused() {
    let mut subnet = subnet(2);
    let port_gid = gid(&subnet, 1);
    let new = || join(port_gid);
    let invalid = Status::SA_REQUEST_INVALID;
    let without = |mask| join(port_gid).without(mask);
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
    assert_eq!(join_status(&mut subnet, new().mgid(port_gid)), invalid);
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
    // A port with a lower rate cannot join.
    let slow = subnet.port(port(2)).unwrap().clone();
    subnet.set_port(port(2), Port { rate: Rate::GBPS_5, ..slow }).unwrap();
    let two = gid(&subnet, 2);
    assert_eq!(join_status(&mut subnet, join(two)), invalid);
}

#[test]
fn send_only_member_receives_nothing_and_does_not_keep_the_group() {
    let mut subnet = subnet(2);
    let two = gid(&subnet, 2);
    let one = gid(&subnet, 1);
    assert_eq!(join_status(&mut subnet, join(one)), Status::OK);
    assert_eq!(join_status(&mut subnet, join(two).join_state(JoinState::SEND_ONLY_NON_MEMBER)), Status::OK);
    let group = subnet.group(mgid()).unwrap();
    assert!(group.may_send(port(2)) && !group.receives(port(2)) && group.receives(port(1)));
    assert_eq!(request(&mut subnet, 1, &leave(one).request(Method::DELETE, tid())).header.status, Status::OK);
    assert_eq!(subnet.groups().count(), 0);
}

#[test]
fn group_lids_start_again_after_the_last_one() {
    let mut subnet = subnet(1);
    let port_gid = gid(&subnet, 1);
    subnet.restart_sm(Some(Lid::new(0xfffe)));
    assert!(matches!(subnet.poll_event(), Some(Event::Port { change: PortChange::ClientReregister, .. })));
    let nth = |n: u8| Gid::new([0xff, 0x15, 0x40, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n]);
    let mlid = |subnet: &mut Subnet, n| {
        request(subnet, 1, &join(port_gid).mgid(nth(n)).request(Method::SET, tid()))
            .record::<McMemberRecord>()
            .unwrap()
            .mlid
    };
    assert_eq!([1, 2].map(|n| mlid(&mut subnet, n)), [Lid::new(0xfffe), Lid::new(0xc000)]);
}

#[test]
fn get_that_matches_two_groups_returns_too_many_records() {
    let mut subnet = subnet(1);
    let port_gid = gid(&subnet, 1);
    for n in 1..=2 {
        let mgid = Gid::new([0xff, 0x15, 0x40, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n]);
        assert_eq!(join_status(&mut subnet, join(port_gid).mgid(mgid)), Status::OK);
    }
    let all = Query::<McMemberRecord>::new().port_gid(port_gid);
    assert_eq!(request(&mut subnet, 1, &all.request(Method::GET, tid())).header.status, Status::SA_TOO_MANY_RECORDS);
    let one = request(&mut subnet, 1, &all.mlid(Lid::new(0xc001)).request(Method::GET, tid()));
    assert_eq!(one.record::<McMemberRecord>().unwrap().mgid.get()[15], 2);
}

proptest! {
    #[test]
    fn every_request_gets_a_response(
        bytes in any::<[[u8; 32]; 8]>(), method in 0_u8..0x80, attribute in prop_oneof![Just(0x35_u16), Just(0x38), any::<u16>()],
        supported in any::<bool>(),
    ) {
        let mut subnet = subnet(2);
        let mut mad = *<SaMad as Wire>::parse(bytes.as_flattened()).unwrap();
        mad.header.base_version = 1;
        mad.header.class_version = 2;
        mad.header.mgmt_class = ib_mad::MgmtClass::SUBN_ADM;
        mad.header.method = Method::new(if supported { 1 + method % 2 } else { method });
        mad.header.attribute_id = AttributeId::new(attribute);
        if supported {
            let port_gid = gid(&subnet, 1).get();
            mad.data.0[16..32].copy_from_slice(&port_gid);
            mad.data.0[0] = 0xff;
        }
        prop_assume!(mad.header.method.response().is_some());
        subnet.send_mad(T0, port(1), to_sa(ms(1000), 0), &mad).unwrap();
        let header = match subnet.poll_event() {
            Some(Event::Mad { mad, .. }) => mad.header,
            Some(Event::Table { message, .. }) => *MadHeader::parse_prefix(&message).unwrap().0,
            other => panic!("no response but {other:?}"),
        };
        prop_assert_eq!(header.transaction_id, mad.header.transaction_id);
        prop_assert!(header.method.is_response());
        prop_assert_eq!(subnet.poll_event(), None);
    }

    #[test]
    fn arbitrary_response_of_an_external_administrator_is_delivered(bytes in any::<[[u8; 32]; 8]>()) {
        let mut subnet = subnet_of(1, SubnetConfig { sa: crate::port::SaMode::External, ..SubnetConfig::default() });
        let mad = join(gid(&subnet, 1)).request(Method::SET, tid());
        subnet.send_mad(T0, port(1), to_sa(ms(1), 0), &mad).unwrap();
        let Some(Event::SaRequest { request, .. }) = subnet.poll_event() else { panic!() };
        subnet.respond_to_mad(T0, request, <SaMad as Wire>::parse(bytes.as_flattened()).unwrap());
        let is_delivered = matches!(subnet.poll_event(), Some(Event::Mad { mad, .. }) if mad.header.transaction_id == tid());
        prop_assert!(is_delivered);
    }
}

#[test]
fn path_has_the_path_bits_of_the_setting_within_the_lmc() {
    for (lmc, bits) in [(0, 0), (1, 1), (2, 3)] {
        let mut subnet =
            subnet_of(2, SubnetConfig { lmc: ib_mad::id::Lmc::checked(lmc).unwrap(), ..SubnetConfig::default() });
        subnet.settings_mut().path.path_bits = 7;
        let query = Query::<PathRecord>::new().dgid(gid(&subnet, 2)).sgid(gid(&subnet, 1));
        let response = request(&mut subnet, 1, &query.request(Method::GET, tid()));
        let path = response.record::<PathRecord>().unwrap();
        let base = [lid(&subnet, 1), lid(&subnet, 2)];
        assert_eq!([path.slid, path.dlid], base.map(|lid| Lid::new(lid.get() + bits)), "LMC {lmc}");
    }
}
