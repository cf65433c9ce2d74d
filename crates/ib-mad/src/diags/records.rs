//! Lines of saquery.
use super::{
    dump::{
        Form::{Each, Either, Gid, Key, KeyBytes, Number, Numbered, Part, Row, Text, Title},
        Line, Table,
    },
    lines::PORT_INFO,
    show,
};

/// Returns the table of a record in the layout of saquery.
const fn table(structure: &'static str, title: &'static str, column: usize, lines: &'static [Line]) -> Table {
    Table { structure, title, lead: "\t\t", colon: "", column, first: &[], lines, last: "" }
}

/// The attribute in a PortInfoRecord.
const PORT: &Table = &Table { title: "\tPortInfo dump:\n", lead: "\t\t", ..PORT_INFO };

/// Lines of a subscription to notices of the specification.
const GENERIC: &[Line] = &[
    Line("trap_num", "inform_info.trap_number", Number(show::uint)),
    Line("qpn", "inform_info.qpn_time.qpn", Key(show::upper_bytes)),
    Line("resp_time_val", "inform_info.qpn_time.resp_time_value", Number(show::upper)),
    Line("node_type", "inform_info.producer", Number(show::upper_bytes)),
];

/// Lines of a subscription to notices of a vendor.
const VENDOR: &[Line] = &[
    Line("dev_id", "inform_info.trap_number", Number(show::upper)),
    Line("qpn", "inform_info.qpn_time.qpn", Key(show::upper_bytes)),
    Line("resp_time_val", "inform_info.qpn_time.resp_time_value", Number(show::upper)),
    Line("vendor_id", "inform_info.producer", Number(show::upper_bytes)),
];

/// Lines of a group, for `saquery -g`.
pub(super) const GROUP: Table = table(
    "McMemberRecord",
    "MCMemberRecord group dump:\n",
    24,
    &[
        Line("MGID", "mgid", Gid),
        Line("Mlid", "mlid", Number(show::upper)),
        Line("Mtu", "mtu", Number(show::upper)),
        Line("pkey", "pkey", Number(show::upper)),
        Line("Rate", "rate", Number(show::upper)),
        Line("SL", "sl_flow_hop.sl", Number(show::upper)),
    ],
);

/// Lines of a member of a group, for `saquery -m`.
pub(super) const MEMBER: Table = table(
    "McMemberRecord",
    "MCMemberRecord member dump:\n",
    24,
    &[
        Line("MGID", "mgid", Gid),
        Line("Mlid", "mlid", Number(show::upper)),
        Line("PortGid", "port_gid", Gid),
        Line("ScopeState", "scope_state", Number(show::upper)),
        Line("ProxyJoin", "proxy_join", Number(show::upper)),
    ],
);

