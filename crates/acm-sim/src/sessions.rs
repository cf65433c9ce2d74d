//! The recorded sessions: scenarios of one node each, whose traces are in `testdata/traces`.
//!
//! `cargo run -p acm-sim --example record_traces` writes the traces. The test `sessions` plays each session again,
//! compares it with its trace, and replays the trace.
use crate::{World, WorldConfig, name, unknown_name_request};
use acm_sansio::{
    Account, Config, EndpointId, Input, KernelRequestId, PortId,
    api::{DatagramSource, Level},
};
use acm_wire::{
    Address,
    client::{EntryFlags, ep_request, path_request, perf_request, resolve_request},
    multicast,
};
use core::{net::IpAddr, time::Duration};
use ib_mad::{Lid, Pkey, PortState, Qpn, ServiceLevel, TransactionId, sa::PathRecord, wire::Bits as _};
use ib_sim::{Faults, Probability};

/// A session that is recorded as a trace.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// The session's name and the stem of its trace's file name.
    pub name: &'static str,
    /// A description of the events in the session.
    pub description: &'static str,
    play: fn() -> World,
}

impl Session {
    /// Plays the session and returns the trace of its first node.
    #[must_use]
    pub fn trace(&self) -> Vec<u8> {
        (self.play)().trace(0)
    }
}

const fn session(name: &'static str, description: &'static str, play: fn() -> World) -> Session {
    Session { name, description, play }
}

/// Every session.
pub const SESSIONS: &[Session] = &[
    session("cold-name", "a name that is not cached: multicast request, response, path; then from the cache", || {
        cold(World::addresses(1)[0])
    }),
    session("cold-ipv4", "the same for an IPv4 address, with a source that the daemon selects", || {
        cold(World::addresses(1)[1])
    }),
    session("cold-ipv6", "the same for an IPv6 address", || cold(World::addresses(1)[2])),
    session("lid", "a path by LID", || {
        by_record(|world| PathRecord { dlid: world.port(1).lid, ..PathRecord::default() })
    }),
    session("gid", "a path by GID", || {
        by_record(|world| PathRecord { dgid: world.port(1).gids[0], ..PathRecord::default() })
    }),
    session(
        "loss",
        "datagrams and requests are lost, duplicated and delayed: retries, and a name whose lookup times out",
        loss,
    ),
    session("sm-restart", "the subnet manager restarts without its groups, and assigns them other LIDs", sm_restart),
    session("reregister", "a port is asked to register again", reregister),
    session("lid-change", "the LID of this port changes, then the LID of its peer", lid_change),
    session("pkey-change", "a partition is added and removed", pkey_change),
    session(
        "device",
        "the device is removed, cannot be opened for a while, and returns; the port goes down and up",
        device,
    ),
    session("preload", "routes and hosts from files, and a host whose LID is not the one in the file", preload),
    session("all-to-all", "eight nodes, each of which requests a path to each of the eight at once", all_to_all),
    session("malformed-clients", "invalid messages of clients beside valid requests", malformed_clients),
    session(
        "malformed-datagrams",
        "datagrams of remote hosts that are invalid, too short, or forged",
        malformed_datagrams,
    ),
    session("kernel", "requests of the kernel: answered, too late, rejected", kernel),
    session(
        "shared-cache",
        "paths that clients read without a request: published, withdrawn, flushed, published again",
        shared_cache,
    ),
    session("dead-names", "a user requests names that no node has, beside a user whose names exist", dead_names),
];

fn world(nodes: u32) -> World {
    let core = Config { log_level: Level::Debug, ..Config::default() };
    World::new(WorldConfig { nodes, core, recorded: vec![0], ..WorldConfig::default() })
}

fn second() -> Duration {
    Duration::from_secs(1)
}

/// Requests a path and ignores the response, which is in the trace.
fn resolve(world: &mut World, source: Option<&Address>, dest: &Address) {
    let client = world.request(0, &resolve_request(source, dest, EntryFlags::empty(), [7; 8]));
    let _ = world.wait(client);
    world.disconnect(client);
}

fn cold(dest: Address) -> World {
    let mut world = world(2);
    let sources = World::addresses(0);
    let source = matches!(dest, Address::Name(_)).then_some(&sources[0]);
    for _ in 0..2 {
        resolve(&mut world, source, &dest);
        world.run_for(second());
    }
    world.input(0, Input::Shutdown);
    world
}

fn by_record(record: fn(&World) -> PathRecord) -> World {
    let mut world = world(2);
    let record = record(&world);
    for _ in 0..2 {
        let _ = world.route(0, &record);
        world.run_for(second());
    }
    world
}

fn shared_cache() -> World {
    let core = Config { log_level: Level::Debug, shared_cache: true, ..Config::default() };
    let mut world = World::new(WorldConfig { core, recorded: vec![0], ..WorldConfig::default() });
    let ([source, ..], [dest, ..]) = (World::addresses(0), World::addresses(1));
    resolve(&mut world, Some(&source), &dest);
    world.input(0, Input::ClientReregister(PortId(0)));
    world.run_for(second() * 10);
    resolve(&mut world, Some(&source), &dest);
    let mut ids = Vec::new();
    world.node(0).acm.cache_entries(0, &mut |entry| ids.push(entry.id));
    world.input(0, Input::Flush(ids));
    for _ in 0..2 {
        resolve(&mut world, Some(&source), &dest);
    }
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    world
}

