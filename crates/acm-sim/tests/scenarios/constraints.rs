//! Constraints of a path request are part of the path query and of the cache key. Service ids are part of both as the
//! option `path_service_ids` selects.
use acm_sansio::{Account, Config, Input, KernelRequestId, Output, PortId, config::ServiceIds};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, conditional_request, next_response, path_request, resolve_request},
};
use core::time::Duration;
use ib_mad::{
    AttributeId, FlowLabel, Gid, Lid, Lmc, Mtu, PacketLifeTime, Pkey, Rate, Selected, Selector, ServiceId,
    ServiceLevel,
    sa::{FlowHop, PathMask, PathRecord, QosSl, ReversiblePaths},
    wire::Reserved,
};
use ib_sim::SubnetConfig;

fn world(path_service_ids: ServiceIds) -> World {
    World::new(WorldConfig { core: Config { path_service_ids, ..Config::default() }, ..WorldConfig::default() })
}

fn to_node_1(world: &World) -> PathRecord {
    PathRecord { dgid: world.port(1).gids[0], ..PathRecord::default() }
}

/// Returns the path queries of node 0 with their component masks.
fn queries(world: &World) -> Vec<(PathRecord, PathMask)> {
    let of = |output: &Output| match output {
        Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD => {
            let mask = PathMask::from_bits_retain(send.mad.sa.component_mask.get());
            Some((*send.mad.record::<PathRecord>().unwrap(), mask))
        }
        _ => None,
    };
    world.transcript.iter().filter(|(_, node, _)| *node == 0).filter_map(|(_, _, output)| of(output)).collect()
}

// docs/deviations.md: path-query, path-conditions
#[test]
fn each_path_constraint_is_queried_and_cached_separately() {
    let mut world = world(ServiceIds::None);
    let plain = to_node_1(&world);
    let life = PacketLifeTime::of::<20>();
    let common = PathMask::DGID | PathMask::SGID | PathMask::PKEY | PathMask::REVERSIBLE | PathMask::NUM_PATH;
    let table: [(PathRecord, PathMask); 8] = [
        (plain, PathMask::empty()),
        (PathRecord { traffic_class: 3, ..plain }, PathMask::TRAFFIC_CLASS),
        (PathRecord { qos_sl: QosSl::default().with_qos_class(5), ..plain }, PathMask::QOS_CLASS),
        (PathRecord { qos_sl: QosSl::default().with_sl(ServiceLevel::of::<2>()), ..plain }, PathMask::SL),
        (
            PathRecord { mtu: Selected::new(Selector::LessThan, Mtu::B2048), ..plain },
            PathMask::MTU | PathMask::MTU_SELECTOR,
        ),
        (PathRecord { mtu: Selected::exactly(Mtu::B512), ..plain }, PathMask::MTU | PathMask::MTU_SELECTOR),
        (
            PathRecord { rate: Selected::new(Selector::LessThan, Rate::GBPS_40), ..plain },
            PathMask::RATE | PathMask::RATE_SELECTOR,
        ),
        (PathRecord { packet_life_time: Selected::exactly(life), ..plain }, PathMask::LIFE | PathMask::LIFE_SELECTOR),
    ];
    let paths: Vec<PathRecord> = table.iter().map(|(record, _)| world.route(0, record).unwrap()).collect();
    assert_eq!((paths[0].mtu.value(), paths[3].qos_sl.sl()), (Mtu::B4096, ServiceLevel::of::<2>()));
    assert_eq!((paths[4].mtu.value(), paths[5].mtu.value()), (Mtu::B1024, Mtu::B512));
    assert!(paths[6].rate.value().mbps() < Rate::GBPS_40.mbps() && paths[7].packet_life_time.value() == life);
    let masks: Vec<PathMask> = queries(&world).iter().map(|(_, mask)| *mask).collect();
    assert_eq!(masks, table.map(|(_, mask)| common | mask));
    for ((record, _), path) in table.iter().zip(&paths) {
        assert_eq!(world.route(0, record).as_ref(), Ok(path), "from the cache");
    }
    assert_eq!(queries(&world).len(), table.len());
    let impossible = PathRecord { mtu: Selected::new(Selector::GreaterThan, Mtu::B4096), ..plain };
    assert_eq!(world.route(0, &impossible), Err(ClientStatus::ENODATA));
    assert!(world.route(0, &plain).is_ok());
}

