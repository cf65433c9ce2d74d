//! Tests of views: attributes by class, and printed text.
use ib_mad::{
    AttributeId, Lid, MadHeader, MadMut, MadRef, Method, MgmtClass, Status, TransactionId, Wire as _,
    acm::AcmMad,
    as_bytes,
    attribute::Structure,
    registry,
    sa::{PathMask, PathRecord, Query, SaMad},
    smp::{DrPath, DrSmp, NodeInfo, PortInfo, Smp},
    umad::{Frame, Layout, UmadHeader},
    wire::{Be32, Host32, InBytes},
};

const TID: TransactionId = TransactionId::new(0x77);

#[test]
fn only_queries_by_component_mask_have_a_query() {
    let query = Query::<PathRecord>::new().dlid(Lid::new(7));
    for (method, mask, is_query) in [
        (Method::GET, PathMask::DLID, true),
        (Method::GET, PathMask::empty(), true),
        (Method::SET, PathMask::DLID, true),
        (Method::SET, PathMask::empty(), false),
        (Method::GET_RESP, PathMask::DLID, false),
    ] {
        let mad = Query::with_mask(*query.record(), mask).request(method, TID);
        assert_eq!(MadRef::new(as_bytes(&mad)).unwrap().query().is_some(), is_query, "{method} {mask:?}");
    }
}

