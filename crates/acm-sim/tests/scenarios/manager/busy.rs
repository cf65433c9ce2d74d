//! Subnet administration that responds with BUSY.
use super::shared::{depth, route, sends, world};
use acm_sansio::{Config, Time, config::Depth, retry::SA_BUSY};
use acm_sim::{World, WorldConfig};
use acm_wire::client::{ClientStatus, EntryFlags};
use core::time::Duration;
use ib_mad::Status;

/// The pauses are 100 ms, 200 ms, 400 ms and so on, each multiplied by 3/4 to 5/4, within (retries + 1) x timeout.
// docs/deviations.md: sa-status
#[test]
fn busy_sa_is_retried_after_growing_pauses_with_jitter() {
    let mut all = Vec::new();
    for seed in 0..20 {
        let core = Config { sa_notices: false, ..Config::default() };
        let mut world = World::new(WorldConfig { seed, core, ..WorldConfig::default() });
        world.subnet.settings_mut().sa.status = Some(Status::BUSY);
        let (start, since) = (world.now(), world.transcript.len());
        let client = route(&mut world, 1, EntryFlags::empty());
        assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
        assert!(world.now().since(start) <= Config::default().sa_time(), "{}", world.now());
        let times: Vec<Time> = sends(&world, 0, since).iter().map(|(at, _)| *at).collect();
        let pauses: Vec<Duration> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        for (pause, failures) in pauses.iter().zip(1..) {
            let around = SA_BUSY.pause(failures);
            assert!((around * 3 / 4..=around * 5 / 4).contains(pause), "{pause:?} around {around:?}");
        }
        assert!((5..=8).contains(&times.len()), "{times:?}");
        all.push(pauses);
    }
    all.dedup();
    assert_eq!(all.len(), 20, "all pauses differ");
}

#[test]
fn request_that_pauses_after_busy_holds_no_credit() {
    let mut world = world(depth(Depth::Fixed(1)));
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let first = route(&mut world, 1, EntryFlags::empty());
    world.subnet.settings_mut().sa.status = None;
    let second = route(&mut world, 2, EntryFlags::empty());
    assert!(matches!(world.path(second), Some(Ok(_))), "at once");
    assert_eq!(world.path(first), None);
    assert!(world.wait(first).is_ok());
    assert_eq!(world.stat(0, "sa_busy"), 1);
}
