//! Tests of the server's side: matching, responses and tables.
extern crate std;
use super::*;
use crate::{
    DecodeError, Lid, MadRef, Method, Mtu, PacketLifeTime, Pkey, Rate, Selected, Selector, Status, TransactionId, Wire,
    as_bytes,
    rmpp::{Reassembler, ReassemblerLimits, Received, RmppType, Segmenter, SegmenterLimits, Sent},
    wire::{Be16, Be64, Octets, find, read_bits, write_bits},
};
use bitflags::Flags;
use core::time::Duration;
use proptest::prelude::*;
use std::{collections::BTreeMap, vec, vec::Vec};

/// Checks each component alone: a record matches itself, and a changed record matches only as the comparison permits.
fn check_each_component<R: SaRecord + PartialEq>(bytes: &[u8], bit: u32) -> Result<(), TestCaseError> {
    let record = R::parse(bytes).unwrap();
    for component in R::COMPONENTS {
        let mask = R::Mask::from_bits_retain(component.mask);
        let query = Query::with_mask(*record, mask);
        let (offset, bits) = find(R::FIELDS, component.field).unwrap();
        let mut other = record.as_bytes().to_vec();
        let changed = offset + bit % bits;
        let flipped = 1 ^ read_bits(&other, changed, 1).unwrap();
        write_bits(&mut other, changed, 1, flipped).unwrap();
        let other = R::parse(&other).unwrap();
        let found = query.matches(other);
        let (name, field) = (R::NAME, component.field);
        prop_assert!(query.matches(record), "{} {}: not even itself", name, field);
        match component.compare {
            Compare::Equal | Compare::Graded(_) => prop_assert!(!found, "{} {}", name, field),
            Compare::Ignored => prop_assert!(found, "{} {}", name, field),
            Compare::Partition => prop_assert_eq!(found, changed == offset, "{}", name),
            Compare::Set => prop_assert_eq!(found, read_bits(as_bytes(record), offset, 1) == Some(0), "{}", name),
        }
        prop_assert!(
            Query::<R>::with_mask(*record, R::Mask::empty()).matches(other),
            "an empty mask matches every record"
        );
        let read = Query::from_mad(&query.request(Method::GET_TABLE, TransactionId::new(1)));
        prop_assert!(read == Ok(query));
    }
    Ok(())
}

proptest! {
    #[test]
    fn query_matches_records_that_agree(bytes in proptest::collection::vec(any::<u8>(), 256), bit in any::<u32>()) {
        check_each_component::<PathRecord>(&bytes, bit)?;
        check_each_component::<McMemberRecord>(&bytes, bit)?;
        check_each_component::<MultiPathRecord>(&bytes, bit)?;
        check_each_component::<NodeRecord>(&bytes, bit)?;
        check_each_component::<PortInfoRecord>(&bytes, bit)?;
        check_each_component::<ServiceRecord>(&bytes, bit)?;
        check_each_component::<LinkRecord>(&bytes, bit)?;
        check_each_component::<InformInfoRecord>(&bytes, bit)?;
    }

    #[test]
    fn table_of_any_length_is_segmented_and_reassembled(
        records in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 52), 0..40),
        tid in any::<u64>(),
    ) {
        let request = Query::<McMemberRecord>::new().request(Method::GET_TABLE, TransactionId::new(tid));
        let mut table = TableWriter::new(&request, vec![0xee; table_length::<McMemberRecord>(records.len())]).unwrap();
        for (index, record) in records.iter().enumerate() {
            prop_assert_eq!(table.len(), index);
            table.push(McMemberRecord::parse(record).unwrap()).unwrap();
        }
        prop_assert_eq!(table.push(&McMemberRecord::default()), Err(TableError::NoRoom));
        let table = table.finish();
        let mut sending = BTreeMap::new();
        let mut receiving = BTreeMap::new();
        sending.insert(tid, Segmenter::new(table, SegmenterLimits::default()).unwrap());
        receiving.insert(tid, Reassembler::new(vec![0; 56 + 40 * 56 + 200], ReassemblerLimits::default()));
        let (sender, receiver) = (sending.get_mut(&tid).unwrap(), receiving.get_mut(&tid).unwrap());
        let mut segment = [0xdd; 256];
        let mut done = Sent::More;
        while sender.poll_send_into(Duration::ZERO, &mut segment) {
            match receiver.handle(Duration::ZERO, &segment).unwrap() {
                Received::More(Some(ack)) | Received::Done(Some(ack)) => done = sender.handle(Duration::ZERO, &ack).unwrap(),
                Received::More(None) => {}
                other => panic!("{other:?}"),
            }
        }
        prop_assert_eq!(done, Sent::Done);
        let message = receiver.message().unwrap();
        let mad = MadRef::new(message).unwrap();
        prop_assert_eq!(mad.sa().unwrap().attribute_offset.get(), if records.is_empty() { 0 } else { 7 });
        let seen: Vec<&[u8]> = mad.records::<McMemberRecord>().unwrap().map(as_bytes).collect();
        prop_assert_eq!(seen, records.iter().map(|record| &record[..]).collect::<Vec<_>>());
        // The padding is zero; the buffer had other bytes.
        prop_assert!(message[56..].chunks(56).all(|record| record[52..] == [0; 4]));
        prop_assert_eq!(sending.remove(&tid).unwrap().into_message().into_buffer().1, 56 + 56 * records.len());
        prop_assert_eq!(&receiving.remove(&tid).unwrap().into_buffer()[56..56 + 56 * records.len()], &message_bytes(&records)[..]);
    }
}

