//! Reasons of failed requests in the log: account, destination, attempts and advice; and the counts by kind, once a
//! minute.
use acm_sansio::{
    Account, Config, Event, Input, KernelRequestId, Output, PortId,
    api::Level,
    config::{Depth, Limits, Share},
    failure::{FailureCounts, FailureKind},
};
use acm_sim::{World, WorldConfig, name, unknown_name_request};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, path_request, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Gid, Lid, Method, Pkey, PortState, Status, sa::PathRecord};

const SECOND: Duration = Duration::from_secs(1);
const USER: Account = Account::User(1000);

fn with(core: Config) -> World {
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world
}

/// Returns the kind and the log line of the last failed request.
fn last_failure(world: &World) -> (FailureKind, String) {
    let mut events = world.node(0).host.events.iter().rev();
    let failed = events.find_map(|(_, event)| match event {
        Event::Failed(failed) => Some((failed.attempt.failure.kind(), event.to_string())),
        _ => None,
    });
    failed.expect("a failed request")
}

/// Returns the logged sums of failures with the time that each covers.
fn summaries(world: &World) -> Vec<(FailureCounts, Duration)> {
    let events = world.node(0).host.events.iter();
    let sums = events.filter_map(|(_, event)| match event {
        Event::Failures(counts, time) => Some((*counts, *time)),
        _ => None,
    });
    sums.collect()
}

#[track_caller]
fn assert_logged(world: &World, kind: FailureKind, parts: &[&str]) {
    let (found, line) = last_failure(world);
    assert_eq!(found, kind, "{line}");
    for part in parts {
        assert!(line.contains(part), "{part}\n{line}");
    }
}

fn resolve(world: &mut World, source: Option<&Address>, dest: &Address, flags: EntryFlags) {
    let client = world.request_as(0, USER, &resolve_request(source, dest, flags, [1; 8]));
    let _ = world.wait(client);
}

/// Node 0 resolves node 1 by its name.
fn resolve_node(world: &mut World) {
    resolve(world, Some(&name(0)), &name(1), EntryFlags::empty());
}

#[test]
fn log_explains_no_response_from_the_group() {
    let mut world = with(Config::default());
    let unknown = Address::from_text("nobody");
    resolve(&mut world, Some(&name(0)), &unknown, EntryFlags::empty());
    let group =
        format!(" of user 1000 for nobody: no response from the group; asked group {} 3 times in ", world.group().0);
    assert_logged(&world, FailureKind::NoAnswer, &[&group, "in 9.0 s; status \"timed out\"; is its node up"]);
    // A later request fails at once, and the log states the reason.
    world.run_for(Duration::from_millis(600));
    resolve(&mut world, Some(&name(0)), &unknown, EntryFlags::empty());
    assert_logged(
        &world,
        FailureKind::NoAnswer,
        &[&group, " s; tried before, and not again for 400 ms (negative_timeout); "],
    );
}

/// Node 0 requests an unknown name, and a remote host responds with this group and status.
fn world_with_response(group: Option<Gid>, status: Status) -> World {
    let mut world = with(Config::default());
    let client = world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty()));
    let tid = world.transcript.iter().rev().find_map(|(_, _, output)| match output {
        Output::Send { mad, .. } if mad.method == Method::GET => Some(mad.transaction_id),
        _ => None,
    });
    let mut response = multicast::response(tid.expect("a request"), group.unwrap_or_default());
    response.status = status;
    let (remote, qpn) = (world.remote_host(1), world.qpn(0));
    world.forge_response(remote, 0, qpn, &response);
    let _ = world.wait(client);
    world
}

#[test]
fn log_explains_a_refusal_of_the_peer() {
    let world = world_with_response(Some(Gid::default()), Status::new(0x0300));
    let parts =
        [" for dead0: a peer refused: no data; asked group ", " 3 times in 9.0 s; ", "; the log of that node says"];
    assert_logged(&world, FailureKind::Refused, &parts);
}

#[test]
fn log_explains_a_peer_without_a_shared_group() {
    let world = world_with_response(None, Status::OK);
    assert_logged(
        &world,
        FailureKind::NoSharedGroup,
        &[": the peer shares no multicast group with us; ", "; min_mtu, min_rate and"],
    );
}

