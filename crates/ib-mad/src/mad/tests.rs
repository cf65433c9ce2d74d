//! Datagrams of every class, written and read again.
#![allow(unreachable_pub, reason = "what `wire!` makes")]
extern crate std;
use super::*;
use crate::{
    Bkey, DecodeError, Lid, Pkey, TransactionId, VendorId, as_bytes,
    attribute::{Attribute, SharedAttribute},
    baseboard::{BaseboardMad, ReadVpd},
    cm::{CmMad, CmReq},
    congestion::{CongestionInfo, CongestionLogCa, CongestionMad},
    device::{DeviceMad, IoUnitInfo},
    notice::{ClassPortInfo, InformInfo, Notice},
    perf::{PerfMad, PortCounters},
    registry,
    sa::{PathRecord, Query, SaMad},
    smp::{DrPath, DrSmp, NodeInfo, PortInfo, Smp},
    vendor::{OPENIB_OUI, VendorOuiMad},
    wire,
    wire::{Be32, Octets},
};
use proptest::prelude::*;
use std::{format, vec::Vec};

wire!(
    /// What a vendor's own class carries.
    pub struct Ping [8] {
        /// A number.
        pub number: Be32,
        /// Text.
        pub text: Octets<4>,
    }
);
impl Attribute for Ping {
    const CLASS: MgmtClass = MgmtClass::new(0x32);
    const ATTRIBUTE: AttributeId = AttributeId::new(0x77);
    const OUI: Option<VendorId> = Some(OPENIB_OUI);
}

