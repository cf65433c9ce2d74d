//! Lines of saquery.
use super::{
    dump::{
        Form::{Gid, Number, Text},
        Line, Table,
    },
    show,
};

/// Returns the table of a record in the layout of saquery.
const fn table(structure: &'static str, title: &'static str, lines: &'static [Line]) -> Table {
    Table { structure, title, lead: "\t\t", colon: "", column: 24, first: &[], lines }
}

pub(super) const TABLES: &[Table] = &[
    table(
        "PathRecord",
        "PathRecord dump:\n",
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
];
