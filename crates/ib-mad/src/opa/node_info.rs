//! Identity and size of an Omni-Path node.
use crate::{
    Guid, NodeType,
    smp::PortVendor,
    wire,
    wire::{Be16, Be32, Reserved},
};

wire! {
    /// Identity and size of a node, 44 bytes (`struct opa_node_info` in `opa_smi.h`).
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
        /// Supported version of the MAD format.
        pub base_version: u8,
        /// Supported class version of subnet management.
        pub class_version: u8,
        /// Host fabric interface (coded as a channel adapter) or switch.
        pub node_type: NodeType,
        /// Number of physical ports, without port 0 of a switch.
        pub num_ports: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// GUID of the system that the node is part of.
        pub system_image_guid: Guid,
        /// GUID of the node.
        pub node_guid: Guid,
        /// GUID of the port at which the request arrived; in a switch, of port 0.
        pub port_guid: Guid,
        /// Number of entries of each port's P_Key table.
        pub partition_cap: Be16,
        /// Device id, assigned by the vendor.
        pub device_id: Be16,
        /// Revision of the device, assigned by the vendor.
        pub revision: Be32,
        /// Local port number and vendor.
        pub port_vendor: PortVendor,
    }
}
