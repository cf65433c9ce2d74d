//! A server's side: what a query finds, and the answers.
extern crate std;
use super::*;
use crate::{
    DecodeError, Lid, MadRef, Method, Mtu, PacketLifeTime, Pkey, Rate, Selected, Selector, Status, TransactionId, Wire,
    as_bytes,
    rmpp::{Reassembler, ReassemblerLimits, Received, Segmenter, SegmenterLimits, Sent},
    wire::{Be16, Be64, Octets, find, read_bits, write_bits},
};
use bitflags::Flags;
use core::time::Duration;
use proptest::prelude::*;
use std::{collections::BTreeMap, vec, vec::Vec};

/// With one component at a time: a record is found by itself, and by nothing else than the component says.
fn one_component<R: SaRecord + PartialEq>(bytes: &[u8], bit: u32) -> Result<(), TestCaseError> {
    let asked = R::parse(bytes).unwrap();
    for component in R::COMPONENTS {
        let mask = R::Mask::from_bits_retain(component.mask);
        let query = Query::with_mask(*asked, mask);
        let (offset, bits) = find(R::FIELDS, component.field).unwrap();
        let mut other = asked.as_bytes().to_vec();
        let changed = offset + bit % bits;
        let flipped = 1 ^ read_bits(&other, changed, 1).unwrap();
        write_bits(&mut other, changed, 1, flipped).unwrap();
        let other = R::parse(&other).unwrap();
        let found = query.matches(other);
        let (name, field) = (R::NAME, component.field);
        prop_assert!(query.matches(asked), "{} {}: not even itself", name, field);
        match component.compare {
            Compare::Equal | Compare::Graded(_) => prop_assert!(!found, "{} {}", name, field),
            Compare::Ignored => prop_assert!(found, "{} {}", name, field),
            Compare::Partition => prop_assert_eq!(found, changed == offset, "{}", name),
            Compare::Set => prop_assert_eq!(found, read_bits(as_bytes(asked), offset, 1) == Some(0), "{}", name),
        }
        prop_assert!(Query::<R>::with_mask(*asked, R::Mask::empty()).matches(other), "nothing is asked");
        let read = Query::from_mad(&query.get_table(TransactionId::new(1)));
        prop_assert!(read == Ok(query));
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_query_finds_what_agrees(bytes in proptest::collection::vec(any::<u8>(), 256), bit in any::<u32>()) {
        one_component::<PathRecord>(&bytes, bit)?;
        one_component::<McMemberRecord>(&bytes, bit)?;
        one_component::<MultiPathRecord>(&bytes, bit)?;
        one_component::<NodeRecord>(&bytes, bit)?;
        one_component::<PortInfoRecord>(&bytes, bit)?;
        one_component::<ServiceRecord>(&bytes, bit)?;
        one_component::<LinkRecord>(&bytes, bit)?;
        one_component::<InformInfoRecord>(&bytes, bit)?;
    }

    /// Any number of records is what a reader finds again, whoever cuts and joins; transfers own their memory.
    #[test]
    fn a_table_arrives(records in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 52), 0..40), tid in any::<u64>()) {
        let request = Query::<McMemberRecord>::new().get_table(TransactionId::new(tid));
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
        // Padding is zero, whatever was in the buffer.
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
fn selectors_say_how_values_are_compared() {
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
    // A value alone means exactly that one, whatever stands where the selector is.
    let alone = query().mtu(GreaterThan, Mtu::B1024).without(PathMask::MTU_SELECTOR);
    assert!(!alone.matches(&own) && query().mtu(GreaterThan, Mtu::B2048).without(PathMask::MTU_SELECTOR).matches(&own));
    assert_eq!(alone.asked_mtu(), Some(Selected::exactly(Mtu::B1024)));
    assert_eq!(query().rate(LessThan, Rate::GBPS_5).asked_rate(), Some(Selected::new(LessThan, Rate::GBPS_5)));
    assert_eq!((query().asked_mtu(), query().asked_packet_life_time()), (None, None));
}

#[test]
fn of_those_that_match_the_best_where_it_is_asked_for() {
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
fn of_an_array_the_elements_that_count() {
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
fn an_answer_keeps_what_was_asked_and_hides_the_key() {
    let mut request = Query::<PathRecord>::new().pkey(Pkey::DEFAULT_FULL).get(TransactionId::new(5));
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
    // Several paths are asked for by another record than they come as.
    let several = Query::<MultiPathRecord>::new().mad(Method::GET_MULTI, TransactionId::new(1));
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
fn the_answer_to_get_has_the_one_record_that_was_found() {
    let nodes = [4, 5].map(|lid| NodeRecord { lid: Lid::new(lid), ..NodeRecord::default() });
    let request = Query::<NodeRecord>::new().get(TransactionId::new(7));
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
    assert!(request.answer_one(&[PathRecord::default()]).is_err(), "it asked for another record");
    assert!(one.answer_one(&nodes[..1]).is_err(), "nothing answers an answer");
}

#[test]
fn what_is_not_zero_is_asked_for() {
    let path = PathRecord { dlid: Lid::new(4), pkey: Pkey::DEFAULT_FULL, ..PathRecord::default() };
    assert_eq!(Query::from_non_zero(path).mask(), PathMask::DLID | PathMask::PKEY);
    // Of an array each element that is not zero, and of nothing else a part.
    let mut guids = GuidInfoRecord::default();
    guids.guids[2] = crate::Guid::new(7);
    guids.guids[7] = crate::Guid::new(1 << 63);
    let components = GuidInfoRecord::COMPONENTS.iter().find(|it| it.mask.count_ones() == 8).unwrap();
    let first = components.mask.trailing_zeros();
    assert_eq!(Query::from_non_zero(guids).mask().bits(), 1 << (first + 2) | 1 << (first + 7));
    assert_eq!(Query::from_non_zero(GuidInfoRecord::default()).mask().bits(), 0);
}
