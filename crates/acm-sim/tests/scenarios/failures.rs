//! Why a request failed is told: who asked for what, what was tried, what to do; and by kind, once a minute.
use acm_sansio::{
    Account, Config, Event, Input, KernelRequestId, Output, PortId,
    api::Level,
    config::{Limits, Share},
    failure::{FailureCounts, FailureKind},
};
use acm_sim::{World, WorldConfig, dead, name};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Gid, Lid, Method, PortState, Status, sa::PathRecord};

const SECOND: Duration = Duration::from_secs(1);
const USER: Account = Account::User(1000);

fn with(core: Config) -> World {
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world
}

/// The last request that failed: its kind and the line about it.
fn last(world: &World) -> (FailureKind, String) {
    let mut events = world.node(0).host.events.iter().rev();
    let failed = events.find_map(|(_, event)| match event {
        Event::Failed(failed) => Some((failed.attempt.failure.kind(), event.to_string())),
        _ => None,
    });
    failed.expect("a request that failed")
}

/// What was told of failures together.
fn together(world: &World) -> Vec<(FailureCounts, Duration)> {
    let events = world.node(0).host.events.iter();
    let told = events.filter_map(|(_, event)| match event {
        Event::Failures(counts, time) => Some((*counts, *time)),
        _ => None,
    });
    told.collect()
}

#[track_caller]
fn says(world: &World, kind: FailureKind, parts: &[&str]) {
    let (found, line) = last(world);
    assert_eq!(found, kind, "{line}");
    for part in parts {
        assert!(line.contains(part), "{part}\n{line}");
    }
}

fn asks(world: &mut World, source: Option<&Address>, dest: &Address, flags: EntryFlags) {
    let ask = world.ask_as(0, USER, &resolve_request(source, dest, flags, [1; 8]));
    let _ = world.wait(ask);
}

/// Node 0 asks for node 1, whose place the group knows.
fn asks_node(world: &mut World) {
    asks(world, Some(&name(0)), &name(1), EntryFlags::empty());
}

#[test]
fn a_name_that_nobody_has() {
    let mut world = with(Config::default());
    let nobody = Address::from_text("nobody");
    asks(&mut world, Some(&name(0)), &nobody, EntryFlags::empty());
    let group =
        format!(" of user 1000 for nobody: no response from the group; asked group {} 3 times in ", world.group().0);
    says(&world, FailureKind::NoAnswer, &[&group, "in 9.0 s; status \"timed out\"; is its node up"]);
    // Who asks now is told at once, and why so.
    world.run_for(Duration::from_millis(600));
    asks(&mut world, Some(&name(0)), &nobody, EntryFlags::empty());
    says(&world, FailureKind::NoAnswer, &[&group, " s; tried before, and not again for 400 ms (negative_timeout); "]);
}

/// Somebody on the group answers what node 0 asks: with this group, or with this status.
fn responded(group: Option<Gid>, status: Status) -> World {
    let mut world = with(Config::default());
    let ask = world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    let tid = world.transcript.iter().rev().find_map(|(_, _, output)| match output {
        Output::Send { mad, .. } if mad.method == Method::GET => Some(mad.transaction_id),
        _ => None,
    });
    let mut response = multicast::response(tid.expect("a request"), group.unwrap_or_default());
    response.status = status;
    let (stranger, qpn) = (world.stranger(1), world.qpn(0));
    world.forge_response(stranger, 0, qpn, &response);
    let _ = world.wait(ask);
    world
}

#[test]
fn a_peer_that_says_no() {
    let world = responded(Some(Gid::default()), Status::new(0x0300));
    let parts =
        [" for dead0: a peer refused: no data; asked group ", " 3 times in 9.0 s; ", "; the log of that node says"];
    says(&world, FailureKind::Refused, &parts);
}

#[test]
fn a_peer_in_other_groups() {
    let world = responded(None, Status::OK);
    says(
        &world,
        FailureKind::NoSharedGroup,
        &[": the peer shares no multicast group with us; ", "; min_mtu, min_rate and"],
    );
}