/// The port has two GIDs and two LIDs.
// docs/deviations.md: path-conditions
#[test]
fn each_path_source_is_queried_and_cached_separately() {
    let mut world = world(ServiceIds::None);
    let mut port = world.port(0).clone();
    port.gids.push("fe80::2:2".parse().unwrap());
    (port.lid, port.lmc) = (Lid::new(64), Lmc::of::<1>());
    let (gids, lids) = (port.gids.clone(), [Lid::new(64), Lid::new(65)]);
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    let plain = to_node_1(&world);
    let sources = [
        (PathRecord { sgid: gids[0], ..plain }, PathMask::empty()),
        (PathRecord { sgid: gids[1], ..plain }, PathMask::empty()),
        (PathRecord { slid: lids[0], ..plain }, PathMask::SLID),
        (PathRecord { slid: lids[1], ..plain }, PathMask::SLID),
    ];
    for (record, _) in sources.iter().chain(&sources) {
        let path = world.route(0, record).unwrap();
        if record.slid.is_zero() {
            assert_eq!(path.sgid, record.sgid);
        } else {
            assert_eq!(path.slid, record.slid);
        }
    }
    let common = PathMask::DGID | PathMask::SGID | PathMask::PKEY | PathMask::REVERSIBLE | PathMask::NUM_PATH;
    let masks: Vec<PathMask> = queries(&world).iter().map(|(_, mask)| *mask).collect();
    assert_eq!(masks, sources.map(|(_, mask)| common | mask), "one query for each source");
}

/// Returns a world in which two nodes have the default partition and the partition 1.
fn world_with_two_partitions() -> World {
    let mut world = world(ServiceIds::None);
    for node in 0..2 {
        let mut port = world.port(node).clone();
        port.pkeys = vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)];
        world.subnet.set_port(World::port_id(node), port).unwrap();
        world.settle();
    }
    world
}

#[test]
fn pkey_of_a_request_selects_the_endpoint_and_is_queried() {
    let mut world = world_with_two_partitions();
    let address = Address::from_text("other");
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: Some(Pkey::new(0x8001)), address });
    world.run_for(Duration::from_secs(1));
    let plain = to_node_1(&world);
    for pkey in [Pkey::DEFAULT_FULL, Pkey::new(0x8001), Pkey::DEFAULT_FULL, Pkey::new(0x8001)] {
        assert_eq!(world.route(0, &PathRecord { pkey, ..plain }).unwrap().pkey, pkey);
    }
    let pkeys: Vec<Pkey> = queries(&world).iter().map(|(record, _)| record.pkey).collect();
    assert_eq!(pkeys, [Pkey::DEFAULT_FULL, Pkey::new(0x8001)]);
}

