//! Tests of codes, identifiers and small values.
use core::hash::{Hash, Hasher};
use ib_mad::{
    AttributeId, Gid, Lid, LinkSpeed, LinkSpeeds, LinkWidth, LinkWidths, Method, MgmtClass, Mtu, PacketLifeTime, Pkey,
    Qpn, Rate, Selected, Selector, ServiceLevel, Status, TransactionId, VirtualLane, Wire,
    code::{LinkSpeedExt, LinkSpeedExt2, LinkSpeedsExt, VlCap},
    id::Lmc,
    rmpp::{RmppFlags, RmppHeader},
    sa::{JoinState, McMemberRecord, MultiPathMask, MultiPathRecord, PathMask, PathRecord, Query},
    smp::{DrPath, DrSmp, MkeyLmc, NodeInfo, OperationalVls, PortCapability, PortInfo, SlToVlMappingTable},
    wire::{Flags, find, write_bits},
};
use std::collections::hash_map::DefaultHasher;

#[test]
fn widths_speeds_and_lane_codes_have_numbers() {
    let widths = [LinkWidth::X1, LinkWidth::X2, LinkWidth::X4, LinkWidth::X8, LinkWidth::X12, LinkWidth::new(32)];
    assert_eq!(widths.map(LinkWidth::lanes), [Some(1), Some(2), Some(4), Some(8), Some(12), None]);
    let speeds = [LinkSpeed::SDR, LinkSpeed::DDR, LinkSpeed::QDR, LinkSpeed::new(8)];
    assert_eq!(speeds.map(LinkSpeed::mbps), [Some(2_500), Some(5_000), Some(10_000), None]);
    let more = [LinkSpeedExt::FDR, LinkSpeedExt::EDR, LinkSpeedExt::HDR, LinkSpeedExt::NDR, LinkSpeedExt::new(0)];
    assert_eq!(more.map(LinkSpeedExt::mbps), [Some(14_062), Some(25_781), Some(53_125), Some(106_250), None]);
    assert_eq!([LinkSpeedExt2::XDR, LinkSpeedExt2::NONE].map(LinkSpeedExt2::mbps), [Some(212_500), None]);
    let lanes = [VlCap::ONE, VlCap::TWO, VlCap::FOUR, VlCap::EIGHT, VlCap::FIFTEEN, VlCap::new(6)];
    assert_eq!(lanes.map(VlCap::lanes), [Some(1), Some(2), Some(4), Some(8), Some(15), None]);
}

#[test]
fn mtu_codes_have_payload_sizes() {
    for (mtu, bytes) in [(Mtu::B256, 256), (Mtu::B512, 512), (Mtu::B1024, 1024), (Mtu::B2048, 2048), (Mtu::B4096, 4096)]
    {
        assert_eq!((mtu.bytes(), Mtu::from_bytes(bytes)), (Some(bytes), Some(mtu)));
    }
    assert_eq!((Mtu::new(6).bytes(), Mtu::from_bytes(300)), (None, None));
}

#[test]
fn port_speed_is_that_of_the_newest_field() {
    let mut port = PortInfo::default();
    assert_eq!((port.lane_mbps(), port.link_mbps()), (None, None));
    port.link_speed = port.link_speed.with_link_speed_active(LinkSpeed::QDR);
    port.link_width_active = LinkWidth::X4;
    assert_eq!((port.lane_mbps(), port.link_mbps()), (Some(10_000), Some(40_000)));
    // A switch left out the extended speeds, because the modifier of the request did not ask for them.
    port.capability_mask = PortCapability::EXTENDED_SPEEDS;
    assert_eq!((port.lane_mbps(), port.link_mbps()), (None, None));
    let slower = PortInfo { link_speed: port.link_speed.with_link_speed_active(LinkSpeed::DDR), ..port };
    assert_eq!(slower.link_mbps(), Some(20_000), "an extended speed would read as QDR");
    port.ext_speeds = port.ext_speeds.with_link_speed_ext_supported(LinkSpeedsExt::HDR);
    assert_eq!(port.link_mbps(), Some(40_000), "the link runs at QDR");
    port.ext_speeds = port.ext_speeds.with_link_speed_ext_active(LinkSpeedExt::HDR);
    port.link_width_active = LinkWidth::X2;
    assert_eq!((port.lane_mbps(), port.link_mbps()), (Some(53_125), Some(106_250)));
    port.ext_speeds2 = port.ext_speeds2.with_link_speed_ext_active2(LinkSpeedExt2::XDR);
    assert_eq!(port.link_mbps(), Some(425_000));
    let lanes: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xe0];
    let table = SlToVlMappingTable::parse(&lanes).unwrap();
    let lane = |sl| table.lane(ServiceLevel::masked(sl));
    assert_eq!([0, 1, 14, 15].map(lane), [0, 1, 14, 0].map(VirtualLane::masked));
}

