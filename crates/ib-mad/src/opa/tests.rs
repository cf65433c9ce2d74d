//! Tests of Omni-Path layouts, against the offsets that a C compiler gives for opa-ff and Linux, and of the versions.
extern crate std;
use super::*;
use crate::{
    AttributeId, AttributeRef, DecodeError, MadHeader, MadRef, Method, MgmtClass, Pkey, TransactionId, Wire, as_bytes,
    attribute::Attribute,
    notice::{GenericType, TrapNumber},
    perf::PortCounters,
    sa::{PathRecord, Query, SaHeader},
    smp::PortInfo,
    wire::{Be16, Octets, find},
};
use std::{string::ToString as _, vec, vec::Vec};

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn field_offsets_are_those_of_c() {
    fn check<T: Wire>(places: &[(&str, u32)]) {
        for (field, byte) in places {
            assert_eq!(find(T::FIELDS, field).map(|(bit, _)| bit), Some(byte * 8), "{}.{field}", T::NAME);
        }
    }
    check::<OpaNodeInfo>(&[
        ("system_image_guid", 8),
        ("port_guid", 24),
        ("partition_cap", 32),
        ("revision", 36),
        ("port_vendor", 40),
    ]);
    check::<OpaSwitchInfo>(&[
        ("linear_fdb_top", 12),
        ("collective_top", 24),
        ("ip_address_ipv6", 32),
        ("life_time_change", 67),
        ("partition_enforcement_cap", 70),
        ("port_group_cap", 72),
        ("routing_mode", 74),
        ("port0", 76),
        ("multicast_masks", 77),
        ("adaptive_routing", 78),
        ("capability_mask", 80),
        ("capability_mask_collectives", 82),
    ]);
    check::<OpaPortInfo>(&[
        ("flow_control_mask", 4),
        ("vl_preempt_cap", 8),
        ("port_states", 16),
        ("mkey_lmc", 22),
        ("partition_enforcement", 24),
        ("pkey_8b", 26),
        ("mkey_violations", 30),
        ("sm_trap_qp", 37),
        ("sa_qp", 41),
        ("neighbor_port_num", 44),
        ("subnet_time_out", 47),
        ("link_speed", 48),
        ("link_width_supported", 54),
        ("link_width_downgrade", 60),
        ("port_link_mode", 68),
        ("port_mode", 72),
        ("packet_formats_supported", 74),
        ("interleave", 78),
        ("max_lid", 88),
        ("port_error_action", 92),
        ("pass_through_egress_port", 96),
        ("mkey_lease_period", 98),
        ("buffer_units", 100),
        ("bundle_next_port", 106),
        ("master_sm_lid", 108),
        ("mkey", 112),
        ("subnet_prefix", 120),
        ("neighbor_mtu", 128),
        ("xmit_q", 144),
        ("ip_address_ipv6", 176),
        ("neighbor_node_guid", 208),
        ("capability_mask", 216),
        ("capability_mask3", 222),
        ("overall_buffer_space", 228),
        ("replay_depth_high", 230),
        ("diag_code", 232),
        ("replay_depth", 234),
        ("neighbor_mode", 236),
        ("mtu_cap", 237),
        ("resp_time", 238),
        ("local_port_num", 239),
    ]);
    check::<OpaPathRecord>(&[("dlid", 40), ("slid", 44), ("flow_hop", 48), ("pkey", 54), ("qos_sl", 58), ("mtu", 60)]);
    check::<OpaPortStatus>(&[
        ("port_xmit_data", 8),
        ("port_xmit_wait", 56),
        ("port_xmit_wait_data", 104),
        ("port_rcv_constraint_errors", 128),
        ("fm_config_errors", 192),
        ("link_downed", 204),
        ("link_quality", 209),
    ]);
    check::<OpaDataPortCounters>(&[("vl_select_mask", 32), ("resolution", 36), ("first", 40)]);
    check::<OpaDataCounters>(&[("link_quality", 4), ("port_xmit_wait_data", 104), ("port_error_counter_summary", 128)]);
    check::<OpaErrorPortCounters>(&[("vl_select_mask", 32), ("first", 40)]);
    check::<OpaErrorCounters>(&[("fm_config_errors", 72), ("link_downed", 84), ("uncorrectable_errors", 88)]);
    check::<OpaVlDataCounters>(&[("port_vl_xmit_wait", 32), ("port_vl_mark_fecn", 96)]);
    check::<OpaVlStatus>(&[("port_vl_xmit_discards", 104)]);
    check::<OpaDirectedRoute>(&[("dr_dlid", 4), ("initial_path", 8), ("return_path", 72)]);
    check::<OpaClearPortStatus>(&[("counter_select_mask", 32)]);
    check::<OpaErrorInfo>(&[("error_info_select_mask", 32), ("first", 40)]);
    check::<OpaPortErrors>(&[
        ("port_rcv_error", 8),
        ("port_rcv_error_flits", 9),
        ("excessive_buffer_overrun", 32),
        ("port_xmit_constraint_error", 40),
        ("port_rcv_constraint_error.pkey", 50),
        ("port_rcv_constraint_error.slid", 52),
        ("port_rcv_switch_relay_error", 56),
        ("port_rcv_switch_relay_info", 60),
        ("uncorrectable_error", 64),
        ("fm_config_error", 66),
        ("fm_config_info", 67),
    ]);
    check::<OpaNotice>(&[
        ("producer", 1),
        ("trap_number", 4),
        ("toggle_count", 6),
        ("issuer_lid", 8),
        ("issuer_gid", 16),
        ("data_details", 32),
    ]);
    check::<OpaCapabilityTrap>(&[("capability_mask", 4), ("capability_mask3", 10), ("changes", 12)]);
    check::<OpaSystemImageTrap>(&[("lid", 8)]);
    check::<OpaBadMkeyTrap>(&[("method", 8), ("dr", 9), ("attribute_id", 10), ("mkey", 16), ("dr_return_path", 24)]);
    check::<OpaBadKeyTrap>(&[("key", 8), ("sl", 12), ("gid1", 16), ("gid2", 32), ("qp1", 49), ("qp2", 53)]);
    check::<OpaBadSwitchPkeyTrap>(&[("pkey", 2), ("lid1", 4), ("sl", 12), ("gid1", 16), ("qp1", 49), ("qp2", 53)]);
    check::<OpaNodeRecord>(&[("node_info", 8), ("node_description", 52)]);
    check::<OpaPortInfoRecord>(&[("port_num", 4), ("port_info", 8), ("link_down_reasons", 250)]);
    check::<OpaLinkDown>(&[("neighbor_link_down_reason", 6), ("link_down_reason", 7), ("timestamp", 8)]);
    check::<OpaLinkRecord>(&[("from_port", 4), ("to_port", 5), ("to_lid", 8)]);
    check::<OpaMcMemberRecord>(&[
        ("port_gid", 16),
        ("qkey", 32),
        ("mtu", 38),
        ("traffic_class", 39),
        ("pkey", 40),
        ("rate", 42),
        ("packet_life_time", 43),
        ("sl_hop", 44),
        ("scope_state", 48),
        ("proxy_join", 49),
        ("mlid", 52),
    ]);
}

