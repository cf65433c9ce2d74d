//! A server and two receivers, datagram by datagram.
extern crate std;
use super::*;
use crate::{
    AttributeId, Lid, Method, as_bytes,
    rmpp::{Reassembler, ReassemblerLimits, Received, RmppStatus},
    sa::SaMad,
};
use std::{vec, vec::Vec};

const NOW: Duration = Duration::ZERO;
const A: Lid = Lid::new(1);
const B: Lid = Lid::new(2);

fn headers(method: Method, tid: u64) -> SaMad {
    SaMad::request(method, AttributeId::PATH_RECORD, TransactionId::new(tid))
}

/// A message of three segments.
fn message(tid: u64) -> Vec<u8> {
    [&as_bytes(&headers(Method::GET_TABLE_RESP, tid))[..56], &[7; 500]].concat()
}

type Table<const N: usize> = Transfers<Lid, Vec<u8>, N>;

fn transfers<const N: usize>() -> Table<N> {
    Transfers::new(SegmenterLimits::default())
}

fn receiver() -> Reassembler<Vec<u8>> {
    Reassembler::new(vec![0; 1000], ReassemblerLimits::default())
}

/// Receives a segment, and returns the acknowledgement.
fn acknowledgement(receiver: &mut Reassembler<Vec<u8>>, segment: &[u8]) -> Option<[u8; 256]> {
    match receiver.handle(NOW, segment).unwrap() {
        Received::More(ack) | Received::Done(ack) => ack,
        Received::Failed(status, _) => panic!("{status}"),
    }
}

#[test]
fn equal_transaction_ids_of_two_sources_are_two_transfers() {
    let mut transfers = transfers::<4>();
    let mut receivers = [(A, receiver()), (B, receiver())];
    for source in [A, B] {
        transfers.start(source, message(9)).unwrap();
    }
    assert_eq!(transfers.start(A, message(9)), Err(StartError::Open));
    let mut ended = vec![];
    while let Some((to, segment)) = transfers.poll_send(NOW) {
        let (_, receiver) = receivers.iter_mut().find(|(lid, _)| *lid == to).unwrap();
        if let Some(ack) = acknowledgement(receiver, &segment) {
            ended.push((to, transfers.handle(NOW, &to, &ack).unwrap()));
        }
    }
    let done: Vec<Lid> = ended.iter().filter(|(_, handled)| *handled == Handled::Done).map(|(to, _)| *to).collect();
    assert_eq!(done, [A, B]);
    assert!(receivers.iter().all(|(_, receiver)| receiver.message().is_some_and(|bytes| bytes.len() == 556)));
    assert!(transfers.is_empty());
}

#[test]
fn transfers_take_turns() {
    let mut transfers = transfers::<3>();
    let mut receiver_of_a = receiver();
    transfers.start(A, message(1)).unwrap();
    let (_, first) = transfers.poll_send(NOW).unwrap();
    let ack = acknowledgement(&mut receiver_of_a, &first).unwrap();
    assert_eq!(transfers.handle(NOW, &A, &ack), Ok(Handled::Continued));
    transfers.start(B, message(1)).unwrap();
    // A has two segments to send, B its first.
    let order: Vec<Lid> = core::iter::from_fn(|| transfers.poll_send(NOW)).map(|(to, _)| to).collect();
    assert_eq!(order, [B, A, A]);
}

#[test]
fn repeated_request_and_repeated_last_acknowledgement_start_nothing() {
    let mut transfers = transfers::<1>();
    let request = headers(Method::GET_TABLE, 5);
    assert_eq!(transfers.handle(NOW, &A, as_bytes(&request)), Ok(Handled::Request));
    transfers.start(A, message(5)).unwrap();
    assert_eq!(transfers.handle(NOW, &A, as_bytes(&request)), Ok(Handled::Repeated));
    assert_eq!(transfers.handle(NOW, &B, as_bytes(&request)), Ok(Handled::Request), "another source");
    let mut receiver = receiver();
    let mut last = None;
    while let Some((_, segment)) = transfers.poll_send(NOW) {
        last = acknowledgement(&mut receiver, &segment);
        last.map(|ack| transfers.handle(NOW, &A, &ack));
    }
    assert!(transfers.is_empty());
    assert_eq!(transfers.handle(NOW, &A, &last.unwrap()), Ok(Handled::Late));
    assert_eq!(transfers.handle(NOW, &A, as_bytes(&request)), Ok(Handled::Request), "a new request");
    // A response to the server's own request is not a repeated request.
    transfers.start(A, message(5)).unwrap();
    let response = headers(Method::GET_RESP, 5);
    assert_eq!(transfers.handle(NOW, &A, as_bytes(&response)), Ok(Handled::Request));
}

