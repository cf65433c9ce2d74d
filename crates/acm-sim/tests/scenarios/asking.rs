//! Who asks whom, when: two at once, nobody there, many dead names, NODELAY.
use acm_sansio::{Config, config::Limits};
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

#[test]
fn every_kind_of_address() {
    let mut world = World::new(WorldConfig::default());
    let (from, to) = (World::addresses(0), World::addresses(1));
    for (source, dest) in from.iter().zip(&to) {
        let path = world.resolve(0, source, dest).unwrap();
        assert_eq!((path.dlid, path.dgid), (world.port(1).lid, world.port(1).gids[0]), "{dest}");
        assert_eq!((path.slid, path.sgid), (world.port(0).lid, world.port(0).gids[0]), "{dest}");
    }
    // Without a source, the routing table chooses one and the answer says which.
    let ask = world.ask(0, &resolve_request(None, &to[1], EntryFlags::empty(), [1; 8]));
    assert!(world.wait(ask).is_ok());
    assert_eq!(world.answer(ask).unwrap().len(), 160);
    assert_eq!(world.answer(ask).unwrap()[96..100], [10, 0, 0, 1]);
}

#[test]
fn two_nodes_ask_each_other_at_once() {
    for seed in 0..20 {
        let mut world = World::new(WorldConfig { seed, ..WorldConfig::default() });
        world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
        let asks = [(0, 1), (1, 0)].map(|(from, to)| {
            world.ask(from as usize, &resolve_request(Some(&name(from)), &name(to), EntryFlags::empty(), [1; 8]))
        });
        for (ask, to) in asks.into_iter().zip([1, 0]) {
            assert_eq!(world.wait(ask).unwrap().dlid, world.port(to).lid);
        }
        assert!(world.now().since_start() < Duration::from_millis(200), "no time-out was needed: {}", world.now());
    }
}

#[test]
fn unknown_destination_times_out_after_retries() {
    let mut world = World::new(WorldConfig::default());
    let start = world.now();
    assert_eq!(world.resolve(0, &name(0), &Address::from_text("nobody")), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.now().since(start), SILENCE);
    let counters = world.node(0).acm.counters();
    assert_eq!((counters.get(Counter::AddrQuery), counters.get(Counter::Error)), (1, 1));
}

#[test]
fn dead_names_do_not_hold_up_the_living() {
    let mut world = World::new(WorldConfig::default());
    let start = world.now();
    let dead: Vec<_> = (0..5)
        .map(|number| {
            let dest = Address::from_text(&format!("dead{number}"));
            world.ask(0, &resolve_request(Some(&name(0)), &dest, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    // One credit, freed as soon as an answer is not likely any more: five times 10 ms.
    assert_eq!(world.now().since(start), Duration::from_millis(5 * 10));
    for ask in dead {
        assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    }
}

#[test]
fn waiters_for_one_name_share_one_request() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let asks: Vec<_> = (0..50)
        .map(|_| world.ask(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8])))
        .collect();
    for ask in asks {
        assert!(world.wait(ask).is_ok());
    }
    let counters = world.node(0).acm.counters();
    assert_eq!(counters.get(Counter::AddrQuery), 1);
    assert_eq!(counters.get(Counter::RouteQuery), 1);
    assert_eq!(counters.get(Counter::Resolve), 50);
}

#[test]
fn no_delay_answers_at_once_and_looks_up_all_the_same() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let message = resolve_request(Some(&name(0)), &name(1), EntryFlags::NO_DELAY, [1; 8]);
    let ask = world.ask(0, &message);
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENODATA)));
    world.run_for(Duration::from_millis(100));
    let ask = world.ask(0, &message);
    assert_eq!(world.path(ask).unwrap().unwrap().dlid, world.port(1).lid);
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteCache), 1);
}

#[test]
fn a_client_that_leaves_leaves_nothing_behind() {
    let mut world = World::new(WorldConfig::default());
    let ask =
        world.ask(0, &resolve_request(Some(&name(0)), &Address::from_text("nobody"), EntryFlags::empty(), [1; 8]));
    world.input(0, acm_sansio::Input::ClientClosed(acm_sansio::ClientId::new(0, 0)));
    world.run_for(SILENCE);
    assert_eq!(world.answer(ask), None);
    assert_eq!(world.stat(0, "requests_abandoned"), 1);
}

