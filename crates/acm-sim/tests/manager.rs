//! Subnet administration that moves, is busy, forgets its groups, or answers nonsense.
use acm_sansio::{
    Account, Config, Input, Output, PortId, Time,
    config::{RouteProtocol, SaDepth, ServiceIds},
    door::SaSend,
    retry::{REJOIN_SPREAD, SA_BUSY},
};
use acm_sim::{Ask, World, WorldConfig};
use acm_wire::client::{ClientStatus, Counter, EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{
    AttributeId, Gid, Guid, Lid, Method, Rate, Status,
    sa::{McMemberRecord, PathRecord},
};
use ib_sim::Port;

fn world(core: Config) -> World {
    // Each service id is a route of its own here.
    let core = Config { path_service_ids: ServiceIds::All, ..core };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    // Whatever belongs to the start is over.
    world.run_for(Duration::from_secs(1));
    world
}

fn depth(sa_depth: SaDepth) -> Config {
    Config { sa_depth, ..Config::default() }
}

/// Asks for a route that nobody asked for before: the traffic class makes it one of its own.
fn route(world: &mut World, traffic_class: u8, flags: EntryFlags) -> Ask {
    let wanted = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
    world.ask_as(0, Account::User(1), &path_request(&wanted, flags, [1; 8]))
}

/// A client's QUERY_SA.
fn query(world: &mut World, traffic_class: u8) -> Ask {
    route(world, traffic_class, EntryFlags::QUERY_SA)
}

fn change(world: &mut World, node: usize, change: impl FnOnce(&mut Port)) {
    let mut port = world.port(node).clone();
    change(&mut port);
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
    // Verbs have no event for a link that changes its speed; whoever runs the core reads the port now and then.
    world.read_port(node);
}

/// What a node sent to subnet administration, and when.
fn sends(world: &World, node: usize, since: usize) -> Vec<(Time, SaSend)> {
    let of = |(at, from, output): &(Time, usize, Output)| match output {
        Output::SaSend(send) if *from == node => Some((*at, *send)),
        _ => None,
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

/// What a node asked about memberships, and when.
fn memberships(world: &World, node: usize, since: usize, method: Method) -> Vec<(Time, McMemberRecord)> {
    sends(world, node, since)
        .into_iter()
        .filter(|(_, send)| send.mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD)
        .filter(|(_, send)| send.mad.header.method == method)
        .map(|(at, send)| (at, *send.mad.record::<McMemberRecord>().unwrap()))
        .collect()
}

fn members(world: &World) -> Vec<usize> {
    world.subnet.groups().map(|group| group.members.len()).collect()
}

/// The depth of node 0's window, as the report tells it.
fn window(world: &World) -> u32 {
    let report = world.node(0).acm.report().to_string();
    let after = report.split("sa_depth ").nth(1).expect("a port with a queue");
    after.split(' ').next().unwrap().parse().unwrap()
}

/// The old subnet manager never answers. What it was sent, and what waits behind it, goes to the new one at once, a
/// client's QUERY_SA as well, and nobody is told of any failure.
#[test]
fn requests_go_to_the_new_subnet_manager() {
    for changed in [|port: &mut Port| port.sm_lid = Lid::new(2), |port: &mut Port| port.lid = Lid::new(300)] {
        let mut world = world(depth(SaDepth::Fixed(2)));
        world.subnet.settings_mut().sa.mute = true;
        let asks = [
            query(&mut world, 1),
            route(&mut world, 2, EntryFlags::empty()),
            query(&mut world, 3),
            route(&mut world, 4, EntryFlags::empty()),
        ];
        world.run_for(Duration::from_millis(100));
        assert!(asks.iter().all(|ask| world.path(*ask).is_none()));
        let before = sends(&world, 0, 0);
        let since = world.transcript.len();
        world.subnet.settings_mut().sa.mute = false;
        change(&mut world, 0, changed);
        assert!(asks.iter().all(|ask| matches!(world.path(*ask), Some(Ok(_)))), "at once");
        assert_eq!(world.stat(0, "sa_reposted"), 2, "two were in flight");
        let after = sends(&world, 0, since);
        let sm_lid = world.port(0).sm_lid;
        assert!(after.iter().all(|(_, send)| send.to.lid == sm_lid));
        let fresh = |(_, send): &(Time, SaSend)| {
            let tid = send.mad.header.transaction_id;
            before.iter().all(|(_, old)| old.id != send.id && old.mad.header.transaction_id != tid)
        };
        assert!(after.iter().all(fresh), "an answer of the old one is an answer to nothing");
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

/// The new one has all the time that the old one had, whether the old one was silent or busy.
#[test]
fn the_new_subnet_manager_has_all_its_time() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    let ask = route(&mut world, 1, EntryFlags::empty());
    world.run_for(Duration::from_secs(5));
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    let moved = world.now();
    assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.now().since(moved), Duration::from_secs(6));
    world.subnet.settings_mut().sa.mute = false;
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let ask = route(&mut world, 2, EntryFlags::empty());
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.path(ask), None);
    change(&mut world, 0, |port| port.sm_lid = Lid::new(3));
    let (moved, since) = (world.now(), world.transcript.len());
    assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    assert!(world.now().since(moved) > Duration::from_secs(3));
    let first = sends(&world, 0, since)[0].0.since(moved);
    assert!(first <= SA_BUSY.first * 5 / 4, "its first pause is short: {first:?}");
}

#[test]
fn a_leave_is_not_lost_when_the_subnet_manager_moves() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    for address in World::addresses(0) {
        world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    }
    assert_eq!(members(&world), [2]);
    world.subnet.settings_mut().sa.mute = false;
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    assert_eq!(members(&world), [1]);
    world.run_for(Duration::from_secs(5));
    assert_eq!(members(&world), [1]);
}

/// BUSY: pauses of 100, 200, 400 ms and so on, each between 3/4 and 5/4 of that, within (retries + 1) x timeout.
#[test]
fn a_busy_administration_is_asked_again_after_growing_pauses() {
    let mut all = Vec::new();
    for seed in 0..20 {
        let core = Config { sa_notices: false, ..Config::default() };
        let mut world = World::new(WorldConfig { seed, core, ..WorldConfig::default() });
        world.subnet.settings_mut().sa.status = Some(Status::BUSY);
        let (start, since) = (world.now(), world.transcript.len());
        let ask = route(&mut world, 1, EntryFlags::empty());
        assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
        assert!(world.now().since(start) <= Config::default().sa_time(), "{}", world.now());
        let times: Vec<Time> = sends(&world, 0, since).iter().map(|(at, _)| *at).collect();
        let pauses: Vec<Duration> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        for (pause, failures) in pauses.iter().zip(1..) {
            let around = SA_BUSY.pause(failures);
            assert!((around * 3 / 4..=around * 5 / 4).contains(pause), "{pause:?} around {around:?}");
        }
        assert!((5..=8).contains(&times.len()), "{times:?}");
        all.push(pauses);
    }
    all.dedup();
    assert_eq!(all.len(), 20, "no two nodes pause alike");
}

#[test]
fn a_pause_holds_no_credit() {
    let mut world = world(depth(SaDepth::Fixed(1)));
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let first = route(&mut world, 1, EntryFlags::empty());
    world.subnet.settings_mut().sa.status = None;
    let second = route(&mut world, 2, EntryFlags::empty());
    assert!(matches!(world.path(second), Some(Ok(_))), "at once");
    assert_eq!(world.path(first), None);
    assert!(world.wait(first).is_ok());
    assert_eq!(world.stat(0, "sa_busy"), 1);
}

/// A manager that restarts asks every port to register again, and the port may be told that it is up as well.
#[test]
fn one_event_is_one_join() {
    let mut world = world(Config::default());
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.settle();
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    world.subnet.reregister(World::port_id(0)).unwrap();
    world.run_for(Duration::from_secs(5));
    assert_eq!(memberships(&world, 0, since, Method::SET).len(), 1);
    assert_eq!(members(&world), [2]);
    // A port that comes up joins at once; that it is also to register again says the same.
    let since = world.transcript.len();
    world.subnet.set_port_state(World::port_id(0), ib_mad::PortState::DOWN).unwrap();
    world.subnet.set_port_state(World::port_id(0), ib_mad::PortState::ACTIVE).unwrap();
    world.subnet.reregister(World::port_id(0)).unwrap();
    let up = world.now();
    world.run_for(Duration::from_secs(5));
    let joins: Vec<_> = memberships(&world, 0, since, Method::SET).iter().map(|(at, _)| *at).collect();
    assert_eq!(joins, [up]);
}

/// What is asked because the port moved is asked where it is now: it is not taken back and asked again.
#[test]
fn a_port_that_moves_joins_once() {
    let changes: [fn(&mut Port); 2] =
        [|port| port.lid = Lid::new(300), |port| (port.lid, port.sm_lid) = (Lid::new(300), Lid::new(2))];
    for changed in changes {
        let mut world = world(Config::default());
        let (start, since) = (world.now(), world.transcript.len());
        change(&mut world, 0, changed);
        world.run_for(Duration::from_secs(5));
        let joins: Vec<_> = memberships(&world, 0, since, Method::SET).iter().map(|(at, _)| *at).collect();
        assert_eq!(joins, [start]);
        assert_eq!(world.stat(0, "sa_reposted"), 0, "nothing was in flight");
    }
}

/// It goes before what is repeated, also with a single credit.
#[test]
fn a_port_that_moves_joins_before_it_repeats_routes() {
    let mut world = world(depth(SaDepth::Fixed(1)));
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let asks = [1, 2].map(|class| route(&mut world, class, EntryFlags::empty()));
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.lid = Lid::new(300));
    let first = sends(&world, 0, since);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].1.mad.header.attribute_id, AttributeId::MC_MEMBER_RECORD);
    for ask in asks {
        assert!(world.wait(ask).is_ok());
    }
}

