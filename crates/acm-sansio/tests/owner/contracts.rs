//! What the core asks of its owner, and what becomes of it if the owner does otherwise: the table on the crate's page.
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Event, Input, Output, PortId, Time,
    api::{Reason, SaSend, SendFailure},
    ibacmp,
    port::PortAttributes,
    retry,
    sa::SaError,
};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
};
use ib_mad::{
    AttributeId, Lid, Pkey, Qpn, Status, TransactionId, Wire, as_bytes,
    sa::{McMemberRecord, SaMad},
};

const PORT: PortId = PortId(0);
const ENDPOINT: EndpointId = EndpointId::new(0, 0);
const CLIENT: ClientId = ClientId::new(0, 0);
const OPENED: Input<'static> = Input::EndpointOpened { endpoint: ENDPOINT, qpn: Qpn::of::<2>() };

fn drain(acm: &mut Acm) -> Vec<Output> {
    core::iter::from_fn(|| acm.poll_output()).collect()
}

fn tell(acm: &mut Acm, now: Time, input: Input<'_>) -> Vec<Output> {
    acm.handle_input(now, input);
    drain(acm)
}

/// What goes to subnet administration.
fn asked(outputs: &[Output]) -> Vec<SaSend> {
    let send = |output: &Output| if let Output::SaSend(send) = output { Some(*send) } else { None };
    outputs.iter().filter_map(send).collect()
}

fn status(outputs: &[Output]) -> Option<ClientStatus> {
    outputs.iter().find_map(|output| if let Output::Reply { reply, .. } = output { Some(reply.status()) } else { None })
}

/// A failed join's reason, or none if it was granted; nothing if neither was said.
fn joined(outputs: &[Output]) -> Option<Option<SaError>> {
    outputs.iter().find_map(|output| match output {
        Output::Log(Event::Ibacmp(ibacmp::Event::Joined(..))) => Some(None),
        Output::Log(Event::Ibacmp(ibacmp::Event::JoinFailed(_, _, error, _))) => Some(Some(*error)),
        _ => None,
    })
}

/// A core with an address, an active port and a client, and what it wants.
fn core() -> (Acm, Vec<Output>) {
    let mut acm = Acm::new(Config::default(), 1);
    let attributes = PortAttributes {
        lid: Lid::new(16),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    };
    tell(&mut acm, Time::ZERO, Input::AddressAdded { port: PORT, pkey: None, address: Address::from_text("node1") });
    tell(&mut acm, Time::ZERO, Input::ClientOpened { client: CLIENT, account: Account::User(0) });
    let wanted = tell(&mut acm, Time::ZERO, Input::PortUp { port: PORT, attributes: &attributes });
    (acm, wanted)
}

/// The same, and its question to join its group.
fn joining() -> (Acm, SaSend) {
    let (mut acm, _) = core();
    let [join] = asked(&tell(&mut acm, Time::ZERO, OPENED))[..] else { panic!("one group to join") };
    (acm, join)
}

/// What an administration grants.
fn granted(join: &SaSend) -> SaMad {
    let mut mad = join.mad;
    mad.header.method = mad.header.method.response().unwrap();
    McMemberRecord::parse_mut(&mut mad.data.0).unwrap().mlid = Lid::new(0xc000);
    mad
}

fn answer(acm: &mut Acm, join: &SaSend, mad: &SaMad) -> Vec<Output> {
    tell(acm, Time::ZERO, Input::SaResponse { id: join.id, mad: as_bytes(mad) })
}

fn ask(acm: &mut Acm, source: Option<&str>, dest: &str) -> Vec<Output> {
    let source = source.map(Address::from_text);
    let message = resolve_request(source.as_ref(), &Address::from_text(dest), EntryFlags::empty(), [1; 8]);
    tell(acm, Time::ZERO, Input::ClientMessage { client: CLIENT, message: &message })
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "outputs were not drained")]
fn outputs_are_drained_before_the_next_fact() {
    let mut acm = Acm::new(Config::default(), 1);
    acm.handle_input(Time::ZERO, Input::Shutdown);
    acm.handle_timeout(Time::ZERO);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "time went back")]
fn time_does_not_go_back() {
    let mut acm = Acm::new(Config::default(), 1);
    acm.handle_timeout(Time::from_nanos(2));
    acm.handle_timeout(Time::from_nanos(1));
}

#[test]
fn an_endpoint_is_asked_for_once_and_does_nothing_before_it_is_opened() {
    let (mut acm, wanted) = core();
    let opens = |outputs: &[Output]| outputs.iter().filter(|it| matches!(it, Output::OpenEndpoint { .. })).count();
    assert_eq!((opens(&wanted), asked(&wanted)), (1, vec![]));
    let waits = acm.poll_deadline().map(|deadline| deadline.reason);
    assert!(waits.is_none_or(|reason| reason != Reason::OpenEndpoint), "for as long as it takes");
    // Whoever asks meanwhile has no answer, and does not wait.
    assert_eq!(status(&ask(&mut acm, Some("node1"), "node2")), Some(ClientStatus::ENODATA));
    assert_eq!(asked(&tell(&mut acm, Time::ZERO, OPENED)).len(), 1, "the group is joined then");
    let (mut acm, _) = core();
    tell(&mut acm, Time::ZERO, Input::EndpointFailed(ENDPOINT));
    let again = acm.poll_timeout().expect("another try");
    acm.handle_timeout(again);
    assert_eq!(opens(&drain(&mut acm)), 1);
}

