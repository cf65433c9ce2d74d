//! Tests of every structure: field tables fill it, and any bytes are cast, printed and returned unchanged.
use core::hash::{Hash, Hasher};
use ib_mad::{
    Method,
    attribute::Structure,
    sa::*,
    smp::{MkeyLmc, PortInfo},
    wire::{Be32, Field, Flags, Packed, read_bits, write_bits},
    *,
};
use proptest::prelude::*;
use std::hash::DefaultHasher;

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

fn ascii(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn dissect(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(mad) = MadRef::new(bytes) else {
        prop_assert!(bytes.len() < 24);
        return Ok(());
    };
    let text = mad.to_string();
    prop_assert!(ascii(&text), "{}", text);
    let lines = format!("{mad:#}");
    prop_assert!(lines.lines().all(ascii));
    if let Ok(attribute) = mad.attribute() {
        let own = attribute.as_bytes();
        prop_assert!(bytes.windows(own.len().max(1)).any(|window| window == own) || own.is_empty());
    }
    Ok(())
}

fn check(structure: Structure, bytes: &[u8]) -> Result<(), TestCaseError> {
    for length in 0..=bytes.len() {
        let seen = (structure.cast)(&bytes[..length]);
        if length < structure.size {
            let error = DecodeError::TooShort { what: structure.name, need: structure.size, got: length };
            prop_assert_eq!(seen, Err(error));
        } else {
            prop_assert_eq!(seen, Ok(&bytes[..structure.size]));
        }
    }
    let text = structure.display(bytes).to_string();
    prop_assert!(ascii(&text) && text.starts_with(structure.name), "{}", text);
    let lines = format!("{:#}", structure.display(bytes));
    prop_assert!(lines.lines().all(ascii), "{}", lines);
    prop_assert!(ascii(&structure.display(&bytes[..structure.size.saturating_sub(1)]).to_string()));
    Ok(())
}

/// Visits every part of every bit-packed word in a structure, with the first bit of its word.
fn each_part(fields: &'static [Field], start: u32, then: &mut dyn FnMut(&'static Field, u32)) {
    for field in fields {
        if field.access.is_some() {
            then(field, start);
        }
        let width = field.bits / field.count;
        (0..field.count).for_each(|index| each_part(field.parts, start + field.bit_offset + index * width, then));
    }
}

/// Checks that a setter changes only its own bits, and that the getter returns them.
fn check_parts(structure: Structure, bytes: &[u8], value: u64) -> Result<(), TestCaseError> {
    let mut result = Ok(());
    each_part(structure.fields, 0, &mut |field, start| {
        let check = || {
            let access = field.access.unwrap();
            let word = usize::try_from(start / 8).unwrap();
            let mut set = bytes[..structure.size].to_vec();
            let place = start + field.bit_offset;
            let read = |bytes: &[u8]| read_bits(bytes, place, field.bits);
            prop_assert_eq!((access.get)(&set[word..]), read(&set), "{}.{}", structure.name, field.name);
            (access.set)(&mut set[word..], value);
            let expected = value & (u64::MAX >> (64 - field.bits));
            prop_assert_eq!(read(&set), Some(expected), "{}.{}", structure.name, field.name);
            prop_assert_eq!((access.get)(&set[word..]), Some(expected));
            write_bits(&mut set, place, field.bits, read(bytes).unwrap()).unwrap();
            prop_assert_eq!(&set[..], &bytes[..structure.size], "{}.{} changed others", structure.name, field.name);
            Ok(())
        };
        if result.is_ok() {
            result = check();
        }
    });
    result
}

/// Compares the names in headers with those of the registry.
#[test]
fn attribute_ids_have_the_names_of_their_types() {
    for (class, _) in MgmtClass::KNOWN {
        for id in 0..=u16::MAX {
            let id = AttributeId::new(id);
            let registered = registry::attribute(*class, id).map(|placed| placed.structure.name);
            // The log has two types, and its first byte is the type.
            let log = (*class == MgmtClass::CONGESTION && id.get() == 0x13).then_some("CongestionLog");
            assert_eq!(id.name(*class), registered.or(log), "{class} {id}");
        }
    }
}

#[test]
fn field_tables_fill_their_structures() {
    for structure in registry::all() {
        let bits = u32::try_from(structure.size).unwrap() * 8;
        check_table(structure.fields, bits, false);
        assert_eq!(structure.fields.last().map_or(0, |last| last.bit_offset + last.bits), bits, "{}", structure.name);
    }
}

