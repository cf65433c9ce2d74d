//! What the kernel asks: the port it names, an answer in its time whatever the subnet does, bounds.
use acm_sansio::{
    Config, Failure, Input, KernelRequestId, Output, PortId, Time,
    config::{Limits, SaDepth, Share},
};
use acm_sim::{World, WorldConfig};
use acm_wire::client::{ClientStatus, Counter};
use core::time::Duration;
use ib_mad::{Gid, Pkey, sa::PathRecord};

const PORT: Option<PortId> = Some(PortId(0));
const DEADLINE: Duration = Duration::from_millis(1800);

type Reply = Result<PathRecord, Failure>;

fn ask(world: &mut World, number: u32, port: Option<PortId>, wanted: &PathRecord) {
    world.input(0, Input::KernelRequest { id: KernelRequestId(number), port, path: *wanted });
}

/// When and with what a request was answered; never twice.
fn reply(world: &World, number: u32) -> Option<(Time, Reply)> {
    let mut replies = world.transcript.iter().filter_map(|(at, node, output)| match output {
        Output::KernelReply { id, path } if (*node, id.0) == (0, number) => Some((*at, *path)),
        _ => None,
    });
    let first = replies.next();
    assert!(replies.next().is_none(), "request {number} was answered twice");
    first
}

fn status(world: &World, number: u32) -> Option<ClientStatus> {
    reply(world, number)?.1.err().map(Failure::status)
}

/// As the kernel asks: both GIDs and the partition are known.
fn to_node(world: &World, node: usize) -> PathRecord {
    PathRecord {
        sgid: world.port(0).gids[0],
        dgid: world.port(node).gids[0],
        pkey: Pkey::DEFAULT_FULL,
        ..PathRecord::default()
    }
}

#[test]
fn a_path_from_the_sa_and_then_from_the_cache() {
    let mut world = World::new(WorldConfig::default());
    let wanted = to_node(&world, 1);
    for number in 0..2 {
        ask(&mut world, number, PORT, &wanted);
        world.run_for(Duration::from_millis(100));
        let path = reply(&world, number).unwrap().1.unwrap();
        assert_eq!((path.dlid, path.slid), (world.port(1).lid, world.port(0).lid));
        assert_eq!((path.dgid, path.sgid), (wanted.dgid, wanted.sgid));
        assert!(path.reversible_paths.reversible());
    }
    let counters = world.node(0).acm.counters();
    let seen = [Counter::Resolve, Counter::RouteQuery, Counter::RouteCache, Counter::Error].map(|c| counters.get(c));
    assert_eq!(seen, [2, 1, 1, 0]);
}

#[test]
fn an_answer_in_time_and_a_lookup_that_goes_on() {
    let mut world = World::new(WorldConfig::default());
    let (wanted, start) = (to_node(&world, 1), world.now());
    // Slower than the kernel has patience, faster than the request is given up.
    world.subnet.settings_mut().sa.delay = Duration::from_millis(1900);
    ask(&mut world, 1, PORT, &wanted);
    world.run_for(Duration::from_millis(500));
    ask(&mut world, 2, PORT, &wanted);
    assert_eq!((reply(&world, 1), reply(&world, 2)), (None, None));
    world.run_for(Duration::from_secs(3));
    assert_eq!(reply(&world, 1), Some((start + DEADLINE, Err(Failure::KernelDeadline))));
    // Who asked later for the same was still in time.
    let (at, path) = reply(&world, 2).unwrap();
    assert!(path.is_ok() && at < start + Duration::from_millis(500) + DEADLINE);
    ask(&mut world, 3, PORT, &wanted);
    assert_eq!(reply(&world, 3).unwrap(), (world.now(), path), "from the cache, at once");
    let acm = &world.node(0).acm;
    assert_eq!(acm.stats().kernel_late, 1);
    let seen = [Counter::Resolve, Counter::RouteQuery, Counter::RouteCache, Counter::Error];
    assert_eq!(seen.map(|c| acm.counters().get(c)), [3, 1, 1, 1]);
}