/// What subnet administration says from when the peer is found, or that it says nothing.
fn at_the_sa(status: Option<Status>) -> World {
    let mut world = with(Config::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let ask = world.ask_as(0, USER, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    let responds = |(_, node, output): &(_, usize, Output)| {
        *node == 1 && matches!(output, Output::Send { mad, .. } if mad.method == Method::GET_RESP)
    };
    while !world.transcript.iter().any(responds) {
        assert!(world.step());
    }
    world.subnet.settings_mut().sa.status = status;
    world.subnet.settings_mut().sa.mute = status.is_none();
    let _ = world.wait(ask);
    world
}

#[test]
fn no_path_at_the_sa() {
    let world = at_the_sa(Some(Status::SA_NO_RECORDS));
    let found = format!("; found at LID {}; asked the SA at LID 1 for 0 ms; status ", world.port(1).lid);
    let parts = [" of user 1000 for node2: path query: SA status SA: no records", &found, "; ask the subnet manager: "];
    says(&world, FailureKind::NoPath, &parts);
}

#[test]
fn an_sa_that_is_silent() {
    let world = at_the_sa(None);
    let found = format!("; found at LID {}; asked the SA at LID 1 for 6.0 s; status ", world.port(1).lid);
    says(
        &world,
        FailureKind::SaSilent,
        &[": path query: no answer from the SA", &found, "; does the subnet manager run"],
    );
}

#[test]
fn an_sa_that_is_busy_all_the_time() {
    let world = at_the_sa(Some(Status::BUSY));
    says(&world, FailureKind::SaBusy, &["SA status busy", "; asked the SA at LID 1 for ", "; too many nodes ask it"]);
}

#[test]
fn an_sa_that_refuses() {
    let world = at_the_sa(Some(Status::SA_REQUEST_INVALID));
    says(
        &world,
        FailureKind::SaRefused,
        &["; asked the SA at LID 1 for 0 ms; ", "; the subnet manager's log says why"],
    );
}

/// The same where a client asks for subnet administration's own answer.
#[test]
fn the_sas_own_answer() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    let wanted = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    let ask = world.ask_as(0, USER, &path_request(&wanted, EntryFlags::QUERY_SA, [1; 8]));
    world.run_for(10 * SECOND);
    assert!(world.answer(ask).is_some());
    let dest =
        format!(" for LID {}: path query: no answer from the SA; asked the SA at LID 1 for 6.0 s; ", wanted.dlid);
    says(&world, FailureKind::SaSilent, &[&dest]);
    let wanted = PathRecord { slid: Lid::new(999), ..wanted };
    world.ask_as(0, USER, &path_request(&wanted, EntryFlags::QUERY_SA, [1; 8]));
    let served = format!(": source address LID 999 is not ours; served are LID {}; ", world.port(0).lid);
    says(&world, FailureKind::Source, &[&served]);
}

#[test]
fn no_turn_in_time() {
    let mut world = with(Config { queue_deadline: Duration::from_millis(5), ..Config::default() });
    let asks = [0, 1].map(|number| world.ask_as(0, USER, &dead(number, EntryFlags::empty())));
    let _ = world.wait(asks[1]);
    let waited = format!(
        " for dead1: no turn to ask within the deadline; waited 5 ms for a turn to ask group {}; ",
        world.group().0
    );
    says(&world, FailureKind::NoTurn, &[&waited, "resolve_depth"]);
}

#[test]
fn no_group_joined() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    world.restart(0);
    asks_node(&mut world);
    says(
        &world,
        FailureKind::NoGroup,
        &[" for node2: no multicast group joined yet; ", "\"join failed\" in this log says why"],
    );
}

#[test]
fn a_port_that_goes_down() {
    let mut world = with(Config::default());
    let ask = world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    world.run_for(3 * SECOND);
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    let _ = world.wait(ask);
    says(&world, FailureKind::PortDown, &[" for dead0: port down or endpoint closed; asked group ", "once in 3.0 s; "]);
    asks_node(&mut world);
    says(&world, FailureKind::Source, &[": source address node1 is not ours; nothing is served: is a port active"]);
}