#[test]
fn bit_positions_are_those_of_c() {
    let lmc = |byte: u8| *OpaMkeyLmc::parse(&[byte]).unwrap();
    assert_eq!([0x08, 0x0f, 0xc0].map(|byte| lmc(byte).lmc().get()), [8, 15, 0]);
    assert_eq!([0x0f, 0x40, 0xc0].map(|byte| lmc(byte).mkey_protect_bits()), [0, 1, 3]);
    // Bit 9 and on of a 32-bit word: LED, configuration started, neighbour, reason; the lowest byte: states.
    let states = OpaPortStates::parse(&[0, 0x53, 0, 0x54]).unwrap();
    assert_eq!(
        (states.led_enabled(), states.is_sm_configuration_started(), states.neighbor_normal()),
        (true, false, true)
    );
    assert_eq!(states.offline_disabled_reason(), OpaOfflineReason::NOT_INSTALLED);
    assert_eq!((states.port_physical_state().get(), states.port_state().get()), (5, 4));
    let states = [9, 10, 11].map(|state| OpaPortPhysicalState::new(state).to_string());
    assert_eq!(states, ["offline", "10", "test"]);
    let units = *OpaBufferUnits::parse(&0b0000_0000_0100_0000_0000_1100_0110_1011_u32.to_be_bytes()).unwrap();
    let all = (units.vl15_init(), units.vl15_credit_rate(), units.credit_ack(), units.buffer_alloc());
    assert_eq!(all, (0x801, 0x11, 5, 3));
    let modes = *OpaLinkModes::parse(&0b0001_0000_0100_0001_u16.to_be_bytes()).unwrap();
    assert_eq!((modes.supported(), modes.enabled(), modes.active()), (4, 2, 1));
    let crc = OpaCrcModes::parse(&[0x0c, 0x42]).unwrap();
    assert_eq!((crc.supported(), crc.enabled(), crc.active()), (0xc, 4, 2));
    let kinds = OpaPacketKinds::parse(&[0b0011_0010]).unwrap();
    assert_eq!((kinds.l2_8b(), kinds.l2_9b(), kinds.l2_16b(), kinds.qos_type()), (false, true, true, 2));
}