#[test]
fn transfer_over_the_bound_is_refused_until_another_ends() {
    let mut transfers = transfers::<2>();
    assert_eq!([1, 2, 3].map(|tid| transfers.start(A, message(tid))), [Ok(()), Ok(()), Err(StartError::Full)]);
    let abort = abort_of(2, RmppStatus::UNSPECIFIED);
    assert_eq!(transfers.handle(NOW, &A, &abort), Ok(Handled::Failed));
    assert_eq!(transfers.handle(NOW, &A, &abort), Ok(Handled::Late), "ended once");
    assert_eq!((transfers.start(A, message(3)), transfers.len()), (Ok(()), 2));
    assert!(matches!(transfers.start(A, vec![0; 10]), Err(StartError::Message(_))));
    let mut none = Table::<0>::new(SegmenterLimits::default());
    assert_eq!((none.start(A, message(1)), none.poll_send(NOW)), (Err(StartError::Full), None));
}

/// The ABORT of a receiver.
fn abort_of(tid: u64, status: RmppStatus) -> [u8; 256] {
    let mut mad = headers(Method::GET_TABLE, tid);
    mad.rmpp = super::super::layout::stop_or_abort(status);
    as_bytes(&mad).try_into().unwrap()
}

#[test]
fn invalid_acknowledgement_is_answered_with_an_abort() {
    let mut transfers = transfers::<2>();
    transfers.start(A, message(1)).unwrap();
    let mut mad = headers(Method::GET_TABLE, 1);
    mad.rmpp = super::super::layout::ack(9, 64);
    assert_eq!(transfers.handle(NOW, &A, as_bytes(&mad)), Ok(Handled::Failed));
    let (to, abort) = transfers.poll_send(NOW).unwrap();
    assert_eq!((to, abort[25], abort[27]), (A, RmppType::ABORT.get(), RmppStatus::SEGMENT_TOO_BIG.get()));
    assert!(transfers.is_empty() && transfers.poll_send(NOW).is_none());
}

#[test]
fn silent_receiver_ends_its_transfer_after_the_retries() {
    let mut transfers = transfers::<2>();
    assert_eq!(transfers.poll_timeout(), None);
    transfers.start(A, message(1)).unwrap();
    transfers.start(B, message(1)).unwrap();
    let mut sent = vec![];
    let mut ended = 0;
    for _ in 0..9 {
        let now = transfers.poll_timeout().unwrap_or(NOW);
        ended += transfers.handle_timeout(now);
        sent.extend(core::iter::from_fn(|| transfers.poll_send(now)).map(|(to, mad)| (now.as_secs(), to, mad[25])));
    }
    // The first segment, three retries, the ABORT.
    let (data, abort) = (RmppType::DATA.get(), RmppType::ABORT.get());
    let of_a = [(0, A, data), (2, A, data), (4, A, data), (6, A, data), (8, A, abort)];
    assert_eq!(sent.iter().filter(|(_, to, _)| *to == A).copied().collect::<Vec<_>>(), of_a);
    assert_eq!((ended, sent.len(), transfers.is_empty(), transfers.poll_timeout()), (2, 10, true, None));
}

#[test]
fn datagram_of_a_class_without_rmpp_is_for_the_server() {
    let mut transfers = transfers::<1>();
    let mut mad = headers(Method::GET, 1);
    mad.header.mgmt_class = crate::MgmtClass::PERF;
    assert_eq!(transfers.handle(NOW, &A, as_bytes(&mad)), Ok(Handled::Request));
    assert!(transfers.handle(NOW, &A, &as_bytes(&headers(Method::GET, 1))[..100]).is_err());
}
