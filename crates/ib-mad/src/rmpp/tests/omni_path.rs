//! Tests of the larger datagrams of Omni-Path.
use super::*;
use crate::DecodeError;

const NOW: Duration = Duration::ZERO;
/// Bytes of data in a segment of subnet administration.
const ROOM: usize = 1992;

/// A table of records of 64 bytes. Each has its number in all bytes.
fn table(records: u8) -> Vec<u8> {
    let mut table = message(&(1..=records).flat_map(|number| [number; 64]).collect::<Vec<_>>());
    (table[0], table[2]) = (OPA_BASE_VERSION, 0x80);
    table
}

/// Sends a message to a receiver, and returns the datagrams.
fn sent(message: &[u8], receiver: &mut Reassembler<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut sender = OpaSegmenter::omni_path(message, SegmenterLimits::default()).unwrap();
    let mut segments = vec![];
    while let Some(segment) = sender.poll_send(NOW) {
        if let Received::More(Some(ack)) | Received::Done(Some(ack)) = receiver.handle(NOW, &segment).unwrap() {
            assert_eq!((ack.len(), ack[0], ack[25]), (256, OPA_BASE_VERSION, RmppType::ACK.get()));
            sender.handle(NOW, &ack).unwrap();
        }
        segments.push(segment.to_vec());
    }
    segments
}

fn receiver() -> Reassembler<Vec<u8>> {
    Reassembler::new(vec![0; 65_536], ReassemblerLimits::default())
}

#[test]
fn each_record_of_a_table_arrives() {
    // 31 records fit in one segment.
    for records in [0, 1, 31, 32, 62, 63, 200] {
        let mut receiver = receiver();
        let table = table(records);
        let segments = sent(&table, &mut receiver);
        assert_eq!(segments.len(), (table.len() - 56).div_ceil(ROOM).max(1), "{records} records");
        assert!(segments.iter().all(|segment| segment.len() == 2048));
        assert_eq!(receiver.message().map(|message| &message[56..]), Some(&table[56..]), "{records} records");
        // The first segment has the payload of all, the last its own.
        let payload = |segment: &[u8]| u32::from_be_bytes(segment[32..36].try_into().unwrap());
        let whole = u32::try_from(table.len() - 56 + 20 * segments.len()).unwrap();
        assert_eq!(payload(&segments[0]), whole, "{records} records");
    }
}

#[test]
fn last_segment_ends_with_its_data() {
    let mut segments = sent(&table(40), &mut receiver());
    let last = 56 + 40 * 64 - ROOM;
    segments[1].truncate(last);
    let mut own = receiver();
    assert!(matches!(own.handle(NOW, &segments[0]), Ok(Received::More(Some(_)))));
    assert!(matches!(own.handle(NOW, &segments[1]), Ok(Received::Done(Some(_)))));
    assert_eq!(own.message().map(|message| &message[56..]), Some(&table(40)[56..]));
    // A byte less than its payload length, and a segment before the last that is not whole.
    let mut own = receiver();
    own.handle(NOW, &segments[0]).unwrap();
    let seen = own.handle(NOW, &segments[1][..last - 1]);
    assert!(matches!(seen, Ok(Received::Failed(RmppStatus::BAD_LENGTH, Some(_)))), "{seen:?}");
    let short = receiver().handle(NOW, &segments[0][..2047]);
    assert_eq!(short, Err(DecodeError::TooShort { what: "RMPP segment", need: 2048, got: 2047 }));
}

#[test]
fn datagram_without_rmpp_has_the_length_that_was_received() {
    let whole = [table(31), vec![0; 8]].concat();
    for length in [100, 256, 2048] {
        let mut own = receiver();
        assert_eq!(own.handle(NOW, &whole[..length]), Ok(Received::Done(None)));
        assert_eq!(own.message(), Some(&whole[..length]));
    }
}

#[test]
fn segment_of_another_size_does_not_belong_to_the_transfer() {
    let segments = sent(&table(40), &mut receiver());
    let mut own = receiver();
    own.handle(NOW, &segments[0]).unwrap();
    let mut other = segments[1].clone();
    other[0] = 1;
    let refused = Err(DecodeError::BadValue { what: "segment size", value: 200 });
    assert_eq!(own.handle(NOW, &other), refused);
    assert!(matches!(own.handle(NOW, &segments[1]), Ok(Received::Done(Some(_)))));
}

#[test]
fn message_and_sender_have_one_base_version() {
    let (limits, opa) = (SegmenterLimits::default(), table(1));
    let refused = |value| Err(DecodeError::BadValue { what: "base_version", value });
    assert_eq!(Segmenter::new(&opa, limits).map(drop), refused(0x80));
    assert_eq!(OpaSegmenter::omni_path(message(&[]), limits).map(drop), refused(1));
}

#[test]
fn abort_of_a_server_has_the_size_of_its_segments() {
    let mut transfers = OpaTransfers::<u8, _, 2>::omni_path(SegmenterLimits { retries: 0, ack_timeout: SECOND });
    transfers.start(7, table(40)).unwrap();
    let (_, first) = transfers.poll_send(NOW).unwrap();
    assert_eq!((first.len(), transfers.handle_timeout(SECOND)), (2048, 1));
    let (to, abort) = transfers.poll_send(SECOND).unwrap();
    assert_eq!((to, abort.len(), abort[25], abort[27]), (7, 2048, 4, RmppStatus::TOO_MANY_RETRIES.get()));
}
