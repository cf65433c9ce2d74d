//! Multicast groups of ports with different rates, MTUs and partitions, and of ports with several GIDs and LIDs.
use acm_sansio::{Config, config::RouteProt};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
    multicast::group_mgid,
};
use core::time::Duration;
use ib_mad::{Gid, Lid, Lmc, Mtu, Pkey, Rate, ServiceLevel, sa::PathRecord};
use ib_sim::Port;

fn core(groups: u8) -> Config {
    Config { groups, route_prot: RouteProt::Acm, ..Config::default() }
}

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

/// Returns a world whose ports are changed before the first request.
fn world(core: Config, special: Vec<(u32, Config)>, ports: &[&dyn Fn(&mut Port)]) -> World {
    let nodes = u32::try_from(ports.len()).unwrap();
    let mut world = World::new(WorldConfig { nodes, core, special, ..WorldConfig::default() });
    for (node, change) in ports.iter().enumerate() {
        let mut port = world.port(node).clone();
        change(&mut port);
        world.subnet.set_port(World::port_id(node), port).unwrap();
        world.settle();
        world.read_port(node);
    }
    world.run_for(Duration::from_secs(5));
    world
}

fn link(rate: Rate, mtu: Mtu) -> impl Fn(&mut Port) {
    move |port| (port.rate, port.mtu) = (rate, mtu)
}

fn path(world: &mut World, from: u32, to: u32) -> (Rate, Mtu) {
    let path = world.resolve(from as usize, &name(from), &name(to)).unwrap();
    (path.rate.value(), path.mtu.value())
}

