//! Endpoint numbers of `ib_acme -e` and `-P`: all ports in order, each port in the order of its P_Key table.
use acm_sansio::{Input, PortId};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, Counters, EpResponse, Frame, ep_request, next_response, perf_request},
};
use ib_mad::Pkey;
use ib_sim::SubnetConfig;

const OTHER: Pkey = Pkey::new(0x8001);

/// Node 0's endpoints by port and P_Key, with the name of each. The endpoints are created in reverse order.
const ENDPOINTS: [(u8, Pkey, &str); 4] =
    [(1, Pkey::DEFAULT_FULL, "node1"), (1, OTHER, "b"), (2, Pkey::DEFAULT_FULL, "c"), (2, OTHER, "d")];

fn world() -> World {
    let pkeys = vec![Pkey::DEFAULT_FULL, OTHER];
    let subnet = SubnetConfig { ports_per_node: 2, pkeys, ..SubnetConfig::default() };
    let mut world = World::new(WorldConfig { subnet, ..WorldConfig::default() });
    for (port, pkey, name) in ENDPOINTS.into_iter().skip(1).rev() {
        let (port, address) = (PortId(u32::from(port) - 1), Address::from_text(name));
        world.input(0, Input::AddressAdded { port, pkey: Some(pkey), address });
    }
    world
}

/// Sends a message to node 0 and reads the response.
fn response<R>(world: &mut World, message: &[u8], read: impl FnOnce(&Frame<'_>) -> R) -> R {
    let client = world.request(0, message);
    read(&next_response(world.response(client).unwrap()).unwrap().unwrap())
}

// docs/deviations.md: endpoints
#[test]
fn endpoints_are_listed_in_the_order_of_the_pkey_table() {
    let mut world = world();
    let mut listed = |index, port| {
        response(&mut world, &ep_request(index, port, [1; 8]), |frame| {
            let answer = EpResponse::parse(frame).ok()??;
            let name = String::from_utf8_lossy(answer.addresses().next()?).into_owned();
            Some((answer.head.port, answer.head.pkey, name))
        })
    };
    for (index, (port, pkey, name)) in (1..).zip(ENDPOINTS) {
        assert_eq!(listed(index, 0), Some((port, pkey, name.to_owned())));
        // The endpoints of a single port count from 1, too.
        assert_eq!(listed((index - 1) % 2 + 1, port), Some((port, pkey, name.to_owned())));
    }
    assert_eq!((listed(5, 0), listed(3, 1)), (None, None));
}

// docs/deviations.md: endpoints
#[test]
fn endpoint_index_of_a_counter_query_counts_over_all_ports() {
    let mut world = world();
    // Endpoint number n resolves its own address n times.
    for (times, (_, _, name)) in (1..).zip(ENDPOINTS) {
        let local = Address::from_text(name);
        for _ in 0..times {
            assert!(world.resolve(0, &local, &local).is_ok());
        }
    }
    let mut resolved = |number| {
        let counters = |frame: &Frame<'_>| Counters::parse(frame).map(|counters| counters.get(Counter::Resolve));
        response(&mut world, &perf_request(number, [1; 8]), counters)
    };
    let all = [0, 1, 2, 3, 4, 5].map(&mut resolved);
    assert_eq!(all, [Ok(10), Ok(1), Ok(2), Ok(3), Ok(4), Err(ClientStatus::ESRCADDR)]);
}
