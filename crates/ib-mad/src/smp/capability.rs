//! What a port can do.
use crate::flags;

flags! {
    /// What a port can do, first mask (IBTA 14.2.5.6).
    pub struct PortCapability(u32) {
        /// A subnet manager runs here.
        IS_SM = 0x0000_0002 "IsSM",
        /// Sends and answers notices.
        NOTICE = 0x0000_0004 "IsNoticeSupported",
        /// Sends traps.
        TRAP = 0x0000_0008 "IsTrapSupported",
        /// Delays packets for slow receivers.
        OPTIONAL_IPD = 0x0000_0010 "IsOptionalIPDSupported",
        /// Moves connections to another path by itself.
        AUTOMATIC_MIGRATION = 0x0000_0020 "IsAutomaticMigrationSupported",
        /// Maps service levels to lanes.
        SL_MAPPING = 0x0000_0040 "IsSLMappingSupported",
        /// Keeps its M_Key without power.
        MKEY_NVRAM = 0x0000_0080 "IsMKeyNVRAM",
        /// Keeps its P_Keys without power.
        PKEY_NVRAM = 0x0000_0100 "IsPKeyNVRAM",
        /// Has a light.
        LED_INFO = 0x0000_0200 "IsLEDInfoSupported",
        /// Its subnet manager is off.
        SM_DISABLED = 0x0000_0400 "IsSMdisabled",
        /// Knows its system's GUID.
        SYSTEM_IMAGE_GUID = 0x0000_0800 "IsSystemImageGUIDSupported",
        /// A switch sends traps about P_Keys at its external ports.
        PKEY_SWITCH_TRAP = 0x0000_1000 "IsPKeySwitchExternalPortTrapSupported",
        /// Knows its cable.
        CABLE_INFO = 0x0000_2000 "IsCableInfoSupported",
        /// Has extended link speeds.
        EXTENDED_SPEEDS = 0x0000_4000 "IsExtendedSpeedsSupported",
        /// The second mask counts.
        CAPABILITY_MASK2 = 0x0000_8000 "IsCapabilityMask2Supported",
        /// Connection management runs here.
        COMMUNICATION_MANAGEMENT = 0x0001_0000 "IsCommunicationManagementSupported",
        /// SNMP tunnelling runs here.
        SNMP_TUNNELING = 0x0002_0000 "IsSNMPTunnelingSupported",
        /// Can be told how to initialize itself.
        REINIT = 0x0004_0000 "IsReinitSupported",
        /// Device management runs here.
        DEVICE_MANAGEMENT = 0x0008_0000 "IsDeviceManagementSupported",
        /// A vendor's class runs here.
        VENDOR_CLASS = 0x0010_0000 "IsVendorClassSupported",
        /// Sends notices about directed routes.
        DR_NOTICE = 0x0020_0000 "IsDRNoticeSupported",
        /// Sends notices when this mask changes.
        CAPABILITY_MASK_NOTICE = 0x0040_0000 "IsCapabilityMaskNoticeSupported",
        /// Boot management runs here.
        BOOT_MANAGEMENT = 0x0080_0000 "IsBootManagementSupported",
        /// Measures its link's round trip.
        LINK_ROUND_TRIP_LATENCY = 0x0100_0000 "IsLinkRoundTripLatencySupported",
        /// Clients can be told to register again.
        CLIENT_REREGISTRATION = 0x0200_0000 "IsClientReregistrationSupported",
        /// Sends notices about other local changes.
        OTHER_LOCAL_CHANGES_NOTICE = 0x0400_0000 "IsOtherLocalChangesNoticeSupported",
        /// Has a table of speeds and widths that go together.
        LINK_SPEED_WIDTH_PAIRS = 0x0800_0000 "IsLinkSpeedWidthPairsTableSupported",
        /// Has vendors' own attributes.
        VENDOR_SPECIFIC_MADS = 0x1000_0000 "IsVendorSpecificMadsTableSupported",
        /// Can hold back traps about P_Keys of multicast packets.
        MULTICAST_PKEY_TRAP_SUPPRESSION = 0x2000_0000 "IsMcastPkeyTrapSuppressionSupported",
        /// Knows the end of its multicast forwarding table.
        MULTICAST_FDB_TOP = 0x4000_0000 "IsMulticastFDBTopSupported",
        /// Knows its place in the hardware.
        HIERARCHY_INFO = 0x8000_0000 "IsHierarchyInfoSupported",
    }
}

flags! {
    /// What a port can do, second mask (IBTA 14.2.5.6).
    pub struct PortCapability2(u16) {
        /// Its node's description can be set.
        SET_NODE_DESCRIPTION = 0x0001 "IsSetNodeDescriptionSupported",
        /// Has `PortInfoExtended`.
        PORT_INFO_EXTENDED = 0x0002 "IsPortInfoExtendedSupported",
        /// Has virtual ports.
        VIRTUALIZATION = 0x0004 "IsVirtualizationSupported",
        /// A switch has a table of its ports' states.
        SWITCH_PORT_STATE_TABLE = 0x0008 "IsSwitchPortStateTableSupported",
        /// Has links of two lanes.
        LINK_WIDTH_2X = 0x0010 "IsLinkWidth2xSupported",
        /// Has 50 Gb/s lanes.
        LINK_SPEED_HDR = 0x0020 "IsLinkSpeedHDRSupported",
        /// Has more values of the M_Key's protection.
        MKEY_PROTECT_BITS_EXT = 0x0040 "IsMKeyProtectBitsExtSupported",
        /// Tells more with trap 128.
        ENHANCED_TRAP_128 = 0x0080 "IsEnhancedTrap128Supported",
        /// Knows the end of its P_Key table.
        PARTITION_TOP = 0x0100 "IsPartitionTopSupported",
        /// Has a finer arbiter of service.
        ENHANCED_QOS_ARBITER = 0x0200 "IsEnhancedQoSArbiterSupported",
        /// Has 100 Gb/s lanes.
        LINK_SPEED_NDR = 0x0400 "IsLinkSpeedNDRSupported",
        /// Has the second field of extended speeds.
        EXTENDED_SPEEDS2 = 0x0800 "IsExtendedSpeeds2Supported",
        /// Has 200 Gb/s lanes.
        LINK_SPEED_XDR = 0x1000 "IsLinkSpeedXDRSupported",
    }
}
