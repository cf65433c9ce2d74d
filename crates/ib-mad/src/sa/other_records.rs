//! Records without an attribute of subnet management, and records whose layout is not public.
use super::record::sa_record;
use crate::{
    Lid, NodeType, wire,
    wire::{Be16, Be64, Octets, Reserved, Text},
};

wire! {
    /// Data of a cable (IBTA 15.2.5.22). No public source has its layout; the bytes are kept, including the rest of the
    /// datagram.
    pub struct CableInfoRecord [200] {
        /// Bytes of the record, without a known layout.
        pub opaque: Octets<200>,
    }
}

sa_record! {
    /// Component mask of a [`CableInfoRecord`].
    CableInfoRecord CABLE_INFO_RECORD CableInfoMask;
}

wire! {
    /// Position of a port in the hardware hierarchy (IBTA 15.2.5.21). The attribute's layout is public
    /// ([`HierarchyInfo`](crate::smp::HierarchyInfo)), that of the record is not: its bytes are kept, including the rest
    /// of the datagram.
    pub struct HierarchyInfoRecord [200] {
        /// Bytes of the record, without a known layout.
        pub opaque: Octets<200>,
    }
}

sa_record! {
    /// Component mask of a [`HierarchyInfoRecord`].
    HierarchyInfoRecord HIERARCHY_INFO_RECORD HierarchyInfoMask;
}

wire! {
    /// A service and its key (IBTA 15.2.5.15), 80 bytes. No public source names its component mask bits.
    pub struct ServiceAssociationRecord [80] {
        /// Key of the service, 128 bits.
        pub service_key: Octets<16>,
        /// Name of the service.
        pub service_name: Text<64>,
    }
}

sa_record! {
    /// Component mask of a [`ServiceAssociationRecord`].
    ServiceAssociationRecord SERVICE_ASSOCIATION_RECORD ServiceAssociationMask;
}

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

wire! {
    /// A link between two ports (IBTA 15.2.5.13), 6 bytes; 8 bytes from record to record in a response.
    pub struct LinkRecord [6] {
        /// LID of the node at the first end.
        pub from_lid: Lid,
        /// Port number at the first end.
        pub from_port: u8,
        /// Port number at the second end.
        pub to_port: u8,
        /// LID of the node at the second end.
        pub to_lid: Lid,
    }
}

sa_record! {
    /// Component mask of a [`LinkRecord`].
    LinkRecord LINK_RECORD LinkMask;
    /// LID of the node at the first end.
    FROM_LID = 0x1 from_lid: Lid;
    /// Port number at the first end.
    FROM_PORT = 0x2 from_port: u8;
    /// Port number at the second end.
    TO_PORT = 0x4 to_port: u8;
    /// LID of the node at the second end.
    TO_LID = 0x8 to_lid: Lid;
}
