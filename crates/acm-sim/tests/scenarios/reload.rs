//! New options while the core runs: they apply to later events.
use acm_sansio::{
    Config, Input, Output,
    config::{Depth, Limits, RouteProt, Share, Subnets},
};
use acm_sim::{Client, World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
};
use core::time::Duration;

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn configure(world: &mut World, change: impl FnOnce(&mut Config)) {
    let mut config = world.node(0).acm.config().clone();
    change(&mut config);
    world.input(0, Input::Configure(config.into()));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

fn request_unknown(world: &mut World, name_of: &str) -> Client {
    let dest = Address::from_text(name_of);
    world.request(0, &resolve_request(Some(&name(0)), &dest, EntryFlags::empty(), [1; 8]))
}

fn count(world: &World, matches: impl Fn(&Output) -> bool) -> usize {
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && matches(output)).count()
}

#[test]
fn new_time_outs_and_retries_apply_to_later_requests() {
    let mut world = World::new(WorldConfig::default());
    world.settle();
    configure(&mut world, |config| {
        config.timeout = Duration::from_millis(100);
        config.retries = 0;
    });
    let (start, client) = (world.now(), request_unknown(&mut world, "dead"));
    assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    // One request: `timeout` and the subnet's time-out of 1,024 ms.
    assert_eq!(world.now().since(start), Duration::from_millis(100 + 1024));
}

#[test]
fn smaller_limit_keeps_pending_requests() {
    let mut world = World::new(WorldConfig::default());
    world.settle();
    let clients: Vec<Client> = (0..8).map(|number| request_unknown(&mut world, &format!("dead{number}"))).collect();
    configure(&mut world, |config| {
        config.limits = Limits { requests: Share { total: 2, percent: 100 }, ..Limits::default() };
        config.resolve_depth = Depth::Fixed(1);
    });
    assert!(clients.iter().all(|client| world.path(*client).is_none()), "the requests are still pending");
    let next = request_unknown(&mut world, "dead8");
    assert_eq!(world.path(next), Some(Err(ClientStatus::ENOMEM)));
    assert!(clients.into_iter().all(|client| world.wait(client) == Err(ClientStatus::ETIMEDOUT)));
    let next = request_unknown(&mut world, "dead8");
    assert_eq!(world.path(next), None, "the limit allows a request again");
}

#[test]
fn new_sa_depth_applies_at_once() {
    let core = Config { sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 9, core, ..WorldConfig::default() });
    world.settle();
    assert!(world.node(0).acm.report().to_string().contains(" sa_depth 1 "));
    configure(&mut world, |config| config.sa_depth = Depth::Fixed(7));
    assert!(world.node(0).acm.report().to_string().contains(" sa_depth 7 "));
    configure(&mut world, |config| config.sa_depth = Depth::Auto);
    assert!(world.node(0).acm.report().to_string().contains(" sa_depth 1 "));
}

#[test]
fn new_route_prot_joins_or_leaves_the_second_group() {
    let mut world = World::new(WorldConfig::default());
    world.settle();
    let groups = |world: &World| {
        let report = world.node(0).acm.report().to_string();
        report.lines().find_map(|line| Some(line.split_once(": groups ")?.1[..6].to_owned())).unwrap()
    };
    assert_eq!(groups(&world), "1 of 1");
    configure(&mut world, |config| config.route_prot = RouteProt::Acm);
    world.run_for(Duration::from_secs(2));
    assert_eq!(groups(&world), "2 of 2");
    configure(&mut world, |config| config.route_prot = RouteProt::Sa);
    world.run_for(Duration::from_secs(2));
    assert_eq!(groups(&world), "1 of 1");
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
}

#[test]
fn base_group_and_loopback_options_do_not_change() {
    let mut world = World::new(WorldConfig::default());
    world.settle();
    let before = world.node(0).acm.config().clone();
    configure(&mut world, |config| {
        config.min_mtu = ib_mad::Mtu::B512;
        config.min_rate = ib_mad::Rate::GBPS_2_5;
        config.loopback = !config.loopback;
    });
    assert_eq!(*world.node(0).acm.config(), before);
}

// docs/deviations.md: provider-lines
#[test]
fn port_of_an_unassigned_subnet_is_not_served() {
    let mut world = World::new(WorldConfig::default());
    world.settle();
    let prefix = world.port(0).gids[0].prefix();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    configure(&mut world, |config| config.subnets = Subnets::all_but([prefix]));
    world.settle();
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ESRCADDR));
    assert_eq!(count(&world, |output| matches!(output, Output::CloseEndpoint(_))), 1);
    let is_not_served = |output: &Output| {
        matches!(output, Output::Log(event) if event.to_string()
            == format!("notice - port 0: not served: no provider for subnet prefix {prefix:#018x}"))
    };
    assert_eq!(count(&world, is_not_served), 1);
    configure(&mut world, |config| config.subnets = Subnets::only([1, prefix]));
    world.settle();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    configure(&mut world, |config| config.subnets = Subnets::only([1]));
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ESRCADDR));
    assert_eq!(count(&world, is_not_served), 2);
}
