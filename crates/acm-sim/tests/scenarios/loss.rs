//! Lookups by name while datagrams are lost, delayed, duplicated and reordered.
use acm_sim::{World, WorldConfig};
use acm_wire::client::ClientStatus;
use core::time::Duration;
use ib_sim::{Faults, Probability};

fn world(seed: u64, faults: Faults) -> World {
    let mut world = World::new(WorldConfig { nodes: 3, seed, ..WorldConfig::default() });
    world.subnet.settings_mut().faults = faults;
    world
}

#[test]
fn loss_of_30_percent_times_out_13_percent_of_lookups() {
    let faults = Faults { loss: Probability::percent(30), ..Faults::default() };
    let (mut resolved, mut timed_out) = (0, 0);
    for seed in 0..200 {
        let mut world = world(seed, faults);
        let start = world.now();
        let [source, ..] = World::addresses(0);
        let [dest, ..] = World::addresses(1);
        match world.resolve(0, &source, &dest) {
            Ok(path) => {
                assert_eq!((path.dlid, path.slid), (world.port(1).lid, world.port(0).lid), "seed {seed}");
                resolved += 1;
            }
            Err(status) => {
                assert_eq!(status, ClientStatus::ETIMEDOUT, "seed {seed}");
                assert_eq!(world.now().since(start), Duration::from_millis(3 * (2000 + 1024)), "seed {seed}");
                timed_out += 1;
            }
        }
    }
    // A round fails with probability 1 - 0.7 x 0.7 = 0.51, all three with 0.13: 26 of 200 on average, with a standard
    // deviation of 4.8.
    assert!((10..45).contains(&timed_out), "{resolved} resolved, {timed_out} timed out");
}

#[test]
fn delay_duplication_and_reordering_cause_no_errors() {
    let faults = Faults {
        duplicate: Probability::percent(40),
        reorder: Probability::percent(40),
        reorder_hold: Duration::from_millis(300),
        delay: Duration::from_millis(50),
        jitter: Duration::from_millis(100),
        ..Faults::default()
    };
    for seed in 0..50 {
        let mut world = world(seed, faults);
        for (from, to) in [(0_u32, 1_u32), (1, 2), (2, 0), (0, 2), (1, 0)] {
            let [source, dest] = [from, to].map(|node| World::addresses(node)[0]);
            let path = world.resolve(from as usize, &source, &dest).unwrap();
            assert_eq!(path.dlid, world.port(to as usize).lid, "seed {seed}");
        }
        world.run_for(Duration::from_secs(60));
        for node in 0..3 {
            assert_eq!(world.node(node).acm.counters().0[0], 0, "errors, seed {seed}");
        }
    }
}