#[test]
fn attribute_is_found_by_class_and_number() {
    let smp = Smp::request(Method::GET, 0, TID, &NodeInfo::ZERO);
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
fn table_without_records_has_no_attribute() {
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
    // A segment after the first starts anywhere in a record.
    mad.rmpp.flags = mad.rmpp.flags.with_first(false);
    assert!(unknown(&mad));
    mad.rmpp.flags = mad.rmpp.flags.with_first(true).with_last(false);
    assert!(!unknown(&mad));
    mad.rmpp.rmpp_type = ib_mad::rmpp::RmppType::ACK;
    assert!(unknown(&mad), "an acknowledgement has no data");
}

#[test]
fn printed_line_has_class_method_attribute_and_status() {
    let text = |bytes: &[u8]| MadRef::new(bytes).unwrap().to_string();
    let mut smp = Smp::request(Method::GET, 3, TID, &NodeInfo::ZERO);
    let head = text(as_bytes(&smp));
    assert!(head.contains("NodeInfo modifier 0x3 tid ") && !head.contains("status 0x"), "{head}");
    smp.header.status = Status::new(0x1c);
    assert!(text(as_bytes(&smp)).contains(" status 0x001c ("), "{}", text(as_bytes(&smp)));
    smp.header.status = Status::new(0x7f00);
    assert!(text(as_bytes(&smp)).contains(" status 0x7f00: "), "no words: {}", text(as_bytes(&smp)));
    // The top bit of the status of a directed route is the direction.
    let mut route = DrSmp::request(Method::GET, &DrPath::try_from(&[1, 2][..]).unwrap(), 0, TID, &NodeInfo::ZERO);
    assert!(text(as_bytes(&route)).contains(" hop 0/2 path 0,1,2: "), "{}", text(as_bytes(&route)));
    route.dr_status = route.dr_status.with_direction(true);
    assert!(text(as_bytes(&route)).contains(" hop 0/2 back path 0,1,2: "), "{}", text(as_bytes(&route)));
    let acm = AcmMad { mgmt_class: MgmtClass::ACM, ..AcmMad::default() };
    assert!(!text(as_bytes(&acm)).contains("attribute 0x"), "{}", text(as_bytes(&acm)));
    let unknown = Smp::request(Method::GET, 0, TID, &NodeInfo::ZERO);
    let mut unknown = unknown;
    unknown.header.attribute_id = AttributeId::new(0x7777);
    unknown.data.0[1] = 0xab;
    let printed = text(as_bytes(&unknown));
    assert!(printed.contains(" attribute 0x7777 ") && printed.ends_with(": data 00ab (192 bytes)"), "{printed}");
    let mut path = Query::<PathRecord>::new().request(Method::GET, TID);
    assert!(!text(as_bytes(&path)).contains(" mask "));
    path.sa.component_mask = 8.into();
    path.rmpp.flags = path.rmpp.flags.with_active(true).with_first(true);
    path.rmpp.rmpp_type = ib_mad::rmpp::RmppType::DATA;
    let printed = text(as_bytes(&path));
    assert!(printed.contains(" mask 0x8") && printed.contains(" RMPP ") && !printed.contains(" ("), "{printed}");
    path.rmpp.status = 1;
    assert!(text(as_bytes(&path)).contains("/0x0 ("), "{}", text(as_bytes(&path)));
}

#[test]
fn alternate_form_prints_one_field_a_line_and_indents_nested_ones() {
    let bytes = [0; 256];
    let structure = Structure::of::<Smp>();
    let dissection = structure.display(&bytes);
    let (line, lines) = (dissection.to_string(), format!("{dissection:#}"));
    assert!(line.starts_with("Smp") && !line.contains('\n'), "{line}");
    assert_eq!(format!("{dissection:?}"), line);
    assert!(lines.starts_with("Smp\n  header\n    base_version "), "{lines}");
    assert!(lines.contains("\n  mkey ") && !lines.contains("reserved"), "{lines}");
    // A nested structure is read at its offset.
    let mut mad = SaMad::request(Method::GET, AttributeId::PATH_RECORD, TID);
    mad.sa.component_mask = 0x1234.into();
    let lines = format!("{:#}", Structure::of::<SaMad>().display(as_bytes(&mad)));
    assert!(lines.contains("\n  sa\n    sm_key ") && lines.contains("0x1234\n"), "{lines}");
}

#[test]
fn printed_frame_has_its_errno() {
    let mut header = UmadHeader { id: Host32::new(3), lid: Lid::new(9), ..UmadHeader::default() };
    let mad = Query::<PathRecord>::new().request(Method::GET, TID);
    let text = |header: &UmadHeader| {
        let bytes = [as_bytes(header), as_bytes(&mad)].concat();
        Frame::parse(&bytes, Layout::WithPkeyIndex).unwrap().to_string()
    };
    let inner = MadRef::new(as_bytes(&mad)).unwrap().to_string();
    assert_eq!(text(&header), format!("agent 3 LID 9 QP 0x0: {inner}"));
    header.status = Host32::new(110);
    assert_eq!(text(&header), format!("agent 3 LID 9 QP 0x0 errno 110: {inner}"));
}

/// Returns a datagram of 256 bytes of this class.
fn whole(class: MgmtClass, id: u16, method: Method) -> [u8; 256] {
    let mut bytes = [0; 256];
    *MadHeader::parse_mut(&mut bytes).unwrap() = MadHeader::new(class, class.version(), method, id.into(), TID);
    bytes
}

#[test]
fn view_distinguishes_responses_and_directed_routes() {
    for (method, is_response) in [(Method::GET, false), (Method::GET_RESP, true)] {
        let bytes = whole(MgmtClass::PERF, 0x12, method);
        assert_eq!(MadRef::new(&bytes).unwrap().is_response(), is_response);
    }
    let by_lid = whole(MgmtClass::SUBN_LID_ROUTED, 0x11, Method::GET);
    let routed = whole(MgmtClass::SUBN_DIRECTED_ROUTE, 0x11, Method::GET);
    let (by_lid, routed) = (MadRef::new(&by_lid).unwrap(), MadRef::new(&routed).unwrap());
    assert!(by_lid.directed_route().is_none() && routed.directed_route().is_some());
    // The paths of a directed route are not part of the data.
    assert_eq!((by_lid.data().len(), routed.data().len()), (192, 64));
    assert!(DrPath::new().is_empty() && !DrPath::new().then(1).unwrap().is_empty());
}

#[test]
fn attributes_of_acm_and_congestion_logs_are_found() {
    let name = |bytes: &[u8]| {
        let attribute = MadRef::new(bytes).unwrap().attribute().unwrap();
        attribute.structure().map(|structure| structure.name)
    };
    assert_eq!(name(&whole(MgmtClass::ACM, 1, Method::GET)), Some("AcmMad"));
    let mut log = whole(MgmtClass::CONGESTION, 0x13, Method::GET_RESP);
    for (kind, expected) in [(1, "CongestionLogSwitch"), (2, "CongestionLogCa")] {
        log[32] = kind;
        assert_eq!(name(&log), Some(expected));
    }
    log[32] = 3;
    assert_eq!(name(&log), None);
}

#[test]
fn notice_forwarded_by_the_sa_is_found() {
    let bytes = whole(MgmtClass::SUBN_ADM, 2, Method::REPORT);
    let attribute = MadRef::new(&bytes).unwrap().attribute().unwrap();
    assert_eq!(attribute.structure().unwrap().name, "SaNotice");
    assert!(attribute.notice().is_some());
    let other = whole(MgmtClass::SUBN_ADM, 0x35, Method::GET_RESP);
    assert!(MadRef::new(&other).unwrap().attribute().unwrap().notice().is_none());
}

#[test]
fn records_without_a_length_end_with_the_last_non_zero_one() {
    let mut bytes = whole(MgmtClass::SUBN_ADM, 0x35, Method::GET_TABLE_RESP);
    // The distance is eight words; tests the first byte of the second record, and the last byte of the first record.
    bytes[45] = 8;
    for (at, records) in [(56, 1), (56 + 63, 1), (56 + 64, 2), (56 + 127, 2)] {
        let mut bytes = bytes;
        bytes[at] = 1;
        let mad = MadRef::new(&bytes).unwrap();
        assert_eq!(mad.records::<PathRecord>().unwrap().count(), records, "{at}");
    }
}

#[test]
fn response_status_on_a_directed_route_keeps_the_direction_bit() {
    for (status, expected) in [(Status::OK, 0x8000), (Status::new(0x0c), 0x800c), (Status::new(0x8004), 0x8004)] {
        let mut header = MadHeader::new(MgmtClass::SUBN_DIRECTED_ROUTE, 1, Method::GET, 0x11.into(), TID);
        header.answer(status).unwrap();
        assert_eq!((header.method, header.status.get()), (Method::GET_RESP, expected));
    }
}

#[test]
fn mutable_view_prints_like_a_view() {
    let mut bytes = whole(MgmtClass::PERF, 0x12, Method::GET);
    let text = format!("{:?}", MadRef::new(&bytes).unwrap());
    assert!(text.contains("attribute_id=PortCounters"), "{text}");
    assert_eq!(format!("{:?}", MadMut::new(&mut bytes).unwrap()), text);
    // In other base versions the ids mean other attributes.
    bytes[0] = 2;
    assert!(format!("{:?}", MadHeader::parse(&bytes).unwrap()).contains("attribute_id=0x0012"));
}

#[test]
fn notice_details_are_printed_in_the_form_of_the_datagram() {
    use ib_mad::notice::{GenericType, Notice, Producer, TrapNumber};
    let notice = Notice {
        generic_type: GenericType::default().with_is_generic(true),
        producer: InBytes::new(Producer::CLASS_MANAGER),
        trap_number: TrapNumber::GID_IN_SERVICE,
        ..Notice::default()
    };
    let mut bytes = whole(MgmtClass::SUBN_LID_ROUTED, 2, Method::TRAP);
    bytes[64..128].copy_from_slice(as_bytes(&notice));
    let (line, lines) = {
        let mad = MadRef::new(&bytes).unwrap();
        (format!("{mad}"), format!("{mad:#}"))
    };
    assert!(line.contains("class manager") && !line.contains('\n'), "{line}");
    assert!(lines.contains("class manager") && lines.lines().count() > 8, "{lines}");
}