/// Returns a datagram of 2,048 bytes with an attribute at an offset.
fn datagram(class: MgmtClass, id: u16, attribute: &[u8], offset: usize) -> Vec<u8> {
    let header = MadHeader {
        base_version: OPA_BASE_VERSION,
        ..MadHeader::new(class, OPA_CLASS_VERSION, Method::GET_RESP, AttributeId::new(id), TransactionId::new(1))
    };
    let mut mad = vec![0; OPA_MAD_SIZE];
    mad[..24].copy_from_slice(as_bytes(&header));
    mad[offset..offset + attribute.len()].copy_from_slice(attribute);
    mad
}

#[test]
fn versions_determine_that_an_attribute_is_of_omni_path() {
    let port = OpaPortInfo { lid: OpaLid::new(0x12_3456), local_port_num: 9, ..OpaPortInfo::default() };
    for (class, offset) in [(MgmtClass::SUBN_LID_ROUTED, 32), (MgmtClass::SUBN_DIRECTED_ROUTE, 176)] {
        let bytes = datagram(class, 0x15, as_bytes(&port), offset);
        let mad = MadRef::new(&bytes).unwrap();
        assert_eq!(mad.attribute(), Ok(AttributeRef::Opa(OpaAttribute::OpaPortInfo(&port))));
        assert_eq!(mad.attribute_as::<PortInfo>(), Err(DecodeError::BadValue { what: "base_version", value: 0x80 }));
        assert!(mad.directed_route().is_none() && mad.opa_directed_route().is_some() == (offset == 176));
        assert!(
            mad.to_string().contains(" OpaPortInfo modifier 0x0 ") && mad.to_string().contains("{lid=1193046, "),
            "{mad}"
        );
    }
    let path = OpaPathRecord { dlid: OpaLid::new(7), ..OpaPathRecord::default() };
    let counters = OpaPortStatus::default();
    for (class, id, attribute, offset, expected) in [
        (MgmtClass::SUBN_ADM, 0x35, as_bytes(&path), 56, OpaAttribute::OpaPathRecord(&path)),
        (MgmtClass::PERF, 0x40, as_bytes(&counters), 24, OpaAttribute::OpaPortStatus(&counters)),
    ] {
        let bytes = datagram(class, id, attribute, offset);
        assert_eq!(MadRef::new(&bytes).unwrap().attribute(), Ok(AttributeRef::Opa(expected)));
    }
    // An attribute id that exists only in InfiniBand.
    let bytes = datagram(MgmtClass::PERF, PortCounters::ATTRIBUTE.get(), &[], 24);
    assert_eq!(MadRef::new(&bytes).unwrap().attribute(), Ok(AttributeRef::Unknown(&bytes[24..])));
}

#[test]
fn opa_paths_are_counted_like_records() {
    let path = |lid| OpaPathRecord { dlid: OpaLid::new(lid), ..OpaPathRecord::default() };
    let sa = SaHeader { attribute_offset: Be16::new(8), ..SaHeader::default() };
    for count in [0_u32, 1, 3, 31] {
        let mut bytes = datagram(MgmtClass::SUBN_ADM, 0x35, as_bytes(&sa), 36);
        bytes[3] = Method::GET_TABLE_RESP.get();
        let payload = 20 + count * 64;
        bytes[24..36].copy_from_slice(&[&[1, 1, 7, 0, 0, 0, 0, 1], &payload.to_be_bytes()[..]].concat());
        (0..count).for_each(|index| {
            let at = 56 + 64 * usize::try_from(index).unwrap();
            bytes[at..at + 64].copy_from_slice(as_bytes(&path(index + 1)));
        });
        bytes.extend([0xee; 4]);
        let mad = MadRef::new(&bytes).unwrap();
        let lids: Vec<u32> = mad.opa_paths().unwrap().map(|path| path.dlid.get()).collect();
        assert_eq!(lids, (1..=count).collect::<Vec<u32>>());
        assert_eq!(
            mad.records::<PathRecord>().map(drop),
            Err(DecodeError::BadValue { what: "base_version", value: 0x80 })
        );
        bytes[0] = 1;
        let mad = MadRef::new(&bytes).unwrap();
        assert_eq!(
            mad.records::<PathRecord>().map(drop),
            Err(DecodeError::BadValue { what: "class_version", value: 0x80 })
        );
        assert!(mad.opa_paths().is_err());
    }
}

