//! Tests of one side, datagram by datagram.
use super::*;
use crate::{DecodeError, MgmtClass};

/// Returns the content of an acknowledgement: the last segment received, and the last of the window.
fn acknowledged(mad: &[u8; 256]) -> (u32, u32) {
    assert_eq!((mad[3], mad[24..28].to_vec()), (Method::GET_TABLE.get(), vec![1, RmppType::ACK.get(), 1, 0]));
    let word = |at: usize| u32::from_be_bytes(mad[at..at + 4].try_into().unwrap());
    (word(28), word(32))
}

/// Returns the acknowledgement of a segment that does not complete the message.
fn more(receiver: &mut Reassembler<Vec<u8>>, segment: &[u8; 256]) -> Option<(u32, u32)> {
    match receiver.handle(SECOND, segment).unwrap() {
        Received::More(reply) => reply.as_ref().map(acknowledged),
        other => panic!("{other:?}"),
    }
}

fn receiver(window: u8) -> Reassembler<Vec<u8>> {
    Reassembler::new(vec![0; 20_000], ReassemblerLimits { window, segment_timeout: SECOND })
}

#[test]
fn receiver_acknowledges_whole_windows_and_repeated_segments() {
    let mut own = receiver(3);
    assert_eq!(more(&mut own, &segment(1, 3, 0)), Some((1, 4)));
    assert_eq!([2, 3].map(|number| more(&mut own, &segment(number, 1, 0))), [None, None]);
    assert_eq!(more(&mut own, &segment(4, 1, 0)), Some((4, 7)));
    // A segment past the window, and repeated segments.
    assert_eq!(more(&mut own, &segment(8, 1, 0)), Some((4, 7)));
    assert_eq!(more(&mut own, &segment(3, 1, 0)), Some((4, 7)));
    assert_eq!(more(&mut own, &segment(4, 1, 0)), Some((4, 7)));
    // Segments in reverse order.
    assert_eq!([6, 5].map(|number| more(&mut own, &segment(number, 1, 0))), [None, None]);
    assert_eq!(own.message(), None);
    // A receiver ignores acknowledgements.
    let mut ack = segment(9, 1, 9);
    ack[25] = RmppType::ACK.get();
    assert_eq!(more(&mut own, &ack), None);
    let Ok(Received::Done(Some(ack))) = own.handle(SECOND, &segment(7, 5, 25)) else { panic!("segment 7 is the last") };
    assert_eq!(acknowledged(&ack), (7, 7));
    assert_eq!(own.message().map(<[u8]>::len), Some(56 + 6 * 200 + 5));
    let Ok(Received::Done(Some(ack))) = own.handle(SECOND, &segment(2, 1, 0)) else { panic!("segment 2 is repeated") };
    assert_eq!(acknowledged(&ack), (7, 7));
    assert_eq!((own.poll_timeout(), own.handle_timeout(SECOND * 9)), (None, Received::Done(None)));
    assert_eq!(own.into_buffer().len(), 20_000);
}

#[test]
fn last_segment_opens_no_further_window() {
    let mut own = receiver(1);
    let Ok(Received::Done(Some(ack))) = own.handle(SECOND, &segment(1, 7, 220)) else { panic!("the only segment") };
    assert_eq!(acknowledged(&ack), (1, 1));
    assert_eq!(own.message().map(<[u8]>::len), Some(256));
    // The window ends with segment 65, and no segment marked as last was received.
    let mut own = receiver(64);
    assert_eq!(more(&mut own, &segment(1, 3, 0)), Some((1, 65)));
    assert_eq!(more(&mut own, &segment(65, 1, 0)), None);
    assert_eq!(more(&mut own, &segment(66, 1, 0)), Some((1, 65)));
}

#[test]
fn each_segment_restarts_the_time_out() {
    let mut own = receiver(9);
    assert_eq!(own.handle_timeout(SECOND * 9), Received::More(None));
    for number in 1..4 {
        own.handle(SECOND * number, &segment(number, if number == 1 { 3 } else { 1 }, 0)).unwrap();
        assert_eq!(own.poll_timeout(), Some(SECOND * (number + 1)));
    }
    let Received::Failed(RmppStatus::TOO_LONG, Some(abort)) = own.handle_timeout(SECOND * 4) else { panic!("late") };
    assert_eq!((abort[3], &abort[24..28]), (Method::GET_TABLE.get(), &[1, 4, 1, 118][..]));
    assert_eq!(own.handle_timeout(SECOND * 4), Received::Failed(RmppStatus::TOO_LONG, None));
    assert_eq!(own.handle(SECOND, &segment(4, 1, 0)), Ok(Received::Failed(RmppStatus::TOO_LONG, None)));
}

