//! Lines of saquery.
use super::{
    dump::{
        Form::{Each, Either, Gid, Key, KeyBytes, Number, Numbered, Part, Row, Text, Title},
        HEX, LOWER, Line, Table, UINT, UPPER, UPPER_BYTES, lines,
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
const GENERIC: &[Line] = lines! {
    "trap_num" inform_info.trap_number: UINT,
    "qpn" inform_info.qpn_time.qpn: Key(show::upper_bytes),
    "resp_time_val" inform_info.qpn_time.resp_time_value: UPPER,
    "node_type" inform_info.producer: UPPER_BYTES,
};

/// Lines of a subscription to notices of a vendor.
const VENDOR: &[Line] = lines! {
    "dev_id" inform_info.trap_number: UPPER,
    "qpn" inform_info.qpn_time.qpn: Key(show::upper_bytes),
    "resp_time_val" inform_info.qpn_time.resp_time_value: UPPER,
    "vendor_id" inform_info.producer: UPPER_BYTES,
};

/// Lines of a group, for `saquery -g`.
pub(super) const GROUP: Table = table(
    "McMemberRecord",
    "MCMemberRecord group dump:\n",
    24,
    lines! {
        "MGID" mgid: Gid,
        "Mlid" mlid: UPPER,
        "Mtu" mtu: UPPER,
        "pkey" pkey: UPPER,
        "Rate" rate: UPPER,
        "SL" sl_flow_hop.sl: UPPER,
    },
);

/// Lines of a member of a group, for `saquery -m`.
pub(super) const MEMBER: Table = table(
    "McMemberRecord",
    "MCMemberRecord member dump:\n",
    24,
    lines! {
        "MGID" mgid: Gid,
        "Mlid" mlid: UPPER,
        "PortGid" port_gid: Gid,
        "ScopeState" scope_state: UPPER,
        "ProxyJoin" proxy_join: UPPER,
    },
);

pub(super) const TABLES: &[Table] = &[
    table(
        "PathRecord",
        "PathRecord dump:\n",
        24,
        lines! {
            "service_id" service_id: HEX,
            "dgid" dgid: Gid,
            "sgid" sgid: Gid,
            "dlid" dlid: UINT,
            "slid" slid: UINT,
            "hop_flow_raw" flow_hop: UPPER,
            "tclass" traffic_class: UPPER,
            "num_path_revers" reversible_paths: UPPER,
            "pkey" pkey: UPPER,
            "qos_class" qos_sl.qos_class: UPPER,
            "sl" qos_sl.sl: UPPER,
            "mtu" mtu: UPPER,
            "rate" rate: UPPER,
            "pkt_life" packet_life_time: UPPER,
            "preference" preference: UPPER,
            "resv2" reserved: UPPER_BYTES,
        },
    ),
    table(
        "NodeRecord",
        "NodeRecord dump:\n",
        24,
        lines! {
            "lid" lid: UINT,
            "reserved" reserved: UPPER,
            "base_version" node_info.base_version: UPPER,
            "class_version" node_info.class_version: UPPER,
            "node_type" node_info.node_type: Number(show::record_node_type),
            "num_ports" node_info.num_ports: UINT,
            "sys_guid" node_info.system_image_guid: HEX,
            "node_guid" node_info.node_guid: HEX,
            "port_guid" node_info.port_guid: HEX,
            "partition_cap" node_info.partition_cap: UPPER,
            "device_id" node_info.device_id: UPPER,
            "revision" node_info.revision: UPPER,
            "port_num" node_info.port_vendor.local_port_num: UINT,
            "vendor_id" node_info.port_vendor.vendor_id: UPPER,
            "NodeDescription" node_description: Text,
        },
    ),
    table(
        "PortInfoRecord",
        "PortInfoRecord dump:\n\tRID\n",
        24,
        lines! {
            "EndPortLid" endport_lid: UINT,
            "PortNum" port_num: UINT,
            "Options" options: LOWER,
            "PortInfo" port_info: Part(PORT),
        },
    ),
    table(
        "McMemberRecord",
        "MCMember Record dump:\n",
        24,
        lines! {
            "MGID" mgid: Gid,
            "PortGid" port_gid: Gid,
            "qkey" qkey: LOWER,
            "mlid" mlid: LOWER,
            "mtu" mtu: LOWER,
            "TClass" traffic_class: LOWER,
            "pkey" pkey: LOWER,
            "rate" rate: LOWER,
            "pkt_life" packet_life_time: LOWER,
            "SL" sl_flow_hop.sl: LOWER,
            "FlowLabel" sl_flow_hop.flow_label: LOWER,
            "HopLimit" sl_flow_hop.hop_limit: LOWER,
            "Scope" scope_state.scope: LOWER,
            "JoinState" scope_state.join_state: LOWER,
            "ProxyJoin" proxy_join.proxy_join: LOWER,
        },
    ),
    table(
        "LinkRecord",
        "LinkRecord dump:\n",
        27,
        lines! {
            "FromLID" from_lid: UINT,
            "FromPort" from_port: UINT,
            "ToPort" to_port: UINT,
            "ToLID" to_lid: UINT,
        },
    ),
    table(
        "GuidInfoRecord",
        "GUIDInfo Record dump:\n",
        27,
        lines! {
            "LID" lid: UINT,
            "Block" block_num: UINT,
            "GUID " guids: Each(0, show::hex),
        },
    ),
    table(
        "SmInfoRecord",
        "SMInfoRecord dump:\n",
        22,
        lines! {
            "RID": Title,
            "LID" lid: UINT,
            "SMInfo dump:": Title,
            "GUID" sm_info.guid: HEX,
            "SM_Key" sm_info.sm_key: HEX,
            "ActCount" sm_info.act_count: UINT,
            "Priority" sm_info.priority_state.priority: UINT,
            "SMState" sm_info.priority_state.sm_state: UINT,
        },
    ),
    table(
        "SwitchInfoRecord",
        "SwitchInfoRecord dump:\n",
        40,
        lines! {
            "RID": Title,
            "LID" lid: UINT,
            "SwitchInfo dump:": Title,
            "LinearFDBCap" switch_info.linear_fdb_cap: UPPER,
            "RandomFDBCap" switch_info.random_fdb_cap: UPPER,
            "MulticastFDBCap" switch_info.multicast_fdb_cap: UPPER,
            "LinearFDBTop" switch_info.linear_fdb_top: UPPER,
            "DefaultPort" switch_info.default_port: UINT,
            "DefaultMulticastPrimaryPort" switch_info.default_multicast_primary_port: UINT,
            "DefaultMulticastNotPrimaryPort" switch_info.default_multicast_not_primary_port: UINT,
            "LifeTimeValue/PortStateChange/OpSL2VL" switch_info.life_time_change: UPPER,
            "LIDsPerPort" switch_info.lids_per_port: UPPER,
            "PartitionEnforcementCap" switch_info.partition_enforcement_cap: UPPER,
            "flags" switch_info.enforcement_caps: UPPER,
            "MulticastFDBTop" switch_info.multicast_fdb_top: UPPER,
        },
    ),
    table(
        "SlToVlMappingTableRecord",
        "SL2VLTableRecord dump:\n",
        27,
        lines! {
            "LID" lid: UINT,
            "InPort" input_port_num: UINT,
            "OutPort" output_port_num: UINT,
            "SL: 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|": Title,
            "VL:" table.lanes: Row([0, 16], "", "", show::cell),
        },
    ),
    table(
        "VlArbitrationTableRecord",
        "VLArbTableRecord dump:\n",
        27,
        lines! {
            "LID" lid: UINT,
            "Port" output_port_num: UINT,
            "Block" block_num: UINT,
            "VL    :" table.entries: Row([0, 16], "lane.vl", "", show::cell),
            "Weight:" table.entries: Row([0, 16], "weight", "", show::cell),
            "VL    :" table.entries: Row([16, 16], "lane.vl", "", show::cell),
            "Weight:" table.entries: Row([16, 16], "weight", "", show::cell),
        },
    ),
    Table {
        last: "\n",
        ..table(
            "LinearForwardingTableRecord",
            "LFT Record dump:\n",
            27,
            lines! {
                "LID" lid: UINT,
                "Block" block_num: UINT,
                "LFT:": Title,
                "LID\tPort Number": Title,
                "" table.ports: Numbered("block_num", show::uint),
            },
        )
    },
    Table {
        last: "\n",
        ..table(
            "PkeyTableRecord",
            "PKeyTableRecord dump:\n",
            27,
            lines! {
                "LID" lid: UINT,
                "Port" port_num: UINT,
                "Block" block_num: Number(show::swapped),
                "PKey Table:": Title,
                "" table.pkeys: Row([0, 8], "", " ", show::hex),
                "" table.pkeys: Row([8, 8], "", " ", show::hex),
                "" table.pkeys: Row([16, 8], "", " ", show::hex),
                "" table.pkeys: Row([24, 8], "", " ", show::hex),
            },
        )
    },
    table(
        "ServiceRecord",
        "ServiceRecord dump:\n",
        24,
        lines! {
            "ServiceID" service_id: HEX,
            "ServiceGID" service_gid: Gid,
            "ServiceP_Key" service_pkey: UPPER,
            "ServiceLease" service_lease: UPPER,
            "ServiceKey" service_key: KeyBytes,
            "ServiceName" service_name: Text,
            "ServiceData8." service_data8: Each(1, show::upper),
            "ServiceData16." service_data16: Each(1, show::upper),
            "ServiceData32." service_data32: Each(1, show::upper),
            "ServiceData64." service_data64: Each(1, show::hex),
        },
    ),
    table(
        "InformInfoRecord",
        "InformInfoRecord dump:\n",
        24,
        lines! {
            "RID": Title,
            "SubscriberGID" subscriber_gid: Gid,
            "SubscriberEnum" enumeration: UPPER,
            "InformInfo dump:": Title,
            "gid" inform_info.gid: Gid,
            "lid_range_begin" inform_info.lid_range_begin: UINT,
            "lid_range_end" inform_info.lid_range_end: UINT,
            "is_generic" inform_info.is_generic: UPPER,
            "subscribe" inform_info.subscribe: UPPER,
            "trap_type" inform_info.notice_type: UPPER,
            "" inform_info.is_generic: Either(GENERIC, VENDOR),
        },
    ),
    table(
        "ClassPortInfo",
        "SA ClassPortInfo:\n",
        25,
        lines! {
            "Base version" base_version: UINT,
            "Class version" class_version: UINT,
            "Capability mask" capability_mask: UPPER_BYTES,
            "Capability mask 2" capability_response.capability_mask2: UPPER_BYTES,
            "Response time value" capability_response.resp_time_value: UPPER_BYTES,
            "Redirect GID" redirect_gid: Gid,
            "Redirect TC/SL/FL" redirect_tc_sl_fl: UPPER_BYTES,
            "Redirect LID" redirect_lid: UINT,
            "Redirect PKey" redirect_pkey: UPPER_BYTES,
            "Redirect QP" redirect_qp: Number(show::upper_word),
            "Redirect QKey" redirect_qkey: UPPER_BYTES,
            "Trap GID" trap_gid: Gid,
            "Trap TC/SL/FL" trap_tc_sl_fl: UPPER_BYTES,
            "Trap LID" trap_lid: UINT,
            "Trap PKey" trap_pkey: UPPER_BYTES,
            "Trap HL/QP" trap_hop_qp: UPPER_BYTES,
            "Trap QKey" trap_qkey: UPPER_BYTES,
        },
    ),
];
