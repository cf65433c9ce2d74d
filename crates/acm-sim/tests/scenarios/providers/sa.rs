//! Requests of providers to subnet administration.
use super::shared::{Answers, Machine, ONE, TWO, name, sa_id};
use acm_sansio::{
    EndpointId, Input, PortId,
    api::{ProviderCall, ProviderId, ProviderMessage, SaError, SendFailure},
    config::Share,
};
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{
    AttributeId, Lid, Method, Status, TransactionId,
    sa::{PathRecord, SaMad},
};

const OF_ONE: EndpointId = EndpointId::new(1, 0);

fn request() -> SaMad {
    SaMad::request(Method::GET, AttributeId::PATH_RECORD, TransactionId::new(0x0123_4567_89ab_cdef))
}

fn request_sa(machine: &mut Machine, provider: ProviderId, number: u64, mad: &SaMad) {
    let message =
        ProviderMessage::SaRequest { id: sa_id(number), endpoint: OF_ONE, mad: ib_mad::as_bytes(mad).to_vec() };
    machine.provider_input(provider, message);
}

fn done(machine: &mut Machine, provider: ProviderId) -> Vec<(u64, Result<SaMad, SaError>)> {
    let calls = core::mem::take(&mut machine.fake(provider).calls);
    calls
        .into_iter()
        .filter_map(|call| match call {
            ProviderCall::SaResponse { id, mad } => Some((id.0, Ok(*mad))),
            ProviderCall::SaFailed { id, error } => Some((id.0, Err(error))),
            _ => None,
        })
        .collect()
}

#[test]
fn sa_response_reaches_the_provider_with_its_transaction_id() {
    let mut machine = Machine::started();
    machine.sa.clear();
    for (number, status) in [(1, Status::new(0)), (2, Status::SA_NO_RECORDS)] {
        request_sa(&mut machine, ONE, number, &request());
        let send = machine.sa.pop().unwrap();
        assert_eq!(send.port, PortId(1));
        let sent = SaMad { header: request().header, ..send.mad };
        assert_eq!(sent, request());
        assert_ne!(send.mad.header.transaction_id, request().header.transaction_id);
        let mut answer = send.mad;
        answer.header.method = Method::GET_RESP;
        answer.header.status = status;
        machine.input(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&answer) });
        answer.header.transaction_id = request().header.transaction_id;
        assert_eq!(done(&mut machine, ONE), [(number, Ok(answer))]);
        machine.input(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&answer) });
        assert_eq!(done(&mut machine, ONE), [], "one answer only");
    }
    request_sa(&mut machine, ONE, 3, &request());
    let send = machine.sa.pop().unwrap();
    machine.input(Input::SaFailed { id: send.id, failure: SendFailure::TimedOut });
    assert_eq!(done(&mut machine, ONE), [(3, Err(SaError::TimedOut))]);
    machine.replay();
}

/// Requests in flight are limited to the credits of background requests.
// docs/deadlines.md: provider-sa
#[test]
fn sa_requests_of_a_provider_over_256_fail_at_once() {
    let mut machine = Machine::started();
    machine.sa.clear();
    (0..300).for_each(|number| request_sa(&mut machine, ONE, number, &request()));
    let refused = done(&mut machine, ONE);
    assert_eq!(refused.len(), 300 - 256);
    assert!(refused.iter().all(|(number, answer)| *number >= 256 && *answer == Err(SaError::NotSent)));
    assert_eq!((machine.stat("provider_sa_refused"), machine.gauge("provider_sa_requests")), (44, 256));
    assert_eq!(machine.sa.len(), 1, "a quarter of four");
    // A second request with the id of a pending request is stale.
    request_sa(&mut machine, ONE, 5, &request());
    assert_eq!((done(&mut machine, ONE), machine.stat("stale_inputs")), (vec![], 1));
    machine.input(Input::PortDown(PortId(1)));
    let ended = done(&mut machine, ONE);
    assert_eq!(ended.len(), 256, "one answer per request");
    assert!(ended.iter().all(|(_, answer)| *answer == Err(SaError::PortDown)));
    request_sa(&mut machine, ONE, 400, &request());
    assert_eq!(done(&mut machine, ONE), [(400, Err(SaError::PortDown))]);
    machine.replay();
}

