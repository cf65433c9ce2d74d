//! Floors: an account with few requests and lookups is served, whatever larger accounts hold.
use acm_sansio::{
    Account, Config,
    account::AccountKind,
    config::{Depth, Limits, Share},
};
use acm_sim::{Client, World, WorldConfig, name, unknown_name_request};
use acm_wire::client::{ClientStatus, EntryFlags, RequestBuffer, path_request, resolve_request};
use core::time::Duration;
use ib_mad::sa::PathRecord;

const LARGE: Account = Account::User(1);
const OTHER: Account = Account::User(2);
const NEW: Account = Account::User(3);
/// The time for which a credit is held before a round trip has been measured.
const CREDIT: Duration = Duration::from_millis(4);
const REFUSED: Option<Result<PathRecord, ClientStatus>> = Some(Err(ClientStatus::ENOMEM));

fn known(node: u32, flags: EntryFlags) -> RequestBuffer {
    resolve_request(Some(&name(0)), &name(node), flags, [1; 8])
}

/// Returns a world in which users may have 126 lookups: 144 less an eighth for the kernel.
fn small() -> World {
    let limits = Limits { lookups: Share { total: 144, percent: 100 }, ..Limits::default() };
    World::new(WorldConfig { nodes: 4, core: Config { limits, ..Config::default() }, ..WorldConfig::default() })
}

fn request_unknown(world: &mut World, account: Account, count: usize, flags: EntryFlags) -> Vec<Client> {
    (0..count).map(|number| world.request_as(0, account, &unknown_name_request(number, flags))).collect()
}

/// Requests unknown names until one is refused.
fn fill(world: &mut World, user: u32, flags: EntryFlags) {
    for connection in 0..1000 {
        let client = world.connect(0, Account::User(user));
        for number in 0..64 {
            let number = (user as usize * 1000 + connection) * 64 + number;
            world.send(client, &unknown_name_request(number, flags));
            if world.path(client) == REFUSED {
                return;
            }
        }
    }
    panic!("user {user} is never refused");
}

fn time_of(world: &mut World, account: Account, node: u32) -> Duration {
    let start = world.now();
    let client = world.request_as(0, account, &known(node, EntryFlags::empty()));
    assert!(world.wait(client).is_ok());
    world.now().since(start)
}

/// All bounds have their defaults. Each user requests unknown names until it is refused.
// docs/deviations.md: shares
// docs/deadlines.md: floor
#[test]
fn live_name_of_a_new_account_beside_1000_full_ones_waits_for_one_credit() {
    for flags in [EntryFlags::NO_DELAY, EntryFlags::empty()] {
        let limits = Limits { connections: Share { total: 10_000, percent: 90 }, ..Limits::default() };
        let core = Config { limits, ..Config::default() };
        let world = || World::new(WorldConfig { core: core.clone(), transcript: false, ..WorldConfig::default() });
        let idle = time_of(&mut world(), NEW, 1);
        let mut world = world();
        (1000..2000).for_each(|user| fill(&mut world, user, flags));
        let report = world.node(0).acm.report().to_string();
        let held: Vec<usize> = report
            .lines()
            .filter(|line| line.starts_with("user "))
            .map(|line| line.rsplit("lookups ").next().unwrap().parse().unwrap())
            .collect();
        let (least, most) = (*held.iter().min().unwrap(), *held.iter().max().unwrap());
        let took = time_of(&mut world, NEW, 1);
        println!("{flags:?}: 1,000 accounts hold {least} to {most} lookups; a live name took {took:?}, idle {idle:?}");
        assert_eq!((held.len(), held.iter().sum::<usize>()), (1000, 65_536 - 8192));
        assert!(least >= 57 && most <= 64, "57,344 are 1,000 times 57.3");
        assert!(took <= idle + CREDIT);
        // A request that ends frees its lookup, too.
        let stats = world.node(0).acm.stats();
        let is_ticket = flags == EntryFlags::NO_DELAY;
        let cancelled = if is_ticket { stats.lookups_cancelled } else { stats.requests_cancelled };
        assert!(cancelled.of(AccountKind::User) > 50_000);
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

#[test]
fn cancelled_lookup_continues_for_another_account() {
    for flags in [EntryFlags::NO_DELAY, EntryFlags::empty()] {
        let mut world = small();
        request_unknown(&mut world, LARGE, 124, flags);
        let large = world.request_as(0, LARGE, &known(1, flags));
        let other = world.request_as(0, OTHER, &known(1, EntryFlags::empty()));
        let new = world.request_as(0, NEW, &known(2, EntryFlags::empty()));
        assert_eq!(world.path(large) == REFUSED, flags == EntryFlags::empty(), "a ticket has its response already");
        assert_eq!(world.node(0).acm.stats().lookups_cancelled.of(AccountKind::User), 1);
        assert_eq!(world.node(0).acm.check(), Ok(()));
        assert!(world.wait(other).is_ok() && world.wait(new).is_ok());
    }
}

#[test]
fn tickets_are_cancelled_before_lookups_with_a_waiting_client() {
    let mut world = small();
    request_unknown(&mut world, LARGE, 100, EntryFlags::NO_DELAY);
    let message = |number| unknown_name_request(number, EntryFlags::empty());
    let waiting: Vec<_> = (100..126).map(|number| world.request_as(0, LARGE, &message(number))).collect();
    request_unknown(&mut world, NEW, 62, EntryFlags::NO_DELAY);
    assert_eq!(world.node(0).acm.stats().lookups_cancelled.of(AccountKind::User), 62);
    assert!(waiting.iter().all(|client| world.path(*client).is_none()));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Nothing is queued: all requests wait for one name, which was sent.
#[test]
fn request_is_cancelled_if_only_requests_are_used_up() {
    let requests = Share { total: 144, percent: 100 };
    let core = Config { limits: Limits { requests, ..Limits::default() }, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 4, core, ..WorldConfig::default() });
    let message = unknown_name_request(0, EntryFlags::empty());
    let all: Vec<_> = (0..126).map(|_| world.request_as(0, LARGE, &message)).collect();
    let refused = |world: &World| all.iter().filter(|client| world.path(**client) == REFUSED).count();
    assert_eq!(refused(&world), 0);
    let new = world.request_as(0, NEW, &known(2, EntryFlags::empty()));
    assert_eq!((refused(&world), world.node(0).acm.stats().requests_cancelled.of(AccountKind::User)), (1, 1));
    assert_eq!(world.node(0).acm.stats().lookups_cancelled.total(), 0);
    assert!(world.wait(new).is_ok());
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn queued_query_sa_requests_are_cancelled_as_lookups() {
    let lookups = Share { total: 144, percent: 100 };
    let limits = Limits { lookups, ..Limits::default() };
    let core = Config { limits, sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 4, core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let record = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    let query = path_request(&record, EntryFlags::QUERY_SA, [1; 8]);
    let all: Vec<_> = (0..127).map(|_| world.request_as(0, LARGE, &query)).collect();
    let refused = |world: &World| all.iter().filter(|client| world.path(**client) == REFUSED).count();
    assert_eq!(refused(&world), 1, "each is charged as a lookup");
    let new = world.request_as(0, NEW, &known(2, EntryFlags::empty()));
    assert_eq!((refused(&world), world.node(0).acm.stats().lookups_cancelled.of(AccountKind::User)), (2, 1));
    assert!(world.wait(new).is_ok());
    assert_eq!(world.node(0).acm.check(), Ok(()));
}
