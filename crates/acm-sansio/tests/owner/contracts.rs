//! The contract between the core and its caller, as in the table of the crate documentation.
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Event, Input, Output, PortId, Time,
    api::{Reason, ResolverEvent, SaError, SaSend, SendFailure},
    port::PortAttributes,
    retry,
};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
};
use ib_mad::{
    AttributeId, Lid, Pkey, Qpn, Status, TransactionId, Wire, as_bytes,
    notice::{InformInfo, TrapNumber},
    sa::{McMemberMask, McMemberRecord, Query, SaMad},
};

const PORT: PortId = PortId(0);
const ENDPOINT: EndpointId = EndpointId::new(0, 0);
const CLIENT: ClientId = ClientId::new(0, 0);
const OPENED: Input<'static> = Input::EndpointOpened { endpoint: ENDPOINT, qpn: Qpn::of::<2>() };

fn drain(acm: &mut Acm) -> Vec<Output> {
    core::iter::from_fn(|| acm.poll_output()).collect()
}

fn input(acm: &mut Acm, now: Time, input: Input<'_>) -> Vec<Output> {
    acm.handle_input(now, input);
    drain(acm)
}

/// Returns the requests to the subnet administrator.
fn sa_requests(outputs: &[Output]) -> Vec<SaSend> {
    let send = |output: &Output| if let Output::SaSend(send) = output { Some(*send) } else { None };
    outputs.iter().filter_map(send).collect()
}

/// Returns how many datagrams are sent.
fn sent(outputs: &[Output]) -> usize {
    outputs.iter().filter(|output| matches!(output, Output::Send { .. })).count()
}

fn status(outputs: &[Output]) -> Option<ClientStatus> {
    outputs.iter().find_map(|output| if let Output::Reply { reply, .. } = output { Some(reply.status()) } else { None })
}

/// Returns the result of a join: `Some(None)` on success, `Some(error)` on failure, `None` if no join ended.
fn joined(outputs: &[Output]) -> Option<Option<SaError>> {
    outputs.iter().find_map(|output| match output {
        Output::Log(Event::Ibacmp(ResolverEvent::Joined(..))) => Some(None),
        Output::Log(Event::Ibacmp(ResolverEvent::JoinFailed(_, _, error, _))) => Some(Some(*error)),
        _ => None,
    })
}

/// Returns a core with an address, an active port and a client, and the outputs so far.
fn core() -> (Acm, Vec<Output>) {
    let mut acm = Acm::new(Config::default(), 1);
    input(&mut acm, Time::ZERO, Input::AddressAdded { port: PORT, pkey: None, address: Address::from_text("node1") });
    input(&mut acm, Time::ZERO, Input::ClientOpened { client: CLIENT, account: Account::User(0) });
    let outputs = input(&mut acm, Time::ZERO, port_up(16));
    (acm, outputs)
}

fn port_up(lid: u16) -> Input<'static> {
    let attributes = PortAttributes {
        lid: Lid::new(lid),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    };
    Input::PortUp { port: PORT, attributes }
}

/// Returns a core with an open endpoint, and its request to join the group.
fn joining() -> (Acm, SaSend) {
    let (mut acm, _) = core();
    let [join] = sa_requests(&input(&mut acm, Time::ZERO, OPENED))[..] else { panic!("one group to join") };
    (acm, join)
}

/// Returns the response that grants a join.
fn granted(join: &SaSend) -> SaMad {
    let mut mad = join.mad;
    mad.header.method = mad.header.method.response().unwrap();
    McMemberRecord::parse_mut(&mut mad.data.0).unwrap().mlid = Lid::new(0xc000);
    mad
}

/// Passes a response to a join, without attaching the queue pair.
fn respond_only(acm: &mut Acm, join: &SaSend, mad: &SaMad) -> Vec<Output> {
    input(acm, Time::ZERO, Input::SaResponse { id: join.id, mad: as_bytes(mad) })
}

/// Passes a response to a join, and attaches the queue pair.
fn respond(acm: &mut Acm, join: &SaSend, mad: &SaMad) -> Vec<Output> {
    let mut outputs = respond_only(acm, join, mad);
    for attached in attaches(&outputs) {
        outputs.extend(input(acm, Time::ZERO, attached));
    }
    outputs
}

/// Returns the groups to which a queue pair is to be attached, as the inputs that follow when it is done.
fn attaches(outputs: &[Output]) -> Vec<Input<'static>> {
    let attach = |output: &Output| match *output {
        Output::Attach { endpoint, mgid, mlid } => Some(Input::Attached { endpoint, mgid, mlid }),
        _ => None,
    };
    outputs.iter().filter_map(attach).collect()
}

