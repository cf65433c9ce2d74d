//! The most that one datagram of a remote host costs: what one receiver sends, the lines in its log at `log_level` 0 and
//! 1, and what all nodes of a fabric send. docs/attacks.md has the same table.
use acm_sansio::{
    Config, EndpointId, Input, Output, PortId,
    api::{DatagramSource, Level},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{Address, multicast};
use core::time::Duration;
use ib_mad::{AttributeId, Gid, Lid, Qpn, Status, TransactionId, acm::AcmMad, as_bytes, notice::TrapNumber};

/// The cost of a datagram for one receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Price {
    multicasts: usize,
    unicasts: usize,
    sa_requests: usize,
    lines: usize,
}

const fn price(multicasts: usize, unicasts: usize, sa_requests: usize, lines: usize) -> Price {
    Price { multicasts, unicasts, sa_requests, lines }
}

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

/// Returns a world in which node 0 uses the names of nodes 1 and 2. Nodes 1 to 3 do not defend or respond to node 0, so
/// that each check takes all its steps.
fn world() -> World {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 4, core, ..WorldConfig::default() });
    for node in [1, 2] {
        assert!(world.resolve(0, &name(0), &name(node)).is_ok());
    }
    world.run_for(Duration::from_secs(30));
    for node in 1..4 {
        let silent = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
        world.subnet.set_link(World::port_id(node), World::port_id(0), Some(silent));
    }
    world
}

/// Returns a world of 500 nodes that all use the names of the nodes 0 and 1. A datagram takes 100 us.
fn fabric() -> World {
    const NODES: u32 = 500;
    let core = Config { sa_notices: false, ..Config::default() };
    let config = WorldConfig { nodes: NODES, core, transcript: false, ..WorldConfig::default() };
    let mut world = World::new(config);
    for node in 2..NODES {
        for owner in 0..2 {
            assert!(world.resolve(node as usize, &name(node), &name(owner)).is_ok());
        }
    }
    world.subnet.settings_mut().faults.delay = Duration::from_micros(100);
    world.run_for(Duration::from_secs(60));
    world
}

/// Returns the number of datagrams and SA requests of all nodes because of an input, within half a minute: of the first
/// one, or of a second one that follows after 3 s, whichever causes more.
fn sum_of_all(world: &mut World, send: &dyn Fn(&mut World)) -> u64 {
    let sums = [3, 30].map(|seconds| {
        let before = world.subnet.counters();
        send(world);
        world.run_for(Duration::from_secs(seconds));
        let now = world.subnet.counters();
        let sent = |counters: ib_sim::Counters| counters.ud_multicast + counters.ud_unicast + counters.sa_path_queries;
        sent(now) - sent(before)
    });
    sums.into_iter().max().unwrap_or_default()
}

/// Returns what node 0 sends and logs because of an input, within a minute.
fn cost(world: &mut World, send: impl FnOnce(&mut World)) -> Price {
    let (since, events) = (world.transcript.len(), world.node(0).host.events.len());
    send(world);
    world.run_for(Duration::from_secs(60));
    let mut cost = Price::default();
    for (_, _, output) in world.transcript[since..].iter().filter(|(_, node, _)| *node == 0) {
        match output {
            Output::Send { to, .. } if to.way.dlid.is_multicast() => cost.multicasts += 1,
            Output::Send { .. } => cost.unicasts += 1,
            // Groups are joined every 90 s.
            Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD => cost.sa_requests += 1,
            _ => {}
        }
    }
    let is_seen = |level: Level| level != Level::Debug;
    cost.lines = world.node(0).host.events[events..].iter().filter(|(_, event)| is_seen(event.level())).count();
    cost
}

/// A remote host that does not respond: a program on node 3.
struct Sender {
    gid: Gid,
    is_to_group: bool,
}

