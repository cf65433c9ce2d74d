//! Capability bits and the fields that they announce.
use ib_mad::{
    congestion::CongestionCapability,
    notice::ClassCapability,
    perf::{PerfCapability, PerfCapability2},
    registry,
    sa::{SaCapability, SaCapability2},
    smp::{PortCapability, PortCapability2},
    wire::find,
};
use std::collections::BTreeMap;

/// Bit and structure with the path of a field, or the reason why there is none.
type Row = (&'static str, Result<(&'static str, &'static str), &'static str>);

/// The bit is about what the node does.
const BEHAVIOUR: &str = "no field";
/// The specification has a field, and no public source states its place.
const NOT_PUBLIC: &str = "not public";

const PORT: &[Row] = &[
    ("IsSM", Ok(("SmInfo", "priority_state.sm_state"))),
    ("IsNoticeSupported", Ok(("Notice", "trap_number"))),
    ("IsTrapSupported", Ok(("Notice", "trap_number"))),
    ("IsOptionalIPDSupported", Err(BEHAVIOUR)),
    ("IsAutomaticMigrationSupported", Err(BEHAVIOUR)),
    ("IsSLMappingSupported", Ok(("SlToVlMappingTable", "lanes"))),
    ("IsMKeyNVRAM", Err(BEHAVIOUR)),
    ("IsPKeyNVRAM", Err(BEHAVIOUR)),
    ("IsLEDInfoSupported", Ok(("LedInfo", "led.led_mask"))),
    ("IsSMdisabled", Err(BEHAVIOUR)),
    ("IsSystemImageGUIDSupported", Ok(("NodeInfo", "system_image_guid"))),
    ("IsPKeySwitchExternalPortTrapSupported", Ok(("BadSwitchPkeyTrap", "port_no"))),
    ("IsCableInfoSupported", Ok(("CableInfo", "opaque"))),
    ("IsExtendedSpeedsSupported", Ok(("PortInfo", "ext_speeds.link_speed_ext_active"))),
    ("IsCapabilityMask2Supported", Ok(("PortInfo", "capability_mask2"))),
    ("IsCommunicationManagementSupported", Ok(("CmReq", "service_id"))),
    ("IsSNMPTunnelingSupported", Err(NOT_PUBLIC)),
    ("IsReinitSupported", Ok(("PortInfo", "vl_cap_init.init_type"))),
    ("IsDeviceManagementSupported", Ok(("IoUnitInfo", "max_controllers"))),
    ("IsVendorClassSupported", Ok(("VendorMad", "data"))),
    ("IsDRNoticeSupported", Ok(("BadMkeyTrap", "dr.dr_notice"))),
    ("IsCapabilityMaskNoticeSupported", Ok(("CapabilityTrap", "capability_mask"))),
    ("IsBootManagementSupported", Err(NOT_PUBLIC)),
    ("IsLinkRoundTripLatencySupported", Ok(("PortInfo", "ext_speeds2.link_round_trip_latency"))),
    ("IsClientReregistrationSupported", Ok(("PortInfo", "register_time_out.client_reregister"))),
    ("IsOtherLocalChangesNoticeSupported", Ok(("CapabilityTrap", "other.other_local_changes"))),
    ("IsLinkSpeedWidthPairsTableSupported", Ok(("LinkSpeedWidthPairsTable", "speed_2_5"))),
    ("IsVendorSpecificMadsTableSupported", Ok(("VendorMadsTable", "opaque"))),
    (
        "IsMcastPkeyTrapSuppressionSupported",
        Ok(("PortInfo", "register_time_out.multicast_pkey_trap_suppression_enabled")),
    ),
    ("IsMulticastFDBTopSupported", Ok(("SwitchInfo", "multicast_fdb_top"))),
    ("IsHierarchyInfoSupported", Ok(("HierarchyInfo", "level_data"))),
];

const PORT2: &[Row] = &[
    ("IsSetNodeDescriptionSupported", Ok(("NodeDescription", "node_string"))),
    ("IsPortInfoExtendedSupported", Ok(("PortInfoExtended", "fec_mode_active"))),
    ("IsVirtualizationSupported", Ok(("VirtualizationInfo", "vport_cap"))),
    ("IsSwitchPortStateTableSupported", Ok(("SwitchPortStateTable", "states"))),
    ("IsLinkWidth2xSupported", Ok(("PortInfo", "link_width_active"))),
    ("IsLinkSpeedHDRSupported", Ok(("PortInfo", "ext_speeds.link_speed_ext_active"))),
    ("IsMKeyProtectBitsExtSupported", Err(NOT_PUBLIC)),
    ("IsEnhancedTrap128Supported", Err(NOT_PUBLIC)),
    ("IsPartitionTopSupported", Ok(("PortInfoExtended", "partition_top"))),
    ("IsEnhancedQoSArbiterSupported", Err(NOT_PUBLIC)),
    ("IsLinkSpeedNDRSupported", Ok(("PortInfo", "ext_speeds.link_speed_ext_active"))),
    ("IsExtendedSpeeds2Supported", Ok(("PortInfo", "ext_speeds2.link_speed_ext_active2"))),
    ("IsLinkSpeedXDRSupported", Ok(("PortInfo", "ext_speeds2.link_speed_ext_active2"))),
];