#[test]
fn status_text_depends_on_the_class() {
    let status = Status::new(0x0301);
    assert_eq!((status.is_ok(), status.is_busy(), status.general(), status.class_code()), (false, true, 1, 3));
    let quiet = Status::new(0x0300);
    assert_eq!((quiet.is_ok(), quiet.is_busy(), quiet.general()), (false, false, 0));
    assert!(Status::OK.is_ok() && !Status::OK.is_busy());
    let text = |status: Status| [MgmtClass::SUBN_ADM, MgmtClass::PERF].map(|class| status.text(class));
    assert_eq!(text(Status::SA_NO_RECORDS), [Some("SA: no records"), None]);
    let busy = text(Status::BUSY);
    assert!(busy[0].is_some_and(|text| text.contains("busy")) && busy[0] == busy[1], "{busy:?}");
    assert_eq!(text(Status::new(0x7f00)), [None, None]);
}

#[test]
fn vendor_classes_are_two_ranges() {
    let of = |class: u8| {
        let class = MgmtClass::new(class);
        (class.is_vendor(), class.is_vendor_oui())
    };
    assert_eq!([0x08, 0x09, 0x0f, 0x10].map(of), [(false, false), (true, false), (true, false), (false, false)]);
    assert_eq!([0x2f, 0x30, 0x4f, 0x50].map(of), [(false, false), (false, true), (false, true), (false, false)]);
}

#[test]
fn identifiers_are_read_and_printed_in_their_formats() {
    assert_eq!((Qpn::GSI.get(), Qpn::MULTICAST.get()), (1, 0xff_ffff));
    assert_eq!(format!("{} {:?}", Qpn::MULTICAST, Qpn::GSI), "0xffffff 0x1");
    assert_eq!((Lmc::of::<3>().get(), format!("{} {:?}", Lmc::of::<3>(), Lmc::of::<2>())), (3, "3 2".to_owned()));
    assert_eq!(PacketLifeTime::of::<18>().get(), 18);
    for (code, text) in [(0, "4.096 us"), (7, "524.288 us"), (8, "1.048 ms"), (17, "536.870 ms"), (18, "1.073 s")] {
        let time = PacketLifeTime::masked(code);
        assert_eq!((time.to_string(), format!("{time:?}")), (text.to_owned(), text.to_owned()));
    }
    let bytes: [u8; 16] = core::array::from_fn(|index| u8::try_from(index).unwrap() + 1);
    let gid = Gid::from(bytes);
    assert_eq!((<[u8; 16]>::from(gid), format!("{gid:?}")), (bytes, "102:304:506:708:90a:b0c:d0e:f10".to_owned()));
    assert!(Pkey::new(0x8001).same_partition(Pkey::new(1)) && !Pkey::new(0x8001).same_partition(Pkey::new(0x8002)));
}

#[test]
fn selected_has_selector_and_value() {
    let exactly = Selected::exactly(Rate::GBPS_40);
    assert_eq!((exactly.selector(), exactly.value()), (Selector::Exactly, Rate::GBPS_40));
    let less = Selected::new(Selector::LessThan, Rate::GBPS_40);
    assert!(exactly != less && exactly == Selected::exactly(Rate::GBPS_40));
    let hash = |selected: Selected<Rate>| {
        let mut hasher = DefaultHasher::new();
        selected.hash(&mut hasher);
        hasher.finish()
    };
    assert_ne!(hash(exactly), hash(less));
    let texts = [exactly, less].map(|selected| format!("{selected:?}"));
    assert!(texts[0] != texts[1] && texts.iter().all(|text| text.contains("40")), "{texts:?}");
    let record = PathRecord { rate: less, ..PathRecord::default() };
    assert!(format!("{record:?}").contains(&texts[1]), "{record:?}");
}

#[test]
fn directed_route_request_starts_and_ends_at_ports() {
    let tid = TransactionId::new(5);
    let long: Vec<u8> = (1..=63).collect();
    let smp = DrSmp::request(Method::GET, &DrPath::try_from(&long[..]).unwrap(), 9, tid, &NodeInfo::ZERO);
    assert_eq!((smp.base_version, smp.class_version, smp.method), (1, 1, Method::GET));
    assert_eq!((smp.mgmt_class, smp.attribute_id), (MgmtClass::SUBN_DIRECTED_ROUTE, AttributeId::new(0x11)));
    assert_eq!((smp.hop_count, smp.hop_pointer, smp.transaction_id), (63, 0, tid));
    assert_eq!((smp.attribute_modifier.get(), smp.dr_slid, smp.dr_dlid), (9, Lid::PERMISSIVE, Lid::PERMISSIVE));
    assert_eq!((smp.initial_path.0[0], &smp.initial_path.0[1..]), (0, &long[..]));
}

