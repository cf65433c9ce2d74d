//! What a node is.
use crate::{
    Guid, NodeType,
    smp::PortVendor,
    wire,
    wire::{Be16, Be32, Reserved},
};

wire! {
    /// What a node is, 44 bytes (`struct opa_node_info` in `opa_smi.h`).
    ///
    /// ```text
    ///  0  base version | class version | node type | ports
    ///  4  reserved
    ///  8  system image GUID (8) | node GUID (8) | port GUID (8)
    /// 32  partitions | device id
    /// 36  revision
    /// 40  local port | vendor id (3)
    /// ```
    pub struct OpaNodeInfo [44] {
        /// Version of the MAD format that it speaks.
        pub base_version: u8,
        /// Version of subnet management that it speaks.
        pub class_version: u8,
        /// Host fabric interface (as a channel adapter) or switch.
        pub node_type: NodeType,
        /// Physical ports; a switch's port 0 is not counted.
        pub num_ports: u8,
        /// Zero.
        pub reserved: Reserved<4>,
        /// The system that the node is part of.
        pub system_image_guid: Guid,
        /// GUID of the node.
        pub node_guid: Guid,
        /// The port that was asked; in a switch, port 0.
        pub port_guid: Guid,
        /// Entries of each port's P_Key table.
        pub partition_cap: Be16,
        /// Device, in its maker's numbers.
        pub device_id: Be16,
        /// Revision of the device.
        pub revision: Be32,
        /// Port that was asked, maker of the node.
        pub port_vendor: PortVendor,
    }
}
