//! Tests that deserialization returns the serialized value, in a readable and in a compact format.
extern crate std;
use crate::{
    notice::Producer,
    sa::JoinState,
    smp::PortCapability,
    wire::{Be16, Be32, Be64, Host32, InBytes, Packed},
    *,
};
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_test::{Configure as _, Token, assert_de_tokens_error, assert_tokens};
use std::{collections::BTreeMap, string::String, vec::Vec};

fn check<T: for<'a> Arbitrary<'a> + Serialize + DeserializeOwned + PartialEq + core::fmt::Debug>(bytes: &[u8]) {
    let own = T::arbitrary(&mut Unstructured::new(bytes)).unwrap();
    let json = serde_json::to_string(&own).unwrap();
    assert_eq!(serde_json::from_str::<T>(&json).unwrap(), own, "{json}");
}

proptest! {
    #[test]
    fn every_serialized_value_is_read_back(bytes in any::<[u8; 32]>()) {
        macro_rules! check {
            ($($t:ty)*) => { $(check::<$t>(&bytes);)* };
        }
        check! {
            Lid Gid Guid Pkey Qkey Mkey ServiceId TransactionId
            Qpn Psn VendorId ServiceLevel FlowLabel Lmc VirtualLane TimeCode HoqLife PacketLifeTime Producer
            Mtu Rate PortState NodeType Method MgmtClass AttributeId Status SmControl
            JoinState PortCapability LinkWidths MulticastFlags
            Be16 Be32 Be64 Host32 Selector Selected<Mtu> Selected<PacketLifeTime>
            Packed<VirtualLane, 4, 8> Packed<u8, 2, 3> Packed<bool, 1, 2> InBytes<Qpn, 3> InBytes<u64, 7>
        }
    }
}

#[test]
fn readable_formats_hold_the_printed_text() {
    let json = |value: &dyn Fn() -> serde_json::Value| std::string::ToString::to_string(&value());
    assert_eq!(json(&|| serde_json::to_value(Mtu::B2048).unwrap()), "\"2048\"");
    assert_eq!(json(&|| serde_json::to_value(Lid::new(7)).unwrap()), "7");
    assert_eq!(json(&|| serde_json::to_value(PacketLifeTime::of::<18>()).unwrap()), "18");
    let selected = Selected::new(Selector::LessThan, Rate::GBPS_100);
    assert_eq!(json(&|| serde_json::to_value(selected).unwrap()), r#"{"selector":"<","value":"100 Gb/s"}"#);
    let set = JoinState::from_bits_retain(0x11);
    assert_eq!(json(&|| serde_json::to_value(set).unwrap()), "\"full member|0x10\"");
    // A code without a name is text, too.
    assert_eq!(json(&|| serde_json::to_value(Mtu::new(99)).unwrap()), "\"99\"");
    assert_eq!(json(&|| serde_json::to_value(Qpn::of::<5>()).unwrap()), "\"0x5\"");
    assert_eq!(json(&|| serde_json::to_value(Be32::new(5)).unwrap()), "5");
    let read = |text: &str| serde_json::from_str::<Qpn>(text).ok();
    assert_eq!(
        (read("1"), read("\"0x1\""), read("16777216"), read("-1")),
        (Some(Qpn::GSI), Some(Qpn::GSI), None, None)
    );
    assert!(serde_json::from_str::<Selected<u8>>(r#"{"selector":"=","value":64}"#).is_err());
    assert!(serde_json::from_str::<Packed<u8, 4, 1>>("[1,16]").is_err());
    assert!(serde_json::from_str::<Packed<u8, 4, 1>>("[1]").is_err());
    assert!(serde_json::from_str::<Packed<u8, 4, 1>>("[1,2,3]").is_err());
    assert!(serde_json::from_str::<InBytes<u32, 3>>("16777216").is_err());
}

/// Types of all values in a JSON value, by their path.
fn types(value: &serde_json::Value, path: &str, into: &mut BTreeMap<String, Vec<&'static str>>) {
    let own = match value {
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| types(field, &std::format!("{path}.{name}"), into));
            "object"
        }
        serde_json::Value::Array(elements) => {
            elements.iter().for_each(|element| types(element, &std::format!("{path}[]"), into));
            "array"
        }
        serde_json::Value::Number(_) => "number",
        serde_json::Value::String(_) => "text",
        _ => "other",
    };
    let seen = into.entry(path.into()).or_default();
    if !seen.contains(&own) {
        seen.push(own);
    }
}

/// Of structures with every kind of field, with zeros, ones, and other bytes.
#[test]
fn field_has_one_type_in_json() {
    let mut seen = BTreeMap::new();
    for byte in 0..=255_u8 {
        let bytes = [byte; 512];
        macro_rules! add {
            ($($t:ty)*) => {$(
                let own = serde_json::to_value(<$t>::arbitrary(&mut Unstructured::new(&bytes)).unwrap()).unwrap();
                types(&own, <$t as Wire>::NAME, &mut seen);
            )*};
        }
        add! {
            smp::PortInfo smp::NodeInfo smp::SwitchInfo smp::DrSmp smp::VlArbitrationTable smp::SlToVlMappingTable
            sa::SaMad sa::PathRecord sa::McMemberRecord sa::ServiceRecord notice::Notice perf::PortCounters
            umad::UmadHeader umad::RegisterRequest packet::Grh cm::CmReq opa::OpaPortInfo
            Lid Pkey Mtu Rate Be32
        }
    }
    assert!(seen.len() > 300, "{}", seen.len());
    seen.retain(|_, types| types.len() > 1);
    assert_eq!(seen, BTreeMap::new());
}

#[test]
fn compact_formats_hold_the_number() {
    assert_tokens(&Qpn::GSI.compact(), &[Token::U64(1)]);
    assert_tokens(&Mtu::B2048.compact(), &[Token::U64(4)]);
    assert_de_tokens_error::<serde_test::Compact<ServiceLevel>>(
        &[Token::U64(16)],
        "invalid value: integer `16`, expected a ServiceLevel",
    );
    let table = [Token::Seq { len: Some(2) }, Token::U8(1), Token::U8(2), Token::SeqEnd];
    assert_tokens(&Packed::<u8, 4, 1>::ZERO.with(0, 1).with(1, 2).compact(), &table);
}
