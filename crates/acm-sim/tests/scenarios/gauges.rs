//! Gauges: the current numbers of ports, groups, destinations, clients, lookups and queued requests.
use acm_sansio::{
    Account, Config, Input, PortId,
    account::AccountKind,
    api::{GaugeScope, Waiting},
    config::Depth,
};
use acm_sim::{World, WorldConfig, name, unknown_name_request};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request},
};
use core::{net::Ipv4Addr, time::Duration};
use ib_mad::{Pkey, sa::PathRecord};
use std::collections::BTreeMap;

const PORT: GaugeScope = GaugeScope::Port(PortId(0));
const ENDPOINT: GaugeScope = GaugeScope::Endpoint(PortId(0), Pkey::DEFAULT_FULL);

/// Returns the gauges of node 0.
fn gauges(world: &World) -> BTreeMap<(&'static str, GaugeScope), usize> {
    let mut all = BTreeMap::new();
    world.node(0).acm.each_gauge(&mut |name, of, value| {
        assert_eq!(all.insert((name, of), value), None, "{name} of {of:?} is reported once");
    });
    all
}

fn held(world: &World, kind: AccountKind) -> [usize; 4] {
    let all = gauges(world);
    ["accounts", "clients", "requests_waiting", "lookups"].map(|name| all[&(name, GaugeScope::Account(kind))])
}

/// Returns an idle world in which further datagrams take 100 ms and subnet administration takes 300 ms.
fn world(core: Config) -> World {
    let mut world = World::new(WorldConfig { core, nodes: 3, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().faults.delay = Duration::from_millis(100);
    world.subnet.settings_mut().sa.delay = Duration::from_millis(300);
    world
}

#[test]
fn gauges_of_an_idle_node_count_its_port_groups_and_addresses() {
    let world = world(Config::default());
    let groups = gauges(&world)[&("groups_wanted", ENDPOINT)];
    let mut non_zero: Vec<_> = gauges(&world).into_iter().filter(|(_, value)| *value > 0).collect();
    non_zero.retain(|((name, _), _)| !["sa_depth", "multicast_depth"].contains(name));
    let expected = [
        (("addresses_served", GaugeScope::Daemon), 3),
        // The three local addresses.
        (("destinations", GaugeScope::State("ready")), 3),
        (("endpoint_open", ENDPOINT), 1),
        (("groups_joined", ENDPOINT), groups),
        (("groups_wanted", ENDPOINT), groups),
        (("port_active", PORT), 1),
    ];
    assert_eq!(non_zero, expected);
}

#[test]
fn gauges_of_a_port_that_is_down_are_zero() {
    let mut world = world(Config::default());
    world.input(0, Input::PortDown(PortId(0)));
    let all = gauges(&world);
    assert_eq!((all[&("port_active", PORT)], all.get(&("groups_joined", ENDPOINT)).copied().unwrap_or(0)), (0, 0));
}

#[test]
fn gauges_count_each_account_with_connections_or_lookups_once() {
    let mut world = world(Config::default());
    for kind in AccountKind::ALL {
        assert_eq!(held(&world, kind), [0; 4], "{kind:?}");
    }
    // User 1 waits for two names on two connections. User 2 and a TCP peer are connected and idle.
    for number in 0..2 {
        world.request_as(0, Account::User(1), &unknown_name_request(number, EntryFlags::empty()));
    }
    world.connect(0, Account::User(2));
    world.connect(0, Account::Peer(Ipv4Addr::LOCALHOST.into()));
    // User 3 starts a lookup with NODELAY and disconnects.
    let client = world.request_as(0, Account::User(3), &unknown_name_request(2, EntryFlags::NO_DELAY));
    world.disconnect(client);
    // A remote host sends a request, which needs a route back.
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &Address::from_text("stranger"), &name(0));
    world.run_for(Duration::from_millis(150));
    assert_eq!(held(&world, AccountKind::User), [3, 3, 2, 3]);
    assert_eq!(held(&world, AccountKind::Peer), [1, 1, 0, 0]);
    assert_eq!(held(&world, AccountKind::Remote), [1, 0, 0, 1]);
    assert_eq!(held(&world, AccountKind::Kernel), [0; 4]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn gauges_count_queued_requests_of_endpoints_and_ports() {
    let mut world = world(Config { resolve_depth: Depth::Fixed(1), sa_depth: Depth::Fixed(1), ..Config::default() });
    let queued = |world: &World, name, waiting| {
        let all = gauges(world);
        all.get(&(name, GaugeScope::EndpointQueue(PortId(0), Pkey::DEFAULT_FULL, waiting)))
            .or_else(|| all.get(&(name, GaugeScope::PortQueue(PortId(0), waiting))))
            .copied()
    };
    for number in 0..3 {
        world.request(0, &unknown_name_request(number, EntryFlags::empty()));
    }
    assert_eq!(gauges(&world)[&("multicast_in_flight", ENDPOINT)], 1);
    assert_eq!(queued(&world, "multicast_waiting", Waiting::Local), Some(2));
    assert_eq!(queued(&world, "multicast_waiting", Waiting::Remote), Some(0));
    assert_eq!(gauges(&world)[&("destinations", GaugeScope::State("asking"))], 3);
    for number in 1..=2 {
        let record = PathRecord { dlid: world.port(number).lid, ..PathRecord::default() };
        world.request(0, &path_request(&record, EntryFlags::empty(), [1; 8]));
    }
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &Address::from_text("stranger"), &name(0));
    assert_eq!((gauges(&world)[&("sa_in_flight", PORT)], gauges(&world)[&("sa_depth", PORT)]), (1, 1));
    assert_eq!(queued(&world, "sa_waiting", Waiting::Local), Some(1));
    assert_eq!(gauges(&world)[&("destinations", GaugeScope::State("routing"))], 2);
    // The datagram of the remote host takes 100 ms.
    world.run_for(Duration::from_millis(100));
    assert_eq!(queued(&world, "sa_waiting", Waiting::Remote), Some(1));
    assert_eq!(gauges(&world)[&("joins_waiting", PORT)], 0);
}
