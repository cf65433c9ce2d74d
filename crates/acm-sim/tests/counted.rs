//! What goes wrong is counted once and told, and what is nothing new does nothing.
use acm_sansio::{
    Account, ClientId, Config, EndpointId, Event, Input, Output, PortId, SaRequestId,
    config::{Limits, RouteProtocol, SaDepth, Share},
    door::{DatagramSource, Level, SendFailure},
    ibacmp,
    retry::REJOIN_SPREAD,
};
use acm_sim::{Ask, World, WorldConfig};
use acm_wire::{
    Address,
    client::{
        ClientStatus, Counter, Counters, EntryFlags, EpAnswer, RequestBuffer, ep_request, next_answer, path_request,
        perf_request, resolve_request,
    },
    multicast,
};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, Method, Pkey, PortState, Qpn, Status, TransactionId, sa::PathRecord};
use ib_sim::Port;

const USER: Account = Account::User(1);
const OTHER: Account = Account::User(2);
const SECOND: Duration = Duration::from_secs(1);

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn dead(number: usize, flags: EntryFlags) -> RequestBuffer {
    resolve_request(Some(&name(0)), &Address::from_text(&format!("dead{number}")), flags, [1; 8])
}

fn with(limits: Limits) -> World {
    World::new(WorldConfig { core: Config { limits, ..Config::default() }, ..WorldConfig::default() })
}

fn quiet() -> World {
    let mut world = World::new(WorldConfig::default());
    world.run_for(SECOND);
    world
}

fn told(world: &World, is_it: impl Fn(&Event) -> bool) -> usize {
    world.node(0).host.events.iter().filter(|(_, event)| is_it(event)).count()
}

fn outputs(world: &World, since: usize, is_it: impl Fn(&Output) -> bool) -> usize {
    world.transcript[since..].iter().filter(|(_, node, output)| *node == 0 && is_it(output)).count()
}

fn endpoint(world: &World) -> EndpointId {
    let of = |(_, node, output): &(_, usize, Output)| match output {
        Output::OpenEndpoint { endpoint, .. } if *node == 0 => Some(*endpoint),
        _ => None,
    };
    world.transcript.iter().find_map(of).unwrap()
}

fn change(world: &mut World, change: impl FnOnce(&mut Port)) {
    let mut port = world.port(0).clone();
    change(&mut port);
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    world.read_port(0);
}

fn route(world: &mut World, account: Account, flags: EntryFlags) -> Ask {
    let wanted = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    world.ask_as(0, account, &path_request(&wanted, flags, [1; 8]))
}

#[test]
fn messages_that_are_none_and_clients_that_are_gone() {
    let mut world = quiet();
    let ask = world.connect(0, USER);
    world.say(ask, &perf_request(0, [1; 8])[..10]);
    assert_eq!((world.stat(0, "bad_messages"), world.is_closed(ask), world.answer(ask)), (1, false, None));
    world.say(ask, &[9; 20]);
    assert_eq!((world.stat(0, "bad_messages"), world.is_closed(ask)), (2, true));
    assert_eq!(told(&world, |event| matches!(event, Event::BadFrame(..))), 1);
    assert_eq!(world.stat(0, "stale_inputs"), 0);
    world.say(ask, &perf_request(0, [1; 8]));
    world.hang_up(ask);
    assert_eq!((world.stat(0, "stale_inputs"), world.answer(ask)), (2, None));
}