#[test]
fn other_base_groups_do_not_hear_us() {
    let other = Config { min_rate: ib_mad::Rate::GBPS_20, ..Config::default() };
    let mut world = World::new(WorldConfig { special: vec![(1, other)], ..WorldConfig::default() });
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
}

/// A request that lists only groups that the receiver is not in: no answer, and the asker is not usable either.
#[test]
fn no_shared_group() {
    use acm_wire::multicast;
    use ib_mad::{Qkey, TransactionId, acm::group_mgid};
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let base = group_mgid(ib_mad::Pkey::DEFAULT_FULL, 0, ib_mad::Rate::GBPS_10, ib_mad::Mtu::B2048);
    let group = world.subnet.group(base).unwrap().clone();
    let foreign = group_mgid(ib_mad::Pkey::DEFAULT_FULL, 0, ib_mad::Rate::GBPS_400, ib_mad::Mtu::B4096);
    let mad = multicast::request(TransactionId::new(9), &name(1), &name(2), &[foreign]);
    let raw = world.subnet.create_qp(World::port_id(2), Qkey::GSI, 0).unwrap();
    let datagram = ib_sim::Datagram::multicast(group.mlid, base, Qkey::GSI, ib_mad::as_bytes(&mad));
    world.subnet.send_datagram(world.now().since_start(), raw, &datagram).unwrap();
    world.settle();
    assert_eq!(world.stat(1, "no_shared_group"), 1);
    assert_eq!(world.stat(0, "no_shared_group"), 1);
    assert!(world.subnet.poll_event().is_none(), "nobody responds");
    // What was heard is not taken for a way to node3: the next request asks again.
    assert!(world.resolve(1, &name(1), &name(2)).is_ok());
    assert_eq!(world.node(1).acm.counters().get(Counter::AddrQuery), 1);
}

/// While the way back to an asker is looked up, it may ask again for something else: each request gets its response.
#[test]
fn every_request_of_one_asker_is_responded_to() {
    use acm_sansio::Output;
    use acm_wire::multicast;
    use ib_mad::{Method, Qkey, TransactionId};
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let group = world.subnet.groups().next().unwrap().clone();
    let raw = world.subnet.create_qp(World::port_id(2), Qkey::GSI, 0).unwrap();
    // The second one comes twice: the network doubled it.
    for (tid, address) in [(1, 0), (2, 1), (2, 1)] {
        let dest = World::addresses(1)[address];
        let mad = multicast::request(TransactionId::new(tid), &dest, &name(2), &[group.mgid]);
        let datagram = ib_sim::Datagram::multicast(group.mlid, group.mgid, Qkey::GSI, ib_mad::as_bytes(&mad));
        world.subnet.send_datagram(world.now().since_start(), raw, &datagram).unwrap();
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

/// The bound of those who wait for one way back: the request that is beyond it gets no response, and is counted.
#[test]
fn an_asker_beyond_the_bound_is_not_responded_to() {
    let limits = Limits { responders: 1, ..Limits::default() };
    let mut world = World::new(WorldConfig { core: Config { limits, ..Config::default() }, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let stranger = world.stranger(1);
    for tid in 1..=3 {
        world.forge_request(stranger, 0, tid, &name(1), &name(0));
    }
    assert_eq!(world.stat(0, "responders_refused"), 2);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Sixteen requests may wait for one way back, unless an administrator says otherwise.
#[test]
fn sixteen_requests_of_one_asker_are_responded_to() {
    use acm_sansio::Output;
    use ib_mad::Method;
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let stranger = world.stranger(1);
    for tid in 1..=17 {
        world.forge_request(stranger, 0, tid, &name(1), &name(0));
        assert_eq!(world.stat(0, "responders_refused"), u64::from(tid == 17), "{tid}");
    }
    world.run_for(Duration::from_secs(1));
    let is_response = |output: &Output| matches!(output, Output::Send { mad, .. } if mad.method == Method::GET_RESP);
    let responses = world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_response(output)).count();
    assert_eq!(responses, 16);
}