#[test]
fn a_silent_sa() {
    let limits = Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.mute = true;
    let (wanted, start) = (to_node(&world, 1), world.now());
    ask(&mut world, 1, PORT, &wanted);
    world.run_for(Duration::from_secs(60));
    assert_eq!(reply(&world, 1), Some((start + DEADLINE, Err(Failure::KernelDeadline))));
    // Each counted once, though the lookup failed a second time, later.
    assert_eq!(world.node(0).acm.counters().get(Counter::Error), 1);
    // It takes no room any more, either.
    ask(&mut world, 2, PORT, &wanted);
    world.run_for(Duration::from_secs(2));
    assert_eq!(status(&world, 2), Some(ClientStatus::ETIMEDOUT));
    let other = PathRecord { traffic_class: 1, ..wanted };
    ask(&mut world, 3, PORT, &other);
    assert_eq!(status(&world, 3), Some(ClientStatus::ENOMEM), "the lookup of the one before is still charged");
}

#[test]
fn a_deadline_of_its_own() {
    let core = Config { kernel_deadline: Duration::from_millis(300), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.mute = true;
    let (wanted, start) = (to_node(&world, 1), world.now());
    ask(&mut world, 1, PORT, &wanted);
    world.run_for(Duration::from_secs(1));
    assert_eq!(reply(&world, 1).unwrap().0, start + Duration::from_millis(300));
}

#[test]
fn what_cannot_be_asked_is_refused_at_once() {
    let mut world = World::new(WorldConfig::default());
    let wanted = to_node(&world, 1);
    let foreign: Gid = "fe80::77".parse().unwrap();
    let cases = [
        (PORT, PathRecord { dgid: Gid::default(), ..wanted }, ClientStatus::EDESTADDR),
        (Some(PortId(5)), wanted, ClientStatus::ESRCADDR),
        (PORT, PathRecord { sgid: foreign, ..wanted }, ClientStatus::ESRCADDR),
        (None, PathRecord { sgid: foreign, ..wanted }, ClientStatus::ESRCADDR),
        (PORT, PathRecord { pkey: Pkey::new(0x8123), ..wanted }, ClientStatus::ESRCADDR),
    ];
    for (number, (port, wanted, expected)) in (0..).zip(cases) {
        ask(&mut world, number, port, &wanted);
        assert_eq!(status(&world, number), Some(expected), "{number}");
    }
    assert_eq!(world.node(0).acm.counters().get(Counter::Error), 5);
}

#[test]
fn a_port_that_is_named_leads_out_of_its_subnet() {
    let mut world = World::new(WorldConfig::default());
    let far = PathRecord { dgid: "2001:db8::1".parse().unwrap(), ..PathRecord::default() };
    ask(&mut world, 1, None, &far);
    assert_eq!(status(&world, 1), Some(ClientStatus::ESRCADDR), "no port of that subnet");
    ask(&mut world, 2, PORT, &far);
    world.run_for(Duration::from_secs(1));
    assert_eq!(status(&world, 2), Some(ClientStatus::ENODATA), "subnet administration was asked and knows none");
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), 1);
}

