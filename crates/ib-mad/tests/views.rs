//! Datagrams by class: where their data is, what they ask, how they are printed.
use ib_mad::{
    AttributeId, Lid, MadRef, Method, MgmtClass, Status, TransactionId,
    acm::AcmMad,
    as_bytes,
    attribute::Structure,
    notice::Notice,
    registry,
    sa::{PathMask, PathRecord, Query, SaMad},
    smp::{DrPath, DrSmp, NodeInfo, PortInfo, Smp},
    umad::{Frame, Layout, UmadHeader},
    wire::{Be32, Host32},
};

const TID: TransactionId = TransactionId::new(0x77);

/// A datagram of this class, each byte of it the number of its place.
fn numbered(class: MgmtClass) -> [u8; 256] {
    let mut bytes: [u8; 256] = core::array::from_fn(|index| u8::try_from(index).unwrap());
    bytes[1] = class.get();
    bytes
}

#[test]
fn data_follow_the_headers_of_the_class() {
    for (class, first, length) in [
        (MgmtClass::SUBN_ADM, 56, 200),
        (MgmtClass::SUBN_LID_ROUTED, 64, 192),
        (MgmtClass::SUBN_DIRECTED_ROUTE, 64, 64),
        (MgmtClass::PERF, 64, 192),
        (MgmtClass::COMM_MGMT, 24, 232),
        (MgmtClass::ACM, 16, 240),
        (MgmtClass::new(0x30), 40, 216),
        (MgmtClass::new(0x4f), 40, 216),
        (MgmtClass::new(0x50), 24, 232),
        (MgmtClass::new(0x09), 24, 232),
    ] {
        let bytes = numbered(class);
        let data = MadRef::new(&bytes).unwrap().data();
        assert_eq!((data.first(), data.len()), (Some(&first), length), "{class}");
    }
    let bytes = numbered(MgmtClass::SUBN_LID_ROUTED);
    assert_eq!(MadRef::new(&bytes).unwrap().directed_route(), None);
}

#[test]
fn queries_say_what_they_ask_and_others_do_not() {
    let query = Query::<PathRecord>::new().dlid(Lid::new(7));
    for (method, mask, asks) in [
        (Method::GET, PathMask::DLID, true),
        (Method::GET, PathMask::empty(), true),
        (Method::SET, PathMask::DLID, true),
        (Method::SET, PathMask::empty(), false),
        (Method::GET_RESP, PathMask::DLID, false),
    ] {
        let mad = Query::with_mask(*query.record(), mask).mad(method, TID);
        assert_eq!(MadRef::new(as_bytes(&mad)).unwrap().asked().is_some(), asks, "{method} {mask:?}");
    }
}

#[test]
fn attributes_are_those_of_their_class_and_number() {
    let smp = Smp::get::<NodeInfo>(0, TID);
    let view = MadRef::new(as_bytes(&smp)).unwrap();
    assert!(view.attribute_as::<NodeInfo>().is_ok());
    assert!(view.attribute_as::<PortInfo>().is_err(), "another number");
    let mut other = smp;
    other.header.mgmt_class = MgmtClass::PERF;
    assert!(MadRef::new(as_bytes(&other)).unwrap().attribute_as::<NodeInfo>().is_err(), "another class");
    let name = |class, id| registry::attribute(class, id).map(|placed| placed.structure.name);
    assert_eq!(name(MgmtClass::SUBN_LID_ROUTED, AttributeId::new(0x11)), Some("NodeInfo"));
    assert_eq!(name(MgmtClass::SUBN_DIRECTED_ROUTE, AttributeId::new(0x11)), Some("NodeInfo"));
    assert_eq!(name(MgmtClass::SUBN_ADM, AttributeId::PATH_RECORD), Some("PathRecord"));
    assert_eq!(name(MgmtClass::PERF, AttributeId::new(0x7777)), None);
}

#[test]
fn notices_are_found_in_both_classes() {
    for (class, of_its_own) in
        [(MgmtClass::SUBN_LID_ROUTED, true), (MgmtClass::SUBN_ADM, true), (MgmtClass::ACM, false)]
    {
        let mut mad = SaMad::request(Method::REPORT, AttributeId::NOTICE, TID);
        mad.header.mgmt_class = class;
        let attribute = MadRef::new(as_bytes(&mad)).unwrap().attribute().unwrap();
        assert_eq!(attribute.notice().is_some(), of_its_own, "{class}");
        if let Some(notice) = attribute.notice() {
            assert_eq!(notice, &Notice::default());
            let (one_line, lines) = (attribute.to_string(), format!("{attribute:#}"));
            assert!(one_line.ends_with(&format!(" {}", notice.details())) && !one_line.contains('\n'), "{one_line}");
            assert!(lines.ends_with(&format!("{:#}", notice.details())) && lines.contains('\n'), "{lines}");
        }
    }
}

