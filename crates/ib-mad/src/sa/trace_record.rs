//! TraceRecord: a node on a path.
use super::record::sa_record;
use crate::{
    NodeType, wire,
    wire::{Be16, Be64, Reserved},
};

wire! {
    /// A node on a path (IBTA 15.2.5.19), 46 bytes. Its ids are GUIDs that the administration may have hidden.
    ///
    /// No public source names its component mask bits.
    pub struct TraceRecord [46] {
        /// Subnet prefix, the upper 64 bits of a GID.
        pub gid_prefix: Be64,
        /// Goes up when hidden ids change.
        pub id_generation: Be16,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Adapter, switch or router.
        pub node_type: NodeType,
        /// Id of the node that the path goes through.
        pub node_id: Be64,
        /// The chassis that it is in.
        pub chassis_id: Be64,
        /// The port that the path comes in by.
        pub entry_port_id: Be64,
        /// The port that it goes out by.
        pub exit_port_id: Be64,
        /// Number of the port that it comes in by.
        pub entry_port: u8,
        /// Number of the port that it goes out by.
        pub exit_port: u8,
    }
}

sa_record! {
    /// Which fields of a [`TraceRecord`] count.
    TraceRecord TRACE_RECORD TraceMask;
}