/// A later event is another one.
#[test]
fn two_events_are_two_joins() {
    let mut world = world(Config::default());
    let since = world.transcript.len();
    for _ in 0..2 {
        world.subnet.reregister(World::port_id(0)).unwrap();
        world.run_for(Duration::from_secs(1));
    }
    assert_eq!(memberships(&world, 0, since, Method::SET).len(), 2);
}

#[test]
fn nodes_join_again_one_after_the_other() {
    const NODES: u32 = 200;
    let mut world = World::new(WorldConfig { nodes: NODES, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    let (start, since) = (world.now(), world.transcript.len());
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(1));
    assert_eq!(members(&world), [NODES as usize]);
    let mut times: Vec<Duration> = (0..NODES as usize)
        .flat_map(|node| memberships(&world, node, since, Method::SET))
        .map(|(at, _)| at.since(start))
        .collect();
    times.sort();
    assert_eq!(times.len(), NODES as usize, "once each");
    assert!(times.iter().all(|time| *time < REJOIN_SPREAD), "{:?}", times.last());
    let most =
        times.iter().map(|from| times.iter().filter(|at| (*from..*from + REJOIN_SPREAD / 10).contains(at)).count());
    let most = most.max().unwrap();
    println!("{NODES} nodes join again within {:?}, at most {most} within {:?}", times.last(), REJOIN_SPREAD / 10);
    // 20 of 200 on average; 45 is more than five standard deviations away.
    assert!(most < 45, "{most}");
}

/// A refused join is repeated after 1 s, 2 s, 4 s and so on, not at the same instant on every node.
#[test]
fn joins_that_fail_are_repeated_with_jitter() {
    let mut world = World::new(WorldConfig { nodes: 20, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.status = Some(Status::SA_NO_RESOURCES);
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(4));
    let mut first = Vec::new();
    for node in 0..20 {
        let times: Vec<Time> = memberships(&world, node, since, Method::SET).iter().map(|(at, _)| *at).collect();
        let pause = times[1].since(times[0]);
        assert!((Duration::from_millis(750)..=Duration::from_millis(1250)).contains(&pause), "{pause:?}");
        let pause_2 = times[2].since(times[1]);
        assert!((Duration::from_millis(1500)..=Duration::from_millis(2500)).contains(&pause_2), "{pause_2:?}");
        first.push(pause);
    }
    first.sort();
    first.dedup();
    assert_eq!(first.len(), 20);
}

#[test]
fn the_group_of_a_rate_that_the_port_has_no_more_is_left() {
    let core = Config { route_protocol: RouteProtocol::Acm, ..Config::default() };
    let mut world = world(core);
    let of_rate = |world: &World, rate: Rate| {
        let id = World::port_id(0);
        world.subnet.groups().filter(|group| group.rate == rate && group.members.contains_key(&id)).count()
    };
    assert_eq!((of_rate(&world, Rate::GBPS_100), of_rate(&world, Rate::GBPS_40)), (1, 0));
    change(&mut world, 0, |port| port.rate = Rate::GBPS_40);
    world.run_for(Duration::from_secs(1));
    assert_eq!((of_rate(&world, Rate::GBPS_100), of_rate(&world, Rate::GBPS_40)), (0, 1));
    assert_eq!(of_rate(&world, Rate::GBPS_10), 1, "the base group stays");
    // The MTU is part of the group's name, too.
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.mtu = ib_mad::Mtu::B2048);
    world.run_for(Duration::from_secs(1));
    let left = memberships(&world, 0, since, Method::DELETE);
    assert_eq!(left.len(), 1);
    let mtus: Vec<_> =
        world.subnet.groups().filter(|group| group.rate == Rate::GBPS_40).map(|group| group.mtu).collect();
    assert_eq!(mtus, [ib_mad::Mtu::B2048]);
}

/// The GID that joined is the member; another one that the port got meanwhile is not.
#[test]
fn a_leave_names_the_gid_that_joined() {
    let mut world = world(Config::default());
    let old = world.port(0).gids[0];
    // Joining under the new one is refused.
    world.subnet.settings_mut().sa.status = Some(Status::SA_NO_RESOURCES);
    let new = Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x77));
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.gids = vec![new, old]);
    let joins = memberships(&world, 0, since, Method::SET);
    assert_eq!(joins.iter().map(|(_, member)| member.port_gid).collect::<Vec<_>>(), [new]);
    world.subnet.settings_mut().sa.status = None;
    world.input(0, Input::Shutdown);
    let left: Vec<Gid> =
        memberships(&world, 0, since, Method::DELETE).iter().map(|(_, member)| member.port_gid).collect();
    assert_eq!(left, [old]);
    assert_eq!(members(&world), [1]);
}

