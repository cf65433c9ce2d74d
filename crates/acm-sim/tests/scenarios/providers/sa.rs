//! What a provider asks of subnet administration.
use super::shared::{Machine, ONE, TWO, sa_id};
use acm_sansio::{
    EndpointId, Input, PortId,
    api::{ProviderCall, ProviderId, ProviderMessage, SendFailure},
    sa::SaError,
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

fn ask(machine: &mut Machine, provider: ProviderId, number: u64, mad: &SaMad) {
    let said = ProviderMessage::SaRequest { id: sa_id(number), endpoint: OF_ONE, mad: ib_mad::as_bytes(mad).to_vec() };
    machine.say(provider, said);
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
fn a_provider_has_its_answer_with_its_own_transaction_id_whatever_the_status() {
    let mut machine = Machine::started();
    machine.sa.clear();
    for (number, status) in [(1, Status::new(0)), (2, Status::SA_NO_RECORDS)] {
        ask(&mut machine, ONE, number, &request());
        let send = machine.sa.pop().unwrap();
        assert_eq!(send.port, PortId(1));
        let sent = SaMad { header: request().header, ..send.mad };
        assert_eq!(sent, request());
        assert_ne!(send.mad.header.transaction_id, request().header.transaction_id);
        let mut answer = send.mad;
        answer.header.method = Method::GET_RESP;
        answer.header.status = status;
        machine.tell(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&answer) });
        answer.header.transaction_id = request().header.transaction_id;
        assert_eq!(done(&mut machine, ONE), [(number, Ok(answer))]);
        machine.tell(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&answer) });
        assert_eq!(done(&mut machine, ONE), [], "once");
    }
    ask(&mut machine, ONE, 3, &request());
    let send = machine.sa.pop().unwrap();
    machine.tell(Input::SaFailed { id: send.id, failure: SendFailure::TimedOut });
    assert_eq!(done(&mut machine, ONE), [(3, Err(SaError::TimedOut))]);
    machine.replay();
}

/// So many at a time, of which so many are in flight as of anybody in the background; those beyond fail at once.
#[test]
fn a_flood_of_a_providers_requests_is_bounded() {
    let mut machine = Machine::started();
    machine.sa.clear();
    (0..300).for_each(|number| ask(&mut machine, ONE, number, &request()));
    let refused = done(&mut machine, ONE);
    assert_eq!(refused.len(), 300 - 256);
    assert!(refused.iter().all(|(number, answer)| *number >= 256 && *answer == Err(SaError::NotSent)));
    assert_eq!((machine.stat("provider_sa_refused"), machine.gauge("provider_sa_requests")), (44, 256));
    assert_eq!(machine.sa.len(), 1, "a quarter of four");
    // A number that is in use is not another request.
    ask(&mut machine, ONE, 5, &request());
    assert_eq!((done(&mut machine, ONE), machine.stat("stale_inputs")), (vec![], 1));
    machine.tell(Input::PortDown(PortId(1)));
    let ended = done(&mut machine, ONE);
    assert_eq!(ended.len(), 256, "each once");
    assert!(ended.iter().all(|(_, answer)| *answer == Err(SaError::PortDown)));
    ask(&mut machine, ONE, 400, &request());
    assert_eq!(done(&mut machine, ONE), [(400, Err(SaError::PortDown))]);
    machine.replay();
}

#[test]
fn a_provider_asks_from_its_own_endpoints_and_for_subnet_administration_alone() {
    let mut machine = Machine::started();
    machine.sa.clear();
    ask(&mut machine, TWO, 1, &request());
    assert_eq!(done(&mut machine, TWO), [(1, Err(SaError::PortDown))]);
    let mut other = request();
    other.header.mgmt_class = ib_mad::MgmtClass::PERF;
    ask(&mut machine, ONE, 1, &other);
    let mut answer = request();
    answer.header.method = Method::GET_RESP;
    ask(&mut machine, ONE, 2, &answer);
    let said = ProviderMessage::SaRequest { id: sa_id(3), endpoint: OF_ONE, mad: vec![1; 40] };
    machine.say(ONE, said);
    let refused = [1, 2, 3].map(|number| (number, Err(SaError::NotSent)));
    assert_eq!(done(&mut machine, ONE), refused);
    assert_eq!((machine.sa.len(), machine.stat("provider_sa_refused")), (0, 3));
}

/// A client's QUERY_SA is a question to subnet administration, whoever serves the endpoint.
#[test]
fn a_query_of_a_client_passes_the_provider_by() {
    let mut machine = Machine::started();
    machine.sa.clear();
    machine.fake(ONE).functions();
    let slid = machine.acm.ports().nth(1).unwrap().1.lid;
    let path = PathRecord { slid, dlid: Lid::new(9), ..PathRecord::default() };
    let client = machine.ask(1, &path_request(&path, EntryFlags::QUERY_SA, [1; 8]));
    let sent: Vec<_> = machine.sa.iter().map(|send| (send.port, send.mad.header.attribute_id)).collect();
    assert_eq!(sent, [(PortId(1), AttributeId::PATH_RECORD)]);
    assert!(machine.fake(ONE).functions().is_empty());
    let send = machine.sa.pop().unwrap();
    let mut answer = send.mad;
    answer.header.method = Method::GET_RESP;
    machine.tell(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&answer) });
    assert_eq!(machine.status(client), Some(0));
    machine.replay();
}
