//! Lines of smpquery and perfquery.
use super::{
    dump::{
        Form::{Each, Key, Number},
        HEX, Line, Table, UINT, lines,
    },
    show,
};

/// Returns the table of a structure in the layout of libibmad.
const fn table(structure: &'static str, lines: &'static [Line]) -> Table {
    Table { structure, title: "", lead: "", colon: ":", column: 33, first: &[], lines, last: "" }
}

/// Returns the table of counters, which begins with the port and the counters that a request chooses.
const fn counters(structure: &'static str, lines: &'static [Line]) -> Table {
    Table { first: SELECTS, ..table(structure, lines) }
}

const SELECTS: &[Line] = lines! {
    "PortSelect" port_select: UINT,
    "CounterSelect" counter_select: HEX,
};

/// PortInfo, which saquery prints inside a record, too.
pub(super) const PORT_INFO: Table = table(
    "PortInfo",
    lines! {
        "Mkey" mkey: Key(show::hex),
        "GidPrefix" gid_prefix: HEX,
        "Lid" lid: UINT,
        "SMLid" master_sm_lid: UINT,
        "CapMask" capability_mask: Number(show::capabilities),
        "DiagCode" diag_code: HEX,
        "MkeyLeasePeriod" mkey_lease_period: UINT,
        "LocalPort" local_port_num: UINT,
        "LinkWidthEnabled" link_width_enabled: Number(show::widths),
        "LinkWidthSupported" link_width_supported: Number(show::supported_widths),
        "LinkWidthActive" link_width_active: Number(show::width),
        "LinkSpeedSupported" speed_state.link_speed_supported: Number(show::speeds),
        "LinkState" speed_state.port_state: Number(show::port_state),
        "PhysLinkState" physical_states.port_physical_state: Number(show::physical_state),
        "LinkDownDefState" physical_states.link_down_default_state: Number(show::down_default),
        "ProtectBits" mkey_lmc.mkey_protect_bits: UINT,
        "LMC" mkey_lmc.lmc: UINT,
        "LinkSpeedActive" link_speed.link_speed_active: Number(show::speed),
        "LinkSpeedEnabled" link_speed.link_speed_enabled: Number(show::speeds),
        "NeighborMTU" neighbor_mtu_sl.neighbor_mtu: Number(show::mtu),
        "SMSL" neighbor_mtu_sl.master_smsl: UINT,
        "VLCap" vl_cap_init.vl_cap: Number(show::vl_cap),
        "InitType" vl_cap_init.init_type: HEX,
        "VLHighLimit" vl_high_limit: UINT,
        "VLArbHighCap" vl_arbitration_high_cap: UINT,
        "VLArbLowCap" vl_arbitration_low_cap: UINT,
        "InitReply" init_reply_mtu.init_type_reply: HEX,
        "MtuCap" init_reply_mtu.mtu_cap: Number(show::mtu),
        "VLStallCount" stall_life.vl_stall_count: UINT,
        "HoqLife" stall_life.hoq_life: UINT,
        "OperVLs" operational.operational_vls: Number(show::operational_vls),
        "PartEnforceInb" operational.partition_enforcement_inbound: UINT,
        "PartEnforceOutb" operational.partition_enforcement_outbound: UINT,
        "FilterRawInb" operational.filter_raw_inbound: UINT,
        "FilterRawOutb" operational.filter_raw_outbound: UINT,
        "MkeyViolations" mkey_violations: UINT,
        "PkeyViolations" pkey_violations: UINT,
        "QkeyViolations" qkey_violations: UINT,
        "GuidCap" guid_cap: UINT,
        "ClientReregister" register_time_out.client_reregister: UINT,
        "McastPkeyTrapSuppressionEnabled" register_time_out.multicast_pkey_trap_suppression_enabled: UINT,
        "SubnetTimeout" register_time_out.subnet_time_out: UINT,
        "RespTimeVal" resp_time.resp_time_value: UINT,
        "LocalPhysErr" error_limits.local_phy_errors: UINT,
        "OverrunErr" error_limits.overrun_errors: UINT,
        "MaxCreditHint" max_credit_hint: UINT,
        "RoundTrip" ext_speeds2.link_round_trip_latency: UINT,
        "CapabilityMask2" capability_mask2: Number(show::capabilities2),
        "LinkSpeedExtActive" ext_speeds.link_speed_ext_active: Number(show::extended_speed),
        "LinkSpeedExtSupported" ext_speeds.link_speed_ext_supported: Number(show::extended_speeds),
        "LinkSpeedExtEnabled" ext_enabled.link_speed_ext_enabled: Number(show::enabled_extended_speeds),
    },
);