#[test]
fn a_client_number_that_is_used_again_without_a_word() {
    let mut world = quiet();
    let [old, new] = [0, 1].map(|generation| ClientId::new(50, generation));
    world.input(0, Input::ClientOpened { client: old, account: USER });
    world.input(0, Input::ClientMessage { client: old, message: &dead(0, EntryFlags::empty()) });
    world.input(0, Input::ClientOpened { client: new, account: OTHER });
    assert_eq!((world.stat(0, "stale_inputs"), world.stat(0, "requests_abandoned")), (1, 1));
    world.input(0, Input::ClientGone(old));
    world.input(0, Input::ClientGone(new));
    assert_eq!(world.stat(0, "stale_inputs"), 2);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Whoever has as many as the newcomer loses nothing for it.
#[test]
fn of_two_with_as_many_the_newcomer_loses_its_own() {
    let mut world = with(Limits { connections: Share { total: 4, percent: 100 }, ..Limits::default() });
    let all = [USER, USER, OTHER, OTHER].map(|account| world.connect(0, account));
    world.connect(0, USER);
    assert_eq!(all.map(|ask| world.is_closed(ask)), [true, false, false, false]);
}

#[test]
fn a_client_with_all_its_requests_gets_no_other() {
    let mut world = with(Limits { requests_per_client: 2, ..Limits::default() });
    let ask = world.connect(0, USER);
    for number in 0..2 {
        world.say(ask, &dead(number, EntryFlags::empty()));
        assert_eq!(world.path(ask), None);
    }
    world.say(ask, &dead(2, EntryFlags::empty()));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!((world.stat(0, "requests_refused"), world.node(0).acm.check()), (1, Ok(())));
}

#[test]
fn answers_to_what_was_never_sent() {
    let mut world = quiet();
    let id = SaRequestId::new(77, 0);
    world.input(0, Input::SaFailed { id, failure: SendFailure::TimedOut });
    assert_eq!(world.stat(0, "stale_inputs"), 1);
    world.input(0, Input::SaAnswer { id, mad: &[0; 256] });
    assert_eq!((world.stat(0, "stale_inputs"), world.stat(0, "sa_bad_answers")), (2, 0));
}

#[test]
fn an_answer_with_another_transaction_id() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    let since = world.transcript.len();
    route(&mut world, USER, EntryFlags::empty());
    let of = |(_, _, output): &(_, usize, Output)| match output {
        Output::SaSend(send) => Some(*send),
        _ => None,
    };
    let send = world.transcript[since..].iter().find_map(of).unwrap();
    let mut mad = send.mad;
    mad.header.transaction_id = TransactionId::new(mad.header.transaction_id.get() ^ 1);
    world.input(0, Input::SaAnswer { id: send.id, mad: ib_mad::as_bytes(&mad) });
    assert_eq!((world.stat(0, "sa_bad_answers"), world.stat(0, "stale_inputs")), (1, 0));
}

#[test]
fn a_lookup_fails_for_those_who_wait() {
    let mut world = quiet();
    world.ask(0, &dead(0, EntryFlags::NO_DELAY));
    world.run_for(20 * SECOND);
    assert_eq!(world.stat(0, "lookups_failed"), 0, "nobody waited");
    let asks = [(); 2].map(|()| world.ask(0, &dead(1, EntryFlags::empty())));
    assert_eq!(asks.map(|ask| world.wait(ask)), [Err(ClientStatus::ETIMEDOUT); 2]);
    assert_eq!(world.stat(0, "lookups_failed"), 1);
    let failed = |event: &Event| matches!(event, Event::Ibacmp(ibacmp::Event::LookupFailed(_, _, _, 2)));
    assert_eq!(told(&world, failed), 1);
    let ask = world.ask(0, &dead(2, EntryFlags::empty()));
    assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.stat(0, "lookups_failed"), 2);
}

#[test]
fn datagrams_that_are_none() {
    let mut world = quiet();
    let endpoint = endpoint(&world);
    let gid = Some(world.port(1).gids[0]);
    let mut say = |gid, length| {
        let source = DatagramSource { lid: Lid::new(17), path_bits: 0, qpn: Qpn::new(5), gid };
        world.input(0, Input::Datagram { endpoint, source, payload: &vec![0; length] });
        let seen = world.stat(0, "bad_datagrams");
        let long = told(&world, |event| matches!(event, Event::Ibacmp(ibacmp::Event::LongDatagram(_, 257))));
        let bad = told(&world, |event| matches!(event, Event::Ibacmp(ibacmp::Event::BadDatagram(..))));
        (seen, long, bad)
    };
    assert_eq!(
        [say(None, 256), say(gid, 257), say(gid, 256), say(gid, 10)],
        [(1, 0, 0), (2, 1, 0), (3, 1, 1), (4, 1, 2)]
    );
}

