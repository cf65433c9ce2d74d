//! `path_service_ids auto`: each request gets the path that a direct query with its service id gets, without a query
//! for each connection if the subnet administrator (SA) does not distinguish service ids.
use acm_sansio::{Config, Input, KernelRequestId, Output, PortId, config::Depth};
use acm_sim::{World, WorldConfig};
use acm_wire::client::{EntryFlags, path_request};
use core::{ops::RangeInclusive, time::Duration};
use ib_mad::{
    AttributeId, ServiceId, ServiceLevel,
    sa::{PathRecord, QosSl},
};
use ib_sim::{PathRule, Settings};

fn tcp(port: u32) -> ServiceId {
    ServiceId::new(0x0106_0000 + u64::from(port))
}

/// Returns a world of `nodes` nodes whose SA has QoS if there are rules: ports, destinations (empty for all), level.
fn world(nodes: u32, rules: &[(RangeInclusive<u32>, &[u32], u8)]) -> World {
    let mut world = World::new(WorldConfig { nodes, ..WorldConfig::default() });
    set_rules(&mut world, rules);
    world.run_for(Duration::from_secs(2));
    world
}

fn set_rules(world: &mut World, rules: &[(RangeInclusive<u32>, &[u32], u8)]) {
    let rules = rules.iter().map(|(ports, to, sl)| PathRule {
        service_ids: tcp(*ports.start())..=tcp(*ports.end()),
        to: to.iter().map(|node| world.port(*node as usize).gids[0]).collect(),
        sl: ServiceLevel::checked(*sl).unwrap(),
    });
    let rules: Vec<PathRule> = rules.collect();
    let settings: &mut Settings = world.subnet.settings_mut();
    settings.sa.qos = !rules.is_empty();
    settings.rules = rules;
}

fn record(world: &World, to: u32, port: u32) -> PathRecord {
    PathRecord { dgid: world.port(to as usize).gids[0], service_id: tcp(port), ..PathRecord::default() }
}

/// Returns the service level that node 0 gets for a TCP port of a node.
fn level(world: &mut World, to: u32, port: u32) -> u8 {
    let record = record(world, to, port);
    world.route(0, &record).unwrap().qos_sl.sl().get()
}

/// Returns the service level of a direct query to the SA.
fn direct(world: &mut World, to: u32, port: u32) -> u8 {
    let record = record(world, to, port);
    let client = world.request(0, &path_request(&record, EntryFlags::QUERY_SA, [3; 8]));
    world.wait(client).unwrap().qos_sl.sl().get()
}

/// Returns the number of requests of node 0 to the SA for paths and for capabilities.
fn requests(world: &World) -> usize {
    let of_sa = |output: &Output| {
        matches!(output, Output::SaSend(send) if
            [AttributeId::PATH_RECORD, AttributeId::CLASS_PORT_INFO].contains(&send.mad.header.attribute_id))
    };
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && of_sa(output)).count()
}

/// Connects 10,000 times from node 0: to 100 peers, with 1,000 ports from `first` on. Returns the number of requests to
/// the SA.
fn connections(world: &mut World, first: u32) -> usize {
    let before = requests(world);
    for number in 0..10_000 {
        // Each peer is connected to with 100 ports; no pair of peer and port occurs twice.
        let (to, port) = (1 + number % 100, first + (number / 100 + 10 * (number % 100)) % 1000);
        assert_eq!(level(world, to, port), 0);
    }
    requests(world) - before
}

#[test]
fn ids_cost_one_request_in_all_if_the_sa_has_no_qos() {
    let mut world = world(101, &[]);
    assert_eq!(connections(&mut world, 1000), 101, "100 paths, and the capabilities");
    assert_eq!(connections(&mut world, 40_000), 0);
}

#[test]
fn file_serves_any_id_while_the_sa_is_silent() {
    let mut world = world(3, &[(987..=987, &[], 1)]);
    let of_file = world.route_table(0, ServiceLevel::of::<5>());
    world.input(0, Input::Preloaded(of_file));
    world.subnet.settings_mut().sa.mute = true;
    // The first request waits for the capabilities.
    assert_eq!(level(&mut world, 1, 987), 5);
    for minute in 0..3 {
        let (before, now) = (requests(&world), world.now());
        for port in 5000..5100 {
            assert_eq!(level(&mut world, 1 + port % 2, port), 5);
        }
        assert_eq!(requests(&world) - before, minute.min(1), "the capabilities are requested again, but no path");
        assert_eq!(world.now(), now, "no request waits for them");
        world.run_for(Duration::from_secs(70));
    }
    world.subnet.settings_mut().sa.mute = false;
    assert_eq!(level(&mut world, 1, 987), 5, "the daemon asks again with this request");
    world.run_for(Duration::from_secs(1));
    assert_eq!((level(&mut world, 1, 987), level(&mut world, 1, 5000)), (1, 0));
}