pub(super) const TABLES: &[Table] = &[
    table("NodeDescription", &[]),
    table(
        "NodeInfo",
        lines! {
            "BaseVers" base_version: UINT,
            "ClassVers" class_version: UINT,
            "NodeType" node_type: Number(show::node_type),
            "NumPorts" num_ports: UINT,
            "SystemGuid" system_image_guid: HEX,
            "Guid" node_guid: HEX,
            "PortGuid" port_guid: HEX,
            "PartCap" partition_cap: UINT,
            "DevId" device_id: HEX,
            "Revision" revision: HEX,
            "LocalPort" port_vendor.local_port_num: UINT,
            "VendorId" port_vendor.vendor_id: HEX,
        },
    ),
    PORT_INFO,
    table(
        "SwitchInfo",
        lines! {
            "LinearFdbCap" linear_fdb_cap: UINT,
            "RandomFdbCap" random_fdb_cap: UINT,
            "McastFdbCap" multicast_fdb_cap: UINT,
            "LinearFdbTop" linear_fdb_top: UINT,
            "DefPort" default_port: UINT,
            "DefMcastPrimPort" default_multicast_primary_port: UINT,
            "DefMcastNotPrimPort" default_multicast_not_primary_port: UINT,
            "LifeTime" life_time_change.life_time_value: UINT,
            "StateChange" life_time_change.port_state_change: UINT,
            "OptSLtoVLMapping" life_time_change.optimized_sl_to_vl_mapping_programming: UINT,
            "LidsPerPort" lids_per_port: UINT,
            "PartEnforceCap" partition_enforcement_cap: UINT,
            "InboundPartEnf" enforcement_caps.inbound_enforcement_cap: UINT,
            "OutboundPartEnf" enforcement_caps.outbound_enforcement_cap: UINT,
            "FilterRawInbound" enforcement_caps.filter_raw_inbound_cap: UINT,
            "FilterRawOutbound" enforcement_caps.filter_raw_outbound_cap: UINT,
            "EnhancedPort0" enforcement_caps.enhanced_port0: UINT,
            "MulticastFDBTop" multicast_fdb_top: HEX,
        },
    ),
    table(
        "MlnxExtendedPortInfo",
        lines! {
            "StateChangeEnable" state_change_enable: HEX,
            "LinkSpeedSupported" link_speed_supported: HEX,
            "LinkSpeedEnabled" link_speed_enabled: HEX,
            "LinkSpeedActive" link_speed_active: HEX,
        },
    ),
    counters(
        "PortCounters",
        lines! {
            "SymbolErrorCounter" symbol_error_counter: UINT,
            "LinkErrorRecoveryCounter" link_error_recovery_counter: UINT,
            "LinkDownedCounter" link_downed_counter: UINT,
            "PortRcvErrors" port_rcv_errors: UINT,
            "PortRcvRemotePhysicalErrors" port_rcv_remote_physical_errors: UINT,
            "PortRcvSwitchRelayErrors" port_rcv_switch_relay_errors: UINT,
            "PortXmitDiscards" port_xmit_discards: UINT,
            "PortXmitConstraintErrors" port_xmit_constraint_errors: UINT,
            "PortRcvConstraintErrors" port_rcv_constraint_errors: UINT,
            "CounterSelect2" counter_select2: HEX,
            "LocalLinkIntegrityErrors" link_errors.local_link_integrity_errors: UINT,
            "ExcessiveBufferOverrunErrors" link_errors.excessive_buffer_overrun_errors: UINT,
            "QP1Dropped" qp1_dropped: UINT,
            "VL15Dropped" vl15_dropped: UINT,
            "PortXmitData" port_xmit_data: UINT,
            "PortRcvData" port_rcv_data: UINT,
            "PortXmitPkts" port_xmit_pkts: UINT,
            "PortRcvPkts" port_rcv_pkts: UINT,
            "PortXmitWait" port_xmit_wait: UINT,
        },
    ),
    counters(
        "PortCountersExtended",
        lines! {
            "PortXmitData" port_xmit_data: UINT,
            "PortRcvData" port_rcv_data: UINT,
            "PortXmitPkts" port_xmit_pkts: UINT,
            "PortRcvPkts" port_rcv_pkts: UINT,
            "PortUnicastXmitPkts" port_unicast_xmit_pkts: UINT,
            "PortUnicastRcvPkts" port_unicast_rcv_pkts: UINT,
            "PortMulticastXmitPkts" port_multicast_xmit_pkts: UINT,
            "PortMulticastRcvPkts" port_multicast_rcv_pkts: UINT,
        },
    ),
    counters(
        "PortRcvErrorDetails",
        lines! {
            "PortLocalPhysicalErrors" port_local_physical_errors: UINT,
            "PortMalformedPktErrors" port_malformed_packet_errors: UINT,
            "PortBufferOverrunErrors" port_buffer_overrun_errors: UINT,
            "PortDLIDMappingErrors" port_dlid_mapping_errors: UINT,
            "PortVLMappingErrors" port_vl_mapping_errors: UINT,
            "PortLoopingErrors" port_looping_errors: UINT,
        },
    ),
    counters(
        "PortXmitDiscardDetails",
        lines! {
            "PortInactiveDiscards" port_inactive_discards: UINT,
            "PortNeighborMTUDiscards" port_neighbor_mtu_discards: UINT,
            "PortSwLifetimeLimitDiscards" port_sw_lifetime_limit_discards: UINT,
            "PortSwHOQLifetimeLimitDiscards" port_sw_hoq_lifetime_limit_discards: UINT,
        },
    ),
    counters(
        "PortOpRcvCounters",
        lines! {
            "PortOpRcvPkts" port_op_rcv_pkts: UINT,
            "PortOpRcvData" port_op_rcv_data: UINT,
        },
    ),
    counters(
        "PortFlowCtlCounters",
        lines! {
            "PortXmitFlowPkts" port_xmit_flow_pkts: UINT,
            "PortRcvFlowPkts" port_rcv_flow_pkts: UINT,
        },
    ),
    counters("PortVlOpPackets", lines! { "PortVLOpPackets" port_vl_op_packets: Each(0, show::uint) }),
    counters("PortVlOpData", lines! { "PortVLOpData" port_vl_op_data: Each(0, show::uint) }),
    counters(
        "PortVlXmitFlowCtlUpdateErrors",
        lines! { "PortVLXmitFlowCtlUpdateErrors" port_vl_xmit_flow_ctl_update_errors: Each(0, show::uint) },
    ),
    counters("PortVlXmitWaitCounters", lines! { "PortVLXmitWait" port_vl_xmit_wait: Each(0, show::uint) }),
    counters("SwPortVlCongestion", lines! { "SWPortVLCongestion" sw_port_vl_congestion: Each(0, show::uint) }),
    counters("PortSlRcvFecn", lines! { "PortSLRcvFECN" port_sl_rcv_fecn: Each(0, show::uint) }),
    counters("PortSlRcvBecn", lines! { "PortSLRcvBECN" port_sl_rcv_becn: Each(0, show::uint) }),
    counters("PortVlXmitTimeCong", lines! { "PortVLXmitTimeCong" port_vl_xmit_time_cong: Each(0, show::uint) }),
    counters("PortXmitDataSl", lines! { "XmtDataSL" port_xmit_data_sl: Each(0, show::uint) }),
    counters("PortRcvDataSl", lines! { "RcvDataSL" port_rcv_data_sl: Each(0, show::uint) }),
    counters(
        "PortRcvConCtrl",
        lines! {
            "PortPktRcvFECN" port_pkt_rcv_fecn: UINT,
            "PortPktRcvBECN" port_pkt_rcv_becn: UINT,
        },
    ),
    counters("PortXmitConCtrl", lines! { "PortXmitTimeCong" port_xmit_time_cong: UINT }),
];
