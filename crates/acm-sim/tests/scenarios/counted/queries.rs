//! Endpoints and counters for clients, and the report for the log.
use super::shared::quiet;
use acm_sansio::{
    Config,
    config::{Depth, RouteProt},
};
use acm_sim::{Client, World, WorldConfig, name, unknown_name_request};
use acm_wire::client::{
    ClientStatus, Counter, Counters, EntryFlags, EpResponse, ep_request, next_response, perf_request,
};
use ib_mad::Pkey;

fn frame(world: &World, client: Client) -> acm_wire::client::Frame<'_> {
    next_response(world.response(client).unwrap()).unwrap().unwrap()
}

#[test]
fn clients_can_query_endpoints_and_counters() {
    let mut world = quiet();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let client = world.request(0, &ep_request(1, 0, [1; 8]));
    let answer = frame(&world, client);
    let answer = EpResponse::parse(&answer).unwrap().unwrap();
    let node = world.subnet.node(World::port_id(0).node).unwrap();
    assert_eq!((answer.head.device_guid, answer.head.port, answer.head.port_count), (node.guid, 1, 1));
    assert_eq!((answer.head.pkey, answer.head.provider.as_text()), (Pkey::DEFAULT_FULL, &b"ibacmp"[..]));
    assert_eq!(answer.addresses().collect::<Vec<_>>(), [&b"node1"[..], b"10.0.0.1", b"fd00::1"]);
    for (index, port) in [(0, 0), (2, 0), (1, 2)] {
        let client = world.request(0, &ep_request(index, port, [1; 8]));
        assert_eq!(frame(&world, client).header.status, ClientStatus::EINVAL);
    }
    for index in [0, 1] {
        let client = world.request(0, &perf_request(index, [1; 8]));
        let counters = Counters::parse(&frame(&world, client)).unwrap();
        let seen = [Counter::Error, Counter::Resolve, Counter::AddrQuery, Counter::RouteQuery];
        assert_eq!(seen.map(|counter| counters.get(counter)), [0, 1, 1, 1], "{index}");
    }
    let client = world.request(0, &perf_request(7, [1; 8]));
    assert_eq!(frame(&world, client).header.status, ClientStatus::ESRCADDR);
}

#[test]
fn report_lists_queue_lengths_of_ports_and_endpoints() {
    let core = Config { resolve_depth: Depth::Fixed(1), route_prot: RouteProt::Acm, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for number in 0..2 {
        world.request(0, &unknown_name_request(number, EntryFlags::empty()));
    }
    let report = world.node(0).acm.report().to_string();
    for line in [
        "port 0: active lid 16 sm_lid 1 sa_depth ",
        " in_flight 0 waiting 0 strangers 0 joins 0\n",
        "\ncache: destinations 5\n",
        ": groups 2 of 2 lookups 2 asking 1 waiting 1 strangers 0 prefetched 0\n",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
    // The two groups are joined one after the other.
    world.subnet.settings_mut().sa.mute = true;
    world.restart(0);
    let report = world.node(0).acm.report().to_string();
    assert!(report.contains(" in_flight 1 waiting 0 strangers 0 joins 1\n"), "{report}");
    assert!(report.contains(": groups 0 of 2 lookups 0 asking 0 "), "{report}");
}
