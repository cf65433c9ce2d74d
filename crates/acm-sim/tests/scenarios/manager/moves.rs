//! A subnet manager or a port that is elsewhere, or other than it was.
use super::shared::{change, depth, members, route, sends, world};
use acm_sansio::{Config, Input, PortId, Time, api::SaSend, config::SaDepth, retry::SA_BUSY};
use acm_sim::{Ask, World};
use acm_wire::client::{ClientStatus, Counter, EntryFlags};
use core::time::Duration;
use ib_mad::{Lid, Rate, Status};
use ib_sim::Port;

/// A client's QUERY_SA.
fn query(world: &mut World, traffic_class: u8) -> Ask {
    route(world, traffic_class, EntryFlags::QUERY_SA)
}

/// The old subnet manager never answers. What it was sent, and what waits behind it, goes to the new one at once, a
/// client's QUERY_SA as well, and nobody is told of any failure.
#[test]
fn requests_go_to_the_new_subnet_manager() {
    for changed in [|port: &mut Port| port.sm_lid = Lid::new(2), |port: &mut Port| port.lid = Lid::new(300)] {
        let mut world = world(depth(SaDepth::Fixed(2)));
        world.subnet.settings_mut().sa.mute = true;
        let asks = [
            query(&mut world, 1),
            route(&mut world, 2, EntryFlags::empty()),
            query(&mut world, 3),
            route(&mut world, 4, EntryFlags::empty()),
        ];
        world.run_for(Duration::from_millis(100));
        assert!(asks.iter().all(|ask| world.path(*ask).is_none()));
        let before = sends(&world, 0, 0);
        let since = world.transcript.len();
        world.subnet.settings_mut().sa.mute = false;
        change(&mut world, 0, changed);
        assert!(asks.iter().all(|ask| matches!(world.path(*ask), Some(Ok(_)))), "at once");
        assert_eq!(world.stat(0, "sa_reposted"), 2, "two were in flight");
        let after = sends(&world, 0, since);
        let sm_lid = world.port(0).sm_lid;
        assert!(after.iter().all(|(_, send)| send.to.lid == sm_lid));
        let fresh = |(_, send): &(Time, SaSend)| {
            let tid = send.mad.header.transaction_id;
            before.iter().all(|(_, old)| old.id != send.id && old.mad.header.transaction_id != tid)
        };
        assert!(after.iter().all(fresh), "an answer of the old one is an answer to nothing");
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

/// The new one has all the time that the old one had, whether the old one was silent or busy.
#[test]
fn the_new_subnet_manager_has_all_its_time() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    let ask = route(&mut world, 1, EntryFlags::empty());
    world.run_for(Duration::from_secs(5));
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    let moved = world.now();
    assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.now().since(moved), Duration::from_secs(6));
    world.subnet.settings_mut().sa.mute = false;
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let ask = route(&mut world, 2, EntryFlags::empty());
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.path(ask), None);
    change(&mut world, 0, |port| port.sm_lid = Lid::new(3));
    let (moved, since) = (world.now(), world.transcript.len());
    assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    assert!(world.now().since(moved) > Duration::from_secs(3));
    let first = sends(&world, 0, since)[0].0.since(moved);
    assert!(first <= SA_BUSY.first * 5 / 4, "its first pause is short: {first:?}");
}

#[test]
fn a_leave_is_not_lost_when_the_subnet_manager_moves() {
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
fn a_slower_link_voids_routes_that_are_too_fast() {
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
    assert_eq!(count(&world), before + 1, "what the link still carries stays");
    // The same for the MTU.
    change(&mut world, 0, |port| port.mtu = ib_mad::Mtu::B1024);
    let small = route(&mut world, 1, EntryFlags::empty());
    assert_eq!(world.wait(small).unwrap().mtu.value(), ib_mad::Mtu::B1024);
    assert_eq!(count(&world), before + 2);
}
