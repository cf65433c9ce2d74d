//! Details of traps about ports, links, groups and paths.
use crate::{
    Gid, Guid, Lid, bits, code,
    code::{PortCapability, PortCapability2},
    wire,
    wire::{Be64, Octets, Reserved},
};

bits! {
    /// Flag for changes other than those of the capability mask.
    pub struct OtherLocalChanges [1] in CapabilityTrap.other {
        _: 7,
        /// True if something other than the capability mask changed; [`LocalChanges`] lists it.
        other_local_changes / with_other_local_changes: bool = 1,
    }
    /// Other local changes of a port.
    pub struct LocalChanges [2] in CapabilityTrap.changes {
        _: 10,
        /// The second capability mask changed.
        capability_mask2_change / with_capability_mask2_change: bool = 1,
        /// The position in the hardware hierarchy changed.
        hierarchy_info_change / with_hierarchy_info_change: bool = 1,
        /// The priority of the subnet manager changed.
        sm_priority_change / with_sm_priority_change: bool = 1,
        /// The enabled link speeds changed.
        link_speed_enabled_change / with_link_speed_enabled_change: bool = 1,
        /// The enabled link widths changed.
        link_width_enabled_change / with_link_width_enabled_change: bool = 1,
        /// The node description changed.
        node_description_change / with_node_description_change: bool = 1,
    }
}

wire! {
    /// Details of trap 144 (IBTA 14.2.5.1): changes of a port, 54 bytes.
    pub struct CapabilityTrap [54] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// LID of the changed port.
        pub lid_addr: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Flag for changes other than those of the capability mask.
        pub other: OtherLocalChanges,
        /// Capability mask after the change.
        pub capability_mask: PortCapability,
        /// Other local changes.
        pub changes: LocalChanges,
        /// Second capability mask after the change.
        pub capability_mask2: PortCapability2,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<40>,
    }
    /// Details of trap 145 (IBTA 14.2.5.1): the new GUID of a system, 54 bytes.
    pub struct SystemImageTrap [54] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// LID of the changed node.
        pub lid_addr: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<2>,
        /// New GUID of the system image.
        pub system_image_guid: Guid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<40>,
    }
    /// Details of traps 64 to 67 (IBTA 14.4.10): a port or multicast group, 54 bytes.
    pub struct GidTrap [54] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<6>,
        /// GID of the port or multicast group.
        pub gid_addr: Gid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<32>,
    }
}

bits! {
    /// Wait flag of an invalidated path.
    pub struct WaitForRepath [1] in PathTrap.wait {
        /// True if a repath trap will follow; clients should query paths only after it.
        wait_for_repath / with_wait_for_repath: bool = 1,
        _: 7,
    }
}

wire! {
    /// Details of traps 68 and 69 (IBTA 14.4.10): paths, 54 bytes. The path record follows in the data of the report.
    pub struct PathTrap [54] {
        /// Component mask of the path record.
        pub comp_mask: Be64,
        /// Wait flag.
        pub wait: WaitForRepath,
        /// Bytes without a public layout.
        pub rest: Octets<45>,
    }
    /// Details of trap 128 (IBTA 14.2.5.1): a switch, 54 bytes.
    pub struct LinkStateTrap [54] {
        /// LID of the switch whose link state changed.
        pub lid_addr: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<52>,
    }
    /// Details of traps 129 to 131 (IBTA 14.2.5.1): a port, 54 bytes.
    pub struct PortErrorTrap [54] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// LID of the node that counted the errors.
        pub lid_addr: Lid,
        /// Number of the port with the errors.
        pub port_no: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<49>,
    }
}

code! {
    /// Origin of a baseboard management trap (`ib_bm.h` of opa-ff).
    pub struct BmTrapType(u8) {
        /// Module management entity.
        MME = 0 "MME",
        /// Vendor of a module management entity.
        OEM_MME = 1 "OEM MME",
        /// Chassis management entity: retry.
        CME_RETRY = 2 "CME retry",
        /// Request to write.
        WRE = 3 "WRE",
        /// Chassis management entity.
        CME = 4 "CME",
        /// Vendor of a chassis management entity.
        OEM_CME = 5 "OEM CME",
    }
}

wire! {
    /// Details of baseboard management's trap 260 (IBTA 16.2.4; `ib_bm.h` of opa-ff): an event of a module, 54 bytes.
    pub struct BmTrap [54] {
        /// Number of bytes in `trap_data` that are used.
        pub data_length: u8,
        /// Origin of the event.
        pub trap_type: BmTrapType,
        /// Further type of the event, which the origin defines.
        pub trap_type_modifier: Octets<3>,
        /// Data of the event, which the origin defines.
        pub trap_data: Octets<49>,
    }
}
