//! Traps about changes of a port.
use crate::{
    Guid, Lid, bits,
    smp::{PortCapability, PortCapability2},
    wire,
    wire::Reserved,
};

bits! {
    /// Whether the list of other changes counts.
    pub struct OtherLocalChanges [1] in CapabilityTrap.other {
        _: 7,
        /// Something else than the capability mask changed; [`LocalChanges`] says what.
        other_local_changes / with_other_local_changes: bool = 1,
    }
}
bits! {
    /// What else changed.
    pub struct LocalChanges [2] in CapabilityTrap.changes {
        _: 10,
        /// The second capability mask.
        capability_mask2_change / with_capability_mask2_change: bool = 1,
        /// The place in the hardware.
        hierarchy_info_change / with_hierarchy_info_change: bool = 1,
        /// The subnet manager's priority.
        sm_priority_change / with_sm_priority_change: bool = 1,
        /// The speeds that may be used.
        link_speed_enabled_change / with_link_speed_enabled_change: bool = 1,
        /// The widths that may be used.
        link_width_enabled_change / with_link_width_enabled_change: bool = 1,
        /// The node's description.
        node_description_change / with_node_description_change: bool = 1,
    }
}

wire! {
    /// Details of trap 144 (IBTA 14.2.5.1): what changed at a port, 54 bytes.
    pub struct CapabilityTrap [54] {
        /// Zero.
        pub reserved: Reserved<2>,
        /// LID of the port that changed.
        pub lid_addr: Lid,
        /// Zero.
        pub reserved2: Reserved<1>,
        /// Whether the list of other changes counts.
        pub other: OtherLocalChanges,
        /// The capability mask as it is now.
        pub capability_mask: PortCapability,
        /// What else changed.
        pub changes: LocalChanges,
        /// The second capability mask as it is now.
        pub capability_mask2: PortCapability2,
        /// Zero.
        pub reserved3: Reserved<40>,
    }
}

wire! {
    /// Details of trap 145 (IBTA 14.2.5.1): a system's new GUID, 54 bytes.
    pub struct SystemImageTrap [54] {
        /// Zero.
        pub reserved: Reserved<2>,
        /// LID of the node that changed.
        pub lid_addr: Lid,
        /// Zero.
        pub reserved2: Reserved<2>,
        /// The GUID as it is now.
        pub system_image_guid: Guid,
        /// Zero.
        pub reserved3: Reserved<40>,
    }
}