fn message_bytes(records: &[Vec<u8>]) -> Vec<u8> {
    records.iter().flat_map(|record| record.iter().copied().chain([0; 4])).collect()
}

fn path(mtu: Mtu, rate: Rate, life: u8) -> PathRecord {
    PathRecord {
        mtu: Selected::exactly(mtu),
        rate: Selected::exactly(rate),
        packet_life_time: Selected::exactly(PacketLifeTime::masked(life)),
        ..PathRecord::default()
    }
}

#[test]
fn selectors_determine_the_comparison_of_values() {
    use Selector::{Best, Exactly, GreaterThan, LessThan};
    let own = path(Mtu::B2048, Rate::GBPS_10, 18);
    let query = Query::<PathRecord>::new;
    let life = PacketLifeTime::masked;
    for (selector, less, same, more) in [
        (GreaterThan, true, false, false),
        (LessThan, false, false, true),
        (Exactly, false, true, false),
        (Best, true, true, true),
    ] {
        let found = |query: Query<PathRecord>| query.matches(&own);
        let mtu = [Mtu::B1024, Mtu::B2048, Mtu::B4096].map(|mtu| found(query().mtu(selector, mtu)));
        assert_eq!(mtu, [less, same, more], "{selector:?}");
        // 5 Gb/s has a higher code than 10 Gb/s.
        let rate = [Rate::GBPS_5, Rate::GBPS_10, Rate::GBPS_14].map(|rate| found(query().rate(selector, rate)));
        assert_eq!(rate, [less, same, more], "{selector:?}");
        let time = [17, 18, 19].map(|code| found(query().packet_life_time(selector, life(code))));
        assert_eq!(time, [less, same, more], "{selector:?}");
    }
    // A value without its selector in the mask means exactly that value.
    let alone = query().mtu(GreaterThan, Mtu::B1024).without(PathMask::MTU_SELECTOR);
    assert!(!alone.matches(&own) && query().mtu(GreaterThan, Mtu::B2048).without(PathMask::MTU_SELECTOR).matches(&own));
    assert_eq!(alone.requested_mtu(), Some(Selected::exactly(Mtu::B1024)));
    assert_eq!(query().rate(LessThan, Rate::GBPS_5).requested_rate(), Some(Selected::new(LessThan, Rate::GBPS_5)));
    assert_eq!((query().requested_mtu(), query().requested_packet_life_time()), (None, None));
}

