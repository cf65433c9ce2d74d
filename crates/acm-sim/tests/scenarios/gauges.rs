//! What a dashboard draws: how much there is of everything now.
use acm_sansio::{
    Account, Config, Input, PortId,
    account::AccountKind,
    api::{GaugeScope, Waiting},
    config::SaDepth,
};
use acm_sim::{World, WorldConfig, dead, name};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request},
};
use core::{net::Ipv4Addr, time::Duration};
use ib_mad::{Pkey, sa::PathRecord};
use std::collections::BTreeMap;

const PORT: GaugeScope = GaugeScope::Port(PortId(0));
const ENDPOINT: GaugeScope = GaugeScope::Endpoint(PortId(0), Pkey::DEFAULT_FULL);

/// The gauges of node 0.
fn gauges(world: &World) -> BTreeMap<(&'static str, GaugeScope), usize> {
    let mut all = BTreeMap::new();
    world.node(0).acm.each_gauge(&mut |name, of, value| {
        assert_eq!(all.insert((name, of), value), None, "{name} of {of:?} is told once");
    });
    all
}

fn held(world: &World, kind: AccountKind) -> [usize; 4] {
    let all = gauges(world);
    ["accounts", "clients", "requests_waiting", "lookups"].map(|name| all[&(name, GaugeScope::Account(kind))])
}

/// A world at rest in which subnet administration and peers take a while from now on.
fn world(core: Config) -> World {
    let mut world = World::new(WorldConfig { core, nodes: 3, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().faults.delay = Duration::from_millis(100);
    world.subnet.settings_mut().sa.delay = Duration::from_millis(300);
    world
}

#[test]
fn at_rest_there_is_a_port_with_its_groups_and_addresses_and_nothing_else() {
    let world = world(Config::default());
    let wanted = gauges(&world)[&("groups_wanted", ENDPOINT)];
    let mut there: Vec<_> = gauges(&world).into_iter().filter(|(_, value)| *value > 0).collect();
    there.retain(|((name, _), _)| *name != "sa_depth");
    let expected = [
        // Its own three addresses.
        (("destinations", GaugeScope::State("ready")), 3),
        (("endpoint_open", ENDPOINT), 1),
        (("groups_joined", ENDPOINT), wanted),
        (("groups_wanted", ENDPOINT), wanted),
        (("port_active", PORT), 1),
    ];
    assert_eq!(there, expected);
}

#[test]
fn a_port_that_is_down_is_there_and_in_no_group() {
    let mut world = world(Config::default());
    world.input(0, Input::PortDown(PortId(0)));
    let all = gauges(&world);
    assert_eq!((all[&("port_active", PORT)], all.get(&("groups_joined", ENDPOINT)).copied().unwrap_or(0)), (0, 0));
}

#[test]
fn each_account_that_holds_something_counts_once() {
    let mut world = world(Config::default());
    for kind in AccountKind::ALL {
        assert_eq!(held(&world, kind), [0; 4], "{kind:?}");
    }
    // One user waits for two names with two connections, another one says nothing, and so does a peer.
    for number in 0..2 {
        world.ask_as(0, Account::User(1), &dead(number, EntryFlags::empty()));
    }
    world.connect(0, Account::User(2));
    world.connect(0, Account::Peer(Ipv4Addr::LOCALHOST.into()));
    // What is asked for with NODELAY is a lookup for which no request waits, and nobody is connected any more.
    let ask = world.ask_as(0, Account::User(3), &dead(2, EntryFlags::NO_DELAY));
    world.hang_up(ask);
    // A stranger's name: the way back to it is looked for.
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &Address::from_text("stranger"), &name(0));
    world.run_for(Duration::from_millis(150));
    assert_eq!(held(&world, AccountKind::User), [3, 3, 2, 3]);
    assert_eq!(held(&world, AccountKind::Peer), [1, 1, 0, 0]);
    assert_eq!(held(&world, AccountKind::Remote), [1, 0, 0, 1]);
    assert_eq!(held(&world, AccountKind::Kernel), [0; 4]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn what_waits_at_an_endpoint_and_at_subnet_administration() {
    let mut world = world(Config { resolve_depth: 1, sa_depth: SaDepth::Fixed(1), ..Config::default() });
    let waits = |world: &World, name, who| {
        let all = gauges(world);
        all.get(&(name, GaugeScope::EndpointQueue(PortId(0), Pkey::DEFAULT_FULL, who)))
            .or_else(|| all.get(&(name, GaugeScope::PortQueue(PortId(0), who))))
            .copied()
    };
    for number in 0..3 {
        world.ask(0, &dead(number, EntryFlags::empty()));
    }
    assert_eq!(gauges(&world)[&("multicast_in_flight", ENDPOINT)], 1);
    assert_eq!(waits(&world, "multicast_waiting", Waiting::Local), Some(2));
    assert_eq!(waits(&world, "multicast_waiting", Waiting::Remote), Some(0));
    assert_eq!(gauges(&world)[&("destinations", GaugeScope::State("asking"))], 3);
    for number in 1..=2 {
        let wanted = PathRecord { dlid: world.port(number).lid, ..PathRecord::default() };
        world.ask(0, &path_request(&wanted, EntryFlags::empty(), [1; 8]));
    }
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &Address::from_text("stranger"), &name(0));
    assert_eq!((gauges(&world)[&("sa_in_flight", PORT)], gauges(&world)[&("sa_depth", PORT)]), (1, 1));
    assert_eq!(waits(&world, "sa_waiting", Waiting::Local), Some(1));
    assert_eq!(gauges(&world)[&("destinations", GaugeScope::State("routing"))], 2);
    // It comes after a while, as everything does here.
    world.run_for(Duration::from_millis(100));
    assert_eq!(waits(&world, "sa_waiting", Waiting::Remote), Some(1));
    assert_eq!(gauges(&world)[&("joins_waiting", PORT)], 0);
}