/// The subnet has it as a member until it is left, whoever has it now.
#[test]
fn a_gid_that_the_port_joined_under_before_is_left() {
    let mut world = world(Config::default());
    let old = world.port(0).gids[0];
    let new = Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x77));
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.gids = vec![new, old]);
    world.run_for(Duration::from_secs(5));
    let of = |method| -> Vec<Gid> {
        memberships(&world, 0, since, method).iter().map(|(_, member)| member.port_gid).collect()
    };
    assert_eq!((of(Method::SET), of(Method::DELETE)), (vec![new], vec![old]));
}

#[test]
fn a_slower_link_voids_routes_that_are_too_fast() {
    let mut world = world(Config::default());
    let count = |world: &World| world.node(0).acm.counters().get(Counter::RouteQuery);
    let fast = route(&mut world, 1, EntryFlags::empty());
    assert_eq!(world.wait(fast).unwrap().rate.value(), Rate::GBPS_100);
    world.subnet.settings_mut().path.rate = Some(Rate::GBPS_10);
    let slow = route(&mut world, 2, EntryFlags::empty());
    assert_eq!(world.wait(slow).unwrap().rate.value(), Rate::GBPS_10);
    world.subnet.settings_mut().path.rate = None;
    let before = count(&world);
    change(&mut world, 0, |port| port.rate = Rate::GBPS_40);
    let fast = route(&mut world, 1, EntryFlags::empty());
    assert_eq!(world.wait(fast).unwrap().rate.value(), Rate::GBPS_40);
    assert_eq!(count(&world), before + 1);
    let slow = route(&mut world, 2, EntryFlags::empty());
    assert_eq!(world.wait(slow).unwrap().rate.value(), Rate::GBPS_10);
    assert_eq!(count(&world), before + 1, "what the link still carries stays");
    // The same for the MTU.
    change(&mut world, 0, |port| port.mtu = ib_mad::Mtu::B1024);
    let small = route(&mut world, 1, EntryFlags::empty());
    assert_eq!(world.wait(small).unwrap().mtu.value(), ib_mad::Mtu::B1024);
    assert_eq!(count(&world), before + 2);
}

