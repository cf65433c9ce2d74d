//! Lookups by name and address: retries, unknown names, NODELAY, groups, and requests of peers.
use acm_sansio::{
    Config,
    config::{Depth, Limits},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, EntryFlags, resolve_request},
};
use core::time::Duration;

/// (retries + 1) x (timeout + 2^(18 - 8) ms).
const SILENCE: Duration = Duration::from_millis(3 * (2000 + 1024));

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

// docs/deviations.md: gid-as-name
#[test]
fn gid_or_lid_as_an_address_is_refused() {
    let mut world = World::new(WorldConfig::default());
    let port = world.port(1).clone();
    // The cache has both as the location of a name.
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    for dest in [Address::Gid(port.gids[0]), Address::Lid(port.lid)] {
        assert_eq!(world.resolve(0, &name(0), &dest), Err(ClientStatus::ENODATA), "{dest}");
    }
}

#[test]
fn names_and_ip_addresses_are_resolved() {
    let mut world = World::new(WorldConfig::default());
    let (from, to) = (World::addresses(0), World::addresses(1));
    for (source, dest) in from.iter().zip(&to) {
        let path = world.resolve(0, source, dest).unwrap();
        assert_eq!((path.dlid, path.dgid), (world.port(1).lid, world.port(1).gids[0]), "{dest}");
        assert_eq!((path.slid, path.sgid), (world.port(0).lid, world.port(0).gids[0]), "{dest}");
    }
    // Without a source, the routing table selects one, and the response has it.
    let client = world.request(0, &resolve_request(None, &to[1], EntryFlags::empty(), [1; 8]));
    assert!(world.wait(client).is_ok());
    assert_eq!(world.response(client).unwrap().len(), 160);
    assert_eq!(world.response(client).unwrap()[96..100], [10, 0, 0, 1]);
}

#[test]
fn two_nodes_that_resolve_each_other_at_once_need_no_time_out() {
    for seed in 0..20 {
        let mut world = World::new(WorldConfig { seed, ..WorldConfig::default() });
        world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
        let clients = [(0, 1), (1, 0)].map(|(from, to)| {
            world.request(from as usize, &resolve_request(Some(&name(from)), &name(to), EntryFlags::empty(), [1; 8]))
        });
        for (client, to) in clients.into_iter().zip([1, 0]) {
            assert_eq!(world.wait(client).unwrap().dlid, world.port(to).lid);
        }
        assert!(world.now().since_start() < Duration::from_millis(200), "without a time-out: {}", world.now());
    }
}

#[test]
fn unknown_name_times_out_after_all_retries() {
    let mut world = World::new(WorldConfig::default());
    let start = world.now();
    assert_eq!(world.resolve(0, &name(0), &Address::from_text("nobody")), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.now().since(start), SILENCE);
    let counters = world.node(0).acm.counters();
    assert_eq!((counters.get(Counter::AddrQuery), counters.get(Counter::Error)), (1, 1));
}

#[test]
fn unknown_names_delay_a_known_name_by_4_ms_each() {
    let core = Config { resolve_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let start = world.now();
    let unknown: Vec<_> = (0..5)
        .map(|number| {
            let dest = Address::from_text(&format!("dead{number}"));
            world.request(0, &resolve_request(Some(&name(0)), &dest, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    // Each unknown name holds the only credit for 4 ms, until a response is unlikely.
    assert_eq!(world.now().since(start), Duration::from_millis(5 * 4));
    for client in unknown {
        assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    }
}

#[test]
fn requests_for_one_name_share_one_lookup() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let clients: Vec<_> = (0..50)
        .map(|_| world.request(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8])))
        .collect();
    for client in clients {
        assert!(world.wait(client).is_ok());
    }
    let counters = world.node(0).acm.counters();
    assert_eq!(counters.get(Counter::AddrQuery), 1);
    assert_eq!(counters.get(Counter::RouteQuery), 1);
    assert_eq!(counters.get(Counter::Resolve), 50);
}

#[test]
fn nodelay_request_fails_at_once_and_starts_a_lookup() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let message = resolve_request(Some(&name(0)), &name(1), EntryFlags::NO_DELAY, [1; 8]);
    let client = world.request(0, &message);
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENODATA)));
    world.run_for(Duration::from_millis(100));
    let client = world.request(0, &message);
    assert_eq!(world.path(client).unwrap().unwrap().dlid, world.port(1).lid);
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteCache), 1);
}

#[test]
fn requests_of_a_closed_client_are_dropped() {
    let mut world = World::new(WorldConfig::default());
    let client =
        world.request(0, &resolve_request(Some(&name(0)), &Address::from_text("nobody"), EntryFlags::empty(), [1; 8]));
    world.input(0, acm_sansio::Input::ClientClosed(acm_sansio::ClientId::new(0, 0)));
    world.run_for(SILENCE);
    assert_eq!(world.response(client), None);
    assert_eq!(world.stat(0, "requests_abandoned"), 1);
}

