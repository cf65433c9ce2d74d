//! What holds for every structure: its field table fills it, and any bytes are cast, shown and given back unchanged.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]
use ib_mad::{Wire, acm::AcmMad, rmpp::RmppHeader, sa::*, umad::UmadHeader, wire::Field, *};
use proptest::prelude::*;

fn check_table(fields: &[Field], bits: u32, packed: bool) {
    let mut next = 0;
    for field in fields {
        assert!(field.bit_offset >= next, "{} overlaps what is before it", field.name);
        assert!(packed || field.bit_offset == next, "a gap before {}", field.name);
        next = field.bit_offset + field.bits;
        if !field.parts.is_empty() {
            check_table(field.parts, field.bits / field.count, field.parts.iter().any(|part| part.bits % 8 != 0));
        }
    }
    assert!(next <= bits, "fields of {next} bits in {bits}");
}

fn check<T: Wire + PartialEq + core::fmt::Debug>(bytes: &[u8]) -> Result<(), TestCaseError> {
    check_table(T::FIELDS, u32::try_from(size_of::<T>()).unwrap() * 8, false);
    for length in 0..size_of::<T>() {
        let error = T::parse(&bytes[..length]).unwrap_err();
        prop_assert_eq!(error, DecodeError::TooShort { what: T::NAME, need: size_of::<T>(), got: length });
    }
    let (seen, rest) = T::parse_prefix(bytes).unwrap();
    prop_assert_eq!(rest.len(), bytes.len() - size_of::<T>());
    prop_assert_eq!(as_bytes(seen), &bytes[..size_of::<T>()]);
    let text = format!("{seen:?}");
    prop_assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{}", text);
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 256..300)) {
        check::<MadHeader>(&bytes)?;
        check::<RmppHeader>(&bytes)?;
        check::<SaHeader>(&bytes)?;
        check::<SaMad>(&bytes)?;
        check::<PathRecord>(&bytes)?;
        check::<McMemberRecord>(&bytes)?;
        check::<UmadHeader>(&bytes)?;
        check::<AcmMad>(&bytes)?;
    }

    #[test]
    fn records_stop_at_the_last_whole_one(bytes in proptest::collection::vec(any::<u8>(), 0..512), offset in 0_u16..20) {
        match Records::<McMemberRecord>::new(&bytes, offset) {
            Err(error) => {
                prop_assert!((1..7).contains(&offset));
                prop_assert_eq!(error, DecodeError::BadValue { what: "attribute_offset", value: offset.into() });
            }
            Ok(records) => {
                let step = usize::from(offset) * 8;
                let expected = match (step, bytes.len()) {
                    (_, 0..52) => 0,
                    (0, _) => 1,
                    (step, length) => (length - 52) / step + 1,
                };
                prop_assert_eq!(records.count(), expected);
            }
        }
    }
}

#[test]
fn every_component_names_a_field_and_the_setter_sets_both() {
    fn table<R: SaRecord>() {
        for component in R::COMPONENTS {
            assert!(wire::find(R::FIELDS, component.field).is_some(), "{}: no field {}", R::NAME, component.field);
        }
    }
    table::<PathRecord>();
    table::<McMemberRecord>();
    let query = Query::<PathRecord>::new().flow_label(FlowLabel::new(0xa_bcde)).hop_limit(64).sl(ServiceLevel::new(3));
    assert_eq!(query.mask(), PathMask::FLOW_LABEL | PathMask::HOP_LIMIT | PathMask::SL);
    assert_eq!(&as_bytes(query.record())[44..48], [0x0a, 0xbc, 0xde, 64]);
    assert_eq!(as_bytes(query.record())[53], 3);
    assert_eq!(Query::from_non_zero(*query.record()), query);
}

/// The component mask that Debian's C ibacm 44 was seen to send (rdma-core acmp.c).
#[test]
fn join_as_c_ibacm_sends_it() {
    let gid: Gid = "fe80::2:c903:0:11".parse().unwrap();
    let mgid = acm::group_mgid(Pkey::DEFAULT_LIMITED, 0, Rate::GBPS_10, Mtu::B2048);
    assert_eq!(mgid, "ff15:4001:ffff:3:400::".parse().unwrap());
    let join = Query::<McMemberRecord>::new()
        .mgid(mgid)
        .port_gid(gid)
        .qkey(Qkey::GSI)
        .mtu(Selector::Exactly, Mtu::B2048)
        .traffic_class(0)
        .pkey(Pkey::DEFAULT_FULL)
        .rate(Selector::Exactly, Rate::GBPS_10)
        .sl(ServiceLevel::new(0))
        .flow_label(FlowLabel::new(0))
        .scope(5)
        .join_state(JoinState::FULL_MEMBER)
        .set(TransactionId::new(1));
    // The mask that compat.md section 3.5 saw on the wire.
    assert_eq!(join.sa.component_mask.get(), 0x1_b3f7);
    assert_eq!(join.header.method, Method::SET);
    assert_eq!(join.data.0[38], 0x84);
    assert_eq!(join.data.0[48], 0x51);
}
