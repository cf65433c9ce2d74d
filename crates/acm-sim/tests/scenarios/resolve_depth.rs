//! `resolve_depth auto`: the number of multicast requests in flight.
use acm_sansio::{Account, Output, Time, api::GaugeScope};
use acm_sim::{Client, Handling, World, WorldConfig, name, unknown_name_request};
use acm_wire::client::{EntryFlags, resolve_request};
use core::time::Duration;
use ib_mad::{Lid, Qpn};
use ib_sim::SubnetConfig;

const USER: Account = Account::User(1);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn world(nodes: u32, delay: Duration) -> World {
    let mut world = World::new(WorldConfig { nodes, ..WorldConfig::default() });
    world.subnet.settings_mut().faults.delay = delay;
    world
}

fn gauge(world: &World, wanted: &str) -> usize {
    let mut found = 0;
    world.node(0).acm.each_gauge(&mut |name, of, value| {
        if name == wanted && matches!(of, GaugeScope::Endpoint(..)) {
            found = value;
        }
    });
    found
}

fn request(world: &mut World, from: u32, to: u32) -> Client {
    let message = resolve_request(Some(&name(from)), &name(to), EntryFlags::empty(), [1; 8]);
    world.request_as(from as usize, USER, &message)
}

fn request_unknown(world: &mut World, numbers: core::ops::Range<usize>) -> Vec<Client> {
    numbers.map(|number| world.request_as(0, USER, &unknown_name_request(number, EntryFlags::empty()))).collect()
}

#[test]
fn depth_grows_while_names_respond() {
    let mut world = world(120, ms(1));
    let clients: Vec<_> = (1..120).map(|node| request(&mut world, 0, node)).collect();
    assert_eq!(gauge(&world, "multicast_in_flight"), 1);
    let mut depths = Vec::new();
    for _ in 0..6 {
        world.run_for(ms(2));
        depths.push(gauge(&world, "multicast_depth"));
    }
    assert_eq!(depths, [2, 3, 4, 5, 6, 7], "one more with each round trip");

    assert!(clients.into_iter().all(|client| world.wait(client).is_ok()));
}

#[test]
fn late_responses_halve_the_depth() {
    let mut world = world(60, ms(1));
    for node in 1..30 {
        request(&mut world, 0, node);
    }
    world.run_for(ms(100));
    assert_eq!(gauge(&world, "multicast_depth"), 8);
    world.subnet.settings_mut().faults.delay = ms(50);
    let clients: Vec<_> = (30..60).map(|node| request(&mut world, 0, node)).collect();
    assert!(clients.into_iter().all(|client| world.wait(client).is_ok()));
    world.run_for(ms(200));
    assert_eq!(gauge(&world, "multicast_depth"), 4, "once for all that were sent before");
}

#[test]
fn unknown_names_do_not_change_the_depth() {
    let mut world = world(20, ms(1));
    for node in 1..11 {
        request(&mut world, 0, node);
    }
    world.run_for(ms(100));
    let depth = gauge(&world, "multicast_depth");
    request_unknown(&mut world, 0..100);
    world.run_for(ms(500));
    assert_eq!((depth, gauge(&world, "multicast_depth")), (5, 5));
}

#[test]
fn depth_begins_again_after_a_second() {
    let mut world = world(20, ms(1));
    for node in 1..11 {
        request(&mut world, 0, node);
    }
    world.run_for(ms(1100));
    assert_eq!(gauge(&world, "multicast_depth"), 5);
    request(&mut world, 0, 12);
    assert_eq!(gauge(&world, "multicast_depth"), 1, "other nodes may have begun to send");
}

#[test]
fn name_beside_200_unknown_names_with_waiting_clients_takes_under_a_second() {
    for others in [0, 10] {
        let mut world = world(20, ms(1));
        for node in 1..=others {
            request(&mut world, 0, node);
        }
        world.run_for(ms(100));
        request_unknown(&mut world, 0..200);
        let (start, client) = (world.now(), request(&mut world, 0, 15));
        assert!(world.wait(client).is_ok());
        let took = world.now().since(start);
        println!("200 unknown names with waiting clients, after {others} other names: a known name took {took:?}");
        assert!(took < ms(if others == 0 { 1000 } else { 300 }));
    }
}

/// A tenth of the names is unknown.
#[test]
fn unknown_names_among_known_names_cost_few_milliseconds() {
    let took = |unknown: bool| {
        let mut world = world(181, ms(1));
        let start = world.now();
        let mut clients = Vec::new();
        for node in 1..=180 {
            clients.push(request(&mut world, 0, node));
            if unknown && node % 9 == 0 {
                request_unknown(&mut world, node as usize..node as usize + 1);
            }
        }
        assert!(clients.into_iter().all(|client| world.wait(client).is_ok()));
        world.now().since(start)
    };
    let (calm, beside) = (took(false), took(true));
    println!("180 names took {calm:?}, beside 20 unknown names {beside:?}");
    assert!(beside <= 2 * calm);
}

/// Each of 60 nodes requests 40 others in the same instant. A receive queue has 512 datagrams, and a node handles 200
/// in a millisecond. The request of a node tells all others where it is.
#[test]
fn names_that_all_nodes_request_at_once_cost_few_multicasts() {
    let handling = Some(Handling { cost: Duration::from_micros(5), receive_depth: 512 });
    let mut world = World::new(WorldConfig { nodes: 60, handling, ..WorldConfig::default() });
    world.run_for(ms(5000));
    let (start, since) = (world.now(), world.transcript.len());
    let mut clients = Vec::new();
    for node in 0..60 {
        clients.extend((1..=40).map(|other| request(&mut world, node, (node + other) % 60)));
    }
    assert!(clients.into_iter().all(|client| world.wait(client).is_ok()));
    let took = world.now().since(start);
    let multicasts =
        |(.., output): &&(Time, usize, Output)| matches!(output, Output::Send { to, .. } if to.qpn == Qpn::MULTICAST);
    let sent = world.transcript[since..].iter().filter(multicasts).count();
    let lost: u64 = (0..60).map(|node| world.lost(node)).sum();
    println!("2,400 names took {took:?}, {sent} multicasts, {lost} datagrams lost");
    assert!(took < ms(100) && sent <= 180 && lost == 0);
}

// docs/deadlines.md: multicast-credits
#[test]
fn large_fabric_has_one_request_in_flight() {
    for (ports, depth) in [(256, 2), (257, 1)] {
        let subnet = SubnetConfig { sm_lid: Lid::new(ports), ..SubnetConfig::default() };
        let mut world = World::new(WorldConfig { nodes: 9, subnet, ..WorldConfig::default() });
        for node in 1..9 {
            request(&mut world, 0, node);
        }
        world.run_for(ms(100));
        request_unknown(&mut world, 0..9);
        assert_eq!([gauge(&world, "multicast_depth"), gauge(&world, "multicast_in_flight")], [depth, depth]);
    }
}