/// The first node creates the group with its service level, and the subnet administrator refuses another one.
// docs/deviations.md: group-parameters
#[test]
fn group_that_exists_with_other_parameters_is_joined_as_it_is() {
    let other = Config { group_sl: ServiceLevel::of::<5>(), ..core(1) };
    let mut world =
        World::new(WorldConfig { nodes: 3, core: core(1), special: vec![(0, other)], ..Default::default() });
    world.run_for(Duration::from_millis(100));
    for (from, to) in [(0, 1), (1, 0), (1, 2)] {
        let path = world.resolve(from as usize, &name(from), &name(to)).unwrap();
        assert_eq!(path.qos_sl.sl(), ServiceLevel::of::<5>(), "{from} -> {to}");
    }
    assert_eq!([0, 1, 2].map(|node| (world.stat(node, "joins"), world.stat(node, "joins_failed"))), [(1, 0); 3]);
    // After a restart, the subnet manager has no group. Any of the nodes creates it.
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(1));
    let joins = [0, 1, 2].map(|node| (world.stat(node, "joins"), world.stat(node, "joins_failed")));
    assert_eq!(joins, [(2, 0); 3]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Each pair of nodes is resolved in both directions.
#[test]
fn path_in_a_mixed_subnet_has_the_rate_of_the_slower_port() {
    let rates = [Rate::GBPS_800, Rate::GBPS_400, Rate::GBPS_200, Rate::GBPS_100, Rate::GBPS_56];
    let links = rates.map(|rate| link(rate, Mtu::B4096));
    let links: Vec<&dyn Fn(&mut Port)> = links.iter().map(|link| -> &dyn Fn(&mut Port) { link }).collect();
    let mut world = world(core(6), Vec::new(), &links);
    for (from, _) in (0..).zip(rates) {
        for (to, _) in (0..).zip(rates).filter(|(to, _)| *to != from) {
            let slower = rates[usize::try_from(from.max(to)).unwrap()];
            assert_eq!(path(&mut world, from, to), (slower, Mtu::B4096), "{from} -> {to}");
        }
    }
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// A node with the two groups of C ibacm meets a node with six groups, one of which is the first node's own group.
#[test]
fn node_with_two_groups_is_reached_at_its_own_rate() {
    let fast = link(Rate::GBPS_400, Mtu::B4096);
    let slow = link(Rate::GBPS_100, Mtu::B4096);
    let mut both = world(core(6), vec![(1, core(2))], &[&fast, &slow]);
    assert_eq!([path(&mut both, 0, 1), path(&mut both, 1, 0)], [(Rate::GBPS_100, Mtu::B4096); 2]);
    let mut two = world(core(2), Vec::new(), &[&fast, &slow]);
    assert_eq!(
        [path(&mut two, 0, 1), path(&mut two, 1, 0)],
        [(Rate::GBPS_10, Mtu::B2048); 2],
        "only the base group is shared"
    );
}

/// The port leaves the groups of former rates, joins those of the last rate, and loses no pending join.
#[test]
fn repeated_rate_changes_end_in_the_groups_of_the_last_rate() {
    let mut world = world(core(6), Vec::new(), &[&link(Rate::GBPS_400, Mtu::B4096), &|_| {}]);
    world.subnet.settings_mut().sa.delay = Duration::from_millis(300);
    for rate in [Rate::GBPS_56, Rate::GBPS_200, Rate::GBPS_28, Rate::GBPS_100, Rate::GBPS_400, Rate::GBPS_40] {
        let mut port = world.port(0).clone();
        port.rate = rate;
        world.subnet.set_port(World::port_id(0), port).unwrap();
        world.read_port(0);
        world.run_for(Duration::from_millis(700));
    }
    world.run_for(Duration::from_secs(60));
    let of_node = |group: &&ib_sim::Group| group.members.contains_key(&World::port_id(0));
    let mut joined: Vec<_> = world.subnet.groups().filter(of_node).map(|group| (group.rate, group.mtu)).collect();
    joined.sort_by_key(|(rate, mtu)| (rate.mbps(), *mtu));
    let (low, high) = (Mtu::B2048, Mtu::B4096);
    let lower = [(Rate::GBPS_10, low), (Rate::GBPS_10, high), (Rate::GBPS_20, low), (Rate::GBPS_20, high)];
    let highest = [(Rate::GBPS_40, low), (Rate::GBPS_40, high)];
    assert_eq!(joined, [&lower[..], &highest].concat());
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn ports_of_equal_rate_and_mtu_share_a_group() {
    for (rate, _) in Rate::KNOWN.iter().filter(|(rate, _)| rate.mbps() >= Rate::GBPS_10.mbps()) {
        for mtu in [Mtu::B2048, Mtu::B4096] {
            let kind = link(*rate, mtu);
            let mut world = world(core(2), Vec::new(), &[&kind, &kind]);
            assert_eq!(path(&mut world, 0, 1), (*rate, mtu));
        }
    }
}

/// All members are in the same group. Two limited members cannot exchange datagrams.
#[test]
fn limited_members_of_a_partition_find_full_members_only() {
    for route_prot in [RouteProt::Sa, RouteProt::Acm] {
        let partition = |key: u16| move |port: &mut Port| port.pkeys = vec![Pkey::new(key)];
        let (limited, full) = (partition(0x0021), partition(0x8021));
        let core = Config { route_prot, timeout: Duration::from_millis(100), ..Config::default() };
        let mut world = world(core, Vec::new(), &[&limited, &limited, &full]);
        let mgid = group_mgid(Pkey::new(0x0021), 0, Rate::GBPS_10, Mtu::B2048);
        assert_eq!(mgid, group_mgid(Pkey::new(0x8021), 0, Rate::GBPS_10, Mtu::B2048));
        assert_eq!(world.subnet.group(mgid).map(|group| group.members.len()), Some(3));
        for (from, to) in [(0, 2), (2, 0), (1, 2), (2, 1)] {
            let path = world.resolve(from, &name(u32::try_from(from).unwrap()), &name(to));
            assert_eq!(path.map(|path| path.dlid), Ok(world.port(to as usize).lid), "{from} -> {to}");
        }
        assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
    }
}

/// The port has two GIDs and four LIDs. It joins its groups under the first GID only.
#[test]
fn port_with_several_gids_and_lids_joins_once_and_is_found_by_each() {
    let second: Gid = "fe80::2:2".parse().unwrap();
    let more = |port: &mut Port| {
        port.gids.push(second);
        (port.lid, port.lmc) = (Lid::new(64), Lmc::of::<2>());
    };
    let mut world = world(Config::default(), Vec::new(), &[&|port| port.lmc = Lmc::ZERO, &more]);
    assert!(world.subnet.groups().all(|group| group.members.len() == 2));
    assert_eq!(world.resolve(0, &name(0), &name(1)).map(|path| path.dlid), Ok(Lid::new(64)));
    let first = world.port(1).gids[0];
    for gid in [first, second] {
        let record = PathRecord { dgid: gid, ..PathRecord::default() };
        let path = world.route(0, &record).unwrap();
        assert_eq!((path.dgid, path.dlid), (gid, Lid::new(64)));
    }
    // Paths from the port's second GID and from its fourth LID.
    let back = PathRecord { sgid: second, dlid: world.port(0).lid, ..PathRecord::default() };
    assert_eq!(world.route(1, &back).map(|path| path.sgid), Ok(second));
    let from_fourth = PathRecord { slid: Lid::new(67), dlid: world.port(0).lid, ..PathRecord::default() };
    assert_eq!(world.route(1, &from_fourth).map(|path| path.slid), Ok(Lid::new(67)));
    assert_eq!(world.node(0).acm.counters().get(Counter::Error), 0);
}