#[test]
fn select_returns_the_best_of_the_matching_records() {
    let paths = [
        path(Mtu::B2048, Rate::GBPS_5, 18),
        path(Mtu::B2048, Rate::GBPS_10, 19),
        path(Mtu::B1024, Rate::GBPS_100, 10),
        path(Mtu::B2048, Rate::GBPS_10, 17),
    ];
    let found = |query: Query<PathRecord>| {
        let found: Vec<usize> =
            query.select(&paths).map(|it| paths.iter().position(|own| own == it).unwrap()).collect();
        found
    };
    let query = Query::<PathRecord>::new;
    assert_eq!(found(query()), [0, 1, 2, 3]);
    assert_eq!(found(query().mtu(Selector::Best, Mtu::B256)), [0, 1, 3]);
    assert_eq!(found(query().rate(Selector::Best, Rate::GBPS_2_5)), [2]);
    assert_eq!(found(query().packet_life_time(Selector::Best, PacketLifeTime::ZERO)), [2], "the shortest");
    let both = query().mtu(Selector::Exactly, Mtu::B2048).rate(Selector::Best, Rate::GBPS_2_5);
    assert_eq!(found(both), [1, 3]);
    assert_eq!(found(both.packet_life_time(Selector::Best, PacketLifeTime::ZERO)), [3]);
    assert!(found(query().dlid(Lid::new(9))).is_empty());
}

#[test]
fn only_array_elements_in_the_mask_are_compared() {
    let array = GuidInfoRecord::COMPONENTS.iter().find(|it| it.mask.count_ones() == 8).unwrap();
    let mask = GuidInfoMask::from_bits_retain(1 << (array.mask.trailing_zeros() + 3));
    let mut record = GuidInfoRecord::default();
    let query = Query::with_mask(record, mask);
    let (offset, _) = find(GuidInfoRecord::FIELDS, array.field).unwrap();
    let guid = |record: &mut GuidInfoRecord, index: u32| {
        let mut bytes = as_bytes(record).to_vec();
        write_bits(&mut bytes, offset + index * 64, 64, 7).unwrap();
        *record = *GuidInfoRecord::parse(&bytes).unwrap();
    };
    guid(&mut record, 2);
    assert!(query.matches(&record), "the third does not count");
    guid(&mut record, 3);
    assert!(!query.matches(&record));
}

#[test]
fn request_has_the_length_of_its_record_in_words() {
    let tid = TransactionId::new(5);
    let requests = [
        Query::<PathRecord>::new().request(Method::GET, tid),
        Query::<McMemberRecord>::new().request(Method::GET_TABLE, tid),
    ];
    assert_eq!(requests.map(|mad| mad.sa.attribute_offset.get()), [8, 7]);
}

#[test]
fn response_has_the_component_mask_and_no_sm_key() {
    let mut request = Query::<PathRecord>::new().pkey(Pkey::DEFAULT_FULL).request(Method::GET, TransactionId::new(5));
    request.sa.sm_key = Be64::new(9);
    let record = path(Mtu::B2048, Rate::GBPS_10, 18);
    let answer = request.answer_with(&record).unwrap();
    assert_eq!((answer.header.method, answer.header.transaction_id), (Method::GET_RESP, TransactionId::new(5)));
    assert_eq!((answer.sa.sm_key.get(), answer.sa.attribute_offset.get()), (0, 8));
    assert_eq!((answer.sa.component_mask, answer.record::<PathRecord>()), (request.sa.component_mask, Ok(&record)));
    let none = request.answer(Status::SA_NO_RECORDS).unwrap();
    assert_eq!((none.header.status, none.data), (Status::SA_NO_RECORDS, Octets([0; 200])));
    assert_eq!((none.sa.attribute_offset, none.rmpp), (Be16::new(0), Default::default()));
    let method = DecodeError::BadValue { what: "method", value: 0x81 };
    assert_eq!((answer.answer(Status::OK), answer.answer_with(&record)), (Err(method), Err(method)));
    let other = DecodeError::BadValue { what: "attribute_id", value: 0x35 };
    assert_eq!(request.answer_with(&NodeRecord::default()), Err(other));
    assert_eq!(Query::<NodeRecord>::from_mad(&request).err(), Some(other));
    let wrong = TableWriter::<NodeRecord, _>::new(&request, [0; 100]).err();
    assert_eq!(wrong, Some(TableError::Request(other)));
    assert_eq!(TableWriter::<PathRecord, _>::new(&request, [0; 55]).err(), Some(TableError::NoRoom));
    // GetMulti is for a MultiPathRecord and its response has PathRecords.
    let several = Query::<MultiPathRecord>::new().request(Method::GET_MULTI, TransactionId::new(1));
    let mut table = TableWriter::new(&several, [0; 200]).unwrap();
    assert!(table.is_empty());
    table.push(&record).unwrap();
    let table = table.finish();
    let mad = MadRef::new(table.as_bytes()).unwrap();
    assert_eq!((mad.method(), table.as_bytes().len()), (Method::GET_MULTI_RESP, 120));
    assert_eq!(mad.rmpp().unwrap().data2.get(), 84);
    assert_eq!(mad.attribute().unwrap().as_bytes(), as_bytes(&record));
}

