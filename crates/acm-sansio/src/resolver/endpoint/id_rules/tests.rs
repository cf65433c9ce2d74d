use super::*;
use ib_mad::{Lid, ServiceLevel, sa::QosSl};

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

fn tcp(port: u64) -> ServiceId {
    ServiceId::new(0x0106_0000 + port)
}

fn key(lid: u16, id: ServiceId) -> RouteKey {
    RouteKey { dlid: Lid::new(lid), service_id: id, ..RouteKey::default() }
}

/// Subnet administrators return the service id of the query.
fn path(id: ServiceId, sl: u8) -> PathRecord {
    let qos_sl = QosSl::default().with_sl(ServiceLevel::checked(sl).unwrap());
    PathRecord { service_id: id, qos_sl, ..PathRecord::default() }
}

/// Returns rules with an SA that has QoS.
fn with_qos() -> IdRules {
    let mut rules = IdRules::default();
    assert_eq!(rules.answered(Time::ZERO, Some(true)), Some(IdFinding::Supported));
    rules
}

/// Learns the path to `lid` with a TCP port.
fn learn(rules: &mut IdRules, seconds: u64, lid: u16, port: u64, sl: u8) -> Option<IdFinding> {
    let shared = path(ServiceId::default(), 0);
    rules.learn(at(seconds), &key(lid, tcp(port)), Some(&path(tcp(port), sl)), Some(&shared))
}

/// Returns rules after enough dynamic ports with equal paths.
fn alike() -> IdRules {
    let mut rules = with_qos();
    let findings: Vec<_> = (0..33).map(|port| learn(&mut rules, 0, 1, 40_000 + port, 0)).collect();
    assert!(findings.iter().take(32).all(Option::is_none), "{findings:?}");
    assert_eq!(findings.last(), Some(&Some(IdFinding::PortsAlike)));
    rules
}

#[test]
fn dynamic_ports_are_those_of_a_port_space_from_32768_on() {
    for (id, first) in [
        (0x0106_8000, Some(0x0106_8000)),
        (0x0106_ffff, Some(0x0106_8000)),
        (0x0111_9000, Some(0x0111_8000)),
        (0x0106_7fff, None),
        (0x0206_8000, None),
        (0x1_0106_8000, None),
        (0, None),
    ] {
        assert_eq!(first_of_space(ServiceId::new(id)).map(ServiceId::get), first, "{id:#x}");
    }
}

#[test]
fn capabilities_decide_whether_ids_are_queried() {
    let mut rules = IdRules::default();
    assert!(rules.needs_capabilities(Time::ZERO));
    assert_eq!(rules.canonical(tcp(987)), tcp(987), "unknown: the query names the id");
    rules.requested(SaQueryId::new(1, 1));
    assert!(!rules.needs_capabilities(Time::ZERO));
    assert_eq!(rules.canonical(tcp(987)), tcp(987));
    assert_eq!(rules.answered(at(1), None), None);
    assert_eq!([60, 61].map(|seconds| rules.needs_capabilities(at(seconds))), [false, true]);
    assert_eq!(rules.answered(at(61), Some(false)), Some(IdFinding::Ignored));
    assert_eq!([987, 40_000].map(|port| rules.canonical(tcp(port)).get()), [0, 0]);
    rules.requested(SaQueryId::new(1, 1));
    assert_eq!(rules.reset(), Some(SaQueryId::new(1, 1)));
    assert!(rules.needs_capabilities(Time::ZERO) && rules.canonical(tcp(987)) == tcp(987));
}

#[test]
fn dynamic_ports_share_a_path_after_enough_equal_pairs() {
    let mut rules = alike();
    let ids = [tcp(987), tcp(32_767), tcp(32_768), tcp(40_000), tcp(65_535), ServiceId::new(0x0111_9000)];
    let expected = [tcp(987), tcp(32_767), tcp(32_768), tcp(32_768), tcp(32_768), ServiceId::new(0x0111_9000)];
    assert_eq!(ids.map(|id| rules.canonical(id)), expected, "other ids and other port spaces count");
    rules.reset();
    assert_eq!(rules.canonical(tcp(40_000)), tcp(40_000));
}

#[test]
fn pairs_are_ports_of_one_destination() {
    let mut rules = with_qos();
    for lid in 1..100 {
        assert_eq!(learn(&mut rules, 0, lid, 40_000, u8::from(lid > 50)), None, "one port for each destination");
        assert_eq!(learn(&mut rules, 0, lid, 40_000, u8::from(lid > 50)), None, "the same port again");
    }
    assert_eq!(rules.canonical(tcp(40_000)), tcp(40_000));
    let Some(Space::Learning { first, equal: 0 }) = rules.spaces.get(&tcp(32_768).get()) else { panic!("{rules:?}") };
    assert_eq!(first.len(), ENOUGH, "bounded");
}

#[test]
fn different_paths_make_each_dynamic_port_count() {
    let mut rules = with_qos();
    assert_eq!(learn(&mut rules, 0, 1, 40_000, 0), None);
    assert_eq!(learn(&mut rules, 0, 1, 40_001, 3), Some(IdFinding::PortsDiffer));
    for port in 0..100 {
        assert_eq!(learn(&mut rules, 0, 1, 50_000 + port, 0), None);
    }
    assert_eq!(rules.canonical(tcp(40_000)), tcp(40_000));
    let mut rules = with_qos();
    assert_eq!(learn(&mut rules, 0, 1, 40_000, 0), None);
    let none = rules.learn(at(0), &key(1, tcp(40_001)), None, None);
    assert_eq!(none, Some(IdFinding::PortsDiffer), "the SA has no path for the second port");
}

#[test]
fn one_dynamic_port_in_a_minute_is_compared_again() {
    let mut rules = alike();
    let mut queried = |seconds| rules.id_to_query(at(seconds), tcp(50_000)).get() & 0xffff;
    assert_eq!([0, 59, 60, 61, 119, 120].map(&mut queried), [32_768, 32_768, 50_000, 32_768, 32_768, 50_000]);
    assert_eq!(learn(&mut rules, 120, 1, 50_000, 0), None);
    assert_eq!(learn(&mut rules, 180, 2, 50_001, 5), Some(IdFinding::PortsDiffer));
    assert_eq!(rules.id_to_query(at(181), tcp(50_000)), tcp(50_000));
}

#[test]
fn lookups_are_recorded_while_their_id_is_undecided() {
    let dest = DestId::new(1, 1);
    let recorded = |rules: &mut IdRules, port| {
        rules.note_lookup(tcp(port), dest);
        rules.take_undecided().len()
    };
    assert_eq!(recorded(&mut IdRules::default(), 987), 1);
    assert_eq!([987, 40_000].map(|port| recorded(&mut with_qos(), port)), [0, 1]);
    assert_eq!([987, 40_000].map(|port| recorded(&mut alike(), port)), [0, 0]);
    let mut rules = IdRules::default();
    (0..MOST_UNDECIDED + 5).for_each(|_| rules.note_lookup(tcp(987), dest));
    assert_eq!(rules.take_undecided().len(), MOST_UNDECIDED);
}
