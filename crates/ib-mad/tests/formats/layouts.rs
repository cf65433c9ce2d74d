//! Datagrams of devices and of other software, with their text.
use ib_mad::{
    AttributeRef, MadRef, MgmtClass, PortState, Wire, as_bytes,
    baseboard::{BkeyInfo, BmStatus, ReadVpd, VpdRange},
    notice::{TrapDetails, TrapNumber},
    perf::{PortSamplesResultExtended, SampleStatus},
    smp::{HierarchyInfo, MlnxExtendedPortInfo, SpecialPortType, SwitchPortStateTable, UnhealthyReason},
};

/// Returns the bytes of a text in hex, in which `zN` stands for N zero bytes.
fn bytes(text: &str) -> Vec<u8> {
    let word = |word: &str| match word.strip_prefix('z') {
        Some(count) => vec![0; count.parse().unwrap()],
        None => (0..word.len()).step_by(2).map(|at| u8::from_str_radix(&word[at..at + 2], 16).unwrap()).collect(),
    };
    text.split_whitespace().flat_map(word).collect()
}

#[test]
fn speed_beside_those_of_port_info_is_fdr10() {
    let mad = bytes("01010181 z10 1234 ff90 z5 01 z47 01 z3 01 z3 01 z176");
    let seen = MadRef::new(&mad).unwrap();
    let text = seen.to_string();
    assert!(
        text.starts_with("SubnLidRouted GetResp MlnxExtendedPortInfo modifier 0x1 tid 0x0000000000001234: "),
        "{text}"
    );
    for field in ["link_speed_supported=FDR10", "link_speed_enabled=FDR10", "link_speed_active=FDR10"] {
        assert!(text.contains(field), "{text}");
    }
    let info: &MlnxExtendedPortInfo = seen.attribute_as().unwrap();
    assert_eq!(info.link_speed_active.mbps(), Some(10_312));
}

#[test]
fn congestion_log_of_a_channel_adapter_is_that_of_opensm() {
    let entry = bytes("00004800 00040531 0004 0000 00000fa0");
    let entry = ib_mad::congestion::CaLogEntry::parse(&entry).unwrap();
    assert_eq!(
        format!("{entry:?}"),
        "CaLogEntry{local_qp=0x48, remote={remote_qp=0x405, sl=3, service_type=UC}, remote_lid=4, timestamp=0xfa0}"
    );
}

#[test]
fn fields_of_mellanox_ports_are_those_of_ibutils2() {
    let mut raw = [0; 64];
    raw[0] = 0xb0;
    raw[4..8].copy_from_slice(&[0x06, 0x05, 8, 1]);
    raw[12..18].copy_from_slice(&[0x20, 0x20, 0x1e, 0, 0x30, 0x25]);
    raw[44] = 0xd0;
    raw[47] = 0x81;
    raw[60..64].copy_from_slice(&[0, 4, 0, 12]);
    let info = MlnxExtendedPortInfo::parse(&raw).unwrap();
    assert_eq!(info.unhealthy_reason, UnhealthyReason::CONTAIN_AND_DRAIN);
    assert_eq!(
        (info.functions.ame(), info.functions.router_lid_enabled(), info.functions.port_recovered()),
        (true, true, true)
    );
    assert_eq!((info.bandwidth.bw_util_enabled(), info.bandwidth.bw_utilization()), (true, 0x205));
    assert_eq!((info.rs_fec.active_rs_fec_data(), info.rs_fec.active_rs_fec_parity()), (514, 30));
    let modes = info.modes_admin;
    assert_eq!(
        (modes.retrans_mode(), modes.fec_mode_active(), modes.nmx_admin_state(), modes.smp_disabled()),
        (3, 2, 2, true)
    );
    assert_eq!((info.port_use.is_fnm_port(), info.port_use.access_trunk()), (true, true));
    assert_eq!(info.special_port.special_port_type(), SpecialPortType::AGGREGATION_NODE);
    assert_eq!((info.xdr_fec_mode_enabled.get(), info.xdr_fec_mode_supported.get()), (4, 12));
}