#[test]
fn multi_path_query_has_gids_and_selected_values() {
    let gid = |last: u8| Gid::from([last; 16]);
    let all: Vec<Gid> = (1..=9).map(gid).collect();
    let query = Query::<MultiPathRecord>::new()
        .mtu(Selector::LessThan, Mtu::B1024)
        .rate(Selector::GreaterThan, Rate::GBPS_40)
        .packet_life_time(Selector::Exactly, PacketLifeTime::of::<9>())
        .service_id(0x0102_0304_0506_0708.into())
        .gids(&all[..8], &all[..5]);
    let record = query.record();
    assert_eq!(
        (record.mtu, record.rate),
        (Selected::new(Selector::LessThan, Mtu::B1024), Selected::new(Selector::GreaterThan, Rate::GBPS_40))
    );
    assert_eq!(record.packet_life_time, Selected::exactly(PacketLifeTime::of::<9>()));
    assert_eq!((record.service_id_8msb, record.sgid_count, record.dgid_count), (1, 8, 3));
    assert_eq!((record.gids[7], record.gids[8], record.gids[10]), (gid(8), gid(1), gid(3)));
    let mask = MultiPathMask::MTU_SELECTOR
        | MultiPathMask::MTU
        | MultiPathMask::RATE_SELECTOR
        | MultiPathMask::RATE
        | MultiPathMask::LIFE_SELECTOR
        | MultiPathMask::LIFE
        | MultiPathMask::SERVICE_ID_8MSB
        | MultiPathMask::SERVICE_ID_56LSB
        | MultiPathMask::SGID_COUNT
        | MultiPathMask::DGID_COUNT;
    assert_eq!(query.mask(), mask);
    let record =
        MultiPathRecord { reversible_paths: record.reversible_paths.with_reversible(true).with_num_path(9), ..*record };
    assert_eq!((record.reversible(), record.num_path()), (true, 9));
}

#[test]
fn copy_of_a_selected_value_is_equal() {
    let selected = Selected::new(Selector::LessThan, Mtu::B1024);
    #[expect(clippy::clone_on_copy, reason = "it is what is tested")]
    let copy = selected.clone();
    assert_eq!(copy, selected);
    assert!(Selected::exactly(Mtu::B1024).admits(Mtu::B1024) && !Selected::exactly(Mtu::B1024).admits(Mtu::B2048));
}

#[test]
fn wide_fields_are_compared_in_each_part() {
    for place in 0..16 {
        let mut raw = [0; 16];
        raw[place] = 1;
        let record = PathRecord { dgid: Gid::from(raw), ..PathRecord::default() };
        let query = Query::from_non_zero(record);
        assert_eq!(query.mask(), PathMask::DGID, "byte {place}");
        assert!(query.matches(&record) && !query.matches(&PathRecord::default()), "byte {place}");
    }
}

#[test]
fn query_has_record_and_component_mask() {
    let record = PathRecord { dlid: Lid::new(7), ..PathRecord::default() };
    let query = Query::with_mask(record, PathMask::SLID);
    assert_eq!((query.record().dlid, query.mask()), (Lid::new(7), PathMask::SLID));
    assert_eq!(Query::from_non_zero(record).mask(), PathMask::DLID);
    // A wide field with only its first or last bit set, and the bits beside the middle.
    for byte in [0, 7, 8, 15] {
        let mut dgid = [0; 16];
        dgid[byte] = 1;
        let record = PathRecord { dgid: dgid.into(), ..PathRecord::default() };
        assert_eq!(Query::from_non_zero(record).mask(), PathMask::DGID, "{byte}");
    }
    let query = Query::<PathRecord>::new()
        .rate(Selector::LessThan, Rate::GBPS_40)
        .packet_life_time(Selector::Best, PacketLifeTime::of::<3>());
    assert_eq!(query.record().rate, Selected::new(Selector::LessThan, Rate::GBPS_40));
    assert_eq!(query.record().packet_life_time, Selected::new(Selector::Best, PacketLifeTime::of::<3>()));
    let mask = PathMask::RATE | PathMask::RATE_SELECTOR | PathMask::LIFE | PathMask::LIFE_SELECTOR;
    assert_eq!(query.mask(), mask);
    let mad = Query::<McMemberRecord>::new()
        .join_state(JoinState::FULL_MEMBER)
        .request(Method::DELETE, TransactionId::new(4));
    assert_eq!((mad.header.method, mad.header.attribute_id), (Method::DELETE, AttributeId::MC_MEMBER_RECORD));
    assert_eq!(mad.header.transaction_id, TransactionId::new(4));
}