fn loss() -> World {
    let mut world = world(4);
    let faults = Faults {
        loss: Probability::percent(50),
        duplicate: Probability::percent(20),
        reorder: Probability::percent(20),
        jitter: Duration::from_millis(5),
        ..Faults::default()
    };
    world.subnet.settings_mut().faults = faults;
    world.subnet.settings_mut().sa.loss = Probability::percent(50);
    for node in 1..4 {
        resolve(&mut world, Some(&name(0)), &name(node));
    }
    let unknown = Address::from_text("nobody");
    resolve(&mut world, Some(&name(0)), &unknown);
    resolve(&mut world, Some(&name(0)), &unknown);
    world.run_for(2 * second());
    world
}

fn sm_restart() -> World {
    let mut world = world(3);
    resolve(&mut world, Some(&name(0)), &name(1));
    world.subnet.settings_mut().sa.mute = true;
    world.subnet.restart_sm(Some(Lid::new(0xc100)));
    world.run_for(10 * second());
    resolve(&mut world, Some(&name(0)), &name(2));
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(60 * second());
    resolve(&mut world, Some(&name(0)), &name(2));
    world
}

fn reregister() -> World {
    let mut world = world(2);
    resolve(&mut world, Some(&name(0)), &name(1));
    world.subnet.drop_memberships(World::port_id(0));
    let _ = world.subnet.reregister(World::port_id(0));
    world.settle();
    world.run_for(5 * second());
    resolve(&mut world, Some(&name(0)), &name(1));
    world
}

fn set_lid(world: &mut World, node: usize, lid: u16) {
    let mut port = world.port(node).clone();
    port.lid = Lid::new(lid);
    let _ = world.subnet.set_port(World::port_id(node), port);
    world.settle();
    world.run_for(5 * second());
}

fn lid_change() -> World {
    let mut world = world(2);
    resolve(&mut world, Some(&name(0)), &name(1));
    set_lid(&mut world, 0, 200);
    resolve(&mut world, Some(&name(0)), &name(1));
    set_lid(&mut world, 1, 300);
    resolve(&mut world, Some(&name(0)), &name(1));
    world
}

fn pkey_change() -> World {
    let mut world = world(2);
    resolve(&mut world, Some(&name(0)), &name(1));
    for pkeys in [vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)], vec![Pkey::new(0x8001)], vec![Pkey::DEFAULT_FULL]] {
        let mut port = world.port(0).clone();
        port.pkeys = pkeys;
        let _ = world.subnet.set_port(World::port_id(0), port);
        world.read_port(0);
        world.run_for(5 * second());
        resolve(&mut world, Some(&name(0)), &name(1));
    }
    world
}

fn device() -> World {
    let mut world = world(2);
    resolve(&mut world, Some(&name(0)), &name(1));
    world.set_opening_fails(0, true);
    world.lose_endpoints(0);
    world.run_for(2 * second());
    resolve(&mut world, Some(&name(0)), &name(1));
    world.set_opening_fails(0, false);
    world.run_for(10 * second());
    for state in [PortState::DOWN, PortState::ACTIVE] {
        let _ = world.subnet.set_port_state(World::port_id(0), state);
        world.settle();
        world.run_for(2 * second());
    }
    resolve(&mut world, Some(&name(0)), &name(1));
    world.restart(0);
    resolve(&mut world, Some(&name(0)), &name(1));
    world
}

fn preload() -> World {
    let mut world = world(3);
    let (routes, hosts) = (world.route_table(0, ServiceLevel::from_raw(5)), world.host_table());
    world.input(0, Input::Preloaded(routes));
    world.input(0, Input::Preloaded(hosts));
    resolve(&mut world, Some(&name(0)), &name(1));
    resolve(&mut world, None, &World::addresses(2)[1]);
    set_lid(&mut world, 2, 300);
    resolve(&mut world, Some(&name(0)), &name(2));
    world.run_for(5 * second());
    resolve(&mut world, Some(&name(0)), &name(2));
    world
}

fn all_to_all() -> World {
    let mut world = world(8);
    let mut clients = Vec::new();
    for (from, to) in (0..8).flat_map(|from| (0..8).map(move |to| (from, to))) {
        let message = resolve_request(Some(&name(from)), &name(to), EntryFlags::empty(), [1; 8]);
        clients.push(world.request(from as usize, &message));
    }
    for client in clients {
        let _ = world.wait(client);
    }
    world
}

/// Returns `good` with the byte at `at` replaced by `value`.
fn with(good: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut bytes = good.to_vec();
    bytes[at] = value;
    bytes
}

