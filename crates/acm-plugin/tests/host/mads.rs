//! Requests of a provider to the subnet administrator, and their responses.
use crate::common::{ENDPOINT, Host, PROVIDER, resolve, response};
use acm_sansio::api::{ExternalRequestId, ExternalSaId, ProviderCall, ProviderMessage, SaError};
use ib_mad::{Wire, sa::SaMad};

const REQUEST: ExternalRequestId = ExternalRequestId::new(0, 1);

/// Makes the provider send a request. Returns its id and its bytes.
fn sa_request(host: &mut Host) -> (ExternalSaId, Vec<u8>) {
    let (messages, is_ok) = host.call(resolve("sa", REQUEST));
    assert!(is_ok);
    match &messages[..] {
        [ProviderMessage::SaRequest { id, endpoint, mad }] => {
            assert_eq!(*endpoint, ENDPOINT);
            (*id, mad.clone())
        }
        other => panic!("{other:?}"),
    }
}

fn complete(host: &Host, id: ExternalSaId, result: Result<Box<SaMad>, SaError>) {
    let call = match result {
        Ok(mad) => ProviderCall::SaResponse { id, mad },
        Err(error) => ProviderCall::SaFailed { id, error },
    };
    host.plugins.call(PROVIDER, None, call);
}

#[test]
fn result_is_passed_to_the_handler() {
    let mut host = Host::new();
    host.open();
    let (id, mad) = sa_request(&mut host);
    assert_eq!((mad[3], &mad[8..16]), (1, [0, 0, 0, 0, 0, 0, 0x12, 0x34].as_slice()));
    let response = core::array::from_fn::<u8, 256, _>(|at| u8::try_from(at).unwrap());
    complete(&host, id, Ok(Box::new(*<SaMad as Wire>::parse(&response).unwrap())));
    let ProviderMessage::ResolveResponse { request, message } = host.next() else { panic!() };
    assert_eq!((request, message[2], &message[16..80]), (REQUEST, 0, &response[..64]));
    assert!(host.take_lines().contains(&"handler: umad 0 context 1".to_owned()));
    // The datagram is freed, and its id is unknown.
    complete(&host, id, Err(SaError::TimedOut));
    let (next, _) = sa_request(&mut host);
    assert_ne!(next, id);
    complete(&host, next, Err(SaError::TimedOut));
    let ProviderMessage::ResolveResponse { message, .. } = host.next() else { panic!() };
    assert_eq!(message[2], 6, "ACM_STATUS_ETIMEDOUT");
    assert!(host.take_lines().contains(&"handler: umad 110 context 1".to_owned()));
}

#[test]
fn freed_datagrams_are_refused_and_get_no_result() {
    let mut host = Host::new();
    host.open();
    host.take_lines();
    let (messages, is_ok) = host.call(resolve("mads", REQUEST));
    assert!(is_ok);
    assert_eq!(host.take_lines(), ["resolve: freed: -1, none: -1, of none: 1", "resolve: once: 0, twice: -1"]);
    let [ProviderMessage::SaRequest { id, .. }, last] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!(*last, response("mads", REQUEST));
    // The datagram was freed after it was sent: its handler is not called.
    complete(&host, *id, Err(SaError::TimedOut));
    let (next, _) = sa_request(&mut host);
    complete(&host, next, Err(SaError::PortDown));
    assert!(matches!(host.next(), ProviderMessage::ResolveResponse { .. }), "only this handler is called");
    assert_eq!(host.take_lines(), ["handler: umad 100 context 1"]);
}
