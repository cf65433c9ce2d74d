//! What a subnet administration can do.
use crate::flags;

flags! {
    /// Subnet administration's bits of [`ClassPortInfo::capability_mask`](crate::notice::ClassPortInfo) (IBTA 15.2.4).
    pub struct SaCapability(u16) {
        /// Has the optional records.
        OPTIONAL_RECORDS = 0x0100 "IsSubnetOptionalRecordsSupported",
        /// Multicast groups can be joined.
        UD_MULTICAST = 0x0200 "IsUDMulticastSupported",
        /// Answers multi-path questions.
        MULTI_PATH = 0x0400 "IsMultiPathSupported",
        /// Can initialize ports anew.
        REINIT = 0x0800 "IsReInitSupported",
        /// Answers multi-path questions about GIDs of any scope.
        GID_SCOPED_MULTI_PATH = 0x1000 "IsGIDScopedMultiPathSupported",
        /// Can match single bits of a port's capability mask.
        PORT_INFO_CAPABILITY_MASK_MATCH = 0x2000 "IsPortInfoCapMaskMatchSupported",
        /// Has records of link speed and width pairs.
        LINK_SPEED_WIDTH_PAIRS = 0x4000 "IsLinkSpeedWidthPairsTableRecordSupported",
        /// Has services of performance administration.
        PA_SERVICES = 0x8000 "IsPAServicesSupported",
    }
}

flags! {
    /// Subnet administration's bits of the second capability mask (IBTA 15.2.4).
    pub struct SaCapability2(u32) {
        /// Tells about paths that go and come.
        UNPATH_REPATH = 0x001 "IsUnpathRepathSupported",
        /// Knows classes of service quality.
        QOS = 0x002 "IsQoSSupported",
        /// Gives the membership bit of P_Keys in reverse paths.
        REVERSE_PATH_PKEY = 0x004 "IsReversePathPKeyMembershipBitSupported",
        /// Knows the end of multicast tables.
        MULTICAST_TOP = 0x008 "IsMulticastTopSupported",
        /// Has records of nodes' places.
        HIERARCHY_INFO = 0x010 "IsHierarchyInfoSupported",
        /// Can give ports more GUIDs.
        ADDITIONAL_GUID = 0x020 "IsAdditionalGUIDSupported",
        /// Port records have every field.
        FULL_PORT_INFO_RECORD = 0x040 "IsFullPortInfoRecordSupported",
        /// Knows extended speeds.
        EXTENDED_SPEEDS = 0x080 "IsExtendedSpeedsSupported",
        /// Has service records of multicast groups.
        MULTICAST_SERVICE_RECORD = 0x100 "IsMulticastServiceRecordSupported",
        /// Has records of cables.
        CABLE_INFO_RECORD = 0x200 "IsCableInfoRecordSupported",
        /// Can match single bits of a port's second capability mask.
        PORT_INFO_CAPABILITY_MASK2_MATCH = 0x400 "IsPortInfoCapMask2MatchSupported",
        /// Has records of error correction.
        PORT_INFO_EXTENDED_RECORD = 0x800 "IsPortInfoExtendedRecordSupported",
    }
}
