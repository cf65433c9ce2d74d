//! Requests of a provider to subnet administration, and what becomes of their answers.
use crate::common::{ENDPOINT, Host, PROVIDER, answered, resolve};
use acm_sansio::{
    api::{ExternalRequestId, ExternalSaId, ProviderCall, ProviderMessage},
    sa::SaError,
};
use ib_mad::{Wire, sa::SaMad};

const REQUEST: ExternalRequestId = ExternalRequestId::new(0, 1);

/// Has the provider ask; what it asked.
fn ask(host: &mut Host) -> (ExternalSaId, Vec<u8>) {
    let (said, is_ok) = host.call(resolve("sa", REQUEST));
    assert!(is_ok);
    match &said[..] {
        [ProviderMessage::SaRequest { id, endpoint, mad }] => {
            assert_eq!(*endpoint, ENDPOINT);
            (*id, mad.clone())
        }
        other => panic!("{other:?}"),
    }
}

fn done(host: &Host, id: ExternalSaId, answer: Result<Box<SaMad>, SaError>) {
    let call = match answer {
        Ok(mad) => ProviderCall::SaResponse { id, mad },
        Err(error) => ProviderCall::SaFailed { id, error },
    };
    host.plugins.call(PROVIDER, None, call);
}

#[test]
fn an_answer_comes_to_its_handler() {
    let mut host = Host::new();
    host.open();
    let (id, mad) = ask(&mut host);
    assert_eq!((mad[3], &mad[8..16]), (1, [0, 0, 0, 0, 0, 0, 0x12, 0x34].as_slice()));
    let answer = core::array::from_fn::<u8, 256, _>(|at| u8::try_from(at).unwrap());
    done(&host, id, Ok(Box::new(*SaMad::parse(&answer).unwrap())));
    let ProviderMessage::ResolveResponse { request, message } = host.next() else { panic!() };
    assert_eq!((request, message[2], &message[16..80]), (REQUEST, 0, &answer[..64]));
    assert!(host.take_lines().contains(&"handler: umad 0 context 1".to_owned()));
    // It is freed, and its number means nothing any more.
    done(&host, id, Err(SaError::TimedOut));
    let (next, _) = ask(&mut host);
    assert_ne!(next, id);
    done(&host, next, Err(SaError::TimedOut));
    let ProviderMessage::ResolveResponse { message, .. } = host.next() else { panic!() };
    assert_eq!(message[2], 6, "ACM_STATUS_ETIMEDOUT");
    assert!(host.take_lines().contains(&"handler: umad 110 context 1".to_owned()));
}

#[test]
fn datagrams_that_are_gone_are_none() {
    let mut host = Host::new();
    host.open();
    host.take_lines();
    let (said, is_ok) = host.call(resolve("mads", REQUEST));
    assert!(is_ok);
    assert_eq!(host.take_lines(), ["resolve: freed: -1, none: -1, of none: 1", "resolve: once: 0, twice: -1"]);
    let [ProviderMessage::SaRequest { id, .. }, last] = &said[..] else { panic!("{said:?}") };
    assert_eq!(*last, answered("mads", REQUEST));
    // Freed while it was on its way: nobody hears of the answer.
    done(&host, *id, Err(SaError::TimedOut));
    let (next, _) = ask(&mut host);
    done(&host, next, Err(SaError::PortDown));
    assert!(matches!(host.next(), ProviderMessage::ResolveResponse { .. }), "the one handler that is called");
    assert_eq!(host.take_lines(), ["handler: umad 100 context 1"]);
}
