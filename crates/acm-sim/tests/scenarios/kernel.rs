//! Requests of the kernel: the requested port, replies within the deadline, limits.
use acm_sansio::{
    Config, Failure, Input, KernelRequestId, Output, PortId, Time,
    config::{Depth, Limits, Share},
};
use acm_sim::{World, WorldConfig};
use acm_wire::client::{ClientStatus, Counter};
use core::time::Duration;
use ib_mad::{Gid, Pkey, sa::PathRecord};

const PORT: Option<PortId> = Some(PortId(0));
const DEADLINE: Duration = Duration::from_millis(1800);

type Reply = Result<PathRecord, Failure>;

fn request(world: &mut World, number: u32, port: Option<PortId>, record: &PathRecord) {
    world.input(0, Input::KernelRequest { id: KernelRequestId(number), port, path: *record });
}

/// Returns the time and content of the only reply to a request.
fn reply(world: &World, number: u32) -> Option<(Time, Reply)> {
    let mut replies = world.transcript.iter().filter_map(|(at, node, output)| match output {
        Output::KernelReply { id, path } if (*node, id.0) == (0, number) => Some((*at, *path)),
        _ => None,
    });
    let first = replies.next();
    assert!(replies.next().is_none(), "request {number} has two replies");
    first
}

fn status(world: &World, number: u32) -> Option<ClientStatus> {
    reply(world, number)?.1.err().map(Failure::status)
}

/// Returns a request as the kernel sends it: with both GIDs and the P_Key.
fn to_node(world: &World, node: usize) -> PathRecord {
    PathRecord {
        sgid: world.port(0).gids[0],
        dgid: world.port(node).gids[0],
        pkey: Pkey::DEFAULT_FULL,
        ..PathRecord::default()
    }
}

#[test]
fn kernel_request_is_served_from_the_sa_and_then_from_the_cache() {
    let mut world = World::new(WorldConfig::default());
    let record = to_node(&world, 1);
    for number in 0..2 {
        request(&mut world, number, PORT, &record);
        world.run_for(Duration::from_millis(100));
        let path = reply(&world, number).unwrap().1.unwrap();
        assert_eq!((path.dlid, path.slid), (world.port(1).lid, world.port(0).lid));
        assert_eq!((path.dgid, path.sgid), (record.dgid, record.sgid));
        assert!(path.reversible_paths.reversible());
    }
    let counters = world.node(0).acm.counters();
    let seen = [Counter::Resolve, Counter::RouteQuery, Counter::RouteCache, Counter::Error].map(|c| counters.get(c));
    assert_eq!(seen, [2, 1, 1, 0]);
}

// docs/deviations.md: kernel-late
#[test]
fn kernel_request_fails_at_its_deadline_and_the_lookup_continues() {
    let mut world = World::new(WorldConfig::default());
    let (record, start) = (to_node(&world, 1), world.now());
    // The response comes after the kernel's deadline and before the query's time-out.
    world.subnet.settings_mut().sa.delay = Duration::from_millis(1900);
    request(&mut world, 1, PORT, &record);
    world.run_for(Duration::from_millis(500));
    request(&mut world, 2, PORT, &record);
    assert_eq!((reply(&world, 1), reply(&world, 2)), (None, None));
    world.run_for(Duration::from_secs(3));
    assert_eq!(reply(&world, 1), Some((start + DEADLINE, Err(Failure::KernelDeadline))));
    // The later request for the same path is still within its deadline.
    let (at, path) = reply(&world, 2).unwrap();
    assert!(path.is_ok() && at < start + Duration::from_millis(500) + DEADLINE);
    request(&mut world, 3, PORT, &record);
    assert_eq!(reply(&world, 3).unwrap(), (world.now(), path), "from the cache, at once");
    let acm = &world.node(0).acm;
    assert_eq!(acm.stats().kernel_late, 1);
    let seen = [Counter::Resolve, Counter::RouteQuery, Counter::RouteCache, Counter::Error];
    assert_eq!(seen.map(|c| acm.counters().get(c)), [3, 1, 1, 1]);
}