#[test]
fn invalid_sa_requests_of_a_provider_are_refused() {
    let mut machine = Machine::started();
    machine.sa.clear();
    request_sa(&mut machine, TWO, 1, &request());
    assert_eq!(done(&mut machine, TWO), [(1, Err(SaError::PortDown))]);
    let mut other = request();
    other.header.mgmt_class = ib_mad::MgmtClass::PERF;
    request_sa(&mut machine, ONE, 1, &other);
    let mut answer = request();
    answer.header.method = Method::GET_RESP;
    request_sa(&mut machine, ONE, 2, &answer);
    let message = ProviderMessage::SaRequest { id: sa_id(3), endpoint: OF_ONE, mad: vec![1; 40] };
    machine.provider_input(ONE, message);
    let refused = [1, 2, 3].map(|number| (number, Err(SaError::NotSent)));
    assert_eq!(done(&mut machine, ONE), refused);
    assert_eq!((machine.sa.len(), machine.stat("provider_sa_refused")), (0, 3));
}

#[test]
fn query_sa_is_answered_by_the_provider_of_its_endpoint() {
    let mut machine = Machine::started();
    machine.sa.clear();
    machine.fake(ONE).functions();
    let slid = machine.acm.ports().nth(1).unwrap().1.lid;
    let path = PathRecord { slid, dlid: Lid::new(9), ..PathRecord::default() };
    let request = path_request(&path, EntryFlags::QUERY_SA, [1; 8]);
    let client = machine.request(1, &request);
    let [ProviderCall::Query { source, message, .. }] = &machine.fakes[&ONE].calls[..] else {
        panic!("{:?}", machine.fakes[&ONE].calls)
    };
    assert_eq!((*source, message.len(), &message[16..]), (name("one"), 88, &request[16..]), "with its flag");
    machine.run(Duration::from_millis(1));
    assert_eq!(machine.sa.len(), 0, "the provider queries the subnet administrator");
    let (_, reply) = machine.replies.iter().find(|(other, _)| *other == client).unwrap();
    assert_eq!((reply[1], reply.len(), &reply[16..20]), (0x81, 88, &request[16..20]), "the request with its result");
    assert_eq!(reply[24 + 40..24 + 42], [0, 0x77], "the provider's path");
    // Its failures, and a provider that does not respond.
    for (answers, status) in [(Answers::Status(3), Some(3)), (Answers::Garbage, Some(3)), (Answers::Nothing, None)] {
        machine.fake(ONE).answers = answers;
        let client = machine.request(1, &request);
        machine.run(Duration::from_millis(1));
        assert_eq!(machine.status(client), status, "{answers:?}");
    }
    machine.run(Duration::from_secs(13));
    assert_eq!((machine.stat("provider_silent"), machine.gauge("lookups")), (1, 0));
    // A client that leaves, and a queued request that the account gives up.
    let client = machine.request(1, &request);
    machine.input(Input::ClientClosed(client));
    machine.run(Duration::from_secs(13));
    assert_eq!((machine.stat("provider_silent"), machine.gauge("lookups")), (2, 0));
    machine.replay();
}

#[test]
fn queued_query_of_the_largest_account_fails_to_make_room_for_another() {
    let mut machine = Machine::new(|config| config.limits.lookups = Share { total: 144, percent: 100 });
    machine.start();
    machine.fake(ONE).takes = Some(Duration::from_millis(5));
    let slid = machine.acm.ports().nth(1).unwrap().1.lid;
    let path = PathRecord { slid, dlid: Lid::new(9), ..PathRecord::default() };
    let request = path_request(&path, EntryFlags::QUERY_SA, [1; 8]);
    let many: Vec<_> = (0..126).map(|_| machine.request(1, &request)).collect();
    let other = machine.request(2, &request);
    assert_eq!((machine.status(many[125]), machine.status(other)), (Some(1), None), "ENOMEM");
    machine.run(Duration::from_secs(2));
    assert!(many[..125].iter().chain([&other]).all(|client| machine.status(*client) == Some(0)));
    machine.replay();
}