/// What is written is found by who reads, stands at the class's place, and nothing else is written.
fn there_and_back<A: Attribute + PartialEq>(bytes: &[u8], at: usize, version: u8) -> Result<(), TestCaseError> {
    let own = A::parse(bytes).unwrap();
    let (tid, method) = (TransactionId::new(0x1122_3344_5566_7788), Method::new(bytes[0] & 0x7f));
    let mad = Mad::request(method, 0x0a0b_0c0d, tid, own);
    prop_assert_eq!(mad.attribute_as::<A>().unwrap().as_bytes(), own.as_bytes());
    let mut expected = [0; 256];
    expected[..4].copy_from_slice(&[1, A::CLASS.get(), version, method.get()]);
    expected[8..16].copy_from_slice(&[0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
    expected[16..18].copy_from_slice(as_bytes(&A::ATTRIBUTE));
    expected[20..24].copy_from_slice(&[10, 11, 12, 13]);
    expected[at..at + size_of::<A>()].copy_from_slice(own.as_bytes());
    if A::CLASS == MgmtClass::SUBN_ADM {
        expected[45] = u8::try_from(size_of::<A>().div_ceil(8)).unwrap();
    }
    if A::OUI.is_some() {
        expected[37..40].copy_from_slice(&[0, 0x14, 5]);
    }
    prop_assert_eq!(as_bytes(&mad), &expected[..]);
    Ok(())
}

proptest! {
    #[test]
    fn what_is_written_is_read(bytes in proptest::collection::vec(any::<u8>(), 256)) {
        there_and_back::<PortInfo>(&bytes, 64, 1)?;
        there_and_back::<PathRecord>(&bytes, 56, 2)?;
        there_and_back::<PortCounters>(&bytes, 64, 1)?;
        there_and_back::<ReadVpd>(&bytes, 64, 1)?;
        there_and_back::<IoUnitInfo>(&bytes, 64, 1)?;
        there_and_back::<CmReq>(&bytes, 24, 2)?;
        there_and_back::<CongestionInfo>(&bytes, 64, 2)?;
        there_and_back::<CongestionLogCa>(&bytes, 32, 2)?;
        there_and_back::<Ping>(&bytes, 40, 1)?;
    }

    #[test]
    fn what_classes_share_is_read_in_each(bytes in proptest::collection::vec(any::<u8>(), 72), class in any::<u8>()) {
        // The class of the communication management assistant has no attributes.
        let class = MgmtClass::new(if class == MgmtClass::ACM.get() { 4 } else { class });
        fn check<A: SharedAttribute + PartialEq>(class: MgmtClass, bytes: &[u8]) -> Result<(), TestCaseError> {
            let own = A::parse(bytes).unwrap();
            let mad = Mad::request_shared(class, Method::SET, 3, TransactionId::new(1), own);
            prop_assert_eq!(mad.shared_as::<A>().unwrap().as_bytes(), own.as_bytes());
            prop_assert_eq!((mad.header.mgmt_class, mad.header.class_version), (class, class.version()));
            prop_assert_eq!((mad.header.attribute_id, mad.header.attribute_modifier.get()), (A::ATTRIBUTE, 3));
            Ok(())
        }
        if class != MgmtClass::SUBN_DIRECTED_ROUTE {
            check::<ClassPortInfo>(class, &bytes)?;
        }
        check::<Notice>(class, &bytes)?;
        check::<InformInfo>(class, &bytes)?;
    }
}

/// The shared attributes of each class, too: the offset of a class is that of all its attributes.
#[test]
fn every_attribute_stands_where_its_class_has_data() {
    for placed in registry::ATTRIBUTES.iter().copied().flatten() {
        assert_eq!(placed.offset, placed.class.data_offset(), "{}", placed.structure.name);
    }
    let known: Vec<u8> =
        MgmtClass::KNOWN.iter().filter(|(class, _)| class.version() == 2).map(|it| it.0.get()).collect();
    assert_eq!(known, [3, 7, 0x21]);
}

#[test]
fn each_class_shows_its_own_headers() {
    let tid = TransactionId::new(1);
    let mut mad = Mad::get::<ReadVpd>(0, tid);
    mad.datagram_mut::<BaseboardMad>().unwrap().bkey = Bkey::from(5);
    assert_eq!(as_bytes(&mad)[31], 5);
    let other = DecodeError::BadValue { what: "mgmt_class", value: 5 };
    assert_eq!(mad.datagram::<Smp>(), Err(other));
    assert_eq!(mad.datagram_mut::<CmMad>(), Err(other));
    let query = Query::<PathRecord>::new().pkey(Pkey::DEFAULT_FULL).get(tid);
    assert_eq!(Mad::from(query).datagram::<SaMad>(), Ok(&query));
    let ping = Mad::get::<Ping>(0, tid);
    assert_eq!(ping.datagram::<VendorOuiMad>().unwrap().oui.get(), OPENIB_OUI);
    assert_eq!(Mad::from(Smp::get::<NodeInfo>(2, tid)), Mad::get::<NodeInfo>(2, tid));
    assert_eq!(Mad::from(PerfMad::get::<PortCounters>(2, tid)), Mad::get::<PortCounters>(2, tid));
    assert_eq!(Mad::from(DeviceMad::get::<IoUnitInfo>(2, tid)), Mad::get::<IoUnitInfo>(2, tid));
    let set = CongestionInfo { control_table_cap: 7, ..CongestionInfo::default() };
    assert_eq!(Mad::from(CongestionMad::set(2, tid, &set)), Mad::set(2, tid, &set));
    assert_eq!(Mad::from(CmMad::send(tid, &CmReq::default())), Mad::send(tid, &CmReq::default()));
}

#[test]
fn another_class_number_or_vendor_is_not_read() {
    let tid = TransactionId::new(1);
    let mad = Mad::get::<NodeInfo>(0, tid);
    assert!(mad.attribute_as::<PortInfo>().is_err() && mad.attribute_as::<PortCounters>().is_err());
    assert!(mad.shared_as::<Notice>().is_err());
    let mut ping = Mad::get::<Ping>(0, tid);
    assert_eq!(ping.attribute_as::<Ping>(), Ok(&Ping::default()));
    ping.datagram_mut::<VendorOuiMad>().unwrap().oui = VendorId::new(0x2c9).unwrap().into();
    let other = DecodeError::BadValue { what: "oui", value: 0x2c9 };
    assert_eq!(ping.attribute_as::<Ping>(), Err(other));
}

#[test]
fn an_answer_has_the_request_s_headers_and_the_answerer_s_data() {
    let tid = TransactionId::new(9);
    let ask = Mad::request(Method::GET, 2, tid, &PortCounters { port_select: 2, ..PortCounters::default() });
    let counters = PortCounters { port_select: 2, port_rcv_data: 77.into(), ..PortCounters::default() };
    let answer = ask.answer_with(&counters).unwrap();
    assert_eq!(answer.attribute_as::<PortCounters>(), Ok(&counters));
    let header = MadHeader { method: Method::GET_RESP, ..ask.header };
    assert_eq!(answer.header, header);
    let busy = ask.answer(Status::BUSY).unwrap();
    assert_eq!((busy.header, busy.body), (MadHeader { status: Status::BUSY, ..header }, Octets([0; 232])));
    assert!(ask.answer_with(&PortInfo::default()).is_err(), "not what was asked for");
    // The paths of a directed route are no data.
    let path: DrPath = "0,1,5".parse().unwrap();
    let ask = Mad::from(DrSmp::set(&path, 1, tid, &PortInfo { lid: Lid::new(3), ..PortInfo::default() }));
    let answer = ask.answer(Status::OK).unwrap();
    let smp = answer.datagram::<DrSmp>().unwrap();
    assert_eq!((smp.path(), smp.data, smp.method), (Ok(path), Octets([0; 64]), Method::GET_RESP));
    assert!(smp.dr_status.direction(), "on its way back");
    assert!(format!("{answer}").contains("GetResp PortInfo"), "{}", answer);
}

#[test]
fn what_several_classes_have_is_answered_in_each() {
    let able = ClassPortInfo { class_version: 3, redirect_lid: Lid::new(9), ..ClassPortInfo::default() };
    for class in [MgmtClass::PERF, MgmtClass::SUBN_ADM, MgmtClass::DEVICE_MGMT, MgmtClass::BASEBOARD, MgmtClass::BIS] {
        let asked = Mad::get_shared::<ClassPortInfo>(class, 6, TransactionId::new(7));
        let answer = asked.answer_with_shared(&able).unwrap();
        assert_eq!(answer.shared_as::<ClassPortInfo>(), Ok(&able), "{class}");
        let header = MadHeader { method: Method::GET_RESP, ..asked.header };
        assert_eq!(answer.header, header, "{class}");
        assert!(asked.answer_with_shared(&Notice::default()).is_err(), "{class}: it asked for another");
        assert!(answer.answer_with_shared(&able).is_err(), "{class}: nothing answers an answer");
    }
}

#[test]
fn only_a_directed_route_has_another_class_s_attributes() {
    for class in (0..=255).map(MgmtClass::new) {
        let expected = if class == MgmtClass::SUBN_DIRECTED_ROUTE { MgmtClass::SUBN_LID_ROUTED } else { class };
        assert_eq!(class.attribute_class(), expected);
    }
}