/// Subnet administration responds to the path query of node 0 with this status, or not at all.
fn world_with_sa_status(status: Option<Status>) -> World {
    let mut world = with(Config::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let client = world.request_as(0, USER, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    let responds = |(_, node, output): &(_, usize, Output)| {
        *node == 1 && matches!(output, Output::Send { mad, .. } if mad.method == Method::GET_RESP)
    };
    while !world.transcript.iter().any(responds) {
        assert!(world.step());
    }
    world.subnet.settings_mut().sa.status = status;
    world.subnet.settings_mut().sa.mute = status.is_none();
    let _ = world.wait(client);
    world
}

#[test]
fn log_explains_a_path_query_without_records() {
    let world = world_with_sa_status(Some(Status::SA_NO_RECORDS));
    let found = format!("; found at LID {}; asked the SA at LID 1 for 0 ms; status ", world.port(1).lid);
    let parts = [" of user 1000 for node2: path query: SA status SA: no records", &found, "; ask the subnet manager: "];
    assert_logged(&world, FailureKind::NoPath, &parts);
}

#[test]
fn log_explains_a_silent_sa() {
    let world = world_with_sa_status(None);
    let found = format!("; found at LID {}; asked the SA at LID 1 for 6.4 s; status ", world.port(1).lid);
    assert_logged(
        &world,
        FailureKind::SaSilent,
        &[": path query: no answer from the SA", &found, "; does the subnet manager run"],
    );
}

#[test]
fn log_explains_a_busy_sa() {
    let world = world_with_sa_status(Some(Status::BUSY));
    assert_logged(
        &world,
        FailureKind::SaBusy,
        &["SA status busy", "; asked the SA at LID 1 for ", "; too many nodes ask it"],
    );
}

#[test]
fn log_explains_a_refusal_of_the_sa() {
    let world = world_with_sa_status(Some(Status::SA_REQUEST_INVALID));
    assert_logged(
        &world,
        FailureKind::SaRefused,
        &["; asked the SA at LID 1 for 0 ms; ", "; the subnet manager's log says why"],
    );
}

#[test]
fn log_explains_failed_query_sa_requests() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    let record = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    let client = world.request_as(0, USER, &path_request(&record, EntryFlags::QUERY_SA, [1; 8]));
    world.run_for(10 * SECOND);
    assert!(world.response(client).is_some());
    let dest =
        format!(" for LID {}: path query: no answer from the SA; asked the SA at LID 1 for 6.4 s; ", record.dlid);
    assert_logged(&world, FailureKind::SaSilent, &[&dest]);
    let record = PathRecord { slid: Lid::new(999), ..record };
    world.request_as(0, USER, &path_request(&record, EntryFlags::QUERY_SA, [1; 8]));
    let served = format!(": source address LID 999 is not ours; served are LID {}; ", world.port(0).lid);
    assert_logged(&world, FailureKind::Source, &[&served]);
}

#[test]
fn log_explains_a_lookup_that_expired_in_its_queue() {
    let mut world =
        with(Config { resolve_depth: Depth::Fixed(1), queue_deadline: Duration::from_millis(3), ..Config::default() });
    let clients = [0, 1].map(|number| world.request_as(0, USER, &unknown_name_request(number, EntryFlags::empty())));
    let _ = world.wait(clients[1]);
    let waited = format!(
        " for dead1: no turn to ask within the deadline; waited 3 ms for a turn to ask group {}; ",
        world.group().0
    );
    assert_logged(&world, FailureKind::NoTurn, &[&waited, "resolve_depth"]);
}

#[test]
fn log_explains_that_no_group_is_joined() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    world.restart(0);
    resolve_node(&mut world);
    assert_logged(
        &world,
        FailureKind::NoGroup,
        &[" for node2: no multicast group joined yet; ", "\"join failed\" in this log says why"],
    );
}

#[test]
fn log_explains_a_port_that_is_down() {
    let mut world = with(Config::default());
    let client = world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty()));
    world.run_for(3 * SECOND);
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    let _ = world.wait(client);
    assert_logged(
        &world,
        FailureKind::PortDown,
        &[" for dead0: port down or endpoint closed; asked group ", "once in 3.0 s; "],
    );
    resolve_node(&mut world);
    assert_logged(
        &world,
        FailureKind::Source,
        &[": source address node1 is not ours; nothing is served: is a port active"],
    );
}

#[test]
fn log_explains_a_source_that_is_not_local() {
    let mut world = with(Config::default());
    resolve(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
    let named = " of user 1000 for node1: source address node2 is not ours; served are node1, 10.0.0.1, fd00::1; status \"source address\"; ";
    assert_logged(&world, FailureKind::Source, &[named]);
    let record = PathRecord { dlid: Lid::new(9), sgid: "fe80::99".parse().unwrap(), ..PathRecord::default() };
    let _ = world.route(0, &record);
    let gids = format!(": source address GID fe80::99 is not ours; served are GID {}; ", world.port(0).gids[0]);
    assert_logged(&world, FailureKind::Source, &[" for LID 9", &gids]);
    let elsewhere = PathRecord { dgid: "fe90::99".parse().unwrap(), ..PathRecord::default() };
    let _ = world.route(0, &elsewhere);
    assert_logged(
        &world,
        FailureKind::Source,
        &[" for GID fe90::99: no active port begins a path to that subnet", "; served are GID "],
    );
}

#[test]
fn log_names_a_partition_without_the_port_or_without_an_address() {
    let mut world = with(Config::default());
    let mut port = world.port(0).clone();
    port.pkeys = vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)];
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    for (pkey, reason) in [
        (0x8005, ": P_Key 0x8005 is not in the port's table; status \"source address\"; ask for a partition"),
        (
            0x0001,
            ": the port has no address in the partition of P_Key 0x0001; status \"source address\"; add an address",
        ),
    ] {
        let record = PathRecord { dgid: world.port(1).gids[0], pkey: Pkey::new(pkey), ..PathRecord::default() };
        assert_eq!(world.route(0, &record), Err(ClientStatus::ESRCADDR));
        assert_logged(&world, FailureKind::Source, &[reason]);
    }
}