/// `rdma_getaddrinfo` names the service behind the addresses.
// docs/deviations.md: name-conditions
#[test]
fn conditions_behind_an_address_are_part_of_the_path_query() {
    let mut world = world(ServiceIds::All);
    let [from, to] = [0, 1].map(|node| World::addresses(node)[0]);
    let lustre = PathRecord { service_id: ServiceId::new(0x0106_03db), ..PathRecord::default() };
    let level = PathRecord { qos_sl: QosSl::default().with_sl(ServiceLevel::of::<2>()), ..PathRecord::default() };
    let ends = PathRecord { dlid: Lid::new(77), ..PathRecord::default() };
    let mut request = |conditions: &PathRecord, flags| {
        let client = world.request(0, &conditional_request(Some(&from), &to, conditions, flags, [5; 8]));
        let path = world.wait(client);
        let frame = next_response(world.response(client).unwrap()).unwrap().unwrap();
        assert_eq!(frame.is_conditional(), path.is_ok() && *conditions != ends, "the mark for the client");
        path
    };
    let none = EntryFlags::empty();
    assert_eq!(request(&lustre, EntryFlags::NO_DELAY), Err(ClientStatus::ENODATA), "the address is not cached");
    let with_id = request(&lustre, none).unwrap();
    assert_eq!(with_id.service_id, lustre.service_id);
    assert_eq!(request(&lustre, EntryFlags::NO_DELAY), Ok(with_id));
    assert_eq!(request(&level, none).unwrap().qos_sl.sl(), ServiceLevel::of::<2>());
    assert_eq!(request(&ends, none).unwrap().service_id, ServiceId::default(), "ends are no conditions");
    let elsewhere = PathRecord { pkey: Pkey::new(0x8005), ..lustre };
    assert_eq!(request(&elsewhere, none), Err(ClientStatus::ESRCADDR));
    let masks: Vec<PathMask> =
        queries(&world).iter().map(|(_, mask)| *mask & (PathMask::SERVICE_ID | PathMask::SL)).collect();
    assert_eq!(masks, [PathMask::empty(), PathMask::SERVICE_ID, PathMask::SL], "one query for each path");
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The address is resolved first, and then the path under the conditions.
#[test]
fn conditions_hold_for_an_address_that_is_not_cached() {
    let mut world = world(ServiceIds::All);
    let [from, to] = [0, 1].map(|node| World::addresses(node)[0]);
    let lustre = PathRecord { service_id: ServiceId::new(0x0106_03db), ..PathRecord::default() };
    let client = world.request(0, &conditional_request(Some(&from), &to, &lustre, EntryFlags::empty(), [5; 8]));
    assert_eq!(world.wait(client).unwrap().service_id, lustre.service_id);
}

/// Two ports of the node are in the partition. The address of the source is at the second one.
#[test]
fn conditions_do_not_move_a_request_to_another_port() {
    let subnet = SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() };
    let core = Config { path_service_ids: ServiceIds::All, ..Config::default() };
    let mut world = World::new(WorldConfig { core, subnet, ..WorldConfig::default() });
    let from = Address::from_text("second");
    world.input(0, Input::AddressAdded { port: PortId(1), pkey: None, address: from });
    world.run_for(Duration::from_secs(1));
    let second = ib_sim::PortId { node: ib_sim::NodeId::new(1), port: 2 };
    let lid = world.subnet.port(second).unwrap().lid;
    let lustre = PathRecord { service_id: ServiceId::new(0x0106_03db), ..PathRecord::default() };
    let to = World::addresses(1)[0];
    let client = world.request(0, &conditional_request(Some(&from), &to, &lustre, EntryFlags::empty(), [5; 8]));
    let path = world.wait(client).unwrap();
    assert_eq!((path.slid, path.service_id), (lid, lustre.service_id));
}

/// Returns requests that differ from `plain` in one field each. The pattern names every field of a path, so that a new one
/// fails to compile.
macro_rules! each_field {
    ($plain:expr, $($field:ident: [$($value:expr),+],)+) => {{
        let PathRecord { $($field: _),+ } = $plain;
        vec![$($((stringify!($field), PathRecord { $field: $value, ..$plain })),+),+]
    }};
}