impl Sender {
    fn send(&self, world: &mut World, payload: &[u8]) {
        let group = self.is_to_group.then(|| world.group().0);
        let (lid, qpn) = (world.port(3).lid, Qpn::of::<99>());
        let source = DatagramSource { lid, path_bits: 0, qpn, gid: Some(self.gid), group };
        let nodes = if self.is_to_group { world.subnet.node_count() as usize } else { 1 };
        for node in (0..nodes).filter(|node| *node != 3) {
            world.input(node, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
        }
    }

    fn request(&self, world: &mut World, source: &Address, dest: &Address) {
        let mad = multicast::request(TransactionId::new(7), dest, source, &[world.group().0]);
        self.send(world, as_bytes(&mad));
    }
}

/// Each kind of datagram, with its price as in docs/attacks.md.
#[test]
fn one_datagram_costs_at_most_its_price() {
    let (unknown, other) = (Address::from_text("ghost"), Address::from_text("nobody"));
    let [peer_gid, gid] = [1, 3].map(|node| world().port(node).gids[0]);
    let [group, peer] = [gid, peer_gid].map(|gid| Sender { gid, is_to_group: true });
    let unicast = Sender { gid, is_to_group: false };
    type Send<'a> = Box<dyn Fn(&mut World) + 'a>;
    let kinds: [(&str, Price, u64, Send<'_>); 13] = [
        ("a request for a local address", price(0, 1, 1, 0), 1, Box::new(|w| group.request(w, &unknown, &name(0)))),
        (
            "the same, sent to this node alone",
            price(0, 1, 0, 0),
            1,
            Box::new(|w| unicast.request(w, &unknown, &name(0))),
        ),
        ("a request for another address", price(0, 0, 0, 0), 0, Box::new(|w| group.request(w, &unknown, &other))),
        (
            "the same, sent to this node alone: refused",
            price(0, 1, 0, 0),
            1,
            Box::new(|w| unicast.request(w, &unknown, &other)),
        ),
        ("a claim of an address in use", price(0, 6, 0, 1), 10, Box::new(|w| group.request(w, &name(1), &other))),
        ("the same, for a local address", price(0, 7, 1, 1), 13, Box::new(|w| group.request(w, &name(1), &name(0)))),
        ("a claim of a local address", price(1, 0, 0, 1), 6, Box::new(|w| group.request(w, &name(0), &other))),
        ("a request of a peer at another LID", price(0, 6, 1, 1), 5, Box::new(|w| peer.request(w, &name(1), &other))),
        (
            "a response without a request",
            price(0, 0, 0, 0),
            0,
            Box::new(|w| unicast.send(w, as_bytes(&multicast::response(TransactionId::new(7), w.group().0)))),
        ),
        (
            "a negative response",
            price(0, 0, 0, 0),
            0,
            Box::new(|w| {
                let response = multicast::response(TransactionId::new(7), w.group().0);
                let mad = AcmMad { status: Status::new(0x0100), ..response };
                unicast.send(w, as_bytes(&mad));
            }),
        ),
        ("a malformed datagram", price(0, 0, 0, 1), 0, Box::new(|w| group.send(w, &[0; 256]))),
        ("a datagram that is too long", price(0, 0, 0, 1), 0, Box::new(|w| group.send(w, &[0; 257]))),
        (
            "a report that is not the SA's",
            price(0, 0, 0, 0),
            0,
            Box::new(|w| {
                let mad = super::notices::report(TrapNumber::GID_OUT_OF_SERVICE, w.port(1).gids[0]);
                w.input(0, Input::SaReport { port: PortId(0), lid: Lid::new(99), qpn: Qpn::GSI, mad: as_bytes(&mad) });
            }),
        ),
    ];
    let table = include_str!("../../../../docs/attacks.md");
    let mut fabric = fabric();
    let sums: Vec<_> = kinds.iter().map(|(kind, .., send)| (*kind, sum_of_all(&mut fabric, &send))).collect();
    assert_eq!(sums, kinds.iter().map(|(kind, _, sum, _)| (*kind, *sum)).collect::<Vec<_>>());
    for (kind, expected, sum, send) in kinds {
        assert_eq!(cost(&mut world(), send), expected, "{kind}");
        let Price { multicasts, unicasts, sa_requests, lines } = expected;
        let row = format!("| {kind} | {multicasts} | {unicasts} | {sa_requests} | {lines} | {sum} |");
        assert!(table.contains(&row), "docs/attacks.md lacks {row}");
    }
}

/// A second claim within `timeout` of the first, and a second claim of a local address within 10 s, cost nothing.
#[test]
fn flood_of_claims_costs_one_check_in_each_time_out() {
    let mut world = world();
    let group = Sender { gid: world.port(3).gids[0], is_to_group: true };
    let other = Address::from_text("nobody");
    let cost = cost(&mut world, |world| {
        for _ in 0..1000 {
            group.request(world, &name(1), &other);
            group.request(world, &name(0), &other);
            world.run_for(Duration::from_millis(10));
        }
    });
    // In 10 s: one defence, and at most six checks.
    assert_eq!(cost.multicasts, 1);
    assert!(cost.unicasts <= 36 && cost.sa_requests == 0 && cost.lines <= 7, "{cost:?}");
}