#[test]
fn log_explains_a_missing_route_to_the_destination() {
    let mut world = with(Config::default());
    resolve(&mut world, None, &Address::Ip4([192, 0, 2, 1].into()), EntryFlags::empty());
    assert_logged(
        &world,
        FailureKind::Source,
        &[" for 192.0.2.1: no source address: the routing table has no way there; "],
    );
}

#[test]
fn log_explains_a_limit_that_is_reached() {
    let limits = Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() };
    let mut world = with(Config { limits, ..Config::default() });
    world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty()));
    resolve_node(&mut world);
    assert_logged(
        &world,
        FailureKind::Bound,
        &[" for node2: too many lookups under way (lookups, lookup_share); ", "; raise it, or"],
    );
}

#[test]
fn log_explains_the_deadline_of_the_kernel() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    let record = PathRecord { dgid: world.port(1).gids[0], ..PathRecord::default() };
    world.input(0, Input::KernelRequest { id: KernelRequestId(1), port: Some(PortId(0)), path: record });
    world.run_for(2 * SECOND);
    let late = format!(
        " of the kernel for GID {}: no answer within the kernel's deadline; asked the SA at LID 1 for 1.8 s; ",
        record.dgid
    );
    assert_logged(&world, FailureKind::KernelDeadline, &[&late, "it is still looked up"]);
}

#[test]
fn log_explains_an_unsupported_address_type() {
    let mut world = with(Config::default());
    resolve(&mut world, Some(&name(0)), &Address::Lid(Lid::new(9)), EntryFlags::empty());
    assert_logged(
        &world,
        FailureKind::BadRequest,
        &[" for LID 9: not an address that a peer owns; ", "; ask for it as a path"],
    );
}

#[test]
fn nodelay_request_is_logged_and_not_counted_as_a_failure() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(1);
    resolve(&mut world, Some(&name(0)), &name(1), EntryFlags::NO_DELAY);
    assert_logged(
        &world,
        FailureKind::NotYet,
        &[" for node2: not known yet, and the asker does not wait; ", "ask again"],
    );
    world.run_for(120 * SECOND);
    assert_eq!(summaries(&world), []);
}

/// A minute with failures gives one line, a minute without failures gives none. `log_level` 0 logs no other line.
#[test]
fn failures_are_summed_up_once_a_minute() {
    let mut world = with(Config { log_level: Level::Always, ..Config::default() });
    world.run_for(300 * SECOND);
    assert_eq!(summaries(&world), [], "nothing failed");
    let start = world.now();
    for number in 0..3 {
        world.request_as(0, USER, &unknown_name_request(number, EntryFlags::empty()));
    }
    resolve(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
    world.run_until(start + 59 * SECOND);
    assert_eq!(summaries(&world), []);
    world.run_until(start + 600 * SECOND);
    let sums = summaries(&world);
    let lines: Vec<_> = sums.iter().map(|(counts, time)| (counts.to_string(), *time)).collect();
    assert_eq!(lines, [("3 no answer from the peer, 1 source not ours".to_owned(), 60 * SECOND)]);
    assert!(!world.node(0).host.events.iter().any(|(_, event)| matches!(event, Event::Failed(_))));
    // Continued failures give one line per minute.
    for _ in 0..6 {
        resolve(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
        world.run_for(30 * SECOND);
    }
    let counts: Vec<_> = summaries(&world).iter().skip(1).map(|(counts, _)| counts.total()).collect();
    assert_eq!(counts, [2, 2, 2]);
}

#[test]
fn failures_are_summed_up_at_shutdown() {
    let mut world = with(Config::default());
    resolve(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
    world.run_for(7 * SECOND);
    world.input(0, Input::Shutdown);
    world.run_for(5 * SECOND);
    let sums: Vec<_> = summaries(&world).iter().map(|(counts, time)| (counts.total(), time.as_secs())).collect();
    assert_eq!(sums, [(1, 7)]);
}

/// The page has one row for each kind, by its name in the log.
#[test]
fn each_kind_of_failure_is_in_the_troubleshooting_page() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/troubleshooting.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split_once("## Kinds of failures").unwrap().1.split_once("\n## ").unwrap().0;
    let rows: Vec<&str> =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).skip(1).collect();
    assert_eq!(rows, FailureKind::ALL.map(FailureKind::name));
}
