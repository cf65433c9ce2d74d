//! Ports and queue pairs that move: a local port, a peer, and claims of another LID during a refresh.
use super::shared::*;
use acm_sansio::{Config, Input, Output, PortId, Time, retry::MOVE_SLOT};
use acm_sim::{World, WorldConfig};
use acm_wire::Address;
use core::time::Duration;
use ib_mad::{AttributeId, Lid, Method};
use ib_sim::Port;

/// Paths from the old LID are invalid at once. Those in use are refreshed in the background.
#[test]
fn new_local_lid_refreshes_paths_in_use() {
    let mut world = world_with_cache(Config::default());
    set_lid(&mut world, 0, 300);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!(path.slid, Lid::new(300), "never the old LID");
    world.run_for(Duration::from_secs(3));
    let queries = path_queries(&world).len();
    let path = world.resolve(0, &name(0), &name(2)).unwrap();
    assert_eq!((path.slid, path_queries(&world).len()), (Lid::new(300), queries), "refreshed before the request");
}

/// The peer announces its addresses to the group, and nodes that use them send a path query.
// docs/deviations.md: announcement, moved-peer
#[test]
fn new_lid_of_a_peer_is_cached_within_five_seconds() {
    let mut world = world_with_cache(Config::default());
    set_lid(&mut world, 1, 200);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.stat(1, "announcements"), 3, "name, IPv4 and IPv6 address, once each");
    assert_eq!(cached(&mut world, 1), Lid::new(200));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "announcements")), (1, 0));
    // A peer with frequent LID changes announces its addresses every two to four seconds.
    for lid in 0..100 {
        set_lid(&mut world, 1, 1000 + lid);
        world.run_for(Duration::from_millis(100));
    }
    world.run_for(Duration::from_secs(10));
    assert!((12..=21).contains(&world.stat(1, "announcements")), "{}", world.stat(1, "announcements"));
    assert_eq!(cached(&mut world, 1), Lid::new(1099));
}

/// Both LIDs change at the same time. The path that node 0 refreshes also gives the new LID of the peer, and the
/// response to the peer is sent there.
#[test]
fn two_nodes_with_new_lids_find_each_other() {
    for notices in [true, false] {
        let mut world = world_with_cache(Config { sa_notices: notices, ..Config::default() });
        let lids = [300, 301].map(Lid::new);
        for (node, lid) in lids.into_iter().enumerate() {
            let port = Port { lid, ..world.port(node).clone() };
            world.subnet.set_port(World::port_id(node), port).unwrap();
        }
        world.settle();
        assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, lids[1]);
        world.run_for(Duration::from_secs(10));
        // The new address has not been announced, so the peer sends a multicast request.
        let late = Address::from_text("late");
        world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: late });
        let start = world.now();
        let path = world.resolve(1, &name(1), &late).unwrap();
        assert_eq!((path.slid, path.dlid), (lids[1], lids[0]));
        assert!(world.now().since(start) < Duration::from_secs(1), "the first response arrives");
    }
}

/// The endpoint closes with its last address. Peers may have the location of its queue pair in their caches.
#[test]
fn address_that_returns_with_a_new_endpoint_is_announced() {
    let mut world = world_with_cache(Config::default());
    let (port, pkey) = (PortId(0), None);
    let addresses = World::addresses(1);
    addresses.iter().for_each(|address| world.input(1, Input::AddressRemoved { port, pkey, address: *address }));
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.stat(1, "announcements"), 0);
    world.input(1, Input::AddressAdded { port, pkey, address: addresses[0] });
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.stat(1, "announcements"), 1);
}

/// A response to the old queue pair would be lost.
// docs/deviations.md: announcement
#[test]
fn peer_announces_its_new_queue_pair() {
    let mut world = world_with_cache(Config::default());
    let queries = path_queries(&world).len();
    world.lose_endpoints(1);
    let qpn = world.qpn(1);
    world.run_for(Duration::from_secs(5));
    assert_eq!(path_queries(&world).len(), queries + 1, "the path in use is refreshed");
    assert_eq!((world.stat(1, "announcements"), world.stat(0, "announcements")), (3, 0));
    let before = world.transcript.len();
    assert!(world.resolve(1, &World::addresses(1)[1], &World::addresses(0)[1]).is_ok());
    let responses = world.transcript[before..].iter().filter_map(|(_, node, output)| match output {
        Output::Send { to, mad, .. } if *node == 0 && mad.method == Method::GET_RESP => Some(to.qpn),
        _ => None,
    });
    assert!(responses.eq([qpn]));
}

