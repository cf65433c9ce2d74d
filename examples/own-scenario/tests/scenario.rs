//! A node that gets another LID, on a fabric that loses datagrams. Only virtual time passes, and each run gives the
//! same result.
use acm_sim::{
    World, WorldConfig,
    ib_mad::Lid,
    ib_sim::{Faults, Port, Probability},
    name,
};
use std::time::Duration;

#[test]
fn node_with_another_lid_is_found_on_a_lossy_fabric() {
    let mut world = World::new(WorldConfig { nodes: 4, ..WorldConfig::default() });
    world.subnet.settings_mut().faults = Faults { loss: Probability::percent(20), ..Faults::default() };
    let path = world.resolve(0, &name(0), &name(3)).unwrap();
    assert_eq!((path.slid, path.dlid), (world.port(0).lid, world.port(3).lid));

    let moved = Port { lid: Lid::new(300), ..world.port(3).clone() };
    world.subnet.set_port(World::port_id(3), moved).unwrap();
    world.run_for(Duration::from_secs(10));
    let path = world.resolve(0, &name(0), &name(3)).unwrap();
    assert_eq!(path.dlid, Lid::new(300));
    // Counters show the cost.
    assert!(world.stat(3, "announcements") > 0);
}