#[test]
fn a_source_that_is_not_ours() {
    let mut world = with(Config::default());
    asks(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
    let named = " of user 1000 for node1: source address node2 is not ours; served are node1, 10.0.0.1, fd00::1; status \"source address\"; ";
    says(&world, FailureKind::Source, &[named]);
    let wanted = PathRecord { dlid: Lid::new(9), sgid: "fe80::99".parse().unwrap(), ..PathRecord::default() };
    let _ = world.route(0, &wanted);
    let gids = format!(": source address GID fe80::99 is not ours; served are GID {}; ", world.port(0).gids[0]);
    says(&world, FailureKind::Source, &[" for LID 9", &gids]);
    let elsewhere = PathRecord { dgid: "fe90::99".parse().unwrap(), ..PathRecord::default() };
    let _ = world.route(0, &elsewhere);
    says(
        &world,
        FailureKind::Source,
        &[" for GID fe90::99: no active port begins a path to that subnet", "; served are GID "],
    );
}

#[test]
fn no_source_by_the_routing_table() {
    let mut world = with(Config::default());
    asks(&mut world, None, &Address::Ip4([192, 0, 2, 1].into()), EntryFlags::empty());
    says(&world, FailureKind::Source, &[" for 192.0.2.1: no source address: the routing table has no way there; "]);
}

#[test]
fn a_bound_that_is_reached() {
    let limits = Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() };
    let mut world = with(Config { limits, ..Config::default() });
    world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    asks_node(&mut world);
    says(
        &world,
        FailureKind::Bound,
        &[" for node2: too many lookups under way (lookups, lookup_share); ", "; raise it, or"],
    );
}

#[test]
fn the_kernel_does_not_wait_so_long() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    let wanted = PathRecord { dgid: world.port(1).gids[0], ..PathRecord::default() };
    world.input(0, Input::KernelRequest { id: KernelRequestId(1), port: Some(PortId(0)), path: wanted });
    world.run_for(2 * SECOND);
    let late = format!(
        " of the kernel for GID {}: no answer within the kernel's deadline; asked the SA at LID 1 for 1.8 s; ",
        wanted.dgid
    );
    says(&world, FailureKind::KernelDeadline, &[&late, "it is still looked up"]);
}

#[test]
fn what_cannot_be_asked() {
    let mut world = with(Config::default());
    asks(&mut world, Some(&name(0)), &Address::Lid(Lid::new(9)), EntryFlags::empty());
    says(&world, FailureKind::BadRequest, &[" for LID 9: not an address that a peer owns; ", "; ask for it as a path"]);
}

/// It is told, and nothing is wrong.
#[test]
fn who_does_not_wait() {
    let mut world = with(Config::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(1);
    asks(&mut world, Some(&name(0)), &name(1), EntryFlags::NO_DELAY);
    says(&world, FailureKind::NotYet, &[" for node2: not known yet, and the asker does not wait; ", "ask again"]);
    world.run_for(120 * SECOND);
    assert_eq!(together(&world), []);
}

/// All of a minute is one line, and of a minute without failures there is none. At `log_level` 0 it is the only one.
#[test]
fn how_many_failed_is_told_once_a_minute() {
    let mut world = with(Config { log_level: Level::Always, ..Config::default() });
    world.run_for(300 * SECOND);
    assert_eq!(together(&world), [], "nothing failed");
    let start = world.now();
    for number in 0..3 {
        world.ask_as(0, USER, &dead(number, EntryFlags::empty()));
    }
    asks(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
    world.run_until(start + 59 * SECOND);
    assert_eq!(together(&world), []);
    world.run_until(start + 600 * SECOND);
    let told = together(&world);
    let said: Vec<_> = told.iter().map(|(counts, time)| (counts.to_string(), *time)).collect();
    assert_eq!(said, [("3 no answer from the peer, 1 source not ours".to_owned(), 60 * SECOND)]);
    assert!(!world.node(0).host.events.iter().any(|(_, event)| matches!(event, Event::Failed(_))));
    // What goes on is one line for each minute.
    for _ in 0..6 {
        asks(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
        world.run_for(30 * SECOND);
    }
    let counts: Vec<_> = together(&world).iter().skip(1).map(|(counts, _)| counts.total()).collect();
    assert_eq!(counts, [2, 2, 2]);
}

#[test]
fn what_was_not_told_is_told_at_the_end() {
    let mut world = with(Config::default());
    asks(&mut world, Some(&name(1)), &name(0), EntryFlags::empty());
    world.run_for(7 * SECOND);
    world.input(0, Input::Shutdown);
    world.run_for(5 * SECOND);
    let told: Vec<_> = together(&world).iter().map(|(counts, time)| (counts.total(), time.as_secs())).collect();
    assert_eq!(told, [(1, 7)]);
}

/// Each kind has its row in the page for administrators, by the name that the log gives it.
#[test]
fn each_kind_is_explained() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/troubleshooting.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split_once("## Kinds of failures").unwrap().1.split_once("\n## ").unwrap().0;
    let rows: Vec<&str> =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).skip(1).collect();
    assert_eq!(rows, FailureKind::ALL.map(FailureKind::name));
}
