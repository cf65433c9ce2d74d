//! Requests: what a provider is asked, and what becomes of its answers.
use super::shared::{Answers, Machine, ONE, TWO, message, name};
use acm_sansio::{
    ClientId, Input,
    api::{ExternalRequestId, ProviderCall, ProviderMessage},
};
use acm_wire::client::{Counter, Counters, EntryFlags, next_answer, perf_request, resolve_request};
use core::time::Duration;
use ib_mad::{Lid, sa::PathRecord};

const MS: Duration = Duration::from_millis(1);

fn asked(machine: &Machine) -> Vec<(ExternalRequestId, Vec<u8>)> {
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

/// What ibacm's core writes into a request before a provider has it: the places of source and destination.
#[test]
fn a_provider_has_the_request_as_ibacm_gives_it() {
    let mut machine = Machine::started();
    let request = resolve_request(Some(&name("one")), &name("there"), EntryFlags::NO_DELAY, [1; 8]);
    let client = machine.ask(1, &request);
    let path =
        PathRecord { slid: machine.acm.ports().nth(1).unwrap().1.lid, dlid: Lid::new(9), ..PathRecord::default() };
    machine.kernel(&path);
    machine.run(MS);
    let asked = asked(&machine);
    let [(_, address), (_, route)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&address[..6], address.len()), (&[1, 1, 0, 0, 0, 1][..], 160));
    assert_eq!(&address[16..], &request[16..], "NODELAY, too: it is the provider who knows");
    assert_eq!((&route[..6], route.len()), (&[1, 1, 0, 0, 0, 0][..], 88));
    assert_eq!(&route[24..], ib_mad::as_bytes(&path));
    assert_eq!(machine.status(client), Some(0), "and its answer is the client's");
    assert_eq!(machine.kernel[0].map(|path| path.dlid), Some(Lid::new(0x77)));
    machine.replay();
}

#[test]
fn what_a_provider_answers_its_client_is_told() {
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

/// Late, twice, of nothing, of another provider's: each is counted, and nobody hears of it.
#[test]
fn an_answer_to_nothing_harms_nobody() {
    let mut machine = Machine::started();
    machine.fake(ONE).twice = true;
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!((machine.status(client), machine.stat("stale_inputs")), (Some(0), 1));
    machine.fake(ONE).answers = Answers::Nothing;
    let client = machine.resolve(1, "one");
    machine.run(MS);
    let (request, _) = asked(&machine).pop().unwrap();
    // The other one has a request of the same place.
    machine.resolve(1, "two");
    machine.run(MS);
    machine.fake(TWO).answers = Answers::Nothing;
    let other = machine.resolve(1, "two");
    machine.run(MS);
    let answer = message(0, Some(&PathRecord { dlid: Lid::new(5), ..PathRecord::default() }));
    let said = ProviderMessage::ResolveResponse { request, message: answer.clone() };
    machine.say(TWO, said.clone());
    machine.say(ONE, ProviderMessage::Counters { request, values: vec![] });
    machine.say(ONE, ProviderMessage::ResolveResponse { request: ExternalRequestId::new(77, 1), message: answer });
    machine.say(acm_sansio::api::ProviderId(9), said.clone());
    assert_eq!((machine.status(client), machine.stat("stale_inputs")), (None, 5));
    assert_eq!(machine.status(other), None);
    machine.run(Duration::from_secs(13));
    assert_eq!(machine.status(client), Some(6));
    machine.say(ONE, said);
    assert_eq!((machine.status(client), machine.stat("stale_inputs")), (Some(6), 6), "late");
    machine.replay();
}

#[test]
fn a_provider_counts_for_itself_and_for_the_daemon() {
    let mut machine = Machine::started();
    let counters = |machine: &Machine, client: ClientId| {
        let (_, reply) = machine.replies.iter().find(|(other, _)| *other == client)?;
        let frame = next_answer(reply).unwrap().unwrap();
        Some(Counters::parse(&frame).map(|counters| counters.0))
    };
    let client = machine.ask(1, &perf_request(2, [1; 8]));
    assert_eq!(counters(&machine, client), None);
    machine.run(MS);
    assert_eq!(counters(&machine, client), Some(Ok([1, 2, 3, 4, 5, 6, 7])));
    machine.say(ONE, ProviderMessage::IncrementCounter(Counter::AddrQuery));
    assert_eq!(machine.acm.counters().get(Counter::AddrQuery), 1);
    machine.fake(ONE).takes = None;
    let client = machine.ask(1, &perf_request(2, [1; 8]));
    machine.run(Duration::from_secs(10));
    assert_eq!(machine.status(client), Some(3), "it hangs");
    machine.replay();
}

/// One user has a thousand requests, another has one, and the provider takes 5 ms for each.
#[test]
fn a_slow_provider_serves_users_by_turn() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = Some(5 * MS);
    let many: Vec<ClientId> = (0..1000).map(|_| machine.resolve(1, "one")).collect();
    let one = machine.resolve(2, "one");
    assert_eq!((machine.gauge("provider_calls"), machine.gauge("provider_waiting")), (64, 937));
    // Those that were called already, and one of the other's.
    machine.run(66 * 5 * MS);
    assert_eq!(machine.status(one), Some(0));
    assert!((64..=66).contains(&machine.replies.len()), "{}", machine.replies.len());
    machine.run(1000 * 5 * MS);
    assert!(many.iter().all(|client| machine.status(*client) == Some(0)));
    assert_eq!((machine.fake(ONE).most, machine.gauge("lookups")), (64, 0));
}

