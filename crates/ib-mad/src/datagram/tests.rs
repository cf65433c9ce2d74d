//! Tests of datagrams of every class: written, read again, and answered.
#![allow(unreachable_pub, reason = "what `wire!` makes")]
extern crate std;
use super::*;
use crate::{
    AttributeId, Bkey, DecodeError, Lid, MadHeader, MadRef, Method, MgmtClass, Pkey, Status, TransactionId, VendorId,
    acm::AcmMad,
    as_bytes,
    attribute::{Attribute, SharedAttribute},
    baseboard::{BaseboardMad, ReadVpd},
    cm::{CmMad, CmReq},
    congestion::{CongestionInfo, CongestionLogCa, CongestionMad},
    device::{DeviceMad, IoUnitInfo},
    notice::{ClassPortInfo, InformInfo, Notice},
    perf::{PerfMad, PortCounters},
    sa::{PathRecord, Query, SaMad},
    smp::{DrPath, DrSmp, NodeInfo, PortInfo, Smp},
    vendor::{OPENIB_OUI, VendorMad, VendorOuiMad},
    wire,
    wire::{Be32, Octets},
};
use proptest::prelude::*;
use std::{format, string::ToString as _, vec::Vec};

wire!(
    /// An attribute of a vendor's class.
    pub struct Ping [8] {
        /// First field.
        pub number: Be32,
        /// Second field.
        pub text: Octets<4>,
    }
);
impl Attribute for Ping {
    const CLASS: MgmtClass = MgmtClass::new(0x32);
    const ATTRIBUTE: AttributeId = AttributeId::new(0x77);
    const OUI: Option<VendorId> = Some(OPENIB_OUI);
}