const SA: &[Row] = &[
    ("IsSubnetOptionalRecordsSupported", Ok(("TraceRecord", "id_generation"))),
    ("IsUDMulticastSupported", Ok(("McMemberRecord", "mgid"))),
    ("IsMultiPathSupported", Ok(("MultiPathRecord", "sgid_count"))),
    ("IsReInitSupported", Ok(("PortInfo", "vl_cap_init.init_type"))),
    ("IsGIDScopedMultiPathSupported", Err(BEHAVIOUR)),
    ("IsPortInfoCapMaskMatchSupported", Ok(("PortInfoRecord", "port_info.capability_mask"))),
    ("IsLinkSpeedWidthPairsTableRecordSupported", Ok(("LinkSpeedWidthPairsTableRecord", "table"))),
    ("IsPAServicesSupported", Err(NOT_PUBLIC)),
];

const SA2: &[Row] = &[
    ("IsUnpathRepathSupported", Ok(("PathTrap", "comp_mask"))),
    ("IsQoSSupported", Ok(("PathRecord", "qos_sl.qos_class"))),
    ("IsReversePathPKeyMembershipBitSupported", Err(NOT_PUBLIC)),
    ("IsMulticastTopSupported", Ok(("SwitchInfo", "multicast_fdb_top"))),
    ("IsHierarchyInfoSupported", Ok(("HierarchyInfo", "level_data"))),
    ("IsAdditionalGUIDSupported", Ok(("GuidInfoRecord", "guids"))),
    ("IsFullPortInfoRecordSupported", Ok(("PortInfoRecord", "port_info"))),
    ("IsExtendedSpeedsSupported", Ok(("PortInfo", "ext_speeds.link_speed_ext_active"))),
    ("IsMulticastServiceRecordSupported", Ok(("ServiceRecord", "service_gid"))),
    ("IsCableInfoRecordSupported", Ok(("CableInfoRecord", "opaque"))),
    ("IsPortInfoCapMask2MatchSupported", Ok(("PortInfoRecord", "port_info.capability_mask2"))),
    ("IsPortInfoExtendedRecordSupported", Ok(("PortInfoExtendedRecord", "port_info_extended"))),
];

const PERF: &[Row] = &[
    ("AllPortSelect", Ok(("PortCounters", "port_select"))),
    ("IsExtendedWidthSupported", Ok(("PortCountersExtended", "port_unicast_xmit_pkts"))),
    ("IsExtendedWidthSupportedNoIETF", Ok(("PortCountersExtended", "port_xmit_data"))),
    ("SamplesOnlySupported", Ok(("PortSamplesControl", "samples_only_option_mask"))),
    ("PortCountersXmitWaitSupported", Ok(("PortCounters", "port_xmit_wait"))),
    ("IsQP1DroppedSupported", Ok(("PortCounters", "qp1_dropped"))),
];

const PERF2: &[Row] = &[
    ("IsPMKeySupported", Ok(("PerfMad", "pm_key"))),
    ("IsAdditionalPortCountersExtendedSupported", Ok(("PortCountersExtended", "symbol_error_counter"))),
    ("DataSize", Err(BEHAVIOUR)),
];

const CLASS: &[Row] = &[
    ("trap", Ok(("Notice", "trap_number"))),
    ("get/set notice", Ok(("Notice", "trap_number"))),
    ("mask2", Ok(("ClassPortInfo", "capability_response.capability_mask2"))),
];

const CONGESTION: &[Row] = &[("CreditStarvation", Ok(("SwitchCongestionSetting", "credit_mask")))];

#[test]
fn each_capability_bit_has_the_field_that_it_announces() {
    let structures: BTreeMap<_, _> = registry::all().map(|own| (own.name, own.fields)).collect();
    let check = |names: &[&str], rows: &[Row]| {
        let listed: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, listed, "each bit has a row, in the order of the bits");
        for (bit, place) in rows {
            let Ok((structure, path)) = place else { continue };
            let fields = structures.get(structure).unwrap_or_else(|| panic!("{bit}: no structure {structure}"));
            assert!(find(fields, path).is_some(), "{bit}: no field {structure}.{path}");
        }
    };
    macro_rules! names {
        ($t:ty) => {
            &<$t>::KNOWN.iter().map(|(_, name)| *name).collect::<Vec<_>>()
        };
    }
    check(names!(PortCapability), PORT);
    check(names!(PortCapability2), PORT2);
    check(names!(SaCapability), SA);
    check(names!(SaCapability2), SA2);
    check(names!(PerfCapability), PERF);
    check(names!(PerfCapability2), PERF2);
    check(names!(ClassCapability), CLASS);
    check(names!(CongestionCapability), CONGESTION);
}
