//! Whose turn it is: dead names, floods of routes and made-up sources hold nobody else up.
use acm_sansio::{
    Account, Config, EndpointId, Input, Output, Time,
    api::{DatagramSource, SaSend},
    config::SaDepth,
};
use acm_sim::{Ask, World, WorldConfig, dead, name};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, RequestBuffer, path_request, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Gid, Lid, Qpn, TransactionId, sa::PathRecord};

const HOG: Account = Account::User(1);
const OTHER: Account = Account::User(2);
/// How long a credit is held for a dead name while no round trip is known.
const CREDIT: Duration = Duration::from_millis(10);

fn live(node: u32) -> RequestBuffer {
    resolve_request(Some(&name(0)), &name(node), EntryFlags::empty(), [1; 8])
}

/// A route that nobody asked for before: the traffic class makes it one of its own.
fn route(world: &World, traffic_class: u8) -> RequestBuffer {
    let wanted = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
    path_request(&wanted, EntryFlags::empty(), [1; 8])
}

/// How long it took until the answer came, which must be a path.
fn time_of(world: &mut World, ask: Ask, asked: Time) -> Duration {
    assert!(world.wait(ask).is_ok());
    world.now().since(asked)
}

fn sa_sends(world: &World, since: usize) -> Vec<(Time, SaSend)> {
    let of = |(at, node, output): &(Time, usize, Output)| match output {
        Output::SaSend(send) if *node == 0 => Some((*at, *send)),
        _ => None,
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

/// Users take turns: of a hundred dead names of one, a single one goes before another user's live name.
#[test]
fn a_live_name_waits_for_two_credits_at_most() {
    let mut world = World::new(WorldConfig::default());
    let all: Vec<_> = (0..100).map(|number| world.ask_as(0, HOG, &dead(number, EntryFlags::empty()))).collect();
    let asked = world.now();
    let ask = world.ask_as(0, OTHER, &live(1));
    // One dead name holds the credit, and the next one was in line before.
    assert_eq!(time_of(&mut world, ask, asked), 2 * CREDIT);
    for ask in all {
        assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    }
}

/// With all defaults: dead names asked with NODELAY by a user who then leaves. 20 of them made another user's first
/// lookup of a live name wait for 30 s once, 2,000 for more than a minute.
#[test]
fn dead_names_of_a_user_who_left_cost_another_less_than_50_ms() {
    for count in [20, 2000] {
        let mut world = World::new(WorldConfig::default());
        let hog = world.connect(0, HOG);
        for number in 0..count {
            world.say(hog, &dead(number, EntryFlags::NO_DELAY));
            assert_eq!(world.path(hog), Some(Err(ClientStatus::ENODATA)));
        }
        world.hang_up(hog);
        let asked = world.now();
        let ask = world.ask_as(0, OTHER, &live(1));
        let took = time_of(&mut world, ask, asked);
        println!("{count} dead names of a user who left: another user's live name took {took:?}");
        assert_eq!(took, 2 * CREDIT);
        assert!(took < Duration::from_millis(50));
    }
}

/// Once answers have come, a dead name holds its credit as long as those took, not for the first guess.
#[test]
fn a_credit_is_held_for_a_likely_round_trip() {
    let mut world = World::new(WorldConfig { nodes: 4, ..WorldConfig::default() });
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    // Round trips of 20 ms: 20 ms + 4 x 10 ms, then, with no variation, 20 ms + 4 x 7.5 ms.
    for node in [1, 2] {
        assert!(world.resolve(0, &name(0), &name(node)).is_ok());
    }
    world.ask_as(0, HOG, &dead(0, EntryFlags::empty()));
    let asked = world.now();
    let ask = world.ask_as(0, OTHER, &live(3));
    assert_eq!(time_of(&mut world, ask, asked), Duration::from_millis(50 + 20));
}

#[test]
fn users_take_turns_at_subnet_administration() {
    let core = Config { sa_depth: SaDepth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let asked = world.now();
    let all: Vec<_> = (1..=50).map(|class| world.ask_as(0, HOG, &route(&world, class))).collect();
    let ask = world.ask_as(0, OTHER, &route(&world, 51));
    assert_eq!(time_of(&mut world, ask, asked), Duration::from_millis(30), "one in flight, one in line before");
    for ask in &all {
        assert!(world.wait(*ask).is_ok());
    }
    assert_eq!(world.now().since(asked), Duration::from_millis(510));
}

/// Somebody who is nobody asks for an address of node 0, which costs a route back.
fn made_up(world: &mut World, number: u64) {
    let (mgid, _) = world.group();
    let from = Address::from_text(&format!("made-up{number}"));
    let mad = multicast::request(TransactionId::new(number), &name(0), &from, &[mgid]);
    let gid = Gid::from_parts(Gid::DEFAULT_PREFIX, ib_mad::Guid::new(0xbad0_0000_0000 + number));
    let source = DatagramSource { lid: Lid::new(0x4000), path_bits: 0, qpn: Qpn::of::<77>(), gid: Some(gid) };
    let payload = ib_mad::as_bytes(&mad);
    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
}

#[test]
fn strangers_have_a_quarter_of_the_credits() {
    let core = Config { sa_depth: SaDepth::Fixed(8), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let since = world.transcript.len();
    for number in 0..20 {
        made_up(&mut world, number);
    }
    assert_eq!(sa_sends(&world, since).len(), 2, "of eight credits");
    let local: Vec<_> = (1..=7).map(|class| world.ask_as(0, HOG, &route(&world, class))).collect();
    assert_eq!(sa_sends(&world, since).len(), 8, "the others are left to users");
    world.run_for(Duration::from_millis(10));
    // The seventh user's request goes before the eighteen strangers that were there first.
    let later: Vec<_> = sa_sends(&world, since).split_off(8);
    let classes: Vec<u8> =
        later.iter().map(|(_, send)| send.mad.record::<PathRecord>().unwrap().traffic_class).collect();
    assert_eq!(classes, [7, 0, 0]);
    assert!(local.iter().all(|ask| world.path(*ask).is_some() || *ask == local[6]));
}

/// 65,536 sources that do not exist: a user's lookup takes no longer than without them, or, with a single credit, one
/// round trip longer.
#[test]
fn made_up_sources_leave_a_user_its_turn_within_one_round_trip() {
    let answer = Duration::from_millis(1);
    for (sa_depth, more) in [(SaDepth::Auto, Duration::ZERO), (SaDepth::Fixed(1), answer)] {
        let core = Config { sa_depth, ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        world.subnet.settings_mut().sa.delay = answer;
        for number in 0..65_536 {
            made_up(&mut world, number);
        }
        assert_eq!(world.stat(0, "responders_refused"), 65_536 - 4096, "strangers have a bound of their own");
        let asked = world.now();
        let ask = world.ask_as(0, OTHER, &route(&world, 1));
        let took = time_of(&mut world, ask, asked);
        println!("65,536 made-up sources, {sa_depth:?}: a user's route took {took:?}, an answer {answer:?}");
        assert_eq!(took, answer + more);
    }
}