/// Checks that a written attribute is read back, is at the class's offset, and that all other bytes are as expected.
fn check_written_and_read<A: Attribute + PartialEq>(bytes: &[u8], at: usize, version: u8) -> Result<(), TestCaseError> {
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
    fn written_attribute_is_read_back(bytes in proptest::collection::vec(any::<u8>(), 256)) {
        check_written_and_read::<PortInfo>(&bytes, 64, 1)?;
        check_written_and_read::<PathRecord>(&bytes, 56, 2)?;
        check_written_and_read::<PortCounters>(&bytes, 64, 1)?;
        check_written_and_read::<ReadVpd>(&bytes, 64, 1)?;
        check_written_and_read::<IoUnitInfo>(&bytes, 64, 1)?;
        check_written_and_read::<CmReq>(&bytes, 24, 2)?;
        check_written_and_read::<CongestionInfo>(&bytes, 64, 2)?;
        check_written_and_read::<CongestionLogCa>(&bytes, 32, 2)?;
        check_written_and_read::<Ping>(&bytes, 40, 1)?;
    }

    #[test]
    fn shared_attribute_is_read_by_class(bytes in proptest::collection::vec(any::<u8>(), 72), class in any::<u8>()) {
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

#[test]
fn three_classes_have_version_2() {
    let known: Vec<u8> =
        MgmtClass::KNOWN.iter().filter(|(class, _)| class.version() == 2).map(|it| it.0.get()).collect();
    assert_eq!(known, [3, 7, 0x21]);
}

#[test]
fn datagram_of_a_class_has_its_headers() {
    let tid = TransactionId::new(1);
    let mut mad = Mad::request(Method::GET, 0, tid, &ReadVpd::ZERO);
    mad.datagram_mut::<BaseboardMad>().unwrap().bkey = Bkey::from(5);
    assert_eq!(as_bytes(&mad)[31], 5);
    let other = DecodeError::BadValue { what: "mgmt_class", value: 5 };
    assert_eq!(mad.datagram::<Smp>(), Err(other));
    assert_eq!(mad.datagram_mut::<CmMad>(), Err(other));
    let query = Query::<PathRecord>::new().pkey(Pkey::DEFAULT_FULL).request(Method::GET, tid);
    assert_eq!(Mad::from(query).datagram::<SaMad>(), Ok(&query));
    let ping = Mad::request(Method::GET, 0, tid, &Ping::ZERO);
    assert_eq!(ping.datagram::<VendorOuiMad>().unwrap().oui.get(), OPENIB_OUI);
    assert_eq!(
        Mad::from(Smp::request(Method::GET, 2, tid, &NodeInfo::ZERO)),
        Mad::request(Method::GET, 2, tid, &NodeInfo::ZERO)
    );
    let set = PortInfo { lid: Lid::new(5), ..PortInfo::default() };
    let directed = DrSmp::request(Method::SET, &DrPath::default(), 2, tid, &set);
    assert_eq!(Mad::from(directed).attribute_as(), Ok(&set));
}

/// Written for all structures of datagrams, each with a class of its own.
#[test]
fn datagram_of_another_class_is_not_parsed() {
    let classes = [0x01, 0x81, 0x03, 0x04, 0x05, 0x06, 0x07, 0x21, 0x2c, 0x09, 0x30];
    for class in 0..=255 {
        let mut bytes = [0; 256];
        bytes[1] = class;
        let parsed = [
            Smp::parse(&bytes).map(as_bytes),
            DrSmp::parse(&bytes).map(as_bytes),
            SaMad::parse(&bytes).map(as_bytes),
            PerfMad::parse(&bytes).map(as_bytes),
            BaseboardMad::parse(&bytes).map(as_bytes),
            DeviceMad::parse(&bytes).map(as_bytes),
            CmMad::parse(&bytes).map(as_bytes),
            CongestionMad::parse(&bytes).map(as_bytes),
            AcmMad::parse(&bytes).map(as_bytes),
            VendorMad::parse(&bytes).map(as_bytes),
            VendorOuiMad::parse(&bytes).map(as_bytes),
        ];
        for (parsed, own) in parsed.iter().zip(classes) {
            // The vendor classes are two ranges.
            let is_own = match own {
                0x09 => (0x09..=0x0f).contains(&class),
                0x30 => (0x30..=0x4f).contains(&class),
                own => own == class,
            };
            let other = DecodeError::BadValue { what: "mgmt_class", value: class.into() };
            assert_eq!(*parsed, if is_own { Ok(&bytes[..]) } else { Err(other) }, "{own:#x} {class:#x}");
        }
    }
    assert_eq!(SaMad::parse(&[3; 255]), Err(DecodeError::TooShort { what: "SaMad", need: 256, got: 255 }));
}

#[test]
fn error_response_has_no_attribute() {
    let port = PortCounters { port_select: 2, ..PortCounters::default() };
    let mut request = Mad::request(Method::GET, 0, TransactionId::new(1), &port);
    // Only a response has a status.
    request.header.status = Status::BUSY;
    assert_eq!(request.attribute_as::<PortCounters>(), Ok(&port));
    let answer = request.answer(Status::INVALID_FIELD).unwrap();
    let error = DecodeError::ErrorResponse { status: 0x1c };
    assert_eq!(answer.attribute_as::<PortCounters>(), Err(error));
    assert_eq!(error.to_string(), "the response has no data: status 0x001c");
    assert_eq!((error.status(), MadRef::new(&[]).unwrap_err().status()), (Some(Status::INVALID_FIELD), None));
    let info = Mad::request_shared(MgmtClass::PERF, Method::GET, 0, TransactionId::new(1), &ClassPortInfo::ZERO);
    assert!(info.answer(Status::REDIRECT).unwrap().shared_as::<ClassPortInfo>().is_ok(), "it has the other port");
    let error = DecodeError::ErrorResponse { status: 1 };
    assert_eq!(info.answer(Status::BUSY).unwrap().shared_as::<ClassPortInfo>(), Err(error));
    // The direction bit of a directed route is no error.
    let smp = Mad::from(DrSmp::request(Method::GET, &DrPath::default(), 0, TransactionId::new(1), &NodeInfo::ZERO));
    assert!(smp.answer(Status::OK).unwrap().attribute_as::<NodeInfo>().is_ok());
    assert!(smp.answer(Status::BUSY).unwrap().attribute_as::<NodeInfo>().is_err());
}

#[test]
fn attribute_of_another_class_number_or_vendor_is_rejected() {
    let tid = TransactionId::new(1);
    let mad = Mad::request(Method::GET, 0, tid, &NodeInfo::ZERO);
    assert!(mad.attribute_as::<PortInfo>().is_err() && mad.attribute_as::<PortCounters>().is_err());
    assert!(mad.shared_as::<Notice>().is_err());
    let mut ping = Mad::request(Method::GET, 0, tid, &Ping::ZERO);
    assert_eq!(ping.attribute_as::<Ping>(), Ok(&Ping::default()));
    ping.datagram_mut::<VendorOuiMad>().unwrap().oui = VendorId::checked(0x2c9).unwrap().into();
    let other = DecodeError::BadValue { what: "oui", value: 0x2c9 };
    assert_eq!(ping.attribute_as::<Ping>(), Err(other));
}

#[test]
fn response_has_headers_of_the_request_and_new_data() {
    let tid = TransactionId::new(9);
    let ask = Mad::request(Method::GET, 2, tid, &PortCounters { port_select: 2, ..PortCounters::default() });
    let counters = PortCounters { port_select: 2, port_rcv_data: 77.into(), ..PortCounters::default() };
    let answer = ask.answer_with(&counters).unwrap();
    assert_eq!(answer.attribute_as::<PortCounters>(), Ok(&counters));
    let header = MadHeader { method: Method::GET_RESP, ..ask.header };
    assert_eq!(answer.header, header);
    let busy = ask.answer(Status::BUSY).unwrap();
    assert_eq!((busy.header, busy.body), (MadHeader { status: Status::BUSY, ..header }, Octets([0; 232])));
    assert!(ask.answer_with(&PortInfo::default()).is_err(), "an attribute of another type");
    // The paths of a directed route stay as they are.
    let path: DrPath = "0,1,5".parse().unwrap();
    let ask =
        Mad::from(DrSmp::request(Method::SET, &path, 1, tid, &PortInfo { lid: Lid::new(3), ..PortInfo::default() }));
    let answer = ask.answer(Status::OK).unwrap();
    let smp = answer.datagram::<DrSmp>().unwrap();
    assert_eq!((smp.path(), smp.data, smp.method), (Ok(path), Octets([0; 64]), Method::GET_RESP));
    assert!(smp.dr_status.direction(), "on its way back");
    assert!(format!("{answer}").contains("GetResp PortInfo"), "{}", answer);
}

#[test]
fn shared_attribute_is_answered_in_each_class() {
    let info = ClassPortInfo { class_version: 3, redirect_lid: Lid::new(9), ..ClassPortInfo::default() };
    for class in [MgmtClass::PERF, MgmtClass::SUBN_ADM, MgmtClass::DEVICE_MGMT, MgmtClass::BASEBOARD, MgmtClass::BIS] {
        let request = Mad::request_shared(class, Method::GET, 6, TransactionId::new(7), &ClassPortInfo::ZERO);
        let answer = request.answer_with_shared(&info).unwrap();
        assert_eq!(answer.shared_as::<ClassPortInfo>(), Ok(&info), "{class}");
        let header = MadHeader { method: Method::GET_RESP, ..request.header };
        assert_eq!(answer.header, header, "{class}");
        assert!(request.answer_with_shared(&Notice::default()).is_err(), "{class}: an attribute of another type");
        assert!(answer.answer_with_shared(&info).is_err(), "{class}: a response has no response");
    }
}

#[test]
fn only_directed_routes_have_attributes_of_another_class() {
    for class in (0..=255).map(MgmtClass::new) {
        let expected = if class == MgmtClass::SUBN_DIRECTED_ROUTE { MgmtClass::SUBN_LID_ROUTED } else { class };
        assert_eq!(class.attribute_class(), expected);
    }
}