fn request(acm: &mut Acm, source: Option<&str>, dest: &str) -> Vec<Output> {
    let source = source.map(Address::from_text);
    let message = resolve_request(source.as_ref(), &Address::from_text(dest), EntryFlags::empty(), [1; 8]);
    input(acm, Time::ZERO, Input::ClientMessage { client: CLIENT, message: &message })
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "outputs were not drained")]
fn outputs_must_be_drained_before_the_next_input() {
    let mut acm = Acm::new(Config::default(), 1);
    acm.handle_input(Time::ZERO, Input::Shutdown);
    acm.handle_timeout(Time::ZERO);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "time went back")]
fn time_must_not_go_back() {
    let mut acm = Acm::new(Config::default(), 1);
    acm.handle_timeout(Time::from_nanos(2));
    acm.handle_timeout(Time::from_nanos(1));
}

#[test]
fn endpoint_is_opened_once_and_idle_until_then() {
    let (mut acm, outputs) = core();
    let opens = |outputs: &[Output]| outputs.iter().filter(|it| matches!(it, Output::OpenEndpoint { .. })).count();
    assert_eq!((opens(&outputs), sa_requests(&outputs)), (1, vec![]));
    let waits = acm.poll_deadline().map(|deadline| deadline.reason);
    assert!(waits.is_none_or(|reason| reason != Reason::OpenEndpoint), "no time-out");
    // A request before that fails at once.
    assert_eq!(status(&request(&mut acm, Some("node1"), "node2")), Some(ClientStatus::ENODATA));
    assert_eq!(sa_requests(&input(&mut acm, Time::ZERO, OPENED)).len(), 1, "then the group is joined");
    let (mut acm, _) = core();
    input(&mut acm, Time::ZERO, Input::EndpointFailed(ENDPOINT));
    let again = acm.poll_timeout().expect("a retry");
    acm.handle_timeout(again);
    assert_eq!(opens(&drain(&mut acm)), 1);
}

// docs/deviations.md: first-join
#[test]
fn name_lookup_waits_for_the_first_join() {
    let (mut acm, join) = joining();
    let outputs = request(&mut acm, Some("node1"), "node2");
    assert_eq!((status(&outputs), sent(&outputs)), (None, 0));
    let outputs = respond(&mut acm, &join, &granted(&join));
    assert_eq!((joined(&outputs), status(&outputs), sent(&outputs)), (Some(None), None, 1), "one multicast request");
    acm.check().unwrap();
}

fn groups_joined(acm: &Acm) -> usize {
    let mut joined = 0;
    acm.each_gauge(&mut |name, _, value| joined += if name == "groups_joined" { value } else { 0 });
    joined
}

