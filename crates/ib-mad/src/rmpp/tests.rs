//! Tests of both sides together, with datagrams lost, repeated and reordered.
extern crate std;
mod omni_path;
mod steps;

use super::*;
use crate::{
    AttributeId, Method, TransactionId, as_bytes,
    mad::{MAD_SIZE, OPA_BASE_VERSION, OPA_MAD_SIZE},
    sa::SaMad,
};
use core::time::Duration;
use proptest::prelude::*;
use std::{collections::VecDeque, vec, vec::Vec};

fn message(data: &[u8]) -> Vec<u8> {
    let headers =
        SaMad::request(Method::GET_TABLE_RESP, AttributeId::PATH_RECORD, TransactionId::new(0x1234_5678_9abc));
    [&as_bytes(&headers)[..56], data].concat()
}

const SECOND: Duration = Duration::from_secs(1);

/// Runs a transfer with datagrams of `SIZE` bytes. `fates` returns the fate of each datagram: 0 lost, 1 repeated, 2 reordered, any other delivered.
fn transfer<const SIZE: usize>(data: &[u8], window: u8, fates: &mut dyn FnMut() -> u8) -> (Sent, Option<Vec<u8>>) {
    let mut message = message(data);
    message[0] = if SIZE == OPA_MAD_SIZE { OPA_BASE_VERSION } else { 1 };
    let mut buffer = vec![0; message.len() + SIZE];
    let mut receiver =
        Reassembler::new(&mut buffer, ReassemblerLimits { window, segment_timeout: Duration::from_secs(1000) });
    let limits = SegmenterLimits { retries: 200, ..Default::default() };
    let mut sender = Segmenter::<_, SIZE>::with_size(&message, limits).unwrap();
    let mut now = Duration::ZERO;
    let mut status = Sent::More;
    for _ in 0..2000 {
        let mut line = VecDeque::new();
        while let Some(segment) = sender.poll_send(now) {
            match fates() {
                0 => {}
                1 => line.extend([segment, segment]),
                2 => line.push_front(segment),
                _ => line.push_back(segment),
            }
        }
        for segment in line {
            let reply = match receiver.handle(now, &segment).unwrap() {
                Received::More(reply) | Received::Done(reply) => reply,
                other @ Received::Failed(..) => panic!("{other:?}"),
            };
            if let Some(reply) = reply.filter(|_| fates() != 0) {
                status = sender.handle(now, &reply).unwrap();
            }
        }
        if status != Sent::More {
            break;
        }
        now += 3 * SECOND;
        status = sender.handle_timeout(now);
    }
    (status, receiver.message().map(<[u8]>::to_vec))
}

proptest! {
    #[test]
    fn message_arrives_despite_loss_repetition_and_reordering(
        data in proptest::collection::vec(any::<u8>(), 0..30_000),
        is_omni_path in any::<bool>(),
        window in 0_u8..=70,
        fates in proptest::collection::vec(0_u8..8, 1..50),
    ) {
        let mut fates = fates.into_iter().chain(core::iter::repeat(9));
        let mut fates = || fates.next().unwrap();
        let (sent, received) = match is_omni_path {
            true => transfer::<OPA_MAD_SIZE>(&data, window, &mut fates),
            false => transfer::<MAD_SIZE>(&data, window, &mut fates),
        };
        prop_assert_eq!(sent, Sent::Done);
        let received = received.unwrap();
        prop_assert_eq!(&received[56..], &data[..]);
    }

    #[test]
    fn any_datagrams_are_handled_without_panic(
        mads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
        is_omni_path in any::<bool>(),
    ) {
        let mut buffer = [0; 600];
        let base_version = if is_omni_path { OPA_BASE_VERSION } else { 1 };
        let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
        let message = message(&[1; 900]);
        let mut sender = Segmenter::new(&message, SegmenterLimits::default()).unwrap();
        for mut mad in mads {
            // Sets class, version and type, because other datagrams are rejected at once.
            for (at, value) in [(0, base_version), (1, 3), (24, 1)] {
                if let Some(byte) = mad.get_mut(at) {
                    *byte = value;
                }
            }
            if let Some(byte) = mad.get_mut(25) {
                *byte %= 6;
            }
            let _ = receiver.handle(Duration::ZERO, &mad);
            let _ = sender.handle(Duration::ZERO, &mad);
            let _ = sender.poll_send(Duration::ZERO);
        }
    }
}