// docs/deviations.md: kernel-late
#[test]
fn kernel_request_fails_once_if_the_sa_is_silent() {
    let limits = Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.mute = true;
    let (record, start) = (to_node(&world, 1), world.now());
    request(&mut world, 1, PORT, &record);
    world.run_for(Duration::from_secs(60));
    assert_eq!(reply(&world, 1), Some((start + DEADLINE, Err(Failure::KernelDeadline))));
    // The failure is counted once, although the lookup itself fails later, too.
    assert_eq!(world.node(0).acm.counters().get(Counter::Error), 1);
    // The request no longer counts against the limit.
    request(&mut world, 2, PORT, &record);
    world.run_for(Duration::from_secs(2));
    assert_eq!(status(&world, 2), Some(ClientStatus::ETIMEDOUT));
    let other = PathRecord { traffic_class: 1, ..record };
    request(&mut world, 3, PORT, &other);
    assert_eq!(status(&world, 3), Some(ClientStatus::ENOMEM), "the lookup of request 2 is still charged");
}

#[test]
fn kernel_deadline_is_configurable() {
    let core = Config { kernel_deadline: Duration::from_millis(300), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.mute = true;
    let (record, start) = (to_node(&world, 1), world.now());
    request(&mut world, 1, PORT, &record);
    world.run_for(Duration::from_secs(1));
    assert_eq!(reply(&world, 1).unwrap().0, start + Duration::from_millis(300));
}

#[test]
fn invalid_kernel_requests_fail_at_once() {
    let mut world = World::new(WorldConfig::default());
    let record = to_node(&world, 1);
    let foreign: Gid = "fe80::77".parse().unwrap();
    let cases = [
        (PORT, PathRecord { dgid: Gid::default(), ..record }, ClientStatus::EDESTADDR),
        (Some(PortId(5)), record, ClientStatus::ESRCADDR),
        (PORT, PathRecord { sgid: foreign, ..record }, ClientStatus::ESRCADDR),
        (None, PathRecord { sgid: foreign, ..record }, ClientStatus::ESRCADDR),
        (PORT, PathRecord { pkey: Pkey::new(0x8123), ..record }, ClientStatus::ESRCADDR),
    ];
    for (number, (port, record, expected)) in (0..).zip(cases) {
        request(&mut world, number, port, &record);
        assert_eq!(status(&world, number), Some(expected), "{number}");
    }
    assert_eq!(world.node(0).acm.counters().get(Counter::Error), 5);
}

// docs/deviations.md: kernel-port
#[test]
fn kernel_request_with_a_port_may_leave_the_subnet() {
    let mut world = World::new(WorldConfig::default());
    let far = PathRecord { dgid: "2001:db8::1".parse().unwrap(), ..PathRecord::default() };
    request(&mut world, 1, None, &far);
    assert_eq!(status(&world, 1), Some(ClientStatus::ESRCADDR), "no port is in that subnet");
    request(&mut world, 2, PORT, &far);
    world.run_for(Duration::from_secs(1));
    assert_eq!(status(&world, 2), Some(ClientStatus::ENODATA), "the subnet administration has no path");
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), 1);
}

