//! Attribute ids.
use crate::code;

code! {
    /// What a datagram's data is. The number's meaning depends on the class: names here are subnet administration's
    /// and those that every class shares (IBTA 13.4.8, 15.2.5).
    pub struct AttributeId(u16) {
        /// What a class port can do.
        CLASS_PORT_INFO = 0x0001 "ClassPortInfo",
        /// An event.
        NOTICE = 0x0002 "Notice",
        /// Subscription to events.
        INFORM_INFO = 0x0003 "InformInfo",
        /// What a node is.
        NODE_RECORD = 0x0011 "NodeRecord",
        /// What a port is and does.
        PORT_INFO_RECORD = 0x0012 "PortInfoRecord",
        /// Which lane a service level takes.
        SL_TO_VL_MAPPING_TABLE_RECORD = 0x0013 "SLtoVLMappingTableRecord",
        /// What a switch is.
        SWITCH_INFO_RECORD = 0x0014 "SwitchInfoRecord",
        /// Where a switch sends packets.
        LINEAR_FORWARDING_TABLE_RECORD = 0x0015 "LinearForwardingTableRecord",
        /// Where a switch sends packets, in another form.
        RANDOM_FORWARDING_TABLE_RECORD = 0x0016 "RandomForwardingTableRecord",
        /// Where a switch sends multicast packets.
        MULTICAST_FORWARDING_TABLE_RECORD = 0x0017 "MulticastForwardingTableRecord",
        /// What a subnet manager is.
        SM_INFO_RECORD = 0x0018 "SMInfoRecord",
        /// Which speeds and widths of a link go together.
        LINK_SPEED_WIDTH_PAIRS_TABLE_RECORD = 0x0019 "LinkSpeedWidthPairsTableRecord",
        /// A link between two ports.
        LINK_RECORD = 0x0020 "LinkRecord",
        /// GUIDs of a port.
        GUID_INFO_RECORD = 0x0030 "GuidInfoRecord",
        /// A service that somebody offers.
        SERVICE_RECORD = 0x0031 "ServiceRecord",
        /// Partitions of a port.
        PKEY_TABLE_RECORD = 0x0033 "P_KeyTableRecord",
        /// A path between two ports.
        PATH_RECORD = 0x0035 "PathRecord",
        /// Which lane may send next.
        VL_ARBITRATION_TABLE_RECORD = 0x0036 "VLArbitrationTableRecord",
        /// Membership in a multicast group.
        MC_MEMBER_RECORD = 0x0038 "MCMemberRecord",
        /// A node on a path.
        TRACE_RECORD = 0x0039 "TraceRecord",
        /// Paths between groups of ports.
        MULTI_PATH_RECORD = 0x003a "MultiPathRecord",
        /// Services that belong to a key.
        SERVICE_ASSOCIATION_RECORD = 0x003b "ServiceAssociationRecord",
        /// A node's place in the hardware.
        HIERARCHY_INFO_RECORD = 0x003c "HierarchyInfoRecord",
        /// What a cable says of itself.
        CABLE_INFO_RECORD = 0x003d "CableInfoRecord",
        /// Error correction of a port.
        PORT_INFO_EXTENDED_RECORD = 0x003e "PortInfoExtendedRecord",
        /// A subscription to events.
        INFORM_INFO_RECORD = 0x00f3 "InformInfoRecord",
    }
}