#[test]
fn nodes_with_different_base_groups_do_not_find_each_other() {
    let other = Config { min_rate: ib_mad::Rate::GBPS_20, ..Config::default() };
    let mut world = World::new(WorldConfig { special: vec![(1, other)], ..WorldConfig::default() });
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
}

/// The request lists only groups that the receiver has not joined, so the receiver does not cache the sender either.
#[test]
fn request_without_a_shared_group_gets_no_response() {
    use acm_wire::multicast;
    use ib_mad::{Qkey, TransactionId, acm::group_mgid};
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let base = group_mgid(ib_mad::Pkey::DEFAULT_FULL, 0, ib_mad::Rate::GBPS_10, ib_mad::Mtu::B2048);
    let group = world.subnet.group(base).unwrap().clone();
    let foreign = group_mgid(ib_mad::Pkey::DEFAULT_FULL, 0, ib_mad::Rate::GBPS_400, ib_mad::Mtu::B4096);
    let mad = multicast::request(TransactionId::new(9), &name(1), &name(2), &[foreign]);
    let qp = world.subnet.create_qp(World::port_id(2), Qkey::GSI, 0).unwrap();
    let datagram = ib_sim::Datagram::multicast(group.mlid, base, Qkey::GSI, ib_mad::as_bytes(&mad));
    world.subnet.send_datagram(world.now().since_start(), qp, &datagram).unwrap();
    world.settle();
    assert_eq!(world.stat(1, "no_shared_group"), 1);
    assert_eq!(world.stat(0, "no_shared_group"), 1);
    assert!(world.subnet.poll_event().is_none(), "no response");
    // The request was not cached as a route to node3: the next lookup sends a multicast request.
    assert!(world.resolve(1, &name(1), &name(2)).is_ok());
    assert_eq!(world.node(1).acm.counters().get(Counter::AddrQuery), 1);
}

/// The second request arrives while the route back to the peer is looked up.
#[test]
fn each_request_of_a_peer_gets_one_response() {
    use acm_sansio::Output;
    use acm_wire::multicast;
    use ib_mad::{Method, Qkey, TransactionId};
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let group = world.subnet.groups().next().unwrap().clone();
    let qp = world.subnet.create_qp(World::port_id(2), Qkey::GSI, 0).unwrap();
    // The network duplicates the second request.
    for (tid, address) in [(1, 0), (2, 1), (2, 1)] {
        let dest = World::addresses(1)[address];
        let mad = multicast::request(TransactionId::new(tid), &dest, &name(2), &[group.mgid]);
        let datagram = ib_sim::Datagram::multicast(group.mlid, group.mgid, Qkey::GSI, ib_mad::as_bytes(&mad));
        world.subnet.send_datagram(world.now().since_start(), qp, &datagram).unwrap();
        world.settle();
    }
    world.run_for(Duration::from_secs(1));
    let responses: Vec<u64> = world
        .transcript
        .iter()
        .filter_map(|(_, node, output)| match output {
            Output::Send { mad, .. } if *node == 1 && mad.method == Method::GET_RESP => Some(mad.transaction_id.get()),
            _ => None,
        })
        .collect();
    assert_eq!(responses, [1, 2]);
    assert_eq!(world.node(1).acm.counters().get(Counter::RouteQuery), 1);
}

#[test]
fn requests_of_a_peer_over_the_bound_get_no_response() {
    let limits = Limits { responders: 1, ..Limits::default() };
    let mut world = World::new(WorldConfig { core: Config { limits, ..Config::default() }, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let remote = world.remote_host(1);
    for tid in 1..=3 {
        world.forge_request(remote, 0, tid, &name(1), &name(0));
    }
    assert_eq!(world.stat(0, "responders_refused"), 2);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Sixteen is the default of `Limits::responders`.
// docs/deadlines.md: responders
#[test]
fn sixteen_requests_of_a_peer_may_wait_for_its_route() {
    use acm_sansio::Output;
    use ib_mad::Method;
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let remote = world.remote_host(1);
    for tid in 1..=17 {
        world.forge_request(remote, 0, tid, &name(1), &name(0));
        assert_eq!(world.stat(0, "responders_refused"), u64::from(tid == 17), "{tid}");
    }
    world.run_for(Duration::from_secs(1));
    let is_response = |output: &Output| matches!(output, Output::Send { mad, .. } if mad.method == Method::GET_RESP);
    let responses = world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_response(output)).count();
    assert_eq!(responses, 16);
}