/// Another port claims the peer's GID and name. Each `timeout`, claims cause at most two path queries: for the name,
/// and for the GID that a response goes to. The path leads to the peer, which asked nothing: it gets no response.
// docs/deviations.md: moved-peer
#[test]
fn forged_lid_change_causes_path_queries_and_changes_no_path() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    let remote = world.remote_host(2);
    let mut port = world.port(2).clone();
    port.gids = world.port(1).gids.clone();
    world.subnet.set_port(World::port_id(2), port).unwrap();
    world.run_for(Duration::from_secs(10));
    let (lid, start, queries) = (world.port(1).lid, world.now(), path_queries(&world).len());
    let since = world.transcript.len();
    let claims = |world: &World| ["claims_confirmed", "claims_refuted"].map(|name| world.stat(0, name));
    let [confirmed, refuted] = claims(&world);
    for tid in 0..1000 {
        let dest = if tid % 2 == 0 { name(0) } else { name(1) };
        world.forge_request(remote, 0, tid, &name(1), &dest);
        world.run_for(Duration::from_millis(10));
        assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, lid);
    }
    let seconds = world.now().since(start).as_secs();
    let queries = path_queries(&world).len() - queries;
    // One for each second, and the confirmations of two paths in use.
    assert!((1..=14).contains(&queries), "{queries} in {seconds} s");
    let [confirmed_then, refuted_then] = claims(&world);
    assert_eq!((confirmed_then - confirmed, refuted_then > refuted), (0, true));
    let is_response = |output: &Output| matches!(output, Output::Send { mad, .. } if mad.method == Method::GET_RESP);
    assert!(!world.transcript[since..].iter().any(|(_, node, output)| *node == 0 && is_response(output)));
}

/// The peer's LID changes while its path is being refreshed. The query is then charged to remote hosts, too.
#[test]
fn request_from_a_new_lid_shares_the_pending_path_query() {
    let core = Config { route_timeout: Some(16 * MINUTE), sa_notices: false, ..Config::default() };
    let mut world = world_with_cache(core);
    cached(&mut world, 1);
    world.run_for(11 * MINUTE);
    world.subnet.settings_mut().sa.mute = true;
    let queries = path_queries(&world).len();
    let is_pending = |world: &World| path_queries(world).len() > queries;
    for _ in 0..4 * 600 {
        if !is_pending(&world) {
            world.run_for(Duration::from_millis(100));
        }
    }
    assert!(is_pending(&world), "a query is pending");
    set_lid(&mut world, 1, 77);
    let remote = world.remote_host(1);
    for _ in 0..20 {
        world.forge_request(remote, 0, 5, &name(1), &name(0));
        world.run_for(Duration::from_millis(500));
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(2 * MINUTE);
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, Lid::new(77));
}

/// Each node that uses the peer has a slot of 10 ms by its LID.
// docs/deviations.md: moved-peer
#[test]
fn nodes_refresh_the_path_to_a_peer_that_moved_in_different_slots() {
    const NODES: usize = 40;
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 40, core, ..WorldConfig::default() });
    for _ in 0..2 {
        for node in 1..NODES {
            world.resolve(node, &World::addresses(u32::try_from(node).unwrap())[0], &name(0)).unwrap();
        }
    }
    world.run_for(Duration::from_secs(10));
    let since = world.transcript.len();
    set_lid(&mut world, 0, 200);
    world.run_for(Duration::from_secs(5));
    let mut times: Vec<Time> = world.transcript[since..]
        .iter()
        .filter(|(_, node, output)| {
            *node > 0
                && matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD)
        })
        .map(|(at, ..)| *at)
        .collect();
    times.sort();
    assert_eq!(times.len(), NODES - 1);
    assert!(times.windows(2).all(|two| two[1].since(two[0]) >= MOVE_SLOT), "{times:?}");
}

/// A claim of another LID arrives while a unicast request to the peer is pending. The peer's response shows where it
/// is, so that the claim is not checked at once.
#[test]
fn claim_during_a_refresh_is_ignored() {
    let core = Config { addr_timeout: Some(16 * MINUTE), sa_notices: false, ..Config::default() };
    let mut world = world_with_cache(core);
    let remote = world.remote_host(2);
    let mut port = world.port(2).clone();
    port.gids = world.port(1).gids.clone();
    world.subnet.set_port(World::port_id(2), port).unwrap();
    world.run_for(Duration::from_secs(10));
    let lid = cached(&mut world, 1);
    world.subnet.settings_mut().sa.delay = Duration::from_secs(1);
    // The claim arrives before the peer's response.
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let (before, peer) = (world.transcript.len(), world.qpn(1));
    let probe = |(_, node, output): &(Time, usize, Output)| {
        *node == 0 && matches!(output, Output::Send { to, mad, .. } if mad.method == Method::GET && to.qpn == peer)
    };
    while !world.transcript[before..].iter().any(probe) {
        assert!(world.step());
    }
    let (queries, checked) = (path_queries(&world).len(), world.stat(0, "claims_checked"));
    world.forge_request(remote, 0, 7, &name(1), &name(1));
    world.run_for(Duration::from_millis(500));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (checked, 1));
    assert_eq!(path_queries(&world).len(), queries + 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.run_for(Duration::from_secs(5));
    assert_eq!((path_queries(&world).len(), world.node(0).acm.check()), (queries + 1, Ok(())));
    assert_eq!(cached(&mut world, 1), lid);
}

#[test]
fn address_that_becomes_local_is_not_refreshed() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    let queries = path_queries(&world).len();
    world.subnet.restart_sm(None);
    // The address is queued for refresh.
    world.run_for(Duration::from_millis(20));
    assert_eq!(path_queries(&world).len(), queries);
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    world.run_for(Duration::from_secs(3));
    assert_eq!(path_queries(&world).len(), queries + 1, "for the other peer");
    assert_eq!(cached(&mut world, 1), world.port(0).lid);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}