#[test]
fn a_table_without_records_has_no_attribute() {
    let unknown = |mad: &SaMad| {
        let text = MadRef::new(as_bytes(mad)).unwrap().attribute().unwrap();
        text.structure().is_none()
    };
    let mut mad = SaMad::request(Method::GET_TABLE_RESP, AttributeId::PATH_RECORD, TID);
    assert!(!unknown(&mad));
    mad.rmpp.version = 1;
    mad.rmpp.rmpp_type = ib_mad::rmpp::RmppType::DATA;
    mad.rmpp.flags = mad.rmpp.flags.with_active(true).with_first(true).with_last(true);
    for (payload, empty) in [(20, true), (84, false)] {
        mad.rmpp.data2 = Be32::new(payload);
        assert_eq!(unknown(&mad), empty, "{payload}");
    }
    // A segment in the middle goes on anywhere in a record.
    mad.rmpp.flags = mad.rmpp.flags.with_first(false);
    assert!(unknown(&mad));
    mad.rmpp.flags = mad.rmpp.flags.with_first(true).with_last(false);
    assert!(!unknown(&mad));
    mad.rmpp.rmpp_type = ib_mad::rmpp::RmppType::ACK;
    assert!(unknown(&mad), "an acknowledgement has no data");
}

#[test]
fn a_line_says_class_method_attribute_and_status() {
    let text = |bytes: &[u8]| MadRef::new(bytes).unwrap().to_string();
    let mut smp = Smp::get::<NodeInfo>(3, TID);
    let head = text(as_bytes(&smp));
    assert!(head.contains("NodeInfo modifier 0x3 tid ") && !head.contains("status 0x"), "{head}");
    smp.header.status = Status::new(0x1c);
    assert!(text(as_bytes(&smp)).contains(" status 0x001c ("), "{}", text(as_bytes(&smp)));
    smp.header.status = Status::new(0x7f00);
    assert!(text(as_bytes(&smp)).contains(" status 0x7f00: "), "no words: {}", text(as_bytes(&smp)));
    // The upper bit of a directed route's is its direction.
    let mut route = DrSmp::get::<NodeInfo>(&DrPath::try_from(&[1, 2][..]).unwrap(), 0, TID);
    assert!(text(as_bytes(&route)).contains(" hop 0/2: "), "{}", text(as_bytes(&route)));
    route.dr_status = route.dr_status.with_direction(true);
    assert!(text(as_bytes(&route)).contains(" hop 0/2 back: "), "{}", text(as_bytes(&route)));
    let acm = AcmMad { mgmt_class: MgmtClass::ACM, ..AcmMad::default() };
    assert!(!text(as_bytes(&acm)).contains("attribute 0x"), "{}", text(as_bytes(&acm)));
    let unknown = Smp::get::<NodeInfo>(0, TID);
    let mut unknown = unknown;
    unknown.header.attribute_id = AttributeId::new(0x7777);
    unknown.data.0[1] = 0xab;
    let said = text(as_bytes(&unknown));
    assert!(said.contains(" attribute 0x7777 ") && said.ends_with(": data 00ab (192 bytes)"), "{said}");
    let mut path = Query::<PathRecord>::new().get(TID);
    assert!(!text(as_bytes(&path)).contains(" mask "));
    path.sa.component_mask = 8.into();
    path.rmpp.flags = path.rmpp.flags.with_active(true).with_first(true);
    path.rmpp.rmpp_type = ib_mad::rmpp::RmppType::DATA;
    let said = text(as_bytes(&path));
    assert!(said.contains(" mask 0x8") && said.contains(" RMPP ") && !said.contains(" ("), "{said}");
    path.rmpp.status = 1;
    assert!(text(as_bytes(&path)).contains("/0x0 ("), "{}", text(as_bytes(&path)));
}

#[test]
fn structures_have_a_line_for_each_field_and_nested_ones_are_indented() {
    let bytes = [0; 256];
    let structure = Structure::of::<Smp>();
    let dissection = structure.display(&bytes);
    let (line, lines) = (dissection.to_string(), format!("{dissection:#}"));
    assert!(line.starts_with("Smp") && !line.contains('\n'), "{line}");
    assert_eq!(format!("{dissection:?}"), line);
    assert!(lines.starts_with("Smp\n  header\n    base_version "), "{lines}");
    assert!(lines.contains("\n  mkey ") && !lines.contains("reserved"), "{lines}");
    // What is nested is read where it is.
    let mut mad = SaMad::request(Method::GET, AttributeId::PATH_RECORD, TID);
    mad.sa.component_mask = 0x1234.into();
    let lines = format!("{:#}", Structure::of::<SaMad>().display(as_bytes(&mad)));
    assert!(lines.contains("\n  sa\n    sm_key ") && lines.contains("0x1234\n"), "{lines}");
}

#[test]
fn frames_say_what_went_wrong() {
    let mut header = UmadHeader { id: Host32::new(3), lid: Lid::new(9), ..UmadHeader::default() };
    let mad = Query::<PathRecord>::new().get(TID);
    let text = |header: &UmadHeader| {
        let bytes = [as_bytes(header), as_bytes(&mad)].concat();
        Frame::parse(&bytes, Layout::WithPkeyIndex).unwrap().to_string()
    };
    let inner = MadRef::new(as_bytes(&mad)).unwrap().to_string();
    assert_eq!(text(&header), format!("agent 3 LID 9 QP 0x0: {inner}"));
    header.status = Host32::new(110);
    assert_eq!(text(&header), format!("agent 3 LID 9 QP 0x0 errno 110: {inner}"));
}