#[test]
fn selected_values_and_tables_are_read_in_constants() {
    const MTU: Selected<Mtu> = Selected::<Mtu>::ZERO;
    const PARTS: (Selector, Mtu) = (MTU.selector(), MTU.value());
    assert_eq!(PARTS, (Selector::GreaterThan, Mtu::new(0)));
    for (selector, raw) in
        [(Selector::GreaterThan, 0), (Selector::LessThan, 1), (Selector::Exactly, 2), (Selector::Best, 3)]
    {
        let rate = Selected::new(selector, Rate::GBPS_100);
        assert_eq!((ib_mad::as_bytes(&rate), rate.parts()), (&[raw << 6 | 16][..], (selector, Rate::GBPS_100)));
        assert_eq!((rate.selector(), rate.value()), (selector, Rate::GBPS_100));
        let life = Selected::new(selector, PacketLifeTime::masked(0x2a));
        assert_eq!((life.selector(), life.value()), (selector, PacketLifeTime::masked(0x2a)));
    }
    const TABLE: SlToVlMappingTable = SlToVlMappingTable::ZERO;
    const LANE: Option<u8> = TABLE.lanes.raw(15);
    let table = TABLE.lanes.with(1, VirtualLane::masked(7)).with(14, VirtualLane::masked(9));
    assert_eq!(
        (LANE, [0, 1, 14, 15, 16].map(|lane| table.raw(lane))),
        (Some(0), [Some(0), Some(7), Some(9), Some(0), None])
    );
}

#[test]
fn structure_has_the_getters_of_its_words() {
    let lanes = OperationalVls::default().with_operational_vls(VlCap::FOUR).with_filter_raw_inbound(true);
    let port =
        PortInfo { mkey_lmc: MkeyLmc::default().with_lmc(Lmc::of::<3>()), operational: lanes, ..PortInfo::default() };
    assert_eq!((port.lmc(), port.mkey_lmc.lmc()), (Lmc::of::<3>(), Lmc::of::<3>()));
    assert_eq!(
        (port.operational_vls(), port.filter_raw_inbound(), port.filter_raw_outbound()),
        (VlCap::FOUR, true, false)
    );
    let rmpp = RmppHeader { flags: RmppFlags::ZERO.with_active(true).with_resp_time(9), ..RmppHeader::default() };
    assert_eq!((rmpp.active(), rmpp.first(), rmpp.resp_time()), (true, false, 9));
}

/// Returns number, a containment and names of a set of bits, by the trait alone.
fn through_the_trait<F: Flags<Bits = u32>>(bits: u32) -> (u32, bool, Vec<String>) {
    let own = F::from_bits_retain(bits);
    let names = own.iter_names().map(|(name, _)| name.to_owned()).collect();
    (own.bits(), own.contains(F::from_bits_retain(bits & 0x12)), names)
}

#[test]
fn flags_trait_works_for_every_set_of_bits() {
    let named = vec!["IS_SM".to_owned(), "OPTIONAL_IPD".to_owned()];
    assert_eq!(through_the_trait::<PortCapability>(0x12), (0x12, true, named));
    assert_eq!(through_the_trait::<PortCapability>(0), (0, true, vec![]));
    let mask = PathMask::DLID | PathMask::SLID;
    assert!(Flags::contains(&mask, PathMask::SLID) && !Flags::contains(&mask, PathMask::SGID));
}

/// The table in the documentation of PortInfo has every value that stands for something else than itself.
#[test]
fn value_that_stands_for_something_else_is_printed_as_its_table_states() {
    let source = include_str!("../../src/smp/port_info.rs");
    let rows: Vec<Vec<&str>> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("/// | `"))
        .map(|row| row.split('|').map(|cell| cell.trim().trim_end_matches('`')).collect())
        .collect();
    assert_eq!(rows.len(), 16);
    for row in &rows {
        let [path, value, printed, ..] = row[..] else { panic!("{row:?}") };
        let mut bytes = [0; 64];
        let (offset, bits) = find(PortInfo::FIELDS, path).unwrap_or_else(|| panic!("no field {path}"));
        write_bits(&mut bytes, offset, bits, value.parse().unwrap()).unwrap();
        let text = format!("{:?}", PortInfo::parse(&bytes).unwrap());
        let name = path.rsplit('.').next().unwrap();
        let (_, after) =
            text.split_once(&format!("{name}: ")).or_else(|| text.split_once(&format!("{name}="))).unwrap();
        assert!(after.starts_with(printed), "{path} {value}: {after}");
        let next = after[printed.len()..].chars().next();
        assert!(matches!(next, Some(',' | '}' | ' ')), "{path} {value}: {after}");
    }
    // Every number with a name of its own in the types of these fields is in the table.
    let special = LinkWidths::SPECIAL.len() + LinkSpeeds::SPECIAL.len() + LinkSpeedsExt::SPECIAL.len();
    let named = rows.iter().filter(|row| row[0].ends_with("_enabled") && row[1] != "0").count();
    assert_eq!(named, special);
}
