//! Requests to providers and their responses.
use super::shared::{Answers, Machine, ONE, TWO, message, name};
use acm_sansio::{
    ClientId, Input,
    api::{ExternalRequestId, ProviderCall, ProviderMessage},
    config::Share,
};
use acm_wire::client::{Counter, Counters, EntryFlags, next_response, perf_request, resolve_request};
use core::time::Duration;
use ib_mad::{Lid, sa::PathRecord};

const MS: Duration = Duration::from_millis(1);

fn requests(machine: &Machine) -> Vec<(ExternalRequestId, Vec<u8>)> {
    let calls = machine.fakes[&ONE].calls.iter();
    calls
        .filter_map(|call| match call {
            ProviderCall::Resolve { request, message, source, .. } => {
                assert_eq!(*source, name("one"));
                Some((*request, message.clone()))
            }
            _ => None,
        })
        .collect()
}

/// ibacm's core writes the indices of source and destination into each request.
#[test]
fn provider_receives_requests_in_the_format_of_ibacm() {
    let mut machine = Machine::started();
    let request = resolve_request(Some(&name("one")), &name("there"), EntryFlags::NO_DELAY, [1; 8]);
    let client = machine.request(1, &request);
    let path =
        PathRecord { slid: machine.acm.ports().nth(1).unwrap().1.lid, dlid: Lid::new(9), ..PathRecord::default() };
    machine.kernel(&path);
    machine.run(MS);
    let received = requests(&machine);
    let [(_, address), (_, route)] = &received[..] else { panic!("{received:?}") };
    assert_eq!((&address[..6], address.len()), (&[1, 1, 0, 0, 0, 1][..], 160));
    assert_eq!(&address[16..], &request[16..], "with NODELAY, which the provider handles");
    assert_eq!((&route[..6], route.len()), (&[1, 1, 0, 0, 0, 0][..], 88));
    assert_eq!(&route[24..], ib_mad::as_bytes(&path));
    assert_eq!(machine.status(client), Some(0), "the provider's response");
    assert_eq!(machine.kernel[0].map(|path| path.dlid), Some(Lid::new(0x77)));
    machine.replay();
}

#[test]
fn response_of_a_provider_reaches_its_client() {
    let mut machine = Machine::started();
    let table = [
        (Answers::Path, Some(0), 0),
        (Answers::Status(3), Some(3), 0),
        (Answers::Status(9), Some(9), 0),
        (Answers::Garbage, Some(3), 1),
    ];
    for (answers, status, bad) in table {
        machine.fake(ONE).answers = answers;
        let before = machine.stat("provider_bad_answers");
        let client = machine.resolve(1, "one");
        machine.run(MS);
        assert_eq!(machine.status(client), status, "{answers:?}");
        assert_eq!(machine.stat("provider_bad_answers") - before, bad, "{answers:?}");
    }
    machine.fake(ONE).answers = Answers::Nothing;
    let client = machine.resolve(1, "one");
    machine.run(Duration::from_millis(12_999));
    assert_eq!(machine.status(client), None);
    machine.run(MS);
    assert_eq!((machine.status(client), machine.stat("provider_silent")), (Some(6), 1));
    machine.replay();
}

/// The responses are late, repeated, without a request, or from another provider.
#[test]
fn stale_provider_responses_are_counted_and_ignored() {
    let mut machine = Machine::started();
    machine.fake(ONE).twice = true;
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!((machine.status(client), machine.stat("stale_inputs")), (Some(0), 1));
    machine.fake(ONE).answers = Answers::Nothing;
    let client = machine.resolve(1, "one");
    machine.run(MS);
    let (request, _) = requests(&machine).pop().unwrap();
    // The other provider has a request with the same index.
    machine.resolve(1, "two");
    machine.run(MS);
    machine.fake(TWO).answers = Answers::Nothing;
    let other = machine.resolve(1, "two");
    machine.run(MS);
    let answer = message(0, Some(&PathRecord { dlid: Lid::new(5), ..PathRecord::default() }));
    let response = ProviderMessage::ResolveResponse { request, message: answer.clone() };
    machine.provider_input(TWO, response.clone());
    machine.provider_input(ONE, ProviderMessage::Counters { request, values: vec![] });
    machine.provider_input(
        ONE,
        ProviderMessage::ResolveResponse { request: ExternalRequestId::new(77, 1), message: answer },
    );
    machine.provider_input(acm_sansio::api::ProviderId(9), response.clone());
    assert_eq!((machine.status(client), machine.stat("stale_inputs")), (None, 5));
    assert_eq!(machine.status(other), None);
    machine.run(Duration::from_secs(13));
    assert_eq!(machine.status(client), Some(6));
    machine.provider_input(ONE, response);
    assert_eq!((machine.status(client), machine.stat("stale_inputs")), (Some(6), 6), "late");
    machine.replay();
}

