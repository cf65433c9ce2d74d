//! Requests of providers to subnet administration.
use super::shared::{Machine, ONE, TWO, sa_id};
use acm_sansio::{
    EndpointId, Input, PortId,
    api::{ProviderCall, ProviderId, ProviderMessage, SaError, SendFailure},
};
use acm_wire::client::{EntryFlags, path_request};
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
fn query_sa_bypasses_the_provider() {
    let mut machine = Machine::started();
    machine.sa.clear();
    machine.fake(ONE).functions();
    let slid = machine.acm.ports().nth(1).unwrap().1.lid;
    let path = PathRecord { slid, dlid: Lid::new(9), ..PathRecord::default() };
    let client = machine.request(1, &path_request(&path, EntryFlags::QUERY_SA, [1; 8]));
    let sent: Vec<_> = machine.sa.iter().map(|send| (send.port, send.mad.header.attribute_id)).collect();
    assert_eq!(sent, [(PortId(1), AttributeId::PATH_RECORD)]);
    assert!(machine.fake(ONE).functions().is_empty());
    let send = machine.sa.pop().unwrap();
    let mut answer = send.mad;
    answer.header.method = Method::GET_RESP;
    machine.input(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&answer) });
    assert_eq!(machine.status(client), Some(0));
    machine.replay();
}
