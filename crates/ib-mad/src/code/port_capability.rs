//! Capabilities of ports.
use crate::flags;

flags! {
    /// First capability mask of a port (IBTA 14.2.5.6).
    pub struct PortCapability(u32) {
        /// A subnet manager runs at the port.
        IS_SM = 0x0000_0002 "IsSM",
        /// Supports notices: the attribute can be read and set.
        NOTICE = 0x0000_0004 "IsNoticeSupported",
        /// Sends traps to the subnet manager.
        TRAP = 0x0000_0008 "IsTrapSupported",
        /// Supports optional inter-packet delays.
        OPTIONAL_IPD = 0x0000_0010 "IsOptionalIPDSupported",
        /// Supports automatic path migration.
        AUTOMATIC_MIGRATION = 0x0000_0020 "IsAutomaticMigrationSupported",
        /// Supports mapping of service levels to virtual lanes.
        SL_MAPPING = 0x0000_0040 "IsSLMappingSupported",
        /// Keeps its M_Key in non-volatile memory.
        MKEY_NVRAM = 0x0000_0080 "IsMKeyNVRAM",
        /// Keeps its P_Keys in non-volatile memory.
        PKEY_NVRAM = 0x0000_0100 "IsPKeyNVRAM",
        /// Has an LED that LedInfo controls.
        LED_INFO = 0x0000_0200 "IsLEDInfoSupported",
        /// Its subnet manager is disabled.
        SM_DISABLED = 0x0000_0400 "IsSMdisabled",
        /// Supports the system image GUID.
        SYSTEM_IMAGE_GUID = 0x0000_0800 "IsSystemImageGUIDSupported",
        /// A switch sends traps about P_Keys at its external ports.
        PKEY_SWITCH_TRAP = 0x0000_1000 "IsPKeySwitchExternalPortTrapSupported",
        /// Supports CableInfo.
        CABLE_INFO = 0x0000_2000 "IsCableInfoSupported",
        /// Supports extended link speeds.
        EXTENDED_SPEEDS = 0x0000_4000 "IsExtendedSpeedsSupported",
        /// The second capability mask is valid.
        CAPABILITY_MASK2 = 0x0000_8000 "IsCapabilityMask2Supported",
        /// Supports communication management.
        COMMUNICATION_MANAGEMENT = 0x0001_0000 "IsCommunicationManagementSupported",
        /// Supports SNMP tunnelling.
        SNMP_TUNNELING = 0x0002_0000 "IsSNMPTunnelingSupported",
        /// Supports reinitialization as requested by `init_type`.
        REINIT = 0x0004_0000 "IsReinitSupported",
        /// Supports device management.
        DEVICE_MANAGEMENT = 0x0008_0000 "IsDeviceManagementSupported",
        /// Supports a vendor class.
        VENDOR_CLASS = 0x0010_0000 "IsVendorClassSupported",
        /// Sends notices about directed routes.
        DR_NOTICE = 0x0020_0000 "IsDRNoticeSupported",
        /// Sends a notice when this mask changes.
        CAPABILITY_MASK_NOTICE = 0x0040_0000 "IsCapabilityMaskNoticeSupported",
        /// Supports boot management.
        BOOT_MANAGEMENT = 0x0080_0000 "IsBootManagementSupported",
        /// Measures the round-trip latency of its link.
        LINK_ROUND_TRIP_LATENCY = 0x0100_0000 "IsLinkRoundTripLatencySupported",
        /// Supports the request that clients register again.
        CLIENT_REREGISTRATION = 0x0200_0000 "IsClientReregistrationSupported",
        /// Sends notices about other local changes.
        OTHER_LOCAL_CHANGES_NOTICE = 0x0400_0000 "IsOtherLocalChangesNoticeSupported",
        /// Has a table of the link speeds and widths that can be combined.
        LINK_SPEED_WIDTH_PAIRS = 0x0800_0000 "IsLinkSpeedWidthPairsTableSupported",
        /// Has a table of vendor-specific attributes.
        VENDOR_SPECIFIC_MADS = 0x1000_0000 "IsVendorSpecificMadsTableSupported",
        /// Can suppress traps about P_Keys of multicast packets.
        MULTICAST_PKEY_TRAP_SUPPRESSION = 0x2000_0000 "IsMcastPkeyTrapSuppressionSupported",
        /// Reports the highest multicast LID in use in its multicast forwarding table.
        MULTICAST_FDB_TOP = 0x4000_0000 "IsMulticastFDBTopSupported",
        /// Supports HierarchyInfo.
        HIERARCHY_INFO = 0x8000_0000 "IsHierarchyInfoSupported",
    }
}

flags! {
    /// Second capability mask of a port (IBTA 14.2.5.6).
    pub struct PortCapability2(u16) {
        /// The node description can be set.
        SET_NODE_DESCRIPTION = 0x0001 "IsSetNodeDescriptionSupported",
        /// Supports `PortInfoExtended`.
        PORT_INFO_EXTENDED = 0x0002 "IsPortInfoExtendedSupported",
        /// Supports virtual ports.
        VIRTUALIZATION = 0x0004 "IsVirtualizationSupported",
        /// A switch has a table of the states of its ports.
        SWITCH_PORT_STATE_TABLE = 0x0008 "IsSwitchPortStateTableSupported",
        /// Supports links of two lanes.
        LINK_WIDTH_2X = 0x0010 "IsLinkWidth2xSupported",
        /// Supports HDR, 50 Gb/s per lane.
        LINK_SPEED_HDR = 0x0020 "IsLinkSpeedHDRSupported",
        /// Supports the extended M_Key protection bits.
        MKEY_PROTECT_BITS_EXT = 0x0040 "IsMKeyProtectBitsExtSupported",
        /// Sends trap 128 with more details.
        ENHANCED_TRAP_128 = 0x0080 "IsEnhancedTrap128Supported",
        /// Reports where the used part of its P_Key table ends.
        PARTITION_TOP = 0x0100 "IsPartitionTopSupported",
        /// Has the enhanced QoS arbiter.
        ENHANCED_QOS_ARBITER = 0x0200 "IsEnhancedQoSArbiterSupported",
        /// Supports NDR, 100 Gb/s per lane.
        LINK_SPEED_NDR = 0x0400 "IsLinkSpeedNDRSupported",
        /// Has the second field of extended speeds.
        EXTENDED_SPEEDS2 = 0x0800 "IsExtendedSpeeds2Supported",
        /// Supports XDR, 200 Gb/s per lane.
        LINK_SPEED_XDR = 0x1000 "IsLinkSpeedXDRSupported",
    }
}