#[test]
fn second_last_segment_or_segment_after_the_last_aborts() {
    for (number, flags) in [(4, 5), (2, 5), (3, 1), (4, 1)] {
        let mut own = receiver(9);
        own.handle(SECOND, &segment(1, 3, 0)).unwrap();
        assert_eq!(more(&mut own, &segment(3, 5, 30)), None);
        let seen = own.handle(SECOND, &segment(number, flags, 30));
        assert!(matches!(seen, Ok(Received::Failed(RmppStatus::BAD_LENGTH, Some(_)))), "{number}: {seen:?}");
    }
    let mut own = receiver(9);
    own.handle(SECOND, &segment(1, 3, 0)).unwrap();
    assert_eq!([3, 3].map(|number| more(&mut own, &segment(number, 5, 30))), [None, None]);
    assert!(matches!(own.handle(SECOND, &segment(2, 1, 0)), Ok(Received::Done(Some(_)))));
}

#[test]
fn datagram_without_rmpp_is_a_whole_message() {
    let alone = segment(1, 2, 0);
    let mut own = receiver(9);
    assert_eq!(own.handle(SECOND, &alone), Ok(Received::Done(None)));
    assert_eq!(own.message(), Some(&alone[..]));
    // It is ignored during a transfer and after a complete message.
    assert_eq!(own.handle(SECOND, &alone), Ok(Received::More(None)));
    let mut own = receiver(9);
    own.handle(SECOND, &segment(1, 3, 0)).unwrap();
    assert_eq!((own.handle(SECOND, &alone), own.message()), (Ok(Received::More(None)), None));
    for room in [55, 255] {
        let mut own = Reassembler::new(vec![0; room], ReassemblerLimits::default());
        assert_eq!(own.handle(SECOND, &alone), Ok(Received::Failed(RmppStatus::NO_RESOURCES, None)));
        assert_eq!(own.message(), None);
    }
}

/// Returns a segment with one byte changed.
fn with(mut mad: [u8; 256], at: usize, byte: u8) -> [u8; 256] {
    mad[at] = byte;
    mad
}

#[test]
fn receiver_ends_on_stop_abort_or_invalid_header() {
    for (kind, status) in [(RmppType::STOP, RmppStatus::NO_RESOURCES), (RmppType::ABORT, RmppStatus::UNSPECIFIED)] {
        let mut own = receiver(9);
        own.handle(SECOND, &segment(1, 3, 0)).unwrap();
        let end = with(with(segment(0, 1, 0), 25, kind.get()), 27, status.get());
        assert_eq!(own.handle(SECOND, &end), Ok(Received::Failed(status, None)));
        assert_eq!(own.handle(SECOND, &segment(2, 1, 0)), Ok(Received::Failed(status, None)));
    }
    for (at, byte, status) in
        [(24, 2, RmppStatus::BAD_VERSION), (25, 5, RmppStatus::BAD_TYPE), (25, 0, RmppStatus::BAD_TYPE)]
    {
        let seen = receiver(9).handle(SECOND, &with(segment(1, 3, 0), at, byte));
        assert!(matches!(seen, Ok(Received::Failed(own, Some(mad))) if own == status && mad[27] == status.get()));
    }
    let short = receiver(9).handle(SECOND, &segment(1, 3, 0)[..255]);
    assert_eq!(short, Err(DecodeError::TooShort { what: "RMPP segment", need: 256, got: 255 }));
    let other = with(segment(1, 3, 0), 1, MgmtClass::PERF.get());
    assert_eq!(receiver(9).handle(SECOND, &other), Err(DecodeError::BadValue { what: "mgmt_class", value: 4 }));
}

fn ack(segment: u32, window_last: u32) -> [u8; 256] {
    with(self::segment(segment, 1, window_last), 25, RmppType::ACK.get())
}

