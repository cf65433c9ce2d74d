//! A flood of the multicast group starves neither answers of subnet administration nor events of ports.
use acm_sansio::{Account, Config, Event, Output, Time, config::ServiceIds, turns::Quotas};
use acm_sim::{Ask, Handling, Stranger, World, WorldConfig};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request},
};
use core::time::Duration;
use ib_mad::{Lid, Qkey, sa::PathRecord};

/// A node handles 100,000 events a second.
const HANDLING: Handling = Handling { cost: Duration::from_micros(10), receive_depth: 512 };
/// Subnet administration's time for an answer.
const ANSWER: Duration = Duration::from_micros(500);

/// So many requests come in one instant.
fn flood(world: &mut World, from: Stranger, ms: u64, count: u64) {
    for number in ms * count..(ms + 1) * count {
        let source = Address::from_text(&format!("flood{}", number % 5000));
        world.forge_request(from, 0, number, &source, &Address::from_text("nobody"));
    }
}

/// Other queue pairs of node 0 that hear the group, as those of other partitions would.
fn more_listeners(world: &mut World, count: u32) {
    let (mgid, _) = world.group();
    for _ in 0..count {
        let qp = world.subnet.create_qp(World::port_id(0), Qkey::GSI, 0).unwrap();
        world.subnet.attach(qp, mgid).unwrap();
    }
}

/// The longest that an urgent event waits: what is being handled, one quota of datagrams, and those urgent ones that
/// came before it.
fn longest(urgent: u32) -> Duration {
    HANDLING.cost * (1 + Quotas::default().bulk.get() + urgent)
}

#[test]
fn answers_and_port_events_come_through_a_flood() {
    let core = Config { path_service_ids: ServiceIds::All, ..Config::default() };
    let mut world = World::new(WorldConfig { core, handling: Some(HANDLING), ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.delay = ANSWER;
    let stranger = world.stranger(1);
    // 50 requests a millisecond at each of eight queue pairs: four times what can be handled.
    more_listeners(&mut world, 7);
    let (mut asked, mut answers): (Vec<(Time, Ask)>, Vec<Duration>) = (Vec::new(), Vec::new());
    let mut moved: Vec<(Time, Lid)> = Vec::new();
    for ms in 0..300 {
        flood(&mut world, stranger, ms, 50);
        if ms % 10 == 5 {
            let wanted = PathRecord {
                dlid: world.port(1).lid,
                service_id: ib_mad::ServiceId::new(ms + 1),
                ..PathRecord::default()
            };
            let ask = world.ask_as(0, Account::User(1), &path_request(&wanted, EntryFlags::empty(), [1; 8]));
            asked.push((world.now(), ask));
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
            asked.retain(|(at, ask)| match world.path(*ask) {
                None => true,
                Some(path) => {
                    assert!(path.is_ok());
                    answers.push(world.now().since(*at));
                    false
                }
            });
        }
    }
    assert_eq!((answers.len(), asked.len()), (30, 0));
    let slowest = *answers.iter().max().unwrap();
    let up = |lid: Lid| {
        world.transcript.iter().find_map(|(at, node, output)| match output {
            Output::Log(Event::PortUp(_, new)) if *node == 0 && *new == lid => Some(*at),
            _ => None,
        })
    };
    let events: Vec<Duration> = moved.iter().map(|(at, lid)| up(*lid).unwrap().since(*at)).collect();
    let latest = *events.iter().max().unwrap();
    println!(
        "120,000 datagrams in 300 ms, {} lost: SA answers within {slowest:?} (the SA takes {ANSWER:?}), port events \
         within {latest:?}",
        world.lost(0)
    );
    assert!(world.lost(0) > 80_000, "it is a flood");
    assert!(slowest <= ANSWER + longest(2), "{slowest:?}");
    assert!(latest <= longest(2), "{latest:?}");
    assert!(slowest < world.node(0).acm.config().timeout && latest < Duration::from_millis(100));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The flood itself is handled as fast as the node can: it is not starved either.
#[test]
fn a_flood_is_handled_as_fast_as_it_can_be() {
    let mut world = World::new(WorldConfig { handling: Some(HANDLING), ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    let stranger = world.stranger(1);
    for ms in 0..50 {
        flood(&mut world, stranger, ms, 200);
        world.run_for(Duration::from_millis(1));
    }
    // When the last burst came, 49 ms were used to the full, 100 events each; of that burst one is begun at once, and as
    // many as fit wait.
    assert_eq!(world.lost(0), 50 * 200 - 49 * 100 - 1 - HANDLING.receive_depth as u64);
}
