//! Notices of subnet administration: peers that return with another LID, deleted groups, forged reports.
use acm_sansio::{
    Config, Event, Input, Output, PortId,
    config::{Limits, RouteProt},
    retry::{JOIN_SPREAD, NOTICES, NOTICES_RENEWED, NOTICES_SPREAD},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{Address, client::Counter};
use core::time::Duration;
use ib_mad::{
    AttributeId, Gid, Lid, Method, PortState, Qpn, Status, TransactionId, as_bytes,
    notice::{GidTrap, Notice, SaNotice, TrapNumber},
    sa::{PathRecord, SaMad},
};
use ib_sim::Probability;

const SECOND: Duration = Duration::from_secs(1);
/// The time within which a small fabric requests its subscriptions.
const SPREAD: Duration = JOIN_SPREAD.least.saturating_add(NOTICES_SPREAD.least);

fn world(nodes: u32, core: Config) -> World {
    let mut world = World::new(WorldConfig { nodes, core, ..WorldConfig::default() });
    // A group is joined at most once in two seconds.
    world.run_for(SPREAD + 2 * SECOND);
    world
}

fn names(nodes: u32) -> Vec<Address> {
    (0..nodes).map(|node| World::addresses(node)[0]).collect()
}

/// Takes a node's port down.
fn port_down(world: &mut World, node: usize) {
    world.subnet.set_port_state(World::port_id(node), PortState::DOWN).unwrap();
    world.settle();
}

/// Makes a node's port active with another LID.
fn port_up(world: &mut World, node: usize, lid: u16) {
    let port = ib_sim::Port { state: PortState::ACTIVE, lid: Lid::new(lid), ..world.port(node).clone() };
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
}

fn first_gid(world: &World, node: usize) -> Gid {
    world.port(node).gids[0]
}

fn subscribers(world: &World) -> [usize; 4] {
    [64, 65, 66, 67].map(|trap| world.subnet.subscribers(TrapNumber::new(trap)).count())
}

/// Returns a node's subscription requests since `since`: (trap, subscribe).
fn subscriptions(world: &World, node: usize, since: usize) -> Vec<(u16, u8)> {
    let of = |(_, from, output): &(_, usize, Output)| match output {
        Output::SaSend(send) if *from == node && send.mad.header.attribute_id == AttributeId::INFORM_INFO => {
            let bytes = &send.mad.data.0;
            Some((u16::from_be_bytes([bytes[26], bytes[27]]), bytes[23]))
        }
        _ => None,
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

/// Returns a report in subnet administration's format.
pub(crate) fn report(trap: TrapNumber, gid: Gid) -> SaMad {
    let details = GidTrap { gid_addr: gid, ..GidTrap::default() };
    let mut notice = Notice { trap_number: trap, ..Notice::default() };
    notice.generic_type = notice.generic_type.with_is_generic(true);
    notice.data_details.0.copy_from_slice(as_bytes(&details));
    let mut mad = SaMad::request(Method::REPORT, AttributeId::NOTICE, TransactionId::new(5));
    let bytes = SaNotice { notice, ..SaNotice::default() };
    mad.data.0.iter_mut().zip(as_bytes(&bytes)).for_each(|(to, from)| *to = *from);
    mad
}

fn receive(world: &mut World, node: usize, lid: Lid, qpn: Qpn, mad: &SaMad) {
    world.input(node, Input::SaReport { port: PortId(0), lid, qpn, mad: as_bytes(mad) });
}

fn forge(world: &mut World, node: usize, trap: TrapNumber, gid: Gid) {
    let sm_lid = world.port(node).sm_lid;
    receive(world, node, sm_lid, Qpn::GSI, &report(trap, gid));
}

fn logged(world: &World, node: usize, text: &str) -> usize {
    world.node(node).host.events.iter().filter(|(_, event)| event.to_string().contains(text)).count()
}

/// The peers resolve the node by name and by GID, with both route protocols, and need no time-out.
// docs/deviations.md: notices
#[test]
fn node_that_returns_with_another_lid_is_found_at_once() {
    for route_prot in [RouteProt::Sa, RouteProt::Acm] {
        let mut world = world(3, Config { route_prot, ..Config::default() });
        let names = names(3);
        let by_gid = PathRecord { dgid: first_gid(&world, 1), ..PathRecord::default() };
        let lid = world.port(1).lid;
        for from in [0, 2] {
            assert_eq!(world.resolve(from, &names[from], &names[1]).unwrap().dlid, lid);
            assert_eq!(world.route(from, &by_gid).unwrap().dlid, lid);
        }
        port_down(&mut world, 1);
        assert!([0, 2].iter().all(|node| world.stat(*node, "destinations_left") >= 2));
        world.run_for(SECOND);
        port_up(&mut world, 1, 99);
        world.run_for(SECOND);
        for from in [0, 2] {
            let before = world.now();
            assert_eq!(world.resolve(from, &names[from], &names[1]).unwrap().dlid, Lid::new(99));
            assert_eq!(world.route(from, &by_gid).unwrap().dlid, Lid::new(99));
            assert!(world.now().since(before) < Duration::from_millis(100), "without a time-out");
            assert_eq!(world.node(from).acm.check(), Ok(()));
        }
    }
}

#[test]
fn name_that_was_not_found_is_looked_up_again_when_a_port_appears() {
    let mut world = world(3, Config { negative_timeout: Some(3600 * SECOND), ..Config::default() });
    let (source, unknown) = (names(1)[0], Address::from_text("nobody"));
    let looks_up = |world: &mut World| {
        let start = world.now();
        assert!(world.resolve(0, &source, &unknown).is_err());
        world.now() > start
    };
    assert_eq!([looks_up(&mut world), looks_up(&mut world)], [true, false], "the failure is cached");
    let gid = first_gid(&world, 2);
    forge(&mut world, 0, TrapNumber::GID_OUT_OF_SERVICE, gid);
    assert!(!looks_up(&mut world), "a port that disappears has no new names");
    forge(&mut world, 0, TrapNumber::GID_IN_SERVICE, gid);
    assert!(looks_up(&mut world));
}

#[test]
fn refused_subscription_is_logged_once_and_retried() {
    let mut world = WorldConfig::default();
    world.core.log_level = acm_sansio::api::Level::Always;
    let mut world = World::new(world);
    world.subnet.settings_mut().sa.notices = false;
    let names = names(2);
    assert!(world.resolve(0, &names[0], &names[1]).is_ok());
    world.run_for(Duration::from_secs(3600));
    assert_eq!((logged(&world, 0, "no notices of subnet administration"), subscribers(&world)), (1, [0; 4]));
    assert!(world.resolve(0, &names[0], &names[1]).is_ok());
    // The pauses are 5 s, 10 s, 20 s and so on up to 600 s.
    let requests = subscriptions(&world, 0, 0).len();
    assert!((4..=4 * 15).contains(&requests), "{requests}");
    // The first successful subscription is logged, too.
    world.subnet.settings_mut().sa.notices = true;
    world.run_for(NOTICES.longest * 2);
    assert_eq!((logged(&world, 0, "subscribed to notices"), subscribers(&world)), (1, [2; 4]));
}

#[test]
fn no_subscription_without_sa_notices() {
    let mut world = world(2, Config { sa_notices: false, ..Config::default() });
    world.run_for(Duration::from_secs(3600));
    assert_eq!(subscriptions(&world, 0, 0), []);
}

#[test]
fn silent_sa_gets_one_subscription_request_per_round() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().sa.mute = true;
    world.run_for(SPREAD + Duration::from_secs(4));
    assert_eq!(subscriptions(&world, 0, 0), [(65, 1)]);
    assert_eq!(world.stat(0, "subscriptions_failed"), 1);
}

/// All nodes of a large subnet detect a restart at the same time.
#[test]
fn subscriptions_after_a_restart_follow_the_joins_and_are_spread() {
    let mut world = world(16, Config::default());
    assert_eq!(subscribers(&world), [16; 4]);
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.settle();
    assert_eq!(subscribers(&world), [0; 4]);
    let start = world.now();
    world.run_for(SPREAD + Duration::from_millis(1));
    assert_eq!(subscribers(&world), [16; 4]);
    let first = |node: usize| {
        let is_first = |(_, from, output): &&(_, usize, Output)| {
            *from == node
                && matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::INFORM_INFO)
        };
        world.transcript[since..].iter().find(is_first).map(|(at, ..)| at.since(start)).unwrap()
    };
    let times: std::collections::BTreeSet<_> = (0..16).map(first).collect();
    assert!(*times.first().unwrap() >= JOIN_SPREAD.least, "{times:?}");
    assert_eq!(times.len(), 16);
    assert!(*times.last().unwrap() - *times.first().unwrap() > NOTICES_SPREAD.least / 2);
}

/// The subnet manager restarts between two subscriptions.
#[test]
fn subscriptions_granted_before_a_restart_are_requested_again() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    while subscriptions(&world, 0, 0).len() < 2 {
        assert!(world.step());
    }
    assert!(subscribers(&world)[1] > 0, "one subscription is granted, the next is pending");
    world.subnet.restart_sm(None);
    world.run_for(SPREAD + SECOND);
    assert_eq!(subscribers(&world), [2; 4]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn subscriptions_are_renewed_and_end_at_shutdown() {
    let mut world = world(2, Config::default());
    let all = [(65, 1), (64, 1), (67, 1), (66, 1)];
    assert_eq!(subscriptions(&world, 0, 0), all);
    let since = world.transcript.len();
    world.run_for(NOTICES_RENEWED * 5 / 4 + SECOND);
    assert_eq!(subscriptions(&world, 0, since), all);
    let since = world.transcript.len();
    let port = ib_sim::Port { lid: Lid::new(77), ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.run_for(SPREAD + SECOND);
    assert_eq!(subscriptions(&world, 0, since), all);
    world.input(0, Input::Shutdown);
    world.run_for(SECOND);
    assert_eq!((subscribers(&world), world.node(0).host.stopped), ([1; 4], true));
}

#[test]
fn reports_are_acknowledged_and_lost_reports_are_repeated() {
    let mut world = world(2, Config::default());
    let names = names(2);
    world.resolve(0, &names[0], &names[1]).unwrap();
    world.subnet.reset_counters();
    world.subnet.settings_mut().sa.loss = Probability::ALWAYS;
    port_down(&mut world, 1);
    assert_eq!(world.stat(0, "notices"), 0);
    world.subnet.settings_mut().sa.loss = Probability::NEVER;
    world.run_for(SECOND * 2);
    assert_eq!((world.stat(0, "notices"), world.stat(0, "destinations_left")), (1, 1));
    let counters = world.subnet.counters();
    assert_eq!((counters.sa_reports, counters.sa_reports_answered), (2, 1));
}

/// The cache serves until then, and the next lookup finds the group.
// docs/deviations.md: notices
#[test]
fn deleted_group_is_joined_again() {
    let mut world = world(3, Config::default());
    let names = names(3);
    world.resolve(0, &names[0], &names[1]).unwrap();
    let (mgid, _) = world.group();
    world.subnet.delete_group(mgid);
    world.settle();
    assert_eq!(world.subnet.groups().count(), 0);
    assert!(world.resolve(0, &names[0], &names[1]).is_ok(), "from the cache");
    world.run_for(Duration::from_millis(501));
    assert_eq!(world.subnet.group(mgid).map(|group| group.members.len()), Some(3));
    assert!(world.resolve(0, &names[0], &names[2]).is_ok());
    forge(&mut world, 0, TrapNumber::MGID_CREATED, mgid);
    assert_eq!(world.stat(0, "groups_noticed"), 1, "the notice about its creation has no effect on members");
}

// docs/deviations.md: notices
#[test]
fn created_group_is_joined_before_the_next_retry() {
    let mut world = world(2, Config::default());
    let (mgid, _) = world.group();
    world.subnet.settings_mut().sa.status = Some(Status::SA_REQUEST_INVALID);
    port_down(&mut world, 1);
    port_up(&mut world, 1, 40);
    // The pauses between joins are long by now.
    world.run_for(Duration::from_secs(300));
    world.subnet.settings_mut().sa.status = None;
    forge(&mut world, 1, TrapNumber::MGID_CREATED, mgid);
    world.run_for(Duration::from_millis(501));
    assert!(world.subnet.group(mgid).is_some_and(|group| group.members.contains_key(&World::port_id(1))));
}

/// Reports come from queue pair 1 at the subnet manager's LID.
// docs/deviations.md: notices
#[test]
fn reports_from_other_senders_are_ignored() {
    let mut world = world(2, Config::default());
    let names = names(2);
    world.resolve(0, &names[0], &names[1]).unwrap();
    let (gid, sm_lid, peer_lid) = (first_gid(&world, 1), world.port(0).sm_lid, world.port(1).lid);
    let good = report(TrapNumber::GID_OUT_OF_SERVICE, gid);
    let mut old = good;
    old.header.class_version = 1;
    let mut trap = good;
    trap.header.method = Method::TRAP;
    for (lid, qpn, mad) in [
        (peer_lid, Qpn::GSI, &good),
        (sm_lid, Qpn::of::<2>(), &good),
        (sm_lid, Qpn::GSI, &old),
        (sm_lid, Qpn::GSI, &trap),
    ] {
        receive(&mut world, 0, lid, qpn, mad);
    }
    world.input(0, Input::SaReport { port: PortId(0), lid: sm_lid, qpn: Qpn::GSI, mad: &as_bytes(&good)[..255] });
    assert_eq!((world.stat(0, "reports_not_believed"), world.stat(0, "notices")), (5, 0));
    world.input(0, Input::SaReport { port: PortId(7), lid: sm_lid, qpn: Qpn::GSI, mad: as_bytes(&good) });
    assert_eq!(world.stat(0, "stale_inputs"), 1);
    let since = world.transcript.len();
    assert!(world.resolve(0, &names[0], &names[1]).is_ok());
    assert_eq!(world.transcript[since..].iter().filter(|(_, _, output)| !matches!(output, Output::Log(_))).count(), 1);
}

/// The sender forges the subnet manager's LID and queue pair.
// docs/deviations.md: notices
// docs/deadlines.md: reports
#[test]
fn flood_of_forged_reports_causes_few_lookups_and_no_wrong_path() {
    let limits = Limits { reports: 100, ..Limits::default() };
    let mut world = world(2, Config { limits, ..Config::default() });
    let names = names(2);
    let (gid, lid) = (first_gid(&world, 1), world.port(1).lid);
    let (mgid, _) = world.group();
    let start = world.now();
    let queries = world.node(0).acm.counters().get(Counter::AddrQuery);
    for round in 0..1000 {
        forge(&mut world, 0, TrapNumber::GID_OUT_OF_SERVICE, gid);
        forge(&mut world, 0, TrapNumber::MGID_DESTROYED, mgid);
        assert_eq!(world.resolve(0, &names[0], &names[1]).map(|path| path.dlid), Ok(lid), "round {round}");
        world.run_until(start + Duration::from_millis(round));
    }
    let lookups = world.node(0).acm.counters().get(Counter::AddrQuery) - queries;
    let reports = world.stat(0, "notices");
    assert!(reports <= 100 + 25 && lookups <= reports, "{reports} accepted reports, {lookups} lookups");
    assert_eq!(world.stat(0, "reports_refused"), 2000 - reports);
    assert!(world.stat(0, "groups_noticed") <= 2, "{}", world.stat(0, "groups_noticed"));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// A remote host claims 3,000 names for its GID.
#[test]
fn names_of_one_gid_are_marked_stale_1024_per_ms() {
    let mut world = world(3, Config { route_prot: RouteProt::Acm, ..Config::default() });
    let remote = world.remote_host(2);
    let unknown = Address::from_text("nobody");
    for number in 0..3000 {
        let name = Address::from_text(&format!("name{number}"));
        world.forge_request(remote, 0, number, &name, &unknown);
    }
    let gid = first_gid(&world, 2);
    forge(&mut world, 0, TrapNumber::GID_OUT_OF_SERVICE, gid);
    assert_eq!(world.stat(0, "destinations_left"), 1024);
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.run_for(Duration::from_millis(1));
    assert_eq!(world.stat(0, "destinations_left"), 2048);
    world.run_for(Duration::from_millis(1));
    assert_eq!(world.stat(0, "destinations_left"), 3000);
    world.run_for(SECOND);
    assert_eq!(world.stat(0, "destinations_left"), 3000);
}

/// Two ports may belong to different subnets with the same prefix.
#[test]
fn notice_affects_only_destinations_of_its_port() {
    let mut world = world(2, Config::default());
    let names = names(2);
    world.resolve(0, &names[0], &names[1]).unwrap();
    let (gid, sm_lid) = (first_gid(&world, 1), world.port(0).sm_lid);
    let other = acm_sansio::port::PortAttributes { lid: Lid::new(3), sm_lid, ..Default::default() };
    world.input(0, Input::PortUp { port: PortId(1), attributes: other });
    let mad = report(TrapNumber::GID_OUT_OF_SERVICE, gid);
    world.input(0, Input::SaReport { port: PortId(1), lid: sm_lid, qpn: Qpn::GSI, mad: as_bytes(&mad) });
    assert_eq!((world.stat(0, "notices"), world.stat(0, "destinations_left")), (1, 0));
    let text = |(_, event): &(_, Event)| event.to_string();
    assert!(
        world
            .node(0)
            .host
            .events
            .iter()
            .map(text)
            .any(|text| text == "port 0: subscribed to notices of subnet administration")
    );
}