fn segment(number: u32, flags: u8, length: u32) -> [u8; 256] {
    let mut mad = [0; 256];
    mad[..56].copy_from_slice(&message(&[])[..56]);
    mad[24..28].copy_from_slice(&[1, 1, flags, 0]);
    mad[28..32].copy_from_slice(&number.to_be_bytes());
    mad[32..36].copy_from_slice(&length.to_be_bytes());
    mad
}

#[test]
fn message_longer_than_the_buffer_is_stopped() {
    let mut buffer = [0; 300];
    let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
    assert!(matches!(receiver.handle(SECOND, &segment(1, 3, 440)), Ok(Received::More(Some(_)))));
    let Ok(Received::Failed(RmppStatus::NO_RESOURCES, Some(stop))) = receiver.handle(SECOND, &segment(2, 1, 0)) else {
        panic!("the second segment does not fit");
    };
    assert_eq!(stop[24..28], [1, 3, 1, 1]);
    assert_eq!(stop[3], Method::GET_TABLE.get(), "the response has the other direction");
    assert_eq!(receiver.message(), None);
}

#[test]
fn inconsistent_segments_abort_the_transfer() {
    for (segment, status) in [
        (segment(2, 3, 0), RmppStatus::BAD_SEGMENT),
        (segment(1, 1, 0), RmppStatus::BAD_SEGMENT),
        (segment(0, 1, 0), RmppStatus::BAD_SEGMENT),
        (segment(1, 7, 19), RmppStatus::BAD_LENGTH),
        (segment(1, 7, 221), RmppStatus::BAD_LENGTH),
    ] {
        let mut buffer = [0; 1000];
        let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
        match receiver.handle(SECOND, &segment) {
            Ok(Received::Failed(seen, Some(abort))) => {
                assert_eq!((seen, abort[25], abort[27]), (status, RmppType::ABORT.get(), status.get()));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn late_segment_ends_the_transfer() {
    let mut buffer = [0; 1000];
    let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
    assert_eq!(receiver.poll_timeout(), None);
    receiver.handle(SECOND, &segment(1, 3, 0)).unwrap();
    assert_eq!(receiver.poll_timeout(), Some(41 * SECOND));
    assert_eq!(receiver.handle_timeout(40 * SECOND), Received::More(None));
    assert!(matches!(receiver.handle_timeout(41 * SECOND), Received::Failed(RmppStatus::TOO_LONG, Some(_))));
    assert_eq!(receiver.poll_timeout(), None);
}

#[test]
fn sender_ends_the_transfer_after_its_retries() {
    let message = message(&[1; 500]);
    let mut sender = Segmenter::new(&message, SegmenterLimits { ack_timeout: SECOND, retries: 2 }).unwrap();
    let mut now = Duration::ZERO;
    for _ in 0..2 {
        assert!(sender.poll_send(now).is_some());
        now += SECOND;
        assert_eq!(sender.handle_timeout(now), Sent::More);
    }
    assert!(sender.poll_send(now).is_some());
    let Sent::Failed(RmppStatus::TOO_MANY_RETRIES, Some(abort)) = sender.handle_timeout(now + SECOND) else {
        panic!("no retries are left");
    };
    assert_eq!((abort[3], abort[25], abort[27]), (Method::GET_TABLE_RESP.get(), 4, 126));
    assert_eq!(sender.poll_send(now), None);
}

#[test]
fn inconsistent_acknowledgements_abort_the_transfer() {
    let long = message(&[1; 5000]);
    for (number, window, status) in [(2, 64, RmppStatus::SEGMENT_TOO_BIG), (1, 0, RmppStatus::WINDOW_TOO_SMALL)] {
        let mut sender = Segmenter::new(&long, SegmenterLimits::default()).unwrap();
        sender.poll_send(SECOND).unwrap();
        let mut ack = segment(number, 1, window);
        ack[25] = 2;
        assert!(matches!(sender.handle(SECOND, &ack), Ok(Sent::Failed(seen, Some(_))) if seen == status), "{number}");
    }
}