#[test]
fn response_to_get_has_exactly_one_record_or_a_status() {
    let nodes = [4, 5].map(|lid| NodeRecord { lid: Lid::new(lid), ..NodeRecord::default() });
    let request = Query::<NodeRecord>::new().request(Method::GET, TransactionId::new(7));
    let one = request.answer_one(&nodes[1..]).unwrap();
    assert_eq!((one.header.method, one.header.status), (Method::GET_RESP, Status::OK));
    assert_eq!((one.record::<NodeRecord>(), one.sa.attribute_offset.get()), (Ok(&nodes[1]), 14));
    for (found, status) in [(&nodes[..0], Status::SA_NO_RECORDS), (&nodes[..], Status::SA_TOO_MANY_RECORDS)] {
        let none = request.answer_one(found).unwrap();
        assert_eq!(
            (none.header.method, none.header.status, none.header.transaction_id),
            (Method::GET_RESP, status, TransactionId::new(7))
        );
        assert_eq!(none.data, Octets([0; 200]));
    }
    assert!(request.answer_one(&[PathRecord::default()]).is_err(), "a record of another type");
    assert!(one.answer_one(&nodes[..1]).is_err(), "a response has no response");
}

#[test]
fn from_non_zero_masks_fields_that_are_not_zero() {
    let path = PathRecord { dlid: Lid::new(4), pkey: Pkey::DEFAULT_FULL, ..PathRecord::default() };
    assert_eq!(Query::from_non_zero(path).mask(), PathMask::DLID | PathMask::PKEY);
    // Each element of an array has its own bit.
    let mut guids = GuidInfoRecord::default();
    guids.guids[2] = crate::Guid::new(7);
    guids.guids[7] = crate::Guid::new(1 << 63);
    let components = GuidInfoRecord::COMPONENTS.iter().find(|it| it.mask.count_ones() == 8).unwrap();
    let first = components.mask.trailing_zeros();
    assert_eq!(Query::from_non_zero(guids).mask().bits(), 1 << (first + 2) | 1 << (first + 7));
    assert_eq!(Query::from_non_zero(GuidInfoRecord::default()).mask().bits(), 0);
}

#[test]
fn only_a_request_with_data_is_a_query() {
    let query = Query::<PathRecord>::new().dlid(4.into());
    let request = query.request(Method::GET_TABLE, TransactionId::new(1));
    let is_query = |mad: &SaMad| {
        assert_eq!(MadRef::new(as_bytes(mad)).unwrap().query().is_some(), Query::<PathRecord>::from_mad(mad).is_ok());
        Query::<PathRecord>::from_mad(mad) == Ok(query)
    };
    assert!(is_query(&request));
    for method in [Method::GET_RESP, Method::GET_TABLE_RESP, Method::DELETE_RESP, Method::REPORT, Method::TRAP] {
        let mut other = request;
        other.header.method = method;
        assert!(!is_query(&other), "{method}");
    }
    let mut rmpp = request;
    rmpp.rmpp.flags = rmpp.rmpp.flags.with_active(true);
    let types = [RmppType::NONE, RmppType::DATA, RmppType::ACK, RmppType::STOP, RmppType::ABORT];
    let seen = types.map(|rmpp_type| {
        rmpp.rmpp.rmpp_type = rmpp_type;
        is_query(&rmpp)
    });
    assert_eq!(seen, [true, true, false, false, false]);
}

#[test]
fn error_response_has_no_record() {
    let request = Query::<PathRecord>::new().dlid(4.into()).request(Method::GET, TransactionId::new(1));
    for status in [Status::SA_NO_RECORDS, Status::BUSY] {
        let response = request.answer(status).unwrap();
        let error = DecodeError::ErrorResponse { status: status.get() };
        assert_eq!(response.record::<PathRecord>(), Err(error));
        let records = MadRef::new(as_bytes(&response)).unwrap().records::<PathRecord>().map(Iterator::count);
        assert_eq!(records, if status == Status::BUSY { Err(error) } else { Ok(0) });
    }
}