#[test]
fn dynamic_ports_cost_a_constant_number_of_requests_if_their_paths_are_equal() {
    let mut world = world(101, &[(987..=987, &[], 1), (18_515..=18_520, &[7], 2)]);
    let used = connections(&mut world, 40_000);
    // The capabilities, the first port of each destination, 32 pairs, and a path to each destination for all ports.
    assert!(used <= 1 + 100 + 32 + 100, "{used}");
    assert_eq!((level(&mut world, 3, 987), level(&mut world, 7, 18_517), level(&mut world, 8, 18_517)), (1, 2, 0));
}

#[test]
fn each_pair_of_a_fixed_port_and_a_destination_is_queried_once() {
    let mut world = world(101, &[(987..=987, &[], 1)]);
    assert_eq!(connections(&mut world, 1000), 10_001);
    assert_eq!(connections(&mut world, 1000), 0);
}

/// Rules by id, by range, by destination and by both. No path of one destination or id is used for another.
// docs/deviations.md: path-conditions
#[test]
fn each_request_gets_the_path_of_a_direct_query() {
    let rules: [(_, &[u32], _); 5] = [
        (987..=987, &[2], 4),
        (987..=987, &[], 1),
        (1191..=1191, &[3, 4], 3),
        (18_515..=18_520, &[], 2),
        (0..=65_535, &[5], 6),
    ];
    let mut world = world(7, &rules);
    for to in 1..7 {
        for port in [987, 986, 988, 1191, 18_514, 18_515, 18_520, 18_521, 3260, 20_049] {
            let expected = direct(&mut world, to, port);
            assert_eq!([(); 2].map(|()| level(&mut world, to, port)), [expected; 2], "node {to}, port {port}");
        }
    }
    let plain = PathRecord { service_id: ServiceId::default(), ..record(&world, 5, 1) };
    assert_eq!(world.route(0, &plain).unwrap().qos_sl, QosSl::default(), "without an id");
}

/// All requests arrive before the first response. Those that are not sent yet are answered by what the first ones show.
/// At most 64 are in flight.
#[test]
fn burst_of_requests_is_answered_by_few_queries() {
    for (rules, first, most) in
        [(&[][..], 1000, 1 + 100 + 64), (&[(987..=987, &[][..], 1)][..], 40_000, 1 + 32 + 2 * 100 + 64)]
    {
        let mut world = world(101, rules);
        world.subnet.settings_mut().sa.delay = Duration::from_micros(50);
        let before = requests(&world);
        for number in 0..5_000 {
            let path = record(&world, 1 + number % 100, first + number / 5);
            world.input(0, Input::KernelRequest { id: KernelRequestId(number), port: Some(PortId(0)), path });
        }
        world.run_for(Duration::from_secs(2));
        let answered = |output: &Output| matches!(output, Output::KernelReply { path: Ok(_), .. });
        assert_eq!(world.transcript.iter().filter(|(.., output)| answered(output)).count(), 5_000);
        let used = requests(&world) - before;
        assert!(used <= most, "{used}");
    }
}

/// A rule for dynamic ports is found while ports are compared, or by one of the comparisons of each minute.
#[test]
fn rule_for_dynamic_ports_ends_their_shared_paths() {
    let mut early = world(3, &[(40_010..=40_020, &[], 5)]);
    for port in 40_000..40_100 {
        let expected = direct(&mut early, 1, port);
        assert_eq!(level(&mut early, 1, port), expected, "port {port}");
    }
    let mut late = world(3, &[(50_000..=65_535, &[], 5)]);
    (40_000..40_050).for_each(|port| assert_eq!(level(&mut late, 1, port), 0));
    assert_eq!(level(&mut late, 1, 50_001), 0, "the paths of the other ports are equal so far");
    late.run_for(Duration::from_secs(60));
    assert_eq!(level(&mut late, 1, 50_002), 5, "compared");
    assert_eq!([50_001, 40_777, 50_003].map(|port| level(&mut late, 1, port)), [5, 0, 5]);
}

#[test]
fn reregistration_ends_all_findings() {
    let mut world = world(3, &[]);
    assert_eq!([1191, 987].map(|port| level(&mut world, 1, port)), [0, 0]);
    set_rules(&mut world, &[(987..=987, &[], 1)]);
    assert_eq!(level(&mut world, 1, 987), 0, "from the cache");
    world.subnet.reregister(World::port_id(0)).unwrap();
    world.settle();
    assert_eq!([1191, 987].map(|port| level(&mut world, 1, port)), [0, 1]);
}

/// The SA does not answer the query for its capabilities: ids count.
#[test]
fn ids_count_while_the_capabilities_are_unknown() {
    let core = Config { retries: 0, sa_depth: Depth::Fixed(4), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(2));
    world.subnet.settings_mut().sa.mute = true;
    assert!(world.route(0, &record(&world, 1, 987)).is_err());
    set_rules(&mut world, &[(987..=987, &[], 1)]);
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(Duration::from_secs(2));
    assert_eq!((level(&mut world, 1, 987), level(&mut world, 1, 986)), (1, 0));
}
