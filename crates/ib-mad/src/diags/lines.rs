//! Lines of smpquery and perfquery.
use super::{
    dump::{
        Form::{Each, Key, Number},
        Line, Table,
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

const SELECTS: &[Line] = &[
    Line("PortSelect", "port_select", Number(show::uint)),
    Line("CounterSelect", "counter_select", Number(show::hex)),
];

/// PortInfo, which saquery prints inside a record, too.
pub(super) const PORT_INFO: Table = table(
    "PortInfo",
    &[
        Line("Mkey", "mkey", Key(show::hex)),
        Line("GidPrefix", "gid_prefix", Number(show::hex)),
        Line("Lid", "lid", Number(show::uint)),
        Line("SMLid", "master_sm_lid", Number(show::uint)),
        Line("CapMask", "capability_mask", Number(show::capabilities)),
        Line("DiagCode", "diag_code", Number(show::hex)),
        Line("MkeyLeasePeriod", "mkey_lease_period", Number(show::uint)),
        Line("LocalPort", "local_port_num", Number(show::uint)),
        Line("LinkWidthEnabled", "link_width_enabled", Number(show::widths)),
        Line("LinkWidthSupported", "link_width_supported", Number(show::supported_widths)),
        Line("LinkWidthActive", "link_width_active", Number(show::width)),
        Line("LinkSpeedSupported", "speed_state.link_speed_supported", Number(show::speeds)),
        Line("LinkState", "speed_state.port_state", Number(show::port_state)),
        Line("PhysLinkState", "physical_states.port_physical_state", Number(show::physical_state)),
        Line("LinkDownDefState", "physical_states.link_down_default_state", Number(show::down_default)),
        Line("ProtectBits", "mkey_lmc.mkey_protect_bits", Number(show::uint)),
        Line("LMC", "mkey_lmc.lmc", Number(show::uint)),
        Line("LinkSpeedActive", "link_speed.link_speed_active", Number(show::speed)),
        Line("LinkSpeedEnabled", "link_speed.link_speed_enabled", Number(show::speeds)),
        Line("NeighborMTU", "neighbor_mtu_sl.neighbor_mtu", Number(show::mtu)),
        Line("SMSL", "neighbor_mtu_sl.master_smsl", Number(show::uint)),
        Line("VLCap", "vl_cap_init.vl_cap", Number(show::vl_cap)),
        Line("InitType", "vl_cap_init.init_type", Number(show::hex)),
        Line("VLHighLimit", "vl_high_limit", Number(show::uint)),
        Line("VLArbHighCap", "vl_arbitration_high_cap", Number(show::uint)),
        Line("VLArbLowCap", "vl_arbitration_low_cap", Number(show::uint)),
        Line("InitReply", "init_reply_mtu.init_type_reply", Number(show::hex)),
        Line("MtuCap", "init_reply_mtu.mtu_cap", Number(show::mtu)),
        Line("VLStallCount", "stall_life.vl_stall_count", Number(show::uint)),
        Line("HoqLife", "stall_life.hoq_life", Number(show::uint)),
        Line("OperVLs", "operational.operational_vls", Number(show::operational_vls)),
        Line("PartEnforceInb", "operational.partition_enforcement_inbound", Number(show::uint)),
        Line("PartEnforceOutb", "operational.partition_enforcement_outbound", Number(show::uint)),
        Line("FilterRawInb", "operational.filter_raw_inbound", Number(show::uint)),
        Line("FilterRawOutb", "operational.filter_raw_outbound", Number(show::uint)),
        Line("MkeyViolations", "mkey_violations", Number(show::uint)),
        Line("PkeyViolations", "pkey_violations", Number(show::uint)),
        Line("QkeyViolations", "qkey_violations", Number(show::uint)),
        Line("GuidCap", "guid_cap", Number(show::uint)),
        Line("ClientReregister", "register_time_out.client_reregister", Number(show::uint)),
        Line(
            "McastPkeyTrapSuppressionEnabled",
            "register_time_out.multicast_pkey_trap_suppression_enabled",
            Number(show::uint),
        ),
        Line("SubnetTimeout", "register_time_out.subnet_time_out", Number(show::uint)),
        Line("RespTimeVal", "resp_time.resp_time_value", Number(show::uint)),
        Line("LocalPhysErr", "error_limits.local_phy_errors", Number(show::uint)),
        Line("OverrunErr", "error_limits.overrun_errors", Number(show::uint)),
        Line("MaxCreditHint", "max_credit_hint", Number(show::uint)),
        Line("RoundTrip", "ext_speeds2.link_round_trip_latency", Number(show::uint)),
        Line("CapabilityMask2", "capability_mask2", Number(show::capabilities2)),
        Line("LinkSpeedExtActive", "ext_speeds.link_speed_ext_active", Number(show::extended_speed)),
        Line("LinkSpeedExtSupported", "ext_speeds.link_speed_ext_supported", Number(show::extended_speeds)),
        Line("LinkSpeedExtEnabled", "ext_enabled.link_speed_ext_enabled", Number(show::enabled_extended_speeds)),
    ],
);

pub(super) const TABLES: &[Table] = &[
    table("NodeDescription", &[]),
    table(
        "NodeInfo",
        &[
            Line("BaseVers", "base_version", Number(show::uint)),
            Line("ClassVers", "class_version", Number(show::uint)),
            Line("NodeType", "node_type", Number(show::node_type)),
            Line("NumPorts", "num_ports", Number(show::uint)),
            Line("SystemGuid", "system_image_guid", Number(show::hex)),
            Line("Guid", "node_guid", Number(show::hex)),
            Line("PortGuid", "port_guid", Number(show::hex)),
            Line("PartCap", "partition_cap", Number(show::uint)),
            Line("DevId", "device_id", Number(show::hex)),
            Line("Revision", "revision", Number(show::hex)),
            Line("LocalPort", "port_vendor.local_port_num", Number(show::uint)),
            Line("VendorId", "port_vendor.vendor_id", Number(show::hex)),
        ],
    ),
    PORT_INFO,
    table(
        "SwitchInfo",
        &[
            Line("LinearFdbCap", "linear_fdb_cap", Number(show::uint)),
            Line("RandomFdbCap", "random_fdb_cap", Number(show::uint)),
            Line("McastFdbCap", "multicast_fdb_cap", Number(show::uint)),
            Line("LinearFdbTop", "linear_fdb_top", Number(show::uint)),
            Line("DefPort", "default_port", Number(show::uint)),
            Line("DefMcastPrimPort", "default_multicast_primary_port", Number(show::uint)),
            Line("DefMcastNotPrimPort", "default_multicast_not_primary_port", Number(show::uint)),
            Line("LifeTime", "life_time_change.life_time_value", Number(show::uint)),
            Line("StateChange", "life_time_change.port_state_change", Number(show::uint)),
            Line("OptSLtoVLMapping", "life_time_change.optimized_sl_to_vl_mapping_programming", Number(show::uint)),
            Line("LidsPerPort", "lids_per_port", Number(show::uint)),
            Line("PartEnforceCap", "partition_enforcement_cap", Number(show::uint)),
            Line("InboundPartEnf", "enforcement_caps.inbound_enforcement_cap", Number(show::uint)),
            Line("OutboundPartEnf", "enforcement_caps.outbound_enforcement_cap", Number(show::uint)),
            Line("FilterRawInbound", "enforcement_caps.filter_raw_inbound_cap", Number(show::uint)),
            Line("FilterRawOutbound", "enforcement_caps.filter_raw_outbound_cap", Number(show::uint)),
            Line("EnhancedPort0", "enforcement_caps.enhanced_port0", Number(show::uint)),
            Line("MulticastFDBTop", "multicast_fdb_top", Number(show::hex)),
        ],
    ),
    table(
        "MlnxExtendedPortInfo",
        &[
            Line("StateChangeEnable", "state_change_enable", Number(show::hex)),
            Line("LinkSpeedSupported", "link_speed_supported", Number(show::hex)),
            Line("LinkSpeedEnabled", "link_speed_enabled", Number(show::hex)),
            Line("LinkSpeedActive", "link_speed_active", Number(show::hex)),
        ],
    ),
    counters(
        "PortCounters",
        &[
            Line("SymbolErrorCounter", "symbol_error_counter", Number(show::uint)),
            Line("LinkErrorRecoveryCounter", "link_error_recovery_counter", Number(show::uint)),
            Line("LinkDownedCounter", "link_downed_counter", Number(show::uint)),
            Line("PortRcvErrors", "port_rcv_errors", Number(show::uint)),
            Line("PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors", Number(show::uint)),
            Line("PortRcvSwitchRelayErrors", "port_rcv_switch_relay_errors", Number(show::uint)),
            Line("PortXmitDiscards", "port_xmit_discards", Number(show::uint)),
            Line("PortXmitConstraintErrors", "port_xmit_constraint_errors", Number(show::uint)),
            Line("PortRcvConstraintErrors", "port_rcv_constraint_errors", Number(show::uint)),
            Line("CounterSelect2", "counter_select2", Number(show::hex)),
            Line("LocalLinkIntegrityErrors", "link_errors.local_link_integrity_errors", Number(show::uint)),
            Line("ExcessiveBufferOverrunErrors", "link_errors.excessive_buffer_overrun_errors", Number(show::uint)),
            Line("QP1Dropped", "qp1_dropped", Number(show::uint)),
            Line("VL15Dropped", "vl15_dropped", Number(show::uint)),
            Line("PortXmitData", "port_xmit_data", Number(show::uint)),
            Line("PortRcvData", "port_rcv_data", Number(show::uint)),
            Line("PortXmitPkts", "port_xmit_pkts", Number(show::uint)),
            Line("PortRcvPkts", "port_rcv_pkts", Number(show::uint)),
            Line("PortXmitWait", "port_xmit_wait", Number(show::uint)),
        ],
    ),
    counters(
        "PortCountersExtended",
        &[
            Line("PortXmitData", "port_xmit_data", Number(show::uint)),
            Line("PortRcvData", "port_rcv_data", Number(show::uint)),
            Line("PortXmitPkts", "port_xmit_pkts", Number(show::uint)),
            Line("PortRcvPkts", "port_rcv_pkts", Number(show::uint)),
            Line("PortUnicastXmitPkts", "port_unicast_xmit_pkts", Number(show::uint)),
            Line("PortUnicastRcvPkts", "port_unicast_rcv_pkts", Number(show::uint)),
            Line("PortMulticastXmitPkts", "port_multicast_xmit_pkts", Number(show::uint)),
            Line("PortMulticastRcvPkts", "port_multicast_rcv_pkts", Number(show::uint)),
        ],
    ),
    counters(
        "PortRcvErrorDetails",
        &[
            Line("PortLocalPhysicalErrors", "port_local_physical_errors", Number(show::uint)),
            Line("PortMalformedPktErrors", "port_malformed_packet_errors", Number(show::uint)),
            Line("PortBufferOverrunErrors", "port_buffer_overrun_errors", Number(show::uint)),
            Line("PortDLIDMappingErrors", "port_dlid_mapping_errors", Number(show::uint)),
            Line("PortVLMappingErrors", "port_vl_mapping_errors", Number(show::uint)),
            Line("PortLoopingErrors", "port_looping_errors", Number(show::uint)),
        ],
    ),
    counters(
        "PortXmitDiscardDetails",
        &[
            Line("PortInactiveDiscards", "port_inactive_discards", Number(show::uint)),
            Line("PortNeighborMTUDiscards", "port_neighbor_mtu_discards", Number(show::uint)),
            Line("PortSwLifetimeLimitDiscards", "port_sw_lifetime_limit_discards", Number(show::uint)),
            Line("PortSwHOQLifetimeLimitDiscards", "port_sw_hoq_lifetime_limit_discards", Number(show::uint)),
        ],
    ),
    counters(
        "PortOpRcvCounters",
        &[
            Line("PortOpRcvPkts", "port_op_rcv_pkts", Number(show::uint)),
            Line("PortOpRcvData", "port_op_rcv_data", Number(show::uint)),
        ],
    ),
    counters(
        "PortFlowCtlCounters",
        &[
            Line("PortXmitFlowPkts", "port_xmit_flow_pkts", Number(show::uint)),
            Line("PortRcvFlowPkts", "port_rcv_flow_pkts", Number(show::uint)),
        ],
    ),
    counters("PortVlOpPackets", &[Line("PortVLOpPackets", "port_vl_op_packets", Each(0, show::uint))]),
    counters("PortVlOpData", &[Line("PortVLOpData", "port_vl_op_data", Each(0, show::uint))]),
    counters(
        "PortVlXmitFlowCtlUpdateErrors",
        &[Line("PortVLXmitFlowCtlUpdateErrors", "port_vl_xmit_flow_ctl_update_errors", Each(0, show::uint))],
    ),
    counters("PortVlXmitWaitCounters", &[Line("PortVLXmitWait", "port_vl_xmit_wait", Each(0, show::uint))]),
    counters("SwPortVlCongestion", &[Line("SWPortVLCongestion", "sw_port_vl_congestion", Each(0, show::uint))]),
    counters("PortSlRcvFecn", &[Line("PortSLRcvFECN", "port_sl_rcv_fecn", Each(0, show::uint))]),
    counters("PortSlRcvBecn", &[Line("PortSLRcvBECN", "port_sl_rcv_becn", Each(0, show::uint))]),
    counters("PortVlXmitTimeCong", &[Line("PortVLXmitTimeCong", "port_vl_xmit_time_cong", Each(0, show::uint))]),
    counters("PortXmitDataSl", &[Line("XmtDataSL", "port_xmit_data_sl", Each(0, show::uint))]),
    counters("PortRcvDataSl", &[Line("RcvDataSL", "port_rcv_data_sl", Each(0, show::uint))]),
    counters(
        "PortRcvConCtrl",
        &[
            Line("PortPktRcvFECN", "port_pkt_rcv_fecn", Number(show::uint)),
            Line("PortPktRcvBECN", "port_pkt_rcv_becn", Number(show::uint)),
        ],
    ),
    counters("PortXmitConCtrl", &[Line("PortXmitTimeCong", "port_xmit_time_cong", Number(show::uint))]),
];