/// Whole and of ACM's class, it makes its sender known; without its last bytes, or of another class, it does nothing.
#[test]
fn datagrams_that_are_nearly_requests() {
    let mut world = quiet();
    let (endpoint, gid) = (endpoint(&world), Some(world.port(1).gids[0]));
    let source = DatagramSource { lid: world.port(1).lid, path_bits: 0, qpn: Qpn::new(5), gid };
    let mad = multicast::request(TransactionId::new(1), &name(0), &name(1), &[world.group().0]);
    let whole = ib_mad::as_bytes(&mad);
    let mut other_class = whole.to_vec();
    other_class[1] ^= 1;
    let known = |world: &World| world.node(0).acm.report().to_string().contains("\ncache: destinations 4\n");
    for (number, payload) in (1..).zip([&whole[..255], &other_class]) {
        world.input(0, Input::Datagram { endpoint, source, payload });
        assert_eq!((world.stat(0, "bad_datagrams"), known(&world)), (number, false));
    }
    world.input(0, Input::Datagram { endpoint, source, payload: whole });
    assert_eq!((world.stat(0, "bad_datagrams"), known(&world)), (2, true));
}

#[test]
fn destinations_without_room() {
    // Its own three addresses stay.
    let mut world = with(Limits { destinations: 3, ..Limits::default() });
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ENOMEM));
    assert_eq!((world.stat(0, "destinations_refused"), world.stat(0, "destinations_evicted")), (1, 0));
}

#[test]
fn groups_that_cannot_be_joined() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    world.restart(0);
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ENODATA), "in no group, and at once");
    world.run_for(6 * SECOND);
    assert_eq!(world.stat(0, "joins_failed"), 1);
    assert_eq!(told(&world, |event| matches!(event, Event::Ibacmp(ibacmp::Event::JoinFailed(..)))), 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// An answer about another group is no answer.
#[test]
fn a_join_that_is_answered_for_another_group() {
    for (other, failed) in [(0, 0), (1, 1)] {
        let mut world = quiet();
        world.subnet.settings_mut().sa.mute = true;
        let since = world.transcript.len();
        world.restart(0);
        let of = |(_, _, output): &(_, usize, Output)| match output {
            Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD => Some(*send),
            _ => None,
        };
        let send = world.transcript[since..].iter().find_map(of).unwrap();
        let mut mad = send.mad;
        (mad.header.method, mad.header.status) = (Method::GET_RESP, Status::default());
        let mut bytes = ib_mad::as_bytes(&mad).to_vec();
        bytes[56 + 15] ^= other;
        world.input(0, Input::SaAnswer { id: send.id, mad: &bytes });
        assert_eq!(world.stat(0, "joins_failed"), failed);
    }
}

fn frame(world: &World, ask: Ask) -> acm_wire::client::Frame<'_> {
    next_answer(world.answer(ask).unwrap()).unwrap().unwrap()
}

#[test]
fn endpoints_and_counters_are_told() {
    let mut world = quiet();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let ask = world.ask(0, &ep_request(1, 0, [1; 8]));
    let answer = frame(&world, ask);
    let answer = EpAnswer::parse(&answer).unwrap().unwrap();
    let node = world.subnet.node(World::port_id(0).node).unwrap();
    assert_eq!((answer.head.device_guid, answer.head.port, answer.head.port_count), (node.guid, 1, 1));
    assert_eq!((answer.head.pkey, answer.head.provider.as_text()), (Pkey::DEFAULT_FULL, &b"ibacmp"[..]));
    assert_eq!(answer.addresses().collect::<Vec<_>>(), [&b"node1"[..], b"10.0.0.1", b"fd00::1"]);
    for (index, port) in [(0, 0), (2, 0), (1, 2)] {
        let ask = world.ask(0, &ep_request(index, port, [1; 8]));
        assert_eq!(frame(&world, ask).header.status, ClientStatus::EINVAL);
    }
    for index in [0, 1] {
        let ask = world.ask(0, &perf_request(index, [1; 8]));
        let counters = Counters::parse(&frame(&world, ask)).unwrap();
        let seen = [Counter::Error, Counter::Resolve, Counter::AddrQuery, Counter::RouteQuery];
        assert_eq!(seen.map(|counter| counters.get(counter)), [0, 1, 1, 1], "{index}");
    }
    let ask = world.ask(0, &perf_request(7, [1; 8]));
    assert_eq!(frame(&world, ask).header.status, ClientStatus::ESRCADDR);
}