/// The fabric attaches a queue pair later than the core requests, or never.
#[test]
fn group_is_joined_when_the_queue_pair_is_attached() {
    let (mut acm, join) = joining();
    let outputs = respond_only(&mut acm, &join, &granted(&join));
    let [attached] = &attaches(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((joined(&outputs), groups_joined(&acm)), (None, 0));
    let outputs = input(&mut acm, Time::ZERO, attached.clone());
    assert_eq!((joined(&outputs), groups_joined(&acm)), (Some(None), 1));
    assert_eq!(joined(&input(&mut acm, Time::ZERO, attached.clone())), None, "once");

    // The subnet manager gives the group another LID. The old attachment may complete after the request.
    let [again] = sa_requests(&input(&mut acm, Time::ZERO, port_up(17)))[..] else { panic!("a join") };
    let mut moved = granted(&again);
    McMemberRecord::parse_mut(&mut moved.data.0).unwrap().mlid = Lid::new(0xc001);
    let outputs = respond_only(&mut acm, &again, &moved);
    assert_eq!((joined(&outputs), groups_joined(&acm)), (None, 0));
    assert_eq!(joined(&input(&mut acm, Time::ZERO, attached.clone())), None, "the previous LID");
    let [attached] = &attaches(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!(joined(&input(&mut acm, Time::ZERO, attached.clone())), Some(None));
    assert_eq!(groups_joined(&acm), 1);

    // A lost queue pair is in no group. A new one is attached before the group is joined again.
    input(&mut acm, Time::ZERO, Input::EndpointLost(ENDPOINT));
    assert_eq!(groups_joined(&acm), 0);
    let outputs = input(&mut acm, Time::ZERO, OPENED);
    let (attaches, joins) = (attaches(&outputs), sa_requests(&outputs));
    assert_eq!(groups_joined(&acm), 0);
    assert_eq!(joined(&input(&mut acm, Time::ZERO, attaches[0].clone())), None, "the join is in flight");
    let mut same = granted(&joins[0]);
    McMemberRecord::parse_mut(&mut same.data.0).unwrap().mlid = Lid::new(0xc001);
    assert_eq!((joined(&respond_only(&mut acm, &joins[0], &same)), groups_joined(&acm)), (Some(None), 1));
}

// docs/deviations.md: first-join
#[test]
fn name_lookup_fails_with_the_first_join() {
    let (mut acm, join) = joining();
    assert_eq!(status(&request(&mut acm, Some("node1"), "node2")), None);
    let failed = input(&mut acm, Time::ZERO, Input::SaFailed { id: join.id, failure: SendFailure::TimedOut });
    assert_eq!((joined(&failed), status(&failed)), (Some(Some(SaError::TimedOut)), Some(ClientStatus::ENODATA)));
    // Nor does a lookup wait for the next attempt.
    assert_eq!(status(&request(&mut acm, Some("node1"), "node2")), Some(ClientStatus::ENODATA));
    acm.check().unwrap();
}

#[test]
fn join_succeeds_only_with_the_record_of_its_group() {
    let (mut acm, join) = joining();
    let good = granted(&join);
    let outputs = respond(&mut acm, &join, &good);
    assert_eq!(joined(&outputs), Some(None));
    let attached = outputs.iter().find_map(|output| match output {
        Output::Attach { endpoint, mgid, mlid } => Some((*endpoint, *mgid, *mlid)),
        _ => None,
    });
    let record = good.record::<McMemberRecord>().unwrap();
    assert_eq!(attached, Some((ENDPOINT, record.mgid, Lid::new(0xc000))));

    let refused = |change: &dyn Fn(&mut SaMad)| {
        let (mut acm, join) = joining();
        let mut mad = granted(&join);
        change(&mut mad);
        let outputs = respond(&mut acm, &join, &mad);
        (joined(&outputs), acm.poll_timeout().is_some())
    };
    let bad = (Some(Some(SaError::BadResponse)), true);
    assert_eq!(refused(&|mad| mad.header.method = join.mad.header.method), bad, "not a response");
    assert_eq!(refused(&|mad| mad.header.attribute_id = AttributeId::PATH_RECORD), bad);
    assert_eq!(
        refused(&|mad| McMemberRecord::parse_mut(&mut mad.data.0).unwrap().mgid = "ff12::1".parse().unwrap()),
        bad
    );
    for (mlid, expected) in [(0, bad), (0xbfff, bad), (0xffff, bad), (0xfffe, (Some(None), true))] {
        let mlid = Lid::new(mlid);
        let found = refused(&|mad| McMemberRecord::parse_mut(&mut mad.data.0).unwrap().mlid = mlid);
        assert_eq!(found, expected, "MLID {mlid}");
    }
    let denied = Status::SA_REQUEST_DENIED;
    assert_eq!(refused(&|mad| mad.header.status = denied), (Some(Some(SaError::Status(denied))), true));
    // Only the lower half of the transaction id is compared; a response with another id is ignored.
    let high = join.mad.header.transaction_id.get() | 7 << 32;
    assert_eq!(refused(&|mad| mad.header.transaction_id = TransactionId::new(high)), (Some(None), true));
    assert_eq!(refused(&|mad| mad.header.transaction_id = TransactionId::new(high ^ 1)), (None, true));
}

/// The group may exist with other parameters. A second refusal means that it does not exist.
#[test]
fn group_whose_parameters_are_refused_is_joined_without_them() {
    let (mut acm, join) = joining();
    let respond_with = |acm: &mut Acm, join: &SaSend, status| {
        let mut mad = granted(join);
        mad.header.status = status;
        respond(acm, join, &mad)
    };
    let invalid = Status::SA_REQUEST_INVALID;
    let outputs = respond_with(&mut acm, &join, invalid);
    assert_eq!(joined(&outputs), None);
    let [again] = sa_requests(&outputs)[..] else { panic!("a second join") };
    let has_mtu = |join: &SaSend| Query::<McMemberRecord>::from_mad(&join.mad).unwrap().has(McMemberMask::MTU);
    assert_eq!((has_mtu(&join), has_mtu(&again)), (true, false));
    let outputs = respond_with(&mut acm, &again, Status::SA_INSUFFICIENT_COMPONENTS);
    assert_eq!(joined(&outputs), Some(Some(SaError::Status(invalid))), "the first reason");
}

/// The response repeats what is subscribed to.
#[test]
fn subscription_succeeds_only_with_the_response_to_it() {
    let failed = |change: &dyn Fn(&mut InformInfo)| {
        let (mut acm, _) = core();
        let Input::PortUp { port, attributes } = port_up(16) else { unreachable!() };
        let attributes = PortAttributes { takes_reports: true, ..attributes };
        input(&mut acm, Time::ZERO, Input::PortUp { port, attributes });
        let due = (0..100).find_map(|_| {
            let now = acm.poll_timeout()?;
            acm.handle_timeout(now);
            let is_subscription = |request: &&SaSend| request.mad.header.attribute_id == AttributeId::INFORM_INFO;
            sa_requests(&drain(&mut acm)).iter().find(is_subscription).map(|request| (now, *request))
        });
        let (now, request) = due.expect("a subscription");
        let mut mad = request.mad;
        mad.header.method = mad.header.method.response().unwrap();
        change(InformInfo::parse_mut(&mut mad.data.0).unwrap());
        input(&mut acm, now, Input::SaResponse { id: request.id, mad: as_bytes(&mad) });
        acm.stats().subscriptions_failed
    };
    assert_eq!(failed(&|_| {}), 0);
    assert_eq!(failed(&|info| info.trap_number = TrapNumber::MGID_DESTROYED), 1);
    assert_eq!(failed(&|info| info.subscribe = 0), 1);
}

#[test]
fn sa_query_without_response_times_out() {
    let (mut acm, join) = joining();
    let due = acm.poll_timeout().expect("a timer of the core");
    assert!(due > Time::ZERO + join.timeout * (join.retries + 1), "later than the last retry of the sender");
    acm.handle_timeout(due);
    assert_eq!(joined(&drain(&mut acm)), Some(Some(SaError::TimedOut)));
    let late = input(&mut acm, due, Input::SaFailed { id: join.id, failure: SendFailure::TimedOut });
    assert_eq!((late, acm.stats().stale_inputs), (vec![], 1), "and its id is not reused");
}

#[test]
fn request_without_source_waits_until_one_is_selected() {
    let (mut acm, join) = joining();
    respond(&mut acm, &join, &granted(&join));
    let before = acm.poll_timeout();
    let outputs = request(&mut acm, None, "10.0.0.2");
    let [Output::SelectSource { request, .. }] = outputs[..] else { panic!("{outputs:?}") };
    assert_eq!((acm.poll_timeout(), acm.has_requests(CLIENT)), (before, true), "no time-out");
    let outputs = input(&mut acm, Time::ZERO, Input::SourceSelected { request, source: None });
    assert_eq!((status(&outputs), acm.has_requests(CLIENT)), (Some(ClientStatus::ESRCADDR), false));
}

#[test]
fn shutdown_ends_when_groups_are_left_or_after_its_time_out() {
    let leaving = || {
        let (mut acm, join) = joining();
        respond(&mut acm, &join, &granted(&join));
        let outputs = input(&mut acm, Time::ZERO, Input::Shutdown);
        assert!(!outputs.contains(&Output::ShutdownDone));
        let [leave] = sa_requests(&outputs)[..] else { panic!("the group is left: {outputs:?}") };
        (acm, leave)
    };
    let (mut acm, leave) = leaving();
    assert!(respond(&mut acm, &leave, &granted(&leave)).contains(&Output::ShutdownDone), "left");
    // The leave gets no response.
    let (mut acm, _) = leaving();
    while let Some(due) = acm.poll_timeout() {
        acm.handle_timeout(due);
        if drain(&mut acm).contains(&Output::ShutdownDone) {
            return assert_eq!(due, Time::ZERO + retry::SHUTDOWN);
        }
    }
    panic!("not done");
}

#[test]
fn each_contract_in_the_crate_documentation_is_a_test() {
    let (page, here) = (include_str!("../../src/lib.rs"), include_str!("contracts.rs"));
    let named: Vec<&str> =
        page.split("`contracts::").skip(1).filter_map(|rest| rest.split_once('`')).map(|(name, _)| name).collect();
    assert!(named.len() > 5, "{named:?}");
    for name in named {
        assert!(here.contains(&format!("\nfn {name}() {{")), "{name}");
    }
}

/// The example: two cores and a small subnet administrator.
#[expect(dead_code, reason = "its `main`")]
#[path = "../../examples/two_cores.rs"]
mod two_cores;

#[test]
fn example_resolves_a_name() {
    let path = two_cores::resolve().unwrap();
    assert_eq!((path.slid, path.dlid), (Lid::new(1), Lid::new(2)));
}