fn malformed_clients() -> World {
    let mut world = world(2);
    let good = resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [9; 8]);
    // Bytes of the header: version, opcode, length. Bytes of the entries: flags, types.
    let messages = [
        Vec::new(),
        good[..8].to_vec(),
        good[..16].to_vec(),
        good[..100].to_vec(),
        with(&good, 0, 9),
        with(&good, 1, 0x77),
        with(&good, 6, 0xff),
        with(&good, 16, 0),
        with(&good, 20, 99),
        with(&good, 20, 0x10),
        with(&good, 88, 1),
        [&good[..], &good[16..]].concat(),
        ep_request(200, 9, [3; 8]).to_vec(),
        perf_request(99, [4; 8]).to_vec(),
        vec![0xff; 700],
    ];
    for (uid, message) in (1..).zip(&messages) {
        let client = world.request_as(0, Account::User(uid), message);
        world.disconnect(client);
    }
    resolve(&mut world, Some(&name(0)), &name(1));
    let _ = world.request(0, &ep_request(1, 0, [5; 8]));
    let _ = world.request(0, &perf_request(0, [6; 8]));
    world
}

fn malformed_datagrams() -> World {
    let mut world = world(2);
    let endpoint = EndpointId::new(0, 0);
    let gid = world.port(1).gids.first().copied();
    let source = DatagramSource { lid: world.port(1).lid, path_bits: 0, qpn: Qpn::from_raw(0x77), gid, group: None };
    let (group, _) = world.group();
    let good = multicast::request(TransactionId::new(1), &name(0), &name(1), &[group]);
    let good = ib_mad::as_bytes(&good);
    // Versions, class, method, control, types and lengths of addresses, number of groups.
    let changed = [(0, 9), (1, 3), (2, 9), (3, 0x77), (7, 9), (16, 9), (17, 1), (18, 9), (19, 255), (20, 255), (24, 0)];
    let mut datagrams: Vec<Vec<u8>> = changed.into_iter().map(|(at, value)| with(good, at, value)).collect();
    datagrams.extend([Vec::new(), vec![1; 9], good[..255].to_vec(), [good, &[0; 44]].concat()]);
    // A response without a request.
    datagrams.push(with(good, 3, 0x81));
    for payload in &datagrams {
        world.input(0, Input::Datagram { endpoint, source, payload });
        world.run_for(Duration::from_millis(10));
    }
    world.input(0, Input::Datagram { endpoint, source: DatagramSource { gid: None, ..source }, payload: good });
    world.input(0, Input::Datagram { endpoint: EndpointId::new(9, 9), source, payload: good });
    // An answer of subnet administration without a request, and a report that is too short.
    world.input(0, Input::SaResponse { id: acm_sansio::SaRequestId::new(77, 1), mad: &[1; 40] });
    world.input(0, Input::SaReport { port: PortId(0), lid: Lid::new(9), qpn: Qpn::GSI, mad: &[1; 30] });
    world.input(0, Input::Datagram { endpoint, source, payload: good });
    world.run_for(second());
    resolve(&mut world, Some(&name(0)), &name(1));
    world
}

fn kernel() -> World {
    let mut world = world(2);
    let (local, peer) = (world.port(0).clone(), world.port(1).clone());
    let record =
        PathRecord { sgid: local.gids[0], dgid: peer.gids[0], pkey: Pkey::DEFAULT_FULL, ..PathRecord::default() };
    let request = |world: &mut World, number: u32, port: Option<PortId>, record: &PathRecord| {
        world.input(0, Input::KernelRequest { id: KernelRequestId(number), port, path: *record });
        world.run_for(Duration::from_millis(100));
    };
    request(&mut world, 1, Some(PortId(0)), &record);
    request(&mut world, 2, None, &record);
    request(&mut world, 3, Some(PortId(9)), &record);
    request(&mut world, 4, Some(PortId(0)), &PathRecord::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(1900);
    let slow = PathRecord { traffic_class: 1, ..record };
    request(&mut world, 5, Some(PortId(0)), &slow);
    world.run_for(3 * second());
    world.input(0, Input::KernelTimeout(4 * second()));
    request(&mut world, 6, Some(PortId(0)), &PathRecord { traffic_class: 2, ..record });
    let ip = |node: u32| World::addresses(node)[1].ip().unwrap_or(IpAddr::from([0; 4]));
    world.input(0, Input::KernelAddressRequest { id: KernelRequestId(7), source: ip(0), dest: ip(1) });
    world.run_for(5 * second());
    world
}

fn dead_names() -> World {
    let mut world = world(3);
    let clients: Vec<_> = (0..30)
        .map(|number| {
            let flags = if number % 3 == 0 { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
            world.request_as(0, Account::User(1), &unknown_name_request(number, flags))
        })
        .collect();
    for node in 1..3 {
        let live = resolve_request(Some(&name(0)), &name(node), EntryFlags::empty(), [2; 8]);
        let client = world.request_as(0, Account::User(2), &live);
        let _ = world.wait(client);
        // A path to the destination's LID, too.
        let record = PathRecord { dlid: world.port(node as usize).lid, ..PathRecord::default() };
        let _ = world.request_as(0, Account::User(2), &path_request(&record, EntryFlags::QUERY_SA, [3; 8]));
    }
    world.run_for(10 * second());
    clients.into_iter().for_each(|client| world.disconnect(client));
    world.run_for(60 * second());
    world
}