#[test]
fn a_burst_is_bounded_and_every_request_is_answered() {
    let limits = Limits { requests: Share { total: 100, percent: 100 }, ..Limits::default() };
    let core = Config { limits, sa_depth: SaDepth::Fixed(32), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 200, core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    for number in 1..200 {
        let wanted = to_node(&world, number as usize);
        ask(&mut world, number, PORT, &wanted);
    }
    world.run_for(Duration::from_secs(5));
    let refused = (1..200).filter(|number| status(&world, *number) == Some(ClientStatus::ENOMEM)).count();
    let found = (1..200).filter(|number| reply(&world, *number).unwrap().1.is_ok()).count();
    assert_eq!((refused, found), (99, 100));
    assert_eq!(world.stat(0, "requests_refused"), 99);
    // Room again, and the lookups of those who were refused went on.
    ask(&mut world, 500, PORT, &to_node(&World::new(WorldConfig::default()), 1));
    assert!(reply(&world, 500).unwrap().1.is_ok());
}

#[test]
fn a_port_that_goes_down_and_a_daemon_that_stops_answer() {
    for shutdown in [false, true] {
        let mut world = World::new(WorldConfig::default());
        world.subnet.settings_mut().sa.mute = true;
        let wanted = to_node(&world, 1);
        ask(&mut world, 1, PORT, &wanted);
        world.run_for(Duration::from_millis(100));
        world.input(0, if shutdown { Input::Shutdown } else { Input::PortDown(PortId(0)) });
        let (at, path) = reply(&world, 1).unwrap();
        assert!(at == world.now() && path.is_err());
        ask(&mut world, 2, PORT, &wanted);
        assert_eq!(status(&world, 2), Some(ClientStatus::ESRCADDR));
    }
}

#[test]
fn who_has_an_address_is_answered_with_a_path_to_it() {
    let mut world = World::new(WorldConfig::default());
    let [_, ip4, ip6] = World::addresses(0).map(|address| address.ip());
    let [_, other4, other6] = World::addresses(1).map(|address| address.ip());
    let nobody = "10.200.0.1".parse().ok();
    for (number, source, dest) in
        [(1, ip4, other4), (2, ip6, other6), (3, ip4, ip4), (4, ip4, nobody), (5, nobody, other4)]
    {
        let (id, source, dest) = (KernelRequestId(number), source.unwrap(), dest.unwrap());
        world.input(0, Input::KernelAddressRequest { id, source, dest });
    }
    let start = world.now();
    world.run_for(Duration::from_secs(3));
    let (own, other) = (world.port(0).gids[0], world.port(1).gids[0]);
    let gids = [1, 2, 3].map(|number| reply(&world, number).unwrap().1.unwrap().dgid);
    assert_eq!(gids, [other, other, own]);
    assert_eq!(reply(&world, 4).unwrap(), (start + DEADLINE, Err(Failure::KernelDeadline)));
    assert_eq!(status(&world, 5), Some(ClientStatus::ESRCADDR));
}

/// SET_TIMEOUT: nine tenths of what the kernel waits, for requests that come later.
#[test]
fn the_kernel_may_be_told_to_wait_longer() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().sa.mute = true;
    let (wanted, start) = (to_node(&world, 1), world.now());
    ask(&mut world, 1, PORT, &wanted);
    for (number, waits) in [(2, 500), (3, 4000)] {
        world.input(0, Input::KernelTimeout(Duration::from_millis(waits)));
        ask(&mut world, number, PORT, &wanted);
    }
    world.run_for(Duration::from_secs(5));
    let late = [1, 2, 3].map(|number| reply(&world, number).unwrap().0.since(start).as_millis());
    assert_eq!(late, [1800, 450, 3600]);
}

/// The kernel's burst when a job starts: 4,096 at once.
#[test]
fn a_burst_of_4096_is_answered() {
    let core = Config { sa_depth: SaDepth::Fixed(64), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 64, core, ..WorldConfig::default() });
    let wanted: Vec<PathRecord> = (1..64).map(|node| to_node(&world, node)).collect();
    for (number, wanted) in (0..4096).zip(wanted.iter().cycle()) {
        ask(&mut world, number, PORT, wanted);
    }
    world.run_for(Duration::from_secs(2));
    let found = world
        .transcript
        .iter()
        .filter(|(_, node, output)| *node == 0 && matches!(output, Output::KernelReply { path: Ok(_), .. }));
    assert_eq!(found.count(), 4096);
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), 63, "equal questions are one");
}