/// A structure that is missing in the registry would not be tested here.
#[test]
fn every_structure_is_in_the_registry() {
    let names: Vec<&str> = registry::all().map(|structure| structure.name).collect();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut inner = Vec::new();
    fn nested(fields: &[Field], out: &mut Vec<u32>) {
        fields.iter().for_each(|field| {
            out.push(field.bits);
            nested(field.parts, out);
        });
    }
    registry::all().for_each(|structure| nested(structure.fields, &mut inner));
    let mut missing = Vec::new();
    let mut stack = vec![source];
    let mut all = String::new();
    while let Some(path) = stack.pop() {
        // The macros with their examples, and structures of tests.
        if path.ends_with("src/wire") || path.ends_with("tests.rs") {
            continue;
        }
        if path.is_dir() {
            stack.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            all += &std::fs::read_to_string(path).unwrap();
        }
    }
    for (at, _) in all.match_indices("pub struct ") {
        // In `wire!` and `bits!`, the size in brackets follows the name.
        let mut words = all[at..].split(' ').skip(2);
        let Some(name) = words.next().filter(|_| words.next().is_some_and(|size| size.starts_with('['))) else {
            continue;
        };
        // A structure that is only part of others is tested with them.
        let part = all.contains(&format!(": {name},")) || all.contains(&format!("[{name}; "));
        let of_macro = name == "$name";
        if !names.contains(&name) && !part && !of_macro {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_bytes_are_cast_and_printed(bytes in proptest::collection::vec(any::<u8>(), 512)) {
        for structure in registry::all() {
            check(structure, &bytes)?;
        }
    }

    #[test]
    fn setters_change_only_their_bits(bytes in proptest::collection::vec(any::<u8>(), 512), value in any::<u64>()) {
        for structure in registry::all() {
            check_parts(structure, &bytes, value)?;
        }
    }

    /// Covers every class and attribute, and any length.
    #[test]
    fn any_datagram_is_printed(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..=512),
        class in any::<u8>(),
        id in any::<u8>(),
    ) {
        if let Some(byte) = bytes.get_mut(1) {
            *byte = class;
        }
        if let Some(place) = bytes.get_mut(16..18) {
            place.copy_from_slice(&[0, id % 0x40]);
        }
        for placed in registry::ATTRIBUTES.iter().copied().flatten() {
            if let Some(byte) = bytes.get_mut(1) {
                *byte = placed.class.get();
            }
            if let Some(place) = bytes.get_mut(16..18) {
                place.copy_from_slice(as_bytes(&placed.id));
            }
            for (base, version) in [(1, 1), (1, 2), (0x80, 0x80), (7, 7)] {
                if let [own_base, _, own_version, ..] = &mut bytes[..] {
                    (*own_base, *own_version) = (base, version);
                }
                dissect(&bytes)?;
            }
        }
        for class in 0..=255 {
            if let Some(byte) = bytes.get_mut(1) {
                *byte = class;
            }
            dissect(&bytes)?;
        }
        for layout in [umad::Layout::WithPkeyIndex, umad::Layout::Old] {
            if let Ok(frame) = umad::Frame::parse(&bytes, layout) {
                prop_assert!(ascii(&frame.to_string()));
            }
        }
        for headers in [packet::Headers::parse(&bytes), packet::Headers::parse_transport(&bytes)].into_iter().flatten() {
            prop_assert!(ascii(&headers.to_string()));
        }
    }

    #[test]
    fn records_end_with_the_last_whole_one(
        bytes in proptest::collection::vec(any::<u8>(), 0..512),
        offset in 0_u16..20,
    ) {
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
fn every_component_names_a_field_and_setters_set_field_and_mask() {
    let records = SaAttribute::TABLE.iter().map(|info| info.structure);
    for (name, components) in SaAttribute::COMPONENTS {
        let record = records.clone().find(|record| record.name == *name).unwrap();
        for component in *components {
            assert!(wire::find(record.fields, component.field).is_some(), "{name}: no field {}", component.field);
        }
    }
    let query =
        Query::<PathRecord>::new().flow_label(FlowLabel::of::<0xa_bcde>()).hop_limit(64).sl(ServiceLevel::of::<3>());
    assert_eq!(query.mask(), PathMask::FLOW_LABEL | PathMask::HOP_LIMIT | PathMask::SL);
    assert_eq!(&as_bytes(query.record())[44..48], [0x0a, 0xbc, 0xde, 64]);
    assert_eq!(as_bytes(query.record())[53], 3);
    assert_eq!(Query::from_non_zero(*query.record()), query);
}

/// The component mask of Debian's C ibacm 44, as captured (rdma-core acmp.c).
#[test]
fn join_has_the_component_mask_of_c_ibacm() {
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
        .sl(ServiceLevel::ZERO)
        .flow_label(FlowLabel::ZERO)
        .scope(5)
        .join_state(JoinState::FULL_MEMBER)
        .request(Method::SET, TransactionId::new(1));
    // The captured mask.
    assert_eq!(join.sa.component_mask.get(), 0x1_b3f7);
    assert_eq!(join.header.method, Method::SET);
    assert_eq!(join.data.0[38], 0x84);
    assert_eq!(join.data.0[48], 0x51);
}

#[cfg(feature = "serde")]
#[test]
fn structures_are_serialized_with_names_and_printed_values() {
    let mut port = PortInfo { lid: Lid::new(4), ..PortInfo::default() };
    port.speed_state = port.speed_state.with_port_state(PortState::ACTIVE);
    let json = serde_json::to_value(port).unwrap();
    assert_eq!(json["lid"], 4);
    assert_eq!(json["speed_state"]["port_state"], "active");
    let counters = perf::PortCounters { port_xmit_data: 0x1_0000.into(), ..perf::PortCounters::default() };
    assert_eq!(serde_json::to_value(counters).unwrap()["port_xmit_data"], 65_536);
    let counters =
        perf::PortCountersExtended { port_rcv_data: u64::MAX.into(), ..perf::PortCountersExtended::default() };
    assert_eq!(serde_json::to_value(counters).unwrap()["port_rcv_data"], u64::MAX);
    let mut header = Mad::request(Method::GET, 0, TransactionId::new(1), &perf::PortCounters::default()).header;
    header.status = Status::SA_NO_RECORDS;
    let json = serde_json::to_value(header).unwrap();
    assert_eq!((&json["attribute_id"], &json["status"]), (&"PortCounters".into(), &"0x0300".into()));
    let table = serde_json::to_value(smp::PkeyTable::default()).unwrap();
    assert_eq!(table["pkeys"][31], "0x0000");
}

#[cfg(feature = "arbitrary")]
#[test]
fn any_bytes_make_an_arbitrary_structure() {
    use arbitrary::{Arbitrary, Unstructured};
    let bytes: Vec<u8> = (0..64).collect();
    let port = PortInfo::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
    assert_eq!(as_bytes(&port), bytes);
}

#[test]
fn structures_are_built_and_read_in_constants() {
    const PATH: PathRecord = PathRecord {
        flow_hop: FlowHop::ZERO.with_flow_label(FlowLabel::of::<0xa_bcde>()).with_hop_limit(64),
        qos_sl: QosSl::ZERO.with_sl(ServiceLevel::of::<3>()).with_qos_class(0x123),
        ..PathRecord::ZERO
    };
    const SL: ServiceLevel = PATH.sl();
    assert_eq!((SL, PATH.qos_class()), (ServiceLevel::of::<3>(), 0x123));
    assert_eq!((PATH.flow_label(), PATH.hop_limit()), (FlowLabel::of::<0xa_bcde>(), 64));
    assert!(!PATH.reversible() && !PATH.raw_traffic());
    assert_eq!(PathRecord::ZERO, PathRecord::default());
    let port = PortInfo { mkey_lmc: MkeyLmc::ZERO.with_lmc(Lmc::of::<3>()), ..PortInfo::ZERO };
    assert_eq!((port.lmc(), port.mkey_protect_bits()), (Lmc::of::<3>(), 0));
    let several = MultiPathRecord { flow_hop: PATH.flow_hop, qos_sl: PATH.qos_sl, ..MultiPathRecord::ZERO };
    assert_eq!((several.sl(), several.qos_class()), (SL, 0x123));
    assert_eq!((several.flow_label(), several.hop_limit()), (PATH.flow_label(), 64));
}

#[test]
fn structures_are_hashed_by_their_bytes() {
    fn hash(value: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }
    let path = PathRecord { preference: 1, ..PathRecord::ZERO };
    assert_eq!(hash(path), hash(path));
    assert_ne!(hash(path), hash(PathRecord::ZERO));
    let table = Packed::<VirtualLane, 4, 8>::ZERO;
    assert_ne!(hash(table), hash(table.with(3, VirtualLane::MAX)));
}

#[test]
fn identifiers_and_codes_print_in_hex() {
    assert_eq!(format!("{:x} {:#06X}", Lid::new(0xab), Pkey::DEFAULT_FULL), "ab 0xFFFF");
    assert_eq!(format!("{:04x} {:x}", AttributeId::PATH_RECORD, JoinState::SEND_ONLY_FULL_MEMBER), "0035 8");
    assert_eq!(format!("{:x}", Be32::new(0x1f)), "1f");
    assert_eq!((u16::from(AttributeId::PATH_RECORD), Mtu::from(5)), (0x35, Mtu::B4096));
}

#[test]
fn flags_and_component_masks_share_one_interface() {
    fn first_two<F: Flags + Copy>() -> (F, bool) {
        let mut named = F::FLAGS.iter().map(|flag| *flag.value());
        let (one, two) = (named.next().unwrap(), named.next().unwrap());
        let mut both = one;
        both.insert(two);
        both.remove(one);
        (both, F::from_bits(both.bits()).is_some() && both.intersects(two) && !both.intersects(one))
    }
    assert_eq!(first_two::<JoinState>(), (JoinState::NON_MEMBER, true));
    assert_eq!(first_two::<PathMask>(), (PathMask::DGID, true));
    assert_eq!(JoinState::from_bits_retain(0x18).to_string(), "send-only full member|0x10");
}