#[test]
fn provider_counters_are_returned_and_added_to_the_daemons() {
    let mut machine = Machine::started();
    let counters = |machine: &Machine, client: ClientId| {
        let (_, reply) = machine.replies.iter().find(|(other, _)| *other == client)?;
        let frame = next_response(reply).unwrap().unwrap();
        Some(Counters::parse(&frame).map(|counters| counters.0))
    };
    let client = machine.request(1, &perf_request(2, [1; 8]));
    assert_eq!(counters(&machine, client), None);
    machine.run(MS);
    assert_eq!(counters(&machine, client), Some(Ok([1, 2, 3, 4, 5, 6, 7])));
    machine.provider_input(ONE, ProviderMessage::IncrementCounter(Counter::AddrQuery));
    assert_eq!(machine.acm.counters().get(Counter::AddrQuery), 1);
    machine.fake(ONE).takes = None;
    let client = machine.request(1, &perf_request(2, [1; 8]));
    machine.run(Duration::from_secs(10));
    assert_eq!(machine.status(client), Some(3), "the provider hangs");
    machine.replay();
}

/// One user has 1,000 requests and another has one. The provider takes 5 ms per request.
#[test]
fn slow_provider_serves_users_round_robin() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = Some(5 * MS);
    let many: Vec<ClientId> = (0..1000).map(|_| machine.resolve(1, "one")).collect();
    let one = machine.resolve(2, "one");
    assert_eq!((machine.gauge("provider_calls"), machine.gauge("provider_waiting")), (64, 937));
    // 64 calls are already pending before the other user's turn.
    machine.run(66 * 5 * MS);
    assert_eq!(machine.status(one), Some(0));
    assert!((64..=66).contains(&machine.replies.len()), "{}", machine.replies.len());
    machine.run(1000 * 5 * MS);
    assert!(many.iter().all(|client| machine.status(*client) == Some(0)));
    assert_eq!((machine.fake(ONE).most, machine.gauge("lookups")), (64, 0));
}

/// The provider takes 9 s per call and therefore does not count as hanging.
// docs/deadlines.md: provider-turn
#[test]
fn requests_without_a_turn_in_60_s_fail() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = Some(Duration::from_secs(9));
    let clients: Vec<ClientId> = (0..100).map(|_| machine.resolve(1, "one")).collect();
    machine.run(Duration::from_secs(80));
    assert!(clients.iter().all(|client| machine.status(*client).is_some()));
    assert_eq!((machine.stat("provider_hangs"), machine.logged("provider 1 hangs")), (0, 0));
    // 64 calls start at once, and 6 more within 60 s, one for each call that returns.
    assert_eq!(machine.stat("provider_no_turn"), 100 - 64 - 6);
    machine.replay();
}

// docs/deadlines.md: provider-turn
#[test]
fn account_is_charged_until_the_provider_responds_or_times_out() {
    let mut machine = Machine::started();
    machine.fake(ONE).answers = Answers::Nothing;
    let client = machine.resolve(1, "one");
    assert_eq!(machine.gauge("lookups"), 1);
    machine.input(Input::ClientClosed(client));
    machine.run(Duration::from_secs(12));
    assert_eq!((machine.gauge("lookups"), machine.gauge("provider_unanswered")), (1, 1));
    machine.run(Duration::from_secs(1));
    assert_eq!((machine.gauge("lookups"), machine.gauge("provider_unanswered")), (0, 0));
    // Requests that are still queued end with their clients.
    machine.fake(ONE).takes = Some(Duration::from_secs(5));
    let clients: Vec<ClientId> = (0..70).map(|_| machine.resolve(1, "one")).collect();
    assert_eq!(machine.gauge("lookups"), 70);
    clients.into_iter().for_each(|client| machine.input(Input::ClientClosed(client)));
    assert_eq!((machine.gauge("lookups"), machine.gauge("provider_waiting")), (64, 0));
    machine.replay();
}

/// Calls return at once, and the provider never responds.
#[test]
fn provider_has_at_most_1024_unanswered_requests() {
    let mut machine = Machine::started();
    machine.fake(ONE).answers = Answers::Nothing;
    let calls = machine.fake(ONE).calls.len();
    let clients: Vec<ClientId> = (0..1100)
        .map(|user| {
            let client = machine.resolve(user, "one");
            machine.run(Duration::ZERO);
            client
        })
        .collect();
    let called = |machine: &mut Machine| machine.fake(ONE).calls.len() - calls;
    assert_eq!((called(&mut machine), machine.gauge("provider_waiting")), (1024, 76));
    machine.run(Duration::from_secs(13));
    assert_eq!((called(&mut machine), machine.gauge("provider_waiting")), (1100, 0));
    assert_eq!(machine.replies.len(), 1024);
    machine.run(Duration::from_secs(13));
    assert!(clients.iter().all(|client| machine.status(*client) == Some(6)));
}

/// Users may have 126 lookups: 144 less an eighth for the kernel. 64 calls are pending.
#[test]
fn queued_request_of_the_largest_account_fails_to_make_room_for_another() {
    let mut machine = Machine::new(|config| config.limits.lookups = Share { total: 144, percent: 100 });
    machine.start();
    machine.fake(ONE).takes = Some(5 * MS);
    let many: Vec<ClientId> = (0..126).map(|_| machine.resolve(1, "one")).collect();
    let other = machine.resolve(2, "one");
    let (last, rest) = many.split_last().unwrap();
    assert_eq!((machine.status(*last), machine.status(other)), (Some(1), None), "ENOMEM");
    assert_eq!((machine.stat("lookups_cancelled"), machine.gauge("lookups")), (1, 126));
    machine.run(200 * 5 * MS);
    assert!(rest.iter().chain([&other]).all(|client| machine.status(*client) == Some(0)));
    machine.replay();
}