#[test]
fn burst_over_the_limit_is_refused_and_each_request_gets_a_reply() {
    let limits = Limits { requests: Share { total: 100, percent: 100 }, ..Limits::default() };
    let core = Config { limits, sa_depth: Depth::Fixed(32), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 200, core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    for number in 1..200 {
        let record = to_node(&world, number as usize);
        request(&mut world, number, PORT, &record);
    }
    world.run_for(Duration::from_secs(5));
    let refused = (1..200).filter(|number| status(&world, *number) == Some(ClientStatus::ENOMEM)).count();
    let found = (1..200).filter(|number| reply(&world, *number).unwrap().1.is_ok()).count();
    assert_eq!((refused, found), (99, 100));
    assert_eq!(world.stat(0, "requests_refused"), 99);
    // The limit allows requests again, and the path is cached.
    request(&mut world, 500, PORT, &to_node(&World::new(WorldConfig::default()), 1));
    assert!(reply(&world, 500).unwrap().1.is_ok());
}

#[test]
fn port_down_and_shutdown_reply_to_pending_kernel_requests() {
    for shutdown in [false, true] {
        let mut world = World::new(WorldConfig::default());
        world.subnet.settings_mut().sa.mute = true;
        let record = to_node(&world, 1);
        request(&mut world, 1, PORT, &record);
        world.run_for(Duration::from_millis(100));
        world.input(0, if shutdown { Input::Shutdown } else { Input::PortDown(PortId(0)) });
        let (at, path) = reply(&world, 1).unwrap();
        assert!(at == world.now() && path.is_err());
        request(&mut world, 2, PORT, &record);
        assert_eq!(status(&world, 2), Some(ClientStatus::ESRCADDR));
    }
}

// docs/deviations.md: kernel-ip
#[test]
fn address_request_of_the_kernel_returns_a_path_to_the_address() {
    let mut world = World::new(WorldConfig::default());
    let [_, ip4, ip6] = World::addresses(0).map(|address| address.ip());
    let [_, other4, other6] = World::addresses(1).map(|address| address.ip());
    let unknown = "10.200.0.1".parse().ok();
    for (number, source, dest) in
        [(1, ip4, other4), (2, ip6, other6), (3, ip4, ip4), (4, ip4, unknown), (5, unknown, other4)]
    {
        let (id, source, dest) = (KernelRequestId(number), source.unwrap(), dest.unwrap());
        world.input(0, Input::KernelAddressRequest { id, source, dest });
    }
    let start = world.now();
    world.run_for(Duration::from_secs(3));
    let (local, other) = (world.port(0).gids[0], world.port(1).gids[0]);
    let gids = [1, 2, 3].map(|number| reply(&world, number).unwrap().1.unwrap().dgid);
    assert_eq!(gids, [other, other, local]);
    assert_eq!(reply(&world, 4).unwrap(), (start + DEADLINE, Err(Failure::KernelDeadline)));
    assert_eq!(status(&world, 5), Some(ClientStatus::ESRCADDR));
}

/// The deadline is nine tenths of the kernel's time-out.
#[test]
fn set_timeout_changes_the_deadline_of_later_requests() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().sa.mute = true;
    let (record, start) = (to_node(&world, 1), world.now());
    request(&mut world, 1, PORT, &record);
    for (number, waits) in [(2, 500), (3, 4000)] {
        world.input(0, Input::KernelTimeout(Duration::from_millis(waits)));
        request(&mut world, number, PORT, &record);
    }
    world.run_for(Duration::from_secs(5));
    let late = [1, 2, 3].map(|number| reply(&world, number).unwrap().0.since(start).as_millis());
    assert_eq!(late, [1800, 450, 3600]);
}

/// A starting job causes such a burst.
#[test]
fn burst_of_4096_kernel_requests_is_answered() {
    let core = Config { sa_depth: Depth::Fixed(64), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 64, core, ..WorldConfig::default() });
    let records: Vec<PathRecord> = (1..64).map(|node| to_node(&world, node)).collect();
    for (number, record) in (0..4096).zip(records.iter().cycle()) {
        request(&mut world, number, PORT, record);
    }
    world.run_for(Duration::from_secs(2));
    let found = world
        .transcript
        .iter()
        .filter(|(_, node, output)| *node == 0 && matches!(output, Output::KernelReply { path: Ok(_), .. }));
    assert_eq!(found.count(), 4096);
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), 63, "one query per path");
}