/// Asks for so many routes at once.
fn routes(world: &mut World, count: u32) -> Vec<Ask> {
    let wanted = |number: u32| PathRecord {
        dlid: world.port(1).lid,
        service_id: ib_mad::ServiceId::new(u64::from(number) + 1),
        ..PathRecord::default()
    };
    let all: Vec<_> = (0..count).map(|number| path_request(&wanted(number), EntryFlags::empty(), [1; 8])).collect();
    all.iter().map(|message| world.ask_as(0, Account::User(1), message)).collect()
}

#[test]
fn the_window_grows_to_64_and_halves_when_the_administration_is_busy() {
    let mut world = world(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let start = world.now();
    let since = world.transcript.len();
    let asks = routes(&mut world, 1000);
    assert_eq!(sends(&world, 0, since).len(), 5, "four, and one for the answer to the join");
    let mut sizes = Vec::new();
    for _ in 0..6 {
        world.run_for(Duration::from_millis(10));
        sizes.push(window(&world));
    }
    println!("window after each round trip: {sizes:?}");
    assert_eq!(sizes, [10, 20, 40, 64, 64, 64], "one more for each answer");
    // All that is in flight comes back BUSY: it halves once for all of it.
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    world.run_for(Duration::from_millis(10));
    world.subnet.settings_mut().sa.status = None;
    assert_eq!(window(&world), 32);
    assert_eq!(world.stat(0, "sa_busy"), 64);
    for ask in asks {
        assert!(world.wait(ask).is_ok());
    }
    println!("1,000 routes took {:?}", world.now().since(start));
}

#[test]
fn the_window_halves_when_no_answer_comes() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    for ask in routes(&mut world, 200) {
        assert!(world.wait(ask).is_ok());
    }
    assert_eq!(window(&world), 64);
    world.subnet.settings_mut().sa.mute = true;
    let asks = [201, 202].map(|class| route(&mut world, class, EntryFlags::empty()));
    for ask in asks {
        assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    }
    assert_eq!(window(&world), 32);
}