#[test]
fn attribute_of_another_version_is_unknown() {
    let mut bytes = datagram(MgmtClass::SUBN_LID_ROUTED, 0x15, &[], 32);
    for (base, class) in [(0, 1), (2, 1), (1, 0x80), (0x80, 1), (1, 2), (0x80, 0x81)] {
        (bytes[0], bytes[2]) = (base, class);
        let mad = MadRef::new(&bytes).unwrap();
        assert_eq!(mad.attribute(), Ok(AttributeRef::Unknown(&bytes[24..])), "{base} {class}");
        assert!(mad.to_string().contains(" attribute 0x0015 "), "{mad}");
    }
    (bytes[0], bytes[2]) = (1, 1);
    assert!(matches!(MadRef::new(&bytes).unwrap().attribute(), Ok(AttributeRef::Smp(_))));
    // A class without Omni-Path datagrams, and a version of subnet administration before RMPP.
    for (class, base, version) in [(MgmtClass::COMM_MGMT, 0x80, 0x80), (MgmtClass::SUBN_ADM, 1, 1)] {
        (bytes[0], bytes[1], bytes[2]) = (base, class.get(), version);
        let mad = MadRef::new(&bytes).unwrap();
        assert!(matches!(mad.attribute(), Ok(AttributeRef::Unknown(_))) && mad.sa().is_none() && mad.rmpp().is_none());
    }
}

#[test]
fn notice_has_the_details_of_its_trap() {
    let capability = OpaCapabilityTrap {
        lid: OpaLid::new(0x1_0002),
        capability_mask3: OpaCapability3::SNOOP,
        changes: OpaLocalChanges::default().with_link_width_downgrade_enabled_change(true),
        ..OpaCapabilityTrap::default()
    };
    assert_eq!(as_bytes(&capability), [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 8]);
    let mut details = [0; 64];
    details[..14].copy_from_slice(as_bytes(&capability));
    let mut notice = OpaNotice {
        generic_type: GenericType::default().with_is_generic(true),
        trap_number: TrapNumber::LOCAL_CHANGES,
        data_details: Octets(details),
        ..OpaNotice::default()
    };
    assert_eq!(notice.details(), OpaTrapDetails::Capability(&capability));
    for (class, offset) in [(MgmtClass::SUBN_LID_ROUTED, 32), (MgmtClass::SUBN_ADM, 56)] {
        let bytes = datagram(class, 2, as_bytes(&notice), offset);
        let text = MadRef::new(&bytes).unwrap().to_string();
        assert!(text.contains("link_width_downgrade_enabled_change=1"), "{text}");
    }
    notice.trap_number = OpaNotice::LINK_WIDTH_TRAP;
    assert!(matches!(notice.details(), OpaTrapDetails::Node(node) if node.lid == OpaLid::new(0x1_0002)));
    notice.trap_number = TrapNumber::new(68);
    assert_eq!(notice.details(), OpaTrapDetails::Unknown(&details));
    notice.trap_number = TrapNumber::LOCAL_CHANGES;
    notice.generic_type = notice.generic_type.with_is_generic(false);
    assert_eq!(notice.details(), OpaTrapDetails::Unknown(&details));
}

#[test]
fn records_of_a_path_tool_are_read_from_tables() {
    let link = |from| OpaLinkRecord { from_lid: OpaLid::new(from), to_port: 7, ..OpaLinkRecord::default() };
    let sa = SaHeader { attribute_offset: Be16::new(2), ..SaHeader::default() };
    let mut bytes = datagram(MgmtClass::SUBN_ADM, 0x20, as_bytes(&sa), 36);
    bytes[3] = Method::GET_TABLE_RESP.get();
    bytes[24..36].copy_from_slice(&[1, 1, 7, 0, 0, 0, 0, 1, 0, 0, 0, 20 + 32]);
    bytes[56..68].copy_from_slice(as_bytes(&link(0x1_0001)));
    bytes[72..84].copy_from_slice(as_bytes(&link(0x1_0002)));
    let mad = MadRef::new(&bytes).unwrap();
    let links: Vec<_> = mad.records::<OpaLinkRecord>().unwrap().copied().collect();
    assert_eq!(links, [link(0x1_0001), link(0x1_0002)]);
    let query = Query::<OpaMcMemberRecord>::new().pkey(Pkey::DEFAULT_FULL).mlid(OpaLid::new(0xf0_0001));
    let request = query.request(Method::GET_TABLE, TransactionId::new(1));
    assert_eq!((request.header.base_version, request.sa.component_mask.get()), (OPA_BASE_VERSION, 0x8_0080));
    assert_eq!(&as_bytes(&request)[56 + 52..][..4], [0, 0xf0, 0, 1]);
}
