//! Reports of added and removed ports and groups.
use super::*;
use ib_mad::{
    AttributeId, Method, Wire,
    notice::{InformInfo, InformType, SaNotice, TrapDetails, TrapNumber},
};

const SECOND: Duration = Duration::from_secs(1);

fn inform(subscribe: u8, trap_number: TrapNumber) -> InformInfo {
    InformInfo {
        lid_range_begin: Lid::PERMISSIVE,
        is_generic: 1,
        subscribe,
        notice_type: InformType::ALL,
        trap_number,
        ..InformInfo::default()
    }
}

/// Returns the status of the response to a subscription.
fn status(subnet: &mut Subnet, inform: &InformInfo) -> Status {
    let mut mad = SaMad::request(Method::SET, AttributeId::INFORM_INFO, tid());
    mad.data.0.iter_mut().zip(ib_mad::as_bytes(inform)).for_each(|(to, from)| *to = *from);
    let response = request(subnet, 1, &mad);
    assert!(response.header.status != Status::OK || response.data == mad.data, "the response repeats the data");
    response.header.status
}

/// Returns a subnet whose node 1 is subscribed to these traps.
fn subscribed(traps: &[TrapNumber]) -> Subnet {
    let mut subnet = subnet(2);
    for trap in traps {
        assert_eq!(status(&mut subnet, &inform(1, *trap)), Status::OK);
    }
    subnet
}

/// Returns the trap and the GID of a report.
fn report(event: &Event) -> Option<(TrapNumber, Gid)> {
    let Event::Report { port: to, slid, qpn, mad } = event else { return None };
    assert_eq!((*to, *slid, *qpn, mad.header.method), (port(1), Lid::new(1), Qpn::GSI, Method::REPORT));
    let (SaNotice { notice, .. }, _) = SaNotice::parse_prefix(&mad.data.0).unwrap();
    let TrapDetails::Gid(details) = notice.details(ib_mad::MgmtClass::SUBN_ADM) else { panic!("{notice:?}") };
    Some((notice.trap_number, details.gid_addr))
}

/// Returns all reports with their times.
fn reports(subnet: &mut Subnet) -> Vec<(Duration, TrapNumber, Gid)> {
    let dated = |(at, event): &(Duration, Event)| report(event).map(|(trap, gid)| (*at, trap, gid));
    run(subnet).iter().filter_map(dated).collect()
}

/// Returns the next report without waiting.
fn at_once(subnet: &mut Subnet) -> Option<SaMad> {
    core::iter::from_fn(|| subnet.poll_event()).find_map(|event| match event {
        Event::Report { mad, .. } => Some(*mad),
        _ => None,
    })
}

#[test]
fn subscriber_receives_reports_of_ports_and_groups() {
    let traps = [
        TrapNumber::GID_OUT_OF_SERVICE,
        TrapNumber::GID_IN_SERVICE,
        TrapNumber::MGID_CREATED,
        TrapNumber::MGID_DESTROYED,
    ];
    let mut subnet = subscribed(&traps);
    let (other, group) = (gid(&subnet, 2), mgid());
    let mut seen = Vec::new();
    let mut collect = |subnet: &mut Subnet| {
        seen.extend(core::iter::from_fn(|| subnet.poll_event()).filter_map(|event| report(&event)));
    };
    subnet.set_port_state(port(2), PortState::DOWN).unwrap();
    collect(&mut subnet);
    subnet.set_port_state(port(2), PortState::ACTIVE).unwrap();
    collect(&mut subnet);
    for query in [join(other).request(Method::SET, tid()), leave(other).request(Method::DELETE, tid())] {
        subnet.send_mad(T0, port(2), to_sa(SECOND, 0), &query).unwrap();
        collect(&mut subnet);
    }
    assert_eq!(seen, [(traps[0], other), (traps[1], other), (traps[2], group), (traps[3], group)]);
    for trap in traps {
        assert_eq!(subnet.subscribers(trap).collect::<Vec<_>>(), [port(1)]);
        assert_eq!(status(&mut subnet, &inform(0, trap)), Status::OK);
        assert_eq!(subnet.subscribers(trap).count(), 0);
        assert_eq!(status(&mut subnet, &inform(0, trap)), Status::SA_REQUEST_INVALID, "no longer subscribed");
    }
}

#[test]
fn report_is_sent_four_times_or_until_the_response() {
    let mut subnet = subscribed(&[TrapNumber::GID_OUT_OF_SERVICE]);
    let other = gid(&subnet, 2);
    subnet.set_port_state(port(2), PortState::DOWN).unwrap();
    let times: Vec<Duration> = reports(&mut subnet).into_iter().map(|(at, ..)| at).collect();
    assert_eq!(times, [T0, SECOND, 2 * SECOND, 3 * SECOND]);
    assert_eq!((subnet.counters().sa_reports, subnet.counters().sa_reports_answered), (4, 0));
    subnet.set_port_state(port(2), PortState::ACTIVE).unwrap();
    subnet.set_port_state(port(2), PortState::DOWN).unwrap();
    let mut response = at_once(&mut subnet).expect("a report without delay");
    response.header.method = Method::REPORT_RESP;
    // The response of another port is ignored.
    for from in [2, 1] {
        subnet.send_mad(4 * SECOND, port(from), to_sa(T0, 0), &response).unwrap();
        assert_eq!(subnet.counters().sa_reports_answered, u64::from(from == 1));
    }
    assert_eq!((reports(&mut subnet), subnet.counters().sa_reports), (vec![], 5), "{other}");
}

#[test]
fn reports_have_the_delay_and_loss_of_the_administrator() {
    type Change = fn(&mut Subnet);
    let cases: [(Change, &[u64]); 4] = [
        (|subnet| subnet.settings_mut().sa.delay = ms(30), &[30, 1030, 2030, 3030]),
        (|subnet| subnet.settings_mut().sa.mute = true, &[]),
        (|subnet| subnet.settings_mut().sa.loss = Probability::ALWAYS, &[]),
        (|subnet| subnet.set_port_state(port(1), PortState::DOWN).unwrap(), &[]),
    ];
    for (change, expected) in cases {
        let mut subnet = subscribed(&[TrapNumber::GID_OUT_OF_SERVICE]);
        change(&mut subnet);
        subnet.set_port_state(port(2), PortState::DOWN).unwrap();
        let times: Vec<Duration> = reports(&mut subnet).into_iter().map(|(at, ..)| at).collect();
        assert_eq!(times, expected.iter().map(|at| ms(*at)).collect::<Vec<_>>());
    }
}

#[test]
fn unsupported_subscriptions_are_refused() {
    let mut subnet = subnet(2);
    let good = inform(1, TrapNumber::GID_IN_SERVICE);
    for bad in [
        InformInfo { gid: gid(&subnet, 2), ..good },
        InformInfo { lid_range_begin: Lid::new(1), ..good },
        InformInfo { is_generic: 0, ..good },
        InformInfo { trap_number: TrapNumber::new(63), ..good },
        InformInfo { trap_number: TrapNumber::new(68), ..good },
        InformInfo { notice_type: InformType::new(0), ..good },
        InformInfo { subscribe: 2, ..good },
    ] {
        assert_eq!(status(&mut subnet, &bad), Status::SA_REQUEST_INVALID, "{bad:?}");
    }
    subnet.settings_mut().sa.notices = false;
    assert_eq!(status(&mut subnet, &good), Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
}