#[test]
fn a_malformed_answer_ends_the_request_at_once() {
    let tests: [fn(&mut ib_mad::sa::SaMad); 2] =
        [|mad| mad.header.method = Method::GET, |mad| mad.header.attribute_id = AttributeId::MC_MEMBER_RECORD];
    for (broken, flags) in tests.into_iter().zip([EntryFlags::empty(), EntryFlags::QUERY_SA]) {
        let mut world = world(Config::default());
        world.subnet.settings_mut().sa.mute = true;
        let since = world.transcript.len();
        let ask = route(&mut world, 1, flags);
        let (_, send) = sends(&world, 0, since)[0];
        let mut mad = send.mad;
        mad.header.method = Method::GET_RESP;
        broken(&mut mad);
        let asked = world.now();
        world.input(0, Input::SaAnswer { id: send.id, mad: ib_mad::as_bytes(&mad) });
        let frame = acm_wire::client::next_answer(world.answer(ask).expect("at once")).unwrap().unwrap();
        assert_eq!(frame.header.status, ClientStatus::ENODATA);
        assert_eq!(world.now(), asked);
        assert_eq!(world.stat(0, "sa_bad_answers"), 1);
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

/// An answer to something else ends nothing: the right one may still come.
#[test]
fn an_answer_with_another_transaction_id_ends_nothing() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let since = world.transcript.len();
    let ask = route(&mut world, 1, EntryFlags::empty());
    let (_, send) = sends(&world, 0, since)[0];
    let mut mad = send.mad;
    mad.header.transaction_id = ib_mad::TransactionId::new(mad.header.transaction_id.get() ^ 1);
    world.input(0, Input::SaAnswer { id: send.id, mad: ib_mad::as_bytes(&mad) });
    assert_eq!(world.path(ask), None);
    assert!(world.wait(ask).is_ok());
}
