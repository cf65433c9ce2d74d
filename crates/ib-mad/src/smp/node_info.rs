//! Identity and size of a node.
use crate::{
    Guid, NodeType, VendorId, bits, wire,
    wire::{Be16, Be32},
};

bits! {
    /// Local port number and vendor of a node.
    pub struct PortVendor [4] in NodeInfo.port_vendor {
        /// Number of the port at which the request arrived.
        local_port_num / with_local_port_num: u8 = 8,
        /// Vendor of the node.
        vendor_id / with_vendor_id: VendorId = 24,
    }
}

wire! {
    /// Identity and size of a node (IBTA 14.2.5.3), 40 bytes.
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
        /// Supported version of the MAD format.
        pub base_version: u8,
        /// Supported class version of subnet management.
        pub class_version: u8,
        /// Channel adapter, switch or router.
        pub node_type: NodeType,
        /// Number of physical ports, without port 0 of a switch.
        pub num_ports: u8,
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