#[test]
fn the_report_has_what_waits() {
    let core = Config { route_protocol: RouteProtocol::Acm, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for number in 0..2 {
        world.ask(0, &dead(number, EntryFlags::empty()));
    }
    let report = world.node(0).acm.report().to_string();
    for line in [
        "port 0: active lid 16 sm_lid 1 sa_depth ",
        " in_flight 0 waiting 0 strangers 0 joins 0\n",
        "\ncache: destinations 5\n",
        ": groups 2 of 2 lookups 2 asking 1 waiting 1 strangers 0\n",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
    // The memberships of two groups are asked for one after the other.
    world.subnet.settings_mut().sa.mute = true;
    world.restart(0);
    let report = world.node(0).acm.report().to_string();
    assert!(report.contains(" in_flight 1 waiting 0 strangers 0 joins 1\n"), "{report}");
    assert!(report.contains(": groups 0 of 2 lookups 0 asking 0 "), "{report}");
}

#[test]
fn a_port_that_is_as_it_was() {
    let mut world = quiet();
    let since = world.transcript.len();
    world.read_port(0);
    world.run_for(2 * REJOIN_SPREAD);
    assert_eq!(outputs(&world, since, |_| true), 0);
}

#[test]
fn another_lid_or_subnet_manager_is_told_and_another_link_is_not() {
    let up = |event: &Event| matches!(event, Event::PortUp(..));
    let moved = |event: &Event| matches!(event, Event::SaMoved(..));
    let mut world = quiet();
    let before = told(&world, up);
    change(&mut world, |port| port.sm_lid = Lid::new(2));
    assert_eq!(told(&world, up), before + 1);
    change(&mut world, |port| port.lid = Lid::new(200));
    assert_eq!(told(&world, up), before + 2);
    change(&mut world, |port| port.rate = ib_mad::Rate::GBPS_40);
    assert_eq!((told(&world, up), told(&world, moved)), (before + 2, 0), "nothing was under way");
    assert_eq!(world.stat(0, "sa_reposted"), 0);
}

#[test]
fn another_subnet_manager_is_asked_for_the_groups() {
    let mut world = quiet();
    let since = world.transcript.len();
    change(&mut world, |port| port.sm_lid = Lid::new(2));
    world.run_for(2 * REJOIN_SPREAD);
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 1);
}

#[test]
fn a_port_that_goes_down_is_in_no_group() {
    let mut world = quiet();
    let attaches = |world: &World, since| {
        let (attach, detach) = (
            outputs(world, since, |output| matches!(output, Output::Attach { .. })),
            outputs(world, since, |output| matches!(output, Output::Detach { .. })),
        );
        (attach, detach)
    };
    let since = world.transcript.len();
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    assert_eq!(attaches(&world, since), (0, 1));
    assert!(world.node(0).acm.report().to_string().contains(": groups 0 of 1 "));
    world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
    world.settle();
    assert_eq!(attaches(&world, since), (1, 1));
}

#[test]
fn what_a_port_asked_ends_with_it() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    let asks = [EntryFlags::empty(), EntryFlags::QUERY_SA].map(|flags| route(&mut world, USER, flags));
    world.input(0, Input::PortDown(PortId(0)));
    assert_eq!(asks.map(|ask| world.path(ask)), [Some(Err(ClientStatus::ENODATA)); 2], "at once");
    assert_eq!(world.node(0).acm.check(), Ok(()));
    let report = world.node(0).acm.report().to_string();
    assert!(report.contains(" in_flight 0 waiting 0 strangers 0 joins 0\n"), "{report}");
}

