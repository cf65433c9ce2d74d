//! Capabilities of subnet administration.
use crate::flags;

flags! {
    /// Capability bits of subnet administration in [`ClassPortInfo::capability_mask`](crate::notice::ClassPortInfo)
    /// (IBTA 15.2.4).
    pub struct SaCapability(u16) {
        /// Supports the optional records.
        OPTIONAL_RECORDS = 0x0100 "IsSubnetOptionalRecordsSupported",
        /// Supports joining multicast groups.
        UD_MULTICAST = 0x0200 "IsUDMulticastSupported",
        /// Supports multi-path queries.
        MULTI_PATH = 0x0400 "IsMultiPathSupported",
        /// Supports reinitialization of ports.
        REINIT = 0x0800 "IsReInitSupported",
        /// Supports multi-path queries for GIDs of any scope.
        GID_SCOPED_MULTI_PATH = 0x1000 "IsGIDScopedMultiPathSupported",
        /// Matches single bits of a port's capability mask.
        PORT_INFO_CAPABILITY_MASK_MATCH = 0x2000 "IsPortInfoCapMaskMatchSupported",
        /// Supports records of link speed and width pairs.
        LINK_SPEED_WIDTH_PAIRS = 0x4000 "IsLinkSpeedWidthPairsTableRecordSupported",
        /// Supports services of performance administration.
        PA_SERVICES = 0x8000 "IsPAServicesSupported",
    }
}
crate::notice::class_capability!(SaCapability);

flags! {
    /// Capability bits of subnet administration in the second capability mask (IBTA 15.2.4).
    pub struct SaCapability2(u32) {
        /// Sends traps about invalidated and restored paths (unpath and repath).
        UNPATH_REPATH = 0x001 "IsUnpathRepathSupported",
        /// Supports quality of service classes.
        QOS = 0x002 "IsQoSSupported",
        /// Reports the membership bit of P_Keys in reverse paths.
        REVERSE_PATH_PKEY = 0x004 "IsReversePathPKeyMembershipBitSupported",
        /// Supports `multicast_fdb_top`, the highest multicast LID in use.
        MULTICAST_TOP = 0x008 "IsMulticastTopSupported",
        /// Supports HierarchyInfo records.
        HIERARCHY_INFO = 0x010 "IsHierarchyInfoSupported",
        /// Assigns additional GUIDs to ports.
        ADDITIONAL_GUID = 0x020 "IsAdditionalGUIDSupported",
        /// PortInfo records have every field.
        FULL_PORT_INFO_RECORD = 0x040 "IsFullPortInfoRecordSupported",
        /// Supports extended link speeds.
        EXTENDED_SPEEDS = 0x080 "IsExtendedSpeedsSupported",
        /// Supports service records of multicast groups.
        MULTICAST_SERVICE_RECORD = 0x100 "IsMulticastServiceRecordSupported",
        /// Supports CableInfo records.
        CABLE_INFO_RECORD = 0x200 "IsCableInfoRecordSupported",
        /// Matches single bits of a port's second capability mask.
        PORT_INFO_CAPABILITY_MASK2_MATCH = 0x400 "IsPortInfoCapMask2MatchSupported",
        /// Supports PortInfoExtended records.
        PORT_INFO_EXTENDED_RECORD = 0x800 "IsPortInfoExtendedRecordSupported",
    }
}