/// One user requests a path under conditions. Another user, who has none, gets the same path as without the first one:
/// by address, by GID and by LID, by request and from the shared cache.
#[test]
fn condition_of_one_user_does_not_choose_the_path_of_another() {
    let start = || {
        let core = Config { path_service_ids: ServiceIds::All, shared_cache: true, ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        for (node, lid) in [(0, 64), (1, 68)] {
            let mut port = world.port(node).clone();
            (port.lid, port.lmc, port.pkeys) = (Lid::new(lid), Lmc::of::<1>(), PKEYS.to_vec());
            port.gids.push(format!("fe80::{lid}:2").parse().unwrap());
            world.subnet.set_port(World::port_id(node), port).unwrap();
            world.settle();
        }
        let address = Address::from_text("other");
        world.input(0, Input::AddressAdded { port: PortId(0), pkey: Some(PKEYS[1]), address });
        world.run_for(Duration::from_secs(10));
        // What the other node has announced would be found first.
        let (mut ids, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next {
            next = world.node(0).acm.cache_entries(from, &mut |entry| ids.push(entry.id));
        }
        world.input(0, Input::Flush(ids));
        world
    };
    const PKEYS: [Pkey; 2] = [Pkey::DEFAULT_FULL, Pkey::new(0x8001)];
    let ask = |world: &mut World| {
        let (source, [name, ip, _]) = (World::addresses(0)[0], World::addresses(1));
        let plain = to_node_1(world);
        let by_lid = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
        let none = EntryFlags::empty();
        let requests = [name, ip].map(|dest| resolve_request(Some(&source), &dest, none, [1; 8]));
        let requests = requests.into_iter().chain([plain, by_lid].map(|path| path_request(&path, none, [1; 8])));
        let paths: Vec<PathRecord> = requests
            .map(|request| {
                let client = world.request_as(0, Account::User(2), &request);
                world.wait(client).unwrap()
            })
            .collect();
        let read = |dest| world.node(0).host.published.path(world.now(), Some(&source), dest).unwrap();
        let dests = [name, ip, Address::Gid(plain.dgid), Address::Lid(by_lid.dlid)];
        assert_eq!(dests.each_ref().map(read), *paths, "the shared cache");
        paths
    };
    let alone = ask(&mut start());
    let (world, plain) = (start(), to_node_1(&start()));
    let others = each_field!(
        plain,
        service_id: [ServiceId::new(7)],
        dgid: [Gid::default(), world.port(1).gids[1]],
        sgid: [world.port(0).gids[0], world.port(0).gids[1]],
        dlid: [Lid::new(68), Lid::new(69)],
        slid: [Lid::new(64), Lid::new(65)],
        flow_hop: [FlowHop::default().with_flow_label(FlowLabel::of::<7>()).with_hop_limit(7)],
        traffic_class: [3],
        reversible_paths: [ReversiblePaths::default().with_num_path(2)],
        pkey: [PKEYS[1]],
        qos_sl: [QosSl::default().with_qos_class(5), QosSl::default().with_sl(ServiceLevel::of::<2>())],
        mtu: [Selected::exactly(Mtu::B256)],
        rate: [Selected::exactly(Rate::GBPS_2_5)],
        packet_life_time: [Selected::exactly(PacketLifeTime::of::<20>())],
        preference: [1],
        reserved: [Reserved([1; 6])],
    );
    for (field, request) in others {
        let mut world = start();
        // Without a destination, by LID.
        let dlid = if request.dgid.is_zero() { Lid::new(68) } else { request.dlid };
        let message = path_request(&PathRecord { dlid, ..request }, EntryFlags::empty(), [1; 8]);
        let client = world.request_as(0, Account::User(1), &message);
        assert!(world.wait(client).is_ok(), "{field}");
        assert_eq!(ask(&mut world), alone, "{field}");
    }
}

/// A client may ask the SA about a partition in which the daemon has no address.
// docs/deviations.md: query-partition
#[test]
fn query_sa_needs_no_address_in_the_partition() {
    let mut world = world_with_two_partitions();
    let mut query = |pkey| {
        let record = PathRecord { pkey: Pkey::new(pkey), ..to_node_1(&world) };
        let client = world.request(0, &path_request(&record, EntryFlags::QUERY_SA, [1; 8]));
        world.wait(client).map(|path| path.pkey)
    };
    assert_eq!(query(0x8001), Ok(Pkey::new(0x8001)));
    assert_eq!(query(0x8005), Err(ClientStatus::ESRCADDR), "not in the port's table");
}

/// The kernel requests paths for rdma_cm: each TCP port is a service id. Another test has `auto`.
// docs/deviations.md: path-conditions
#[test]
fn service_ids_are_queried_as_path_service_ids_selects() {
    let tcp = |port: u64| ServiceId::new(0x0106_0000 + port);
    let ports = [987, 1, 2, 18_517, 18_515, 18_518];
    let table = [
        (ServiceIds::None, vec![0]),
        (ServiceIds::All, ports.map(|port| tcp(port).get()).to_vec()),
        (
            ServiceIds::ranges([tcp(18_515)..=tcp(18_517), tcp(987)..=tcp(987)]),
            vec![tcp(987).get(), 0, tcp(18_515).get()],
        ),
    ];
    for (option, expected) in table {
        let mut world = world(option.clone());
        let plain = to_node_1(&world);
        for (number, port) in (0..).zip(ports.iter().chain(&ports)) {
            let record = PathRecord { service_id: tcp(*port), ..plain };
            let id = KernelRequestId(number);
            world.input(0, Input::KernelRequest { id, port: Some(PortId(0)), path: record });
            world.run_for(Duration::from_millis(10));
        }
        let answered = |output: &Output| matches!(output, Output::KernelReply { path: Ok(_), .. });
        assert_eq!(world.transcript.iter().filter(|(.., output)| answered(output)).count(), 2 * ports.len());
        let seen: Vec<u64> = queries(&world)
            .iter()
            .map(|(record, mask)| if mask.contains(PathMask::SERVICE_ID) { record.service_id.get() } else { 0 })
            .collect();
        assert_eq!(seen, expected, "{option:?}");
    }
}