#[test]
fn two_accounts_need_one_route() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    let [first, second] = [USER, OTHER].map(|account| route(&mut world, account, EntryFlags::empty()));
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.hang_up(first);
    assert_eq!((world.path(second), world.node(0).acm.check()), (None, Ok(())));
    world.hang_up(second);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Whoever asks for what another waits for has its own turn for it.
#[test]
fn the_turn_of_another_account_counts() {
    let core = Config { log_level: Level::Debug, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for number in 0..10 {
        world.ask_as(0, USER, &dead(number, EntryFlags::empty()));
    }
    world.ask_as(0, OTHER, &dead(9, EntryFlags::empty()));
    world.run_for(SECOND);
    let asked = world.node(0).host.events.iter().filter_map(|(_, event)| match event {
        Event::Ibacmp(ibacmp::Event::Asked(_, address, 1)) => Some(*address),
        _ => None,
    });
    assert_eq!(asked.clone().count(), 10);
    assert_eq!(asked.clone().position(|address| address == Address::from_text("dead9")), Some(2));
}

/// The ticket of an account without room is none, and no failure: the lookup goes on without it.
#[test]
fn who_does_not_wait_needs_no_room() {
    let mut world = with(Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() });
    world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    let ask = world.ask_as(0, OTHER, &dead(0, EntryFlags::NO_DELAY));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENODATA)));
    let ask = world.ask_as(0, OTHER, &dead(0, EntryFlags::empty()));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn an_address_that_is_not_ours_any_more_is_asked_for() {
    let mut world = quiet();
    let [address, other, _] = World::addresses(0);
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    assert_eq!(world.resolve(0, &other, &address), Err(ClientStatus::ETIMEDOUT));
    assert!(world.node(0).acm.counters().get(Counter::AddrQuery) > 0);
}

/// What a client asked of subnet administration and does not wait for any more is not sent, or not sent again.
#[test]
fn a_query_whose_client_left_ends() {
    let core = Config { sa_depth: SaDepth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world.subnet.settings_mut().sa.delay = SECOND;
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let since = world.transcript.len();
    let [sent, waiting] = [(); 2].map(|()| route(&mut world, USER, EntryFlags::QUERY_SA));
    let report = |world: &World| world.node(0).acm.report().to_string();
    assert!(report(&world).contains(" in_flight 1 waiting 1 "), "{}", report(&world));
    world.hang_up(waiting);
    assert!(report(&world).contains(" in_flight 1 waiting 0 "), "{}", report(&world));
    world.hang_up(sent);
    world.run_for(20 * SECOND);
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 1);
    assert_eq!((world.stat(0, "sa_busy"), world.node(0).acm.check()), (1, Ok(())));
}

/// A node that is stopped sends nothing, whatever waited for its turn.
#[test]
fn what_waits_at_the_end_of_shutdown_is_not_sent() {
    let core = Config { route_protocol: RouteProtocol::Acm, sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world.subnet.settings_mut().sa.mute = true;
    // It stays in flight, and makes the waiting membership the last to end.
    route(&mut world, USER, EntryFlags::empty());
    let since = world.transcript.len();
    world.input(0, Input::Shutdown);
    world.run_for(5 * SECOND);
    assert!(world.node(0).host.stopped);
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 1, "of two groups");
}

/// An endpoint that lost its queue pair hears of its port's end, and of nothing else.
#[test]
fn an_endpoint_without_a_queue_pair() {
    let mut world = quiet();
    let ask = world.ask(0, &dead(0, EntryFlags::empty()));
    world.set_opening_fails(0, true);
    world.lose_endpoints(0);
    let since = world.transcript.len();
    world.input(0, Input::ClientReregister(PortId(0)));
    world.run_for(Duration::from_millis(50));
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 0);
    assert_eq!(world.path(ask), None);
    world.input(0, Input::PortDown(PortId(0)));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENODATA)));
}