#[test]
fn hierarchy_has_the_data_of_its_levels() {
    let raw = bytes("0002c903 00112233 02 01 30 00 00000007 00000009 ffffffff z40");
    let info = HierarchyInfo::parse(&raw).unwrap();
    assert_eq!((info.levels.active_levels(), info.level_data[1].get()), (3, 9));
    let text = "HierarchyInfo{template_guid=0x0002c90300112233, max_supported_index=2, max_active_index=1, \
        levels={active_levels=3}, level_data=[0x7 0x9 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0]}";
    assert_eq!(format!("{info:?}"), text);
}

#[test]
fn states_of_switch_ports_have_four_bits_each() {
    let raw = bytes("41 20 z62");
    let table = SwitchPortStateTable::parse(&raw).unwrap();
    let state = |port| table.states.get(port);
    assert_eq!([0, 1, 2, 3].map(state), [4, 1, 2, 0].map(|state| Some(PortState::new(state))));
    assert_eq!((state(127), state(128)), (Some(PortState::NO_CHANGE), None));
}

#[test]
fn baseboard_management_has_key_product_data_and_events() {
    let key = bytes("0000000000000042 8000 0e10 0003");
    assert_eq!(
        format!("{:?}", BkeyInfo::parse(&key).unwrap()),
        "BkeyInfo{bkey=0x0000000000000042, protect={bkey_protect_bit=1}, bkey_lease_period=3600, bkey_violations=3}"
    );
    // The request of ibis: 16 bytes at offset 0x3e of the device 0xa0.
    let range = VpdRange { device_selector: 0xa0, byte_count: 16.into(), offset: 0x3e.into() };
    let request = ReadVpd::request(7, &range);
    assert_eq!(as_bytes(&request)[..9], bytes("0007 fe 05 a0 0010 003e"));
    assert_eq!(request.range(), range);
    let response = bytes("0007 fe 03 45 1234 z185");
    assert_eq!(ReadVpd::parse(&response).unwrap().bm_status(), BmStatus::ILLEGAL_OFFSET);
    let mut event = [0; 54];
    event[..6].copy_from_slice(&[1, 4, 0, 1, 2, 0x99]);
    let details = TrapDetails::new(MgmtClass::BASEBOARD, TrapNumber::new(260), &event);
    assert!(
        details.to_string().starts_with("BmTrap{data_length=1, trap_type=CME, trap_type_modifier=000102, trap_data=99"),
        "{details}"
    );
    assert!(matches!(
        TrapDetails::new(MgmtClass::SUBN_LID_ROUTED, TrapNumber::new(260), &event),
        TrapDetails::Unknown(_)
    ));
}

#[test]
fn wide_counters_and_their_key_are_read() {
    let mad = bytes("01040181 z4 z7 05 0038 z2 z4 00000000000000ab z32 00 02 0000 z4 0000000100000000 z120 z56");
    let seen = MadRef::new(&mad).unwrap();
    assert!(matches!(seen.attribute(), Ok(AttributeRef::Perf(_))));
    assert!(seen.to_string().ends_with("PortXmitDataSlExt{port_select=2, counter_select=0x0000, port_xmit_data_sl=[4294967296 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]}"));
    let owned = ib_mad::perf::PerfMad::parse(&mad).unwrap();
    assert_eq!(owned.pm_key, "0xab".parse().unwrap());
    let mad = bytes("01040181 z4 z7 05 001e z2 z4 z40 0102 0000 80000000 0000000100000000 z112 z64");
    let seen: &PortSamplesResultExtended = MadRef::new(&mad).unwrap().attribute_as().unwrap();
    assert_eq!(
        (seen.tag.get(), seen.state.sample_status(), seen.width.extended_width()),
        (0x102, SampleStatus::DONE, 2)
    );
    assert_eq!(seen.counter[0].get(), 1 << 32);
}
