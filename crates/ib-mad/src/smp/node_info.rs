//! What a node is.
use crate::{
    Guid, NodeType, VendorId, bits, wire,
    wire::{Be16, Be32},
};

bits! {
    /// Port that was asked, maker of the node.
    pub struct PortVendor [4] in NodeInfo.port_vendor {
        /// Number of the port that the question came in by.
        local_port_num / with_local_port_num: u8 = 8,
        /// Maker of the node.
        vendor_id / with_vendor_id: VendorId = 24,
    }
}

wire! {
    /// What a node is (IBTA 14.2.5.3), 40 bytes.
    ///
    /// ```text
    ///  0  base version | class version | node type | ports
    ///  4  system image GUID (8)
    /// 12  node GUID (8)
    /// 20  port GUID (8)
    /// 28  partitions          | device id
    /// 32  revision
    /// 36  local port | vendor id (3)
    /// ```
    pub struct NodeInfo [40] {
        /// Version of the MAD format that it speaks.
        pub base_version: u8,
        /// Version of subnet management that it speaks.
        pub class_version: u8,
        /// Adapter, switch or router.
        pub node_type: NodeType,
        /// Physical ports; a switch's port 0 is not counted.
        pub num_ports: u8,
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
