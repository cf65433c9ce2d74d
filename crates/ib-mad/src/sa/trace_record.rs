//! TraceRecord: a node on a path.
use super::record::sa_record;
use crate::{
    NodeType, wire,
    wire::{Be16, Be64, Reserved},
};

wire! {
    /// A node on a path (IBTA 15.2.5.19), 46 bytes. The ids are GUIDs or other numbers by which the SA replaces GUIDs.
    ///
    /// No public source names its component mask bits.
    pub struct TraceRecord [46] {
        /// Subnet prefix, the upper 64 bits of a GID.
        pub gid_prefix: Be64,
        /// Generation of the ids, which increases when the SA changes the ids.
        pub id_generation: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Channel adapter, switch or router.
        pub node_type: NodeType,
        /// Id of the node.
        pub node_id: Be64,
        /// Id of the node's chassis.
        pub chassis_id: Be64,
        /// Id of the port at which the path enters the node.
        pub entry_port_id: Be64,
        /// Id of the port at which the path leaves the node.
        pub exit_port_id: Be64,
        /// Number of the port at which the path enters the node.
        pub entry_port: u8,
        /// Number of the port at which the path leaves the node.
        pub exit_port: u8,
    }
}

sa_record! {
    /// Component mask of a [`TraceRecord`].
    TraceRecord TRACE_RECORD TraceMask;
}