#[test]
fn a_name_is_not_found_before_the_group_is_joined() {
    let (mut acm, join) = joining();
    assert_eq!(status(&ask(&mut acm, Some("node1"), "node2")), Some(ClientStatus::ENODATA));
    assert_eq!(joined(&answer(&mut acm, &join, &granted(&join))), Some(None));
    let wanted = ask(&mut acm, Some("node1"), "node2");
    assert_eq!(status(&wanted), None);
    assert!(wanted.iter().any(|output| matches!(output, Output::Send { .. })), "the group is asked: {wanted:?}");
}

#[test]
fn a_join_is_granted_by_the_record_of_its_group() {
    let (mut acm, join) = joining();
    let good = granted(&join);
    let wanted = answer(&mut acm, &join, &good);
    assert_eq!(joined(&wanted), Some(None));
    let attached = wanted.iter().find_map(|output| match output {
        Output::Attach { endpoint, mgid, mlid } => Some((*endpoint, *mgid, *mlid)),
        _ => None,
    });
    let record = good.record::<McMemberRecord>().unwrap();
    assert_eq!(attached, Some((ENDPOINT, record.mgid, Lid::new(0xc000))));

    let refused = |change: &dyn Fn(&mut SaMad)| {
        let (mut acm, join) = joining();
        let mut mad = granted(&join);
        change(&mut mad);
        let outputs = answer(&mut acm, &join, &mad);
        (joined(&outputs), acm.poll_timeout().is_some())
    };
    let bad = (Some(Some(SaError::BadResponse)), true);
    assert_eq!(refused(&|mad| mad.header.method = join.mad.header.method), bad, "no answer at all");
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
    let status = Status::SA_REQUEST_INVALID;
    assert_eq!(refused(&|mad| mad.header.status = status), (Some(Some(SaError::Status(status))), true));
    // Of the transaction id the lower half counts; another's answer changes nothing.
    let high = join.mad.header.transaction_id.get() | 7 << 32;
    assert_eq!(refused(&|mad| mad.header.transaction_id = TransactionId::new(high)), (Some(None), true));
    assert_eq!(refused(&|mad| mad.header.transaction_id = TransactionId::new(high ^ 1)), (None, true));
}

#[test]
fn a_question_that_its_sender_forgets_ends_all_the_same() {
    let (mut acm, join) = joining();
    let due = acm.poll_timeout().expect("a deadline of the core's own");
    assert!(due > Time::ZERO + join.timeout * (join.retries + 1), "later than any sender takes");
    acm.handle_timeout(due);
    assert_eq!(joined(&drain(&mut acm)), Some(Some(SaError::TimedOut)));
    let late = tell(&mut acm, due, Input::SaFailed { id: join.id, failure: SendFailure::TimedOut });
    assert_eq!((late, acm.stats().stale_inputs), (vec![], 1), "and its number is not used again");
}

#[test]
fn a_request_without_a_source_waits_until_one_is_selected() {
    let (mut acm, join) = joining();
    answer(&mut acm, &join, &granted(&join));
    let before = acm.poll_timeout();
    let wanted = ask(&mut acm, None, "10.0.0.2");
    let [Output::SelectSource { request, .. }] = wanted[..] else { panic!("{wanted:?}") };
    assert_eq!((acm.poll_timeout(), acm.has_requests(CLIENT)), (before, true), "for as long as it takes");
    let outputs = tell(&mut acm, Time::ZERO, Input::SourceSelected { request, source: None });
    assert_eq!((status(&outputs), acm.has_requests(CLIENT)), (Some(ClientStatus::ESRCADDR), false));
}

#[test]
fn after_shutdown_the_groups_are_left_or_have_had_their_time() {
    let leaving = || {
        let (mut acm, join) = joining();
        answer(&mut acm, &join, &granted(&join));
        let wanted = tell(&mut acm, Time::ZERO, Input::Shutdown);
        assert!(!wanted.contains(&Output::ShutdownDone));
        let [leave] = asked(&wanted)[..] else { panic!("the group is left: {wanted:?}") };
        (acm, leave)
    };
    let (mut acm, leave) = leaving();
    assert!(answer(&mut acm, &leave, &granted(&leave)).contains(&Output::ShutdownDone), "left");
    // Nobody answers.
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
fn the_contracts_of_the_crates_page_are_tests_here() {
    let (page, here) = (include_str!("../../src/lib.rs"), include_str!("contracts.rs"));
    let named: Vec<&str> =
        page.split("`contracts::").skip(1).filter_map(|rest| rest.split_once('`')).map(|(name, _)| name).collect();
    assert!(named.len() > 5, "{named:?}");
    for name in named {
        assert!(here.contains(&format!("\nfn {name}() {{")), "{name}");
    }
}

/// The example on the crate's page: two cores, and an administration of a few lines.
#[expect(dead_code, reason = "its `main`")]
#[path = "../../examples/two_cores.rs"]
mod two_cores;

#[test]
fn the_example_resolves_a_name() {
    let path = two_cores::resolve().unwrap();
    assert_eq!((path.slid, path.dlid), (Lid::new(1), Lid::new(2)));
}
