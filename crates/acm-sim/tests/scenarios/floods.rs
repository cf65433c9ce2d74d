//! A flood of the multicast group delays neither answers of subnet administration nor events of ports.
use acm_sansio::{Account, Config, Event, Output, Time, config::ServiceIds, turns::Quotas};
use acm_sim::{Client, Handling, RemoteHost, World, WorldConfig};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request},
};
use core::time::Duration;
use ib_mad::{Lid, Qkey, sa::PathRecord};

/// A node handles 100,000 events per second.
const HANDLING: Handling = Handling { cost: Duration::from_micros(10), receive_depth: 512 };
/// Response time of subnet administration.
const SA_DELAY: Duration = Duration::from_micros(500);

/// Sends `count` requests at one instant.
fn flood(world: &mut World, from: RemoteHost, ms: u64, count: u64) {
    for number in ms * count..(ms + 1) * count {
        let source = Address::from_text(&format!("flood{}", number % 5000));
        world.forge_request(from, 0, number, &source, &Address::from_text("nobody"));
    }
}

/// Attaches further queue pairs of node 0 to the group, as if it had endpoints in other partitions.
fn more_listeners(world: &mut World, count: u32) {
    let (mgid, _) = world.group();
    for _ in 0..count {
        let qp = world.subnet.create_qp(World::port_id(0), Qkey::GSI, 0).unwrap();
        world.subnet.attach(qp, mgid).unwrap();
    }
}

/// Returns the longest time that an urgent event waits: the current event, one quota of datagrams, and `urgent` earlier
/// urgent events.
fn longest_wait(urgent: u32) -> Duration {
    HANDLING.cost * (1 + Quotas::default().bulk.get() + urgent)
}

#[test]
fn sa_responses_and_port_events_are_handled_in_time_during_a_flood() {
    let core = Config { path_service_ids: ServiceIds::All, ..Config::default() };
    let mut world = World::new(WorldConfig { core, handling: Some(HANDLING), ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.delay = SA_DELAY;
    let remote = world.remote_host(1);
    // 50 requests per millisecond at each of eight queue pairs: four times the node's speed.
    more_listeners(&mut world, 7);
    let (mut pending, mut delays): (Vec<(Time, Client)>, Vec<Duration>) = (Vec::new(), Vec::new());
    let mut moved: Vec<(Time, Lid)> = Vec::new();
    for ms in 0..300 {
        flood(&mut world, remote, ms, 50);
        if ms % 10 == 5 {
            let record = PathRecord {
                dlid: world.port(1).lid,
                service_id: ib_mad::ServiceId::new(ms + 1),
                ..PathRecord::default()
            };
            let client = world.request_as(0, Account::User(1), &path_request(&record, EntryFlags::empty(), [1; 8]));
            pending.push((world.now(), client));
        }
        if ms % 50 == 20 {
            let lid = Lid::new(300 + ms as u16);
            let mut port = world.port(0).clone();
            port.lid = lid;
            world.subnet.set_port(World::port_id(0), port).unwrap();
            moved.push((world.now(), lid));
        }
        let until = world.now() + Duration::from_millis(1);
        while world.now() < until {
            if world.next_time().is_none_or(|at| at > until) {
                world.run_until(until);
            } else {
                world.step();
            }
            pending.retain(|(at, client)| match world.path(*client) {
                None => true,
                Some(path) => {
                    assert!(path.is_ok());
                    delays.push(world.now().since(*at));
                    false
                }
            });
        }
    }
    assert_eq!((delays.len(), pending.len()), (30, 0));
    let slowest = *delays.iter().max().unwrap();
    let up = |lid: Lid| {
        world.transcript.iter().find_map(|(at, node, output)| match output {
            Output::Log(Event::PortUp(_, new)) if *node == 0 && *new == lid => Some(*at),
            _ => None,
        })
    };
    let events: Vec<Duration> = moved.iter().map(|(at, lid)| up(*lid).unwrap().since(*at)).collect();
    let latest = *events.iter().max().unwrap();
    println!(
        "120,000 datagrams in 300 ms, {} lost: SA answers within {slowest:?} (the SA takes {SA_DELAY:?}), port events \
         within {latest:?}",
        world.lost(0)
    );
    assert!(world.lost(0) > 80_000, "most datagrams are lost");
    assert!(slowest <= SA_DELAY + longest_wait(2), "{slowest:?}");
    assert!(latest <= longest_wait(2), "{latest:?}");
    assert!(slowest < world.node(0).acm.config().timeout && latest < Duration::from_millis(100));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn flood_is_handled_at_full_speed() {
    let mut world = World::new(WorldConfig { handling: Some(HANDLING), ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    let remote = world.remote_host(1);
    for ms in 0..50 {
        flood(&mut world, remote, ms, 200);
        world.run_for(Duration::from_millis(1));
    }
    // Before the last burst, the node handled 100 events in each of 49 ms. Of the last burst, one event is handled at
    // once and the receive queue is filled.
    assert_eq!(world.lost(0), 50 * 200 - 49 * 100 - 1 - HANDLING.receive_depth as u64);
}
