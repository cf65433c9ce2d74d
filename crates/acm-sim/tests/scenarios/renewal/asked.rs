//! A proof shows what was true when its request was sent: a datagram that comes later is not forgotten. The daemon of the
//! peer is stopped, so that it neither announces its new LID nor sends witnesses.
use super::shared::*;
use acm_sansio::{
    Config,
    config::{Prefetch, RouteProt},
};
use acm_sim::{RemoteHost, World, WorldConfig};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request},
};
use core::time::Duration;
use ib_mad::{Lid, sa::PathRecord};

const LAG: Duration = Duration::from_millis(100);

struct Moving {
    world: World,
    host: RemoteHost,
    by_gid: PathRecord,
    old: Lid,
}

fn moving(prefetch: Prefetch) -> Moving {
    let core = Config { prefetch, route_prot: RouteProt::Sa, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, witness: true, ..WorldConfig::default() });
    let host = world.remote_host(1);
    world.run_for(2 * MINUTE);
    let (old, dgid) = (world.port(1).lid, world.port(1).gids[0]);
    Moving { world, host, by_gid: PathRecord { dgid, ..PathRecord::default() }, old }
}

impl Moving {
    /// Stops the daemon of node 1, and moves the port to LID 200, from which it sends a datagram.
    fn move_port(&mut self) {
        self.world.stop_daemon(1);
        set_lid(&mut self.world, 1, 200);
        self.world.forge_request(self.host, 0, 7, &Address::from_text("other"), &Address::from_text("unknown"));
    }

    fn lid(&mut self) -> Lid {
        self.world.route(0, &self.by_gid).unwrap().dlid
    }

    fn wait_for_query(&mut self, queries: usize) {
        while path_queries(&self.world).len() == queries {
            assert!(self.world.step(), "the path is queried");
        }
    }
}

#[test]
fn path_that_is_contradicted_during_its_confirmation_is_queried_again() {
    let mut moving = moving(Prefetch::Off);
    assert_eq!([moving.lid(), moving.lid()], [moving.old; 2], "a use, which is confirmed");
    moving.world.subnet.settings_mut().sa.response_delay = LAG;
    let queries = path_queries(&moving.world).len();
    moving.wait_for_query(queries);
    moving.world.run_for(LAG / 2);
    moving.move_port();
    moving.world.run_for(20 * LAG);
    assert_eq!((moving.lid(), path_queries(&moving.world).len()), (Lid::new(200), queries + 2));
}

#[test]
fn path_that_is_contradicted_during_its_first_query_is_queried_again() {
    let mut moving = moving(Prefetch::Off);
    moving.world.subnet.settings_mut().sa.response_delay = LAG;
    let queries = path_queries(&moving.world).len();
    let message = path_request(&moving.by_gid, EntryFlags::empty(), [7; 8]);
    let client = moving.world.request(0, &message);
    moving.wait_for_query(queries);
    moving.world.run_for(LAG / 2);
    moving.move_port();
    assert_eq!(moving.world.wait(client).unwrap().dlid, moving.old);
    moving.world.run_for(20 * LAG);
    assert_eq!((moving.lid(), path_queries(&moving.world).len()), (Lid::new(200), queries + 2));
}

/// The host sends no witnesses, so that the path was renewed. It was not used since, so that it is dropped.
#[test]
fn table_that_is_older_than_a_contradiction_is_not_used() {
    let mut moving = moving(Prefetch::On);
    let queries = path_queries(&moving.world).len();
    assert_eq!((moving.lid(), path_queries(&moving.world).len()), (moving.old, queries), "it is from the table");
    moving.world.stop_daemon(1);
    moving.wait_for_query(queries);
    moving.world.run_for(LAG);
    moving.move_port();
    assert_eq!(moving.lid(), Lid::new(200));
}

/// The host moves, and its claim is confirmed before the response to the query that was open.
#[test]
fn response_to_a_query_from_before_a_move_does_not_undo_it() {
    let mut moving = moving(Prefetch::Off);
    let lid = |world: &mut World| world.resolve(0, &name(0), &name(1)).unwrap().dlid;
    assert_eq!([(); 2].map(|()| lid(&mut moving.world)), [moving.old; 2], "a use, which is confirmed");
    moving.world.subnet.settings_mut().sa.response_delay = 18 * LAG;
    let queries = path_queries(&moving.world).len();
    moving.wait_for_query(queries);
    set_lid(&mut moving.world, 1, 200);
    let confirmed = moving.world.stat(0, "claims_confirmed");
    while moving.world.stat(0, "claims_confirmed") == confirmed {
        assert!(moving.world.step(), "the claim is confirmed");
    }
    assert_eq!(path_queries(&moving.world).len(), queries + 1, "the response is not here yet");
    for _ in 0..40 {
        moving.world.run_for(LAG / 2);
        assert_eq!(lid(&mut moving.world), Lid::new(200));
    }
}
