//! NodeRecord: identity and size of a node.
use super::record::sa_record;
use crate::{
    Guid, Lid, NodeType, VendorId,
    smp::{NodeDescription, NodeInfo},
    wire,
    wire::Reserved,
};

wire! {
    /// Identity and size of a node (IBTA 15.2.5.2), 108 bytes. A node has one record for each of its end ports.
    pub struct NodeRecord [108] {
        /// LID of the end port.
        pub lid: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Identity and size of the node.
        pub node_info: NodeInfo,
        /// Description of the node.
        pub node_description: NodeDescription,
    }
}

sa_record! {
    /// Component mask of a [`NodeRecord`].
    NodeRecord NODE_RECORD NodeMask;
    /// LID of the end port.
    LID = 0x1 lid: Lid;
    /// Supported version of the MAD format.
    BASE_VERSION = 0x4 node_info.base_version: u8;
    /// Supported class version of subnet management.
    CLASS_VERSION = 0x8 node_info.class_version: u8;
    /// Channel adapter, switch or router.
    NODE_TYPE = 0x10 node_info.node_type: NodeType;
    /// Number of physical ports of the node.
    NUM_PORTS = 0x20 node_info.num_ports: u8;
    /// GUID of the system that the node is part of.
    SYSTEM_IMAGE_GUID = 0x40 node_info.system_image_guid: Guid;
    /// GUID of the node.
    NODE_GUID = 0x80 node_info.node_guid: Guid;
    /// GUID of the port.
    PORT_GUID = 0x100 node_info.port_guid: Guid;
    /// Number of entries of the P_Key table.
    PARTITION_CAP = 0x200 node_info.partition_cap: u16;
    /// Device id, assigned by the vendor, 16 bits.
    DEVICE_ID = 0x400 node_info.device_id: u16;
    /// Revision of the device, assigned by the vendor.
    REVISION = 0x800 node_info.revision: u32;
    /// Number of the local port.
    LOCAL_PORT_NUM = 0x1000 node_info.port_vendor.local_port_num / with_local_port_num: u8;
    /// Vendor of the node, an IEEE organization number, 24 bits.
    VENDOR_ID = 0x2000 node_info.port_vendor.vendor_id / with_vendor_id: VendorId;
    /// Description of the node.
    NODE_DESCRIPTION = 0x4000 node_description: NodeDescription;
}