/// It returns, so that it does not hang, but so slowly that most get no turn.
#[test]
fn who_gets_no_turn_in_time_is_told_so() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = Some(Duration::from_secs(9));
    let clients: Vec<ClientId> = (0..100).map(|_| machine.resolve(1, "one")).collect();
    machine.run(Duration::from_secs(80));
    assert!(clients.iter().all(|client| machine.status(*client).is_some()));
    assert_eq!((machine.stat("provider_hangs"), machine.said("provider 1 hangs")), (0, 0));
    // Of 100 one is called for each that returns: 6 in 60 s, beside 64 at once.
    assert_eq!(machine.stat("provider_no_turn"), 100 - 64 - 6);
    machine.replay();
}

#[test]
fn an_account_pays_until_the_provider_answers_or_its_time_is_over() {
    let mut machine = Machine::started();
    machine.fake(ONE).answers = Answers::Nothing;
    let client = machine.resolve(1, "one");
    assert_eq!(machine.gauge("lookups"), 1);
    machine.tell(Input::ClientClosed(client));
    machine.run(Duration::from_secs(12));
    assert_eq!((machine.gauge("lookups"), machine.gauge("provider_unanswered")), (1, 1));
    machine.run(Duration::from_secs(1));
    assert_eq!((machine.gauge("lookups"), machine.gauge("provider_unanswered")), (0, 0));
    // What was not called yet goes with its client.
    machine.fake(ONE).takes = Some(Duration::from_secs(5));
    let clients: Vec<ClientId> = (0..70).map(|_| machine.resolve(1, "one")).collect();
    assert_eq!(machine.gauge("lookups"), 70);
    clients.into_iter().for_each(|client| machine.tell(Input::ClientClosed(client)));
    assert_eq!((machine.gauge("lookups"), machine.gauge("provider_waiting")), (64, 0));
    machine.replay();
}

/// It returns at once, and answers nothing: those beyond what it may have wait until the first of these end.
#[test]
fn no_more_are_asked_than_it_may_have_unanswered() {
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
    let asked = |machine: &mut Machine| machine.fake(ONE).calls.len() - calls;
    assert_eq!((asked(&mut machine), machine.gauge("provider_waiting")), (1024, 76));
    machine.run(Duration::from_secs(13));
    assert_eq!((asked(&mut machine), machine.gauge("provider_waiting")), (1100, 0));
    assert_eq!(machine.replies.len(), 1024);
    machine.run(Duration::from_secs(13));
    assert!(clients.iter().all(|client| machine.status(*client) == Some(6)));
}
