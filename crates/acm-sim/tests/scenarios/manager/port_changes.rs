//! New LIDs of the subnet manager and of the port, and a slower link.
use super::shared::{change, depth, members, route, sends, world};
use acm_sansio::{Config, Input, PortId, Time, api::SaSend, config::Depth, retry::SA_BUSY};
use acm_sim::{Client, World};
use acm_wire::client::{ClientStatus, Counter, EntryFlags};
use core::time::Duration;
use ib_mad::{Lid, Rate, Status};
use ib_sim::Port;

/// Sends a client's QUERY_SA request.
fn query(world: &mut World, traffic_class: u8) -> Client {
    route(world, traffic_class, EntryFlags::QUERY_SA)
}

/// The old subnet manager never responds. Requests in flight and queued requests are sent to the new one at once, also
/// QUERY_SA requests, and no request fails.
#[test]
fn pending_requests_are_sent_to_the_new_subnet_manager() {
    for new_lid in [|port: &mut Port| port.sm_lid = Lid::new(2), |port: &mut Port| port.lid = Lid::new(300)] {
        let mut world = world(depth(Depth::Fixed(2)));
        world.subnet.settings_mut().sa.mute = true;
        let clients = [
            query(&mut world, 1),
            route(&mut world, 2, EntryFlags::empty()),
            query(&mut world, 3),
            route(&mut world, 4, EntryFlags::empty()),
        ];
        world.run_for(Duration::from_millis(100));
        assert!(clients.iter().all(|client| world.path(*client).is_none()));
        let before = sends(&world, 0, 0);
        let since = world.transcript.len();
        world.subnet.settings_mut().sa.mute = false;
        change(&mut world, 0, new_lid);
        assert!(clients.iter().all(|client| matches!(world.path(*client), Some(Ok(_)))), "at once");
        assert_eq!(world.stat(0, "sa_reposted"), 2, "two requests were in flight");
        let after = sends(&world, 0, since);
        let sm_lid = world.port(0).sm_lid;
        assert!(after.iter().all(|(_, send)| send.to.lid == sm_lid));
        let is_new = |(_, send): &(Time, SaSend)| {
            let tid = send.mad.header.transaction_id;
            before.iter().all(|(_, old)| old.id != send.id && old.mad.header.transaction_id != tid)
        };
        assert!(after.iter().all(is_new), "new ids, so that a response of the old subnet manager is stale");
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

/// The old subnet manager was silent, or busy.
#[test]
fn time_out_restarts_at_a_new_subnet_manager() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    let client = route(&mut world, 1, EntryFlags::empty());
    world.run_for(Duration::from_secs(5));
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    let moved = world.now();
    assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    assert!((6000..=7500).contains(&world.now().since(moved).as_millis()), "all retries");
    world.subnet.settings_mut().sa.mute = false;
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let client = route(&mut world, 2, EntryFlags::empty());
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.path(client), None);
    change(&mut world, 0, |port| port.sm_lid = Lid::new(3));
    let (moved, since) = (world.now(), world.transcript.len());
    assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    assert!(world.now().since(moved) > Duration::from_secs(3));
    let first = sends(&world, 0, since)[0].0.since(moved);
    assert!(first <= SA_BUSY.first * 5 / 4, "the first pause is short: {first:?}");
}

// docs/deviations.md: leave
#[test]
fn leave_request_is_sent_to_the_new_subnet_manager() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    for address in World::addresses(0) {
        world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    }
    assert_eq!(members(&world), [2]);
    world.subnet.settings_mut().sa.mute = false;
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    assert_eq!(members(&world), [1]);
    world.run_for(Duration::from_secs(5));
    assert_eq!(members(&world), [1]);
}

#[test]
fn slower_link_invalidates_faster_routes() {
    let mut world = world(Config::default());
    let count = |world: &World| world.node(0).acm.counters().get(Counter::RouteQuery);
    let fast = route(&mut world, 1, EntryFlags::empty());
    assert_eq!(world.wait(fast).unwrap().rate.value(), Rate::GBPS_100);
    world.subnet.settings_mut().path.rate = Some(Rate::GBPS_10);
    let slow = route(&mut world, 2, EntryFlags::empty());
    assert_eq!(world.wait(slow).unwrap().rate.value(), Rate::GBPS_10);
    world.subnet.settings_mut().path.rate = None;
    let before = count(&world);
    change(&mut world, 0, |port| port.rate = Rate::GBPS_40);
    let fast = route(&mut world, 1, EntryFlags::empty());
    assert_eq!(world.wait(fast).unwrap().rate.value(), Rate::GBPS_40);
    assert_eq!(count(&world), before + 1);
    let slow = route(&mut world, 2, EntryFlags::empty());
    assert_eq!(world.wait(slow).unwrap().rate.value(), Rate::GBPS_10);
    assert_eq!(count(&world), before + 1, "routes that are slow enough stay");
    // A smaller MTU invalidates routes with a larger MTU, too.
    change(&mut world, 0, |port| port.mtu = ib_mad::Mtu::B1024);
    let small = route(&mut world, 1, EntryFlags::empty());
    assert_eq!(world.wait(small).unwrap().mtu.value(), ib_mad::Mtu::B1024);
    assert_eq!(count(&world), before + 2);
}