/// Returns the numbers of the segments that may be sent now.
fn sent(sender: &mut Segmenter<Vec<u8>>, now: Duration) -> Vec<u32> {
    let segments = core::iter::from_fn(|| sender.poll_send(now));
    segments.map(|mad| u32::from_be_bytes(mad[28..32].try_into().unwrap())).collect()
}

fn sender(data: usize, retries: u8) -> Segmenter<Vec<u8>> {
    Segmenter::new(message(&vec![7; data]), SegmenterLimits { ack_timeout: SECOND, retries }).unwrap()
}

#[test]
fn sender_keeps_to_the_window() {
    let mut own = sender(2000, 1);
    assert_eq!((own.segments(), own.poll_timeout()), (10, None));
    assert_eq!(sent(&mut own, SECOND), [1]);
    assert_eq!(own.poll_timeout(), Some(SECOND * 2));
    assert_eq!(own.handle(SECOND * 3, &ack(1, 4)), Ok(Sent::More));
    assert_eq!(own.poll_timeout(), Some(SECOND * 4));
    assert_eq!(sent(&mut own, SECOND * 3), [2, 3, 4]);
    // A repeated acknowledgement may extend the window; an old or unchanged acknowledgement changes nothing.
    assert_eq!(own.handle(SECOND * 4, &ack(3, 4)), Ok(Sent::More));
    assert_eq!(sent(&mut own, SECOND * 4), [0_u32; 0]);
    assert_eq!(own.handle(SECOND * 4, &ack(3, 6)), Ok(Sent::More));
    assert_eq!(sent(&mut own, SECOND * 5), [5, 6]);
    for (number, last) in [(2, 64), (3, 6), (3, 5)] {
        assert_eq!(own.handle(SECOND * 9, &ack(number, last)), Ok(Sent::More));
        assert_eq!((sent(&mut own, SECOND * 9), own.poll_timeout()), (vec![], Some(SECOND * 6)), "{number} {last}");
    }
    // A smaller window does not shrink the open one.
    assert_eq!(own.handle(SECOND * 6, &ack(4, 5)), Ok(Sent::More));
    assert_eq!(own.handle(SECOND * 6, &ack(6, 64)), Ok(Sent::More));
    assert_eq!(sent(&mut own, SECOND * 6), [7, 8, 9, 10]);
    assert_eq!(own.handle(SECOND * 6, &ack(10, 64)), Ok(Sent::Done));
    assert_eq!((own.poll_timeout(), own.handle_timeout(SECOND * 99)), (None, Sent::Done));
    assert_eq!(own.handle(SECOND * 6, &ack(1, 0)), Ok(Sent::Done));
    assert_eq!((own.message().len(), own.into_message().len()), (2056, 2056));
}

#[test]
fn segments_sent_before_a_time_out_may_be_acknowledged_after_it() {
    let mut own = sender(2000, 1);
    sent(&mut own, SECOND);
    own.handle(SECOND, &ack(1, 5)).unwrap();
    assert_eq!(sent(&mut own, SECOND), [2, 3, 4, 5]);
    assert_eq!(own.handle_timeout(SECOND * 2 - Duration::from_nanos(1)), Sent::More);
    assert_eq!(sent(&mut own, SECOND), [0_u32; 0]);
    assert_eq!(own.handle_timeout(SECOND * 2), Sent::More);
    assert_eq!(own.handle(SECOND * 2, &ack(3, 5)), Ok(Sent::More));
    assert_eq!(sent(&mut own, SECOND * 2), [4, 5]);
    // Progress restores the number of retries.
    assert_eq!(own.handle_timeout(SECOND * 3), Sent::More);
    assert!(matches!(own.handle_timeout(SECOND * 4), Sent::Failed(RmppStatus::TOO_MANY_RETRIES, Some(_))));
}

#[test]
fn window_that_stays_closed_ends_the_transfer() {
    let mut own = sender(2000, 2);
    sent(&mut own, SECOND);
    own.handle(SECOND, &ack(1, 1)).unwrap();
    for second in 2..4 {
        assert_eq!(sent(&mut own, SECOND * second), [0_u32; 0]);
        assert_eq!(own.poll_timeout(), Some(SECOND * second));
        assert_eq!(own.handle_timeout(SECOND * second), Sent::More);
    }
    assert!(matches!(own.handle_timeout(SECOND * 4), Sent::Failed(RmppStatus::TOO_MANY_RETRIES, Some(_))));
}