pub(super) const TABLES: &[Table] = &[
    table(
        "PathRecord",
        "PathRecord dump:\n",
        24,
        &[
            Line("service_id", "service_id", Number(show::hex)),
            Line("dgid", "dgid", Gid),
            Line("sgid", "sgid", Gid),
            Line("dlid", "dlid", Number(show::uint)),
            Line("slid", "slid", Number(show::uint)),
            Line("hop_flow_raw", "flow_hop", Number(show::upper)),
            Line("tclass", "traffic_class", Number(show::upper)),
            Line("num_path_revers", "reversible_paths", Number(show::upper)),
            Line("pkey", "pkey", Number(show::upper)),
            Line("qos_class", "qos_sl.qos_class", Number(show::upper)),
            Line("sl", "qos_sl.sl", Number(show::upper)),
            Line("mtu", "mtu", Number(show::upper)),
            Line("rate", "rate", Number(show::upper)),
            Line("pkt_life", "packet_life_time", Number(show::upper)),
            Line("preference", "preference", Number(show::upper)),
            Line("resv2", "reserved", Number(show::upper_bytes)),
        ],
    ),
    table(
        "NodeRecord",
        "NodeRecord dump:\n",
        24,
        &[
            Line("lid", "lid", Number(show::uint)),
            Line("reserved", "reserved", Number(show::upper)),
            Line("base_version", "node_info.base_version", Number(show::upper)),
            Line("class_version", "node_info.class_version", Number(show::upper)),
            Line("node_type", "node_info.node_type", Number(show::record_node_type)),
            Line("num_ports", "node_info.num_ports", Number(show::uint)),
            Line("sys_guid", "node_info.system_image_guid", Number(show::hex)),
            Line("node_guid", "node_info.node_guid", Number(show::hex)),
            Line("port_guid", "node_info.port_guid", Number(show::hex)),
            Line("partition_cap", "node_info.partition_cap", Number(show::upper)),
            Line("device_id", "node_info.device_id", Number(show::upper)),
            Line("revision", "node_info.revision", Number(show::upper)),
            Line("port_num", "node_info.port_vendor.local_port_num", Number(show::uint)),
            Line("vendor_id", "node_info.port_vendor.vendor_id", Number(show::upper)),
            Line("NodeDescription", "node_description", Text),
        ],
    ),
    table(
        "PortInfoRecord",
        "PortInfoRecord dump:\n\tRID\n",
        24,
        &[
            Line("EndPortLid", "endport_lid", Number(show::uint)),
            Line("PortNum", "port_num", Number(show::uint)),
            Line("Options", "options", Number(show::lower)),
            Line("PortInfo", "port_info", Part(PORT)),
        ],
    ),
    table(
        "McMemberRecord",
        "MCMember Record dump:\n",
        24,
        &[
            Line("MGID", "mgid", Gid),
            Line("PortGid", "port_gid", Gid),
            Line("qkey", "qkey", Number(show::lower)),
            Line("mlid", "mlid", Number(show::lower)),
            Line("mtu", "mtu", Number(show::lower)),
            Line("TClass", "traffic_class", Number(show::lower)),
            Line("pkey", "pkey", Number(show::lower)),
            Line("rate", "rate", Number(show::lower)),
            Line("pkt_life", "packet_life_time", Number(show::lower)),
            Line("SL", "sl_flow_hop.sl", Number(show::lower)),
            Line("FlowLabel", "sl_flow_hop.flow_label", Number(show::lower)),
            Line("HopLimit", "sl_flow_hop.hop_limit", Number(show::lower)),
            Line("Scope", "scope_state.scope", Number(show::lower)),
            Line("JoinState", "scope_state.join_state", Number(show::lower)),
            Line("ProxyJoin", "proxy_join.proxy_join", Number(show::lower)),
        ],
    ),
    table(
        "LinkRecord",
        "LinkRecord dump:\n",
        27,
        &[
            Line("FromLID", "from_lid", Number(show::uint)),
            Line("FromPort", "from_port", Number(show::uint)),
            Line("ToPort", "to_port", Number(show::uint)),
            Line("ToLID", "to_lid", Number(show::uint)),
        ],
    ),
    table(
        "GuidInfoRecord",
        "GUIDInfo Record dump:\n",
        27,
        &[
            Line("LID", "lid", Number(show::uint)),
            Line("Block", "block_num", Number(show::uint)),
            Line("GUID ", "guids", Each(0, show::hex)),
        ],
    ),
    table(
        "SmInfoRecord",
        "SMInfoRecord dump:\n",
        22,
        &[
            Line("RID", "", Title),
            Line("LID", "lid", Number(show::uint)),
            Line("SMInfo dump:", "", Title),
            Line("GUID", "sm_info.guid", Number(show::hex)),
            Line("SM_Key", "sm_info.sm_key", Number(show::hex)),
            Line("ActCount", "sm_info.act_count", Number(show::uint)),
            Line("Priority", "sm_info.priority_state.priority", Number(show::uint)),
            Line("SMState", "sm_info.priority_state.sm_state", Number(show::uint)),
        ],
    ),
    table(
        "SwitchInfoRecord",
        "SwitchInfoRecord dump:\n",
        40,
        &[
            Line("RID", "", Title),
            Line("LID", "lid", Number(show::uint)),
            Line("SwitchInfo dump:", "", Title),
            Line("LinearFDBCap", "switch_info.linear_fdb_cap", Number(show::upper)),
            Line("RandomFDBCap", "switch_info.random_fdb_cap", Number(show::upper)),
            Line("MulticastFDBCap", "switch_info.multicast_fdb_cap", Number(show::upper)),
            Line("LinearFDBTop", "switch_info.linear_fdb_top", Number(show::upper)),
            Line("DefaultPort", "switch_info.default_port", Number(show::uint)),
            Line("DefaultMulticastPrimaryPort", "switch_info.default_multicast_primary_port", Number(show::uint)),
            Line(
                "DefaultMulticastNotPrimaryPort",
                "switch_info.default_multicast_not_primary_port",
                Number(show::uint),
            ),
            Line("LifeTimeValue/PortStateChange/OpSL2VL", "switch_info.life_time_change", Number(show::upper)),
            Line("LIDsPerPort", "switch_info.lids_per_port", Number(show::upper)),
            Line("PartitionEnforcementCap", "switch_info.partition_enforcement_cap", Number(show::upper)),
            Line("flags", "switch_info.enforcement_caps", Number(show::upper)),
            Line("MulticastFDBTop", "switch_info.multicast_fdb_top", Number(show::upper)),
        ],
    ),
    table(
        "SlToVlMappingTableRecord",
        "SL2VLTableRecord dump:\n",
        27,
        &[
            Line("LID", "lid", Number(show::uint)),
            Line("InPort", "input_port_num", Number(show::uint)),
            Line("OutPort", "output_port_num", Number(show::uint)),
            Line("SL: 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|", "", Title),
            Line("VL:", "table.lanes", Row([0, 16], "", "", show::cell)),
        ],
    ),
    table(
        "VlArbitrationTableRecord",
        "VLArbTableRecord dump:\n",
        27,
        &[
            Line("LID", "lid", Number(show::uint)),
            Line("Port", "output_port_num", Number(show::uint)),
            Line("Block", "block_num", Number(show::uint)),
            Line("VL    :", "table.entries", Row([0, 16], "lane.vl", "", show::cell)),
            Line("Weight:", "table.entries", Row([0, 16], "weight", "", show::cell)),
            Line("VL    :", "table.entries", Row([16, 16], "lane.vl", "", show::cell)),
            Line("Weight:", "table.entries", Row([16, 16], "weight", "", show::cell)),
        ],
    ),
    Table {
        last: "\n",
        ..table(
            "LinearForwardingTableRecord",
            "LFT Record dump:\n",
            27,
            &[
                Line("LID", "lid", Number(show::uint)),
                Line("Block", "block_num", Number(show::uint)),
                Line("LFT:", "", Title),
                Line("LID\tPort Number", "", Title),
                Line("", "table.ports", Numbered("block_num", show::uint)),
            ],
        )
    },
    Table {
        last: "\n",
        ..table(
            "PkeyTableRecord",
            "PKeyTableRecord dump:\n",
            27,
            &[
                Line("LID", "lid", Number(show::uint)),
                Line("Port", "port_num", Number(show::uint)),
                Line("Block", "block_num", Number(show::swapped)),
                Line("PKey Table:", "", Title),
                Line("", "table.pkeys", Row([0, 8], "", " ", show::hex)),
                Line("", "table.pkeys", Row([8, 8], "", " ", show::hex)),
                Line("", "table.pkeys", Row([16, 8], "", " ", show::hex)),
                Line("", "table.pkeys", Row([24, 8], "", " ", show::hex)),
            ],
        )
    },
    table(
        "ServiceRecord",
        "ServiceRecord dump:\n",
        24,
        &[
            Line("ServiceID", "service_id", Number(show::hex)),
            Line("ServiceGID", "service_gid", Gid),
            Line("ServiceP_Key", "service_pkey", Number(show::upper)),
            Line("ServiceLease", "service_lease", Number(show::upper)),
            Line("ServiceKey", "service_key", KeyBytes),
            Line("ServiceName", "service_name", Text),
            Line("ServiceData8.", "service_data8", Each(1, show::upper)),
            Line("ServiceData16.", "service_data16", Each(1, show::upper)),
            Line("ServiceData32.", "service_data32", Each(1, show::upper)),
            Line("ServiceData64.", "service_data64", Each(1, show::hex)),
        ],
    ),
    table(
        "InformInfoRecord",
        "InformInfoRecord dump:\n",
        24,
        &[
            Line("RID", "", Title),
            Line("SubscriberGID", "subscriber_gid", Gid),
            Line("SubscriberEnum", "enumeration", Number(show::upper)),
            Line("InformInfo dump:", "", Title),
            Line("gid", "inform_info.gid", Gid),
            Line("lid_range_begin", "inform_info.lid_range_begin", Number(show::uint)),
            Line("lid_range_end", "inform_info.lid_range_end", Number(show::uint)),
            Line("is_generic", "inform_info.is_generic", Number(show::upper)),
            Line("subscribe", "inform_info.subscribe", Number(show::upper)),
            Line("trap_type", "inform_info.notice_type", Number(show::upper)),
            Line("", "inform_info.is_generic", Either(GENERIC, VENDOR)),
        ],
    ),
    table(
        "ClassPortInfo",
        "SA ClassPortInfo:\n",
        25,
        &[
            Line("Base version", "base_version", Number(show::uint)),
            Line("Class version", "class_version", Number(show::uint)),
            Line("Capability mask", "capability_mask", Number(show::upper_bytes)),
            Line("Capability mask 2", "capability_response.capability_mask2", Number(show::upper_bytes)),
            Line("Response time value", "capability_response.resp_time_value", Number(show::upper_bytes)),
            Line("Redirect GID", "redirect_gid", Gid),
            Line("Redirect TC/SL/FL", "redirect_tc_sl_fl", Number(show::upper_bytes)),
            Line("Redirect LID", "redirect_lid", Number(show::uint)),
            Line("Redirect PKey", "redirect_pkey", Number(show::upper_bytes)),
            Line("Redirect QP", "redirect_qp", Number(show::upper_word)),
            Line("Redirect QKey", "redirect_qkey", Number(show::upper_bytes)),
            Line("Trap GID", "trap_gid", Gid),
            Line("Trap TC/SL/FL", "trap_tc_sl_fl", Number(show::upper_bytes)),
            Line("Trap LID", "trap_lid", Number(show::uint)),
            Line("Trap PKey", "trap_pkey", Number(show::upper_bytes)),
            Line("Trap HL/QP", "trap_hop_qp", Number(show::upper_bytes)),
            Line("Trap QKey", "trap_qkey", Number(show::upper_bytes)),
        ],
    ),
];