#[test]
fn sender_ends_on_stop_abort_or_invalid_acknowledgement() {
    let end = |kind: RmppType, status: RmppStatus| with(with(segment(0, 1, 0), 25, kind.get()), 27, status.get());
    for (mad, status, is_sent) in [
        (end(RmppType::STOP, RmppStatus::NO_RESOURCES), RmppStatus::NO_RESOURCES, false),
        (end(RmppType::STOP, RmppStatus::TOO_LONG), RmppStatus::BAD_STATUS, true),
        (end(RmppType::ABORT, RmppStatus::TOO_LONG), RmppStatus::TOO_LONG, false),
        (end(RmppType::ACK, RmppStatus::TOO_LONG), RmppStatus::BAD_STATUS, true),
        (end(RmppType::NONE, RmppStatus::OK), RmppStatus::BAD_TYPE, true),
        (with(ack(1, 4), 24, 2), RmppStatus::BAD_VERSION, true),
        (ack(2, 4), RmppStatus::SEGMENT_TOO_BIG, true),
        (ack(1, 0), RmppStatus::WINDOW_TOO_SMALL, true),
    ] {
        let mut own = sender(2000, 1);
        sent(&mut own, SECOND);
        let Ok(Sent::Failed(seen, abort)) = own.handle(SECOND, &mad) else { panic!("{status} ends the transfer") };
        assert_eq!((seen, abort.is_some()), (status, is_sent));
        // The abort has the direction of the message.
        assert!(abort.is_none_or(|mad| (mad[3], mad[25], mad[27]) == (Method::GET_TABLE_RESP.get(), 4, status.get())));
        assert_eq!(own.handle(SECOND, &ack(1, 4)), Ok(Sent::Failed(status, None)));
        assert_eq!((sent(&mut own, SECOND), own.poll_timeout()), (vec![], None));
    }
    // An acknowledgement past the last segment is an error; segments and datagrams without RMPP are ignored.
    let mut own = sender(300, 1);
    sent(&mut own, SECOND);
    own.handle(SECOND, &ack(1, 64)).unwrap();
    sent(&mut own, SECOND);
    assert!(matches!(own.handle(SECOND, &ack(3, 64)), Ok(Sent::Failed(RmppStatus::SEGMENT_TOO_BIG, Some(_)))));
    let mut own = sender(2000, 1);
    sent(&mut own, SECOND);
    for mad in [segment(1, 3, 0), segment(1, 2, 0)] {
        assert_eq!(own.handle(SECOND, &mad), Ok(Sent::More), "a sender ignores both");
    }
    assert_eq!(own.handle(SECOND, &ack(1, 2)), Ok(Sent::More));
}

#[test]
fn payload_lengths_include_class_headers() {
    // Data of 0 bytes, 1 byte, a whole segment, and one byte more.
    for (data, expected) in
        [(0, vec![20]), (1, vec![21]), (200, vec![220]), (201, vec![241, 21]), (600, vec![660, 0, 220])]
    {
        let mut own = sender(data, 1);
        let mut lengths = vec![];
        while let Some(mad) = own.poll_send(SECOND) {
            lengths.push(u32::from_be_bytes(mad[32..36].try_into().unwrap()));
            let number = u32::from_be_bytes(mad[28..32].try_into().unwrap());
            let (first, last) = (number == 1, number == own.segments());
            assert_eq!(mad[26], 1 | u8::from(first) << 1 | u8::from(last) << 2);
            own.handle(SECOND, &ack(number, 64)).unwrap();
        }
        assert_eq!(lengths, expected, "{data} bytes");
    }
    let short = Segmenter::new(message(&[])[..55].to_vec(), SegmenterLimits::default());
    assert!(matches!(short, Err(DecodeError::TooShort { need: 56, got: 55, .. })));
    let other = with(segment(1, 3, 0), 1, MgmtClass::PERF.get());
    assert!(matches!(Segmenter::new(other, SegmenterLimits::default()), Err(DecodeError::BadValue { value: 4, .. })));
}
