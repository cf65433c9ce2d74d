//! PortInfoRecord: state and settings of a port.
use super::record::sa_record;
use crate::{
    HoqLife, Lid, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeeds, LinkSpeedsExt, LinkWidth, LinkWidths, Lmc,
    Mkey, Mtu, PortPhysicalState, PortState, ServiceLevel, TimeCode, VlCap, bits,
    smp::{PortCapability, PortCapability2, PortInfo},
    wire,
};

bits! {
    /// Comparison options of a query.
    pub struct PortInfoOptions [1] in PortInfoRecord.options {
        /// True if the capability mask matches when the record has every bit of the query; false if both must be equal.
        match_capability_mask_bits / with_match_capability_mask_bits: bool = 1,
        _: 7,
    }
}

wire! {
    /// State and settings of a port (IBTA 15.2.5.3), 68 bytes.
    pub struct PortInfoRecord [68] {
        /// LID of the end port; of a switch, for all its ports.
        pub endport_lid: Lid,
        /// Number of the port.
        pub port_num: u8,
        /// Comparison options of a query; zero in responses.
        pub options: PortInfoOptions,
        /// State and settings of the port.
        pub port_info: PortInfo,
    }
}

sa_record! {
    /// Component mask of a [`PortInfoRecord`].
    PortInfoRecord PORT_INFO_RECORD PortInfoMask;
    /// LID of the end port.
    ENDPORT_LID = 0x1 endport_lid: Lid;
    /// Number of the port.
    PORT_NUM = 0x2 port_num: u8;
    /// Comparison options of the capability mask.
    OPTIONS = 0x4 options: PortInfoOptions;
    /// Management key that protects the port.
    MKEY = 0x8 port_info.mkey: Mkey;
    /// Subnet prefix of the port's GIDs, 64 bits.
    GID_PREFIX = 0x10 port_info.gid_prefix: u64;
    /// Base LID of the port.
    LID = 0x20 port_info.lid: Lid;
    /// LID of the master subnet manager.
    MASTER_SM_LID = 0x40 port_info.master_sm_lid: Lid;
    /// First capability mask of the port.
    CAPABILITY_MASK = 0x80 port_info.capability_mask: PortCapability;
    /// Diagnosis code of the port.
    DIAG_CODE = 0x100 port_info.diag_code: u16;
    /// Lease period of the M_Key, in seconds.
    MKEY_LEASE_PERIOD = 0x200 port_info.mkey_lease_period: u16;
    /// Number of the local port.
    LOCAL_PORT_NUM = 0x400 port_info.local_port_num: u8;
    /// Enabled link widths.
    LINK_WIDTH_ENABLED = 0x800 port_info.link_width_enabled: LinkWidths;
    /// Supported link widths.
    LINK_WIDTH_SUPPORTED = 0x1000 port_info.link_width_supported: LinkWidths;
    /// Link width in use.
    LINK_WIDTH_ACTIVE = 0x2000 port_info.link_width_active: LinkWidth;
    /// Supported link speeds.
    LINK_SPEED_SUPPORTED = 0x4000 port_info.speed_state.link_speed_supported / with_link_speed_supported: LinkSpeeds;
    /// Logical state of the port, such as initialize, armed or active.
    PORT_STATE = 0x8000 port_info.speed_state.port_state / with_port_state: PortState;
    /// Physical state of the port's link, such as polling or link up.
    PORT_PHYSICAL_STATE = 0x1_0000 port_info.physical_states.port_physical_state / with_port_physical_state: PortPhysicalState;
    /// Physical state after the link is lost.
    LINK_DOWN_DEFAULT_STATE = 0x2_0000 port_info.physical_states.link_down_default_state / with_link_down_default_state: LinkDownDefault;
    /// Protection bits of the M_Key.
    MKEY_PROTECT_BITS = 0x4_0000 port_info.mkey_lmc.mkey_protect_bits / with_mkey_protect_bits: u8;
    /// LID mask control: the port has 2^LMC LIDs.
    LMC = 0x10_0000 port_info.mkey_lmc.lmc / with_lmc: Lmc;
    /// Link speed in use.
    LINK_SPEED_ACTIVE = 0x20_0000 port_info.link_speed.link_speed_active / with_link_speed_active: LinkSpeed;
    /// Enabled link speeds.
    LINK_SPEED_ENABLED = 0x40_0000 port_info.link_speed.link_speed_enabled / with_link_speed_enabled: LinkSpeeds;
    /// Maximum payload of packets on the link.
    NEIGHBOR_MTU = 0x80_0000 port_info.neighbor_mtu_sl.neighbor_mtu / with_neighbor_mtu: Mtu;
    /// Service level of packets to the master subnet manager.
    MASTER_SMSL = 0x100_0000 port_info.neighbor_mtu_sl.master_smsl / with_master_smsl: ServiceLevel;
    /// Number of supported data lanes.
    VL_CAP = 0x200_0000 port_info.vl_cap_init.vl_cap / with_vl_cap: VlCap;
    /// Requested initialization.
    INIT_TYPE = 0x400_0000 port_info.vl_cap_init.init_type / with_init_type: u8;
    /// Number of high-priority bytes before a low-priority packet may be sent.
    VL_HIGH_LIMIT = 0x800_0000 port_info.vl_high_limit: u8;
    /// Number of entries of the high-priority arbitration table.
    VL_ARBITRATION_HIGH_CAP = 0x1000_0000 port_info.vl_arbitration_high_cap: u8;
    /// Number of entries of the low-priority arbitration table.
    VL_ARBITRATION_LOW_CAP = 0x2000_0000 port_info.vl_arbitration_low_cap: u8;
    /// Performed initialization.
    INIT_TYPE_REPLY = 0x4000_0000 port_info.init_reply_mtu.init_type_reply / with_init_type_reply: u8;
    /// Maximum payload that the port supports.
    MTU_CAP = 0x8000_0000 port_info.init_reply_mtu.mtu_cap / with_mtu_cap: Mtu;
    /// Number of consecutively dropped packets after which a lane is stalled.
    VL_STALL_COUNT = 0x1_0000_0000 port_info.stall_life.vl_stall_count / with_vl_stall_count: u8;
    /// Maximum time of a packet at the head of the queue.
    HOQ_LIFE = 0x2_0000_0000 port_info.stall_life.hoq_life / with_hoq_life: HoqLife;
    /// Number of data lanes in use.
    OPERATIONAL_VLS = 0x4_0000_0000 port_info.operational.operational_vls / with_operational_vls: VlCap;
    /// Check of the P_Keys of received packets.
    PARTITION_ENFORCEMENT_INBOUND = 0x8_0000_0000 port_info.operational.partition_enforcement_inbound / with_partition_enforcement_inbound: bool;
    /// Check of the P_Keys of sent packets.
    PARTITION_ENFORCEMENT_OUTBOUND = 0x10_0000_0000 port_info.operational.partition_enforcement_outbound / with_partition_enforcement_outbound: bool;
    /// Filter that drops received raw packets.
    FILTER_RAW_INBOUND = 0x20_0000_0000 port_info.operational.filter_raw_inbound / with_filter_raw_inbound: bool;
    /// Filter that drops raw packets to be sent.
    FILTER_RAW_OUTBOUND = 0x40_0000_0000 port_info.operational.filter_raw_outbound / with_filter_raw_outbound: bool;
    /// Number of received requests with a wrong M_Key.
    MKEY_VIOLATIONS = 0x80_0000_0000 port_info.mkey_violations: u16;
    /// Number of received packets with a wrong P_Key.
    PKEY_VIOLATIONS = 0x100_0000_0000 port_info.pkey_violations: u16;
    /// Number of received packets with a wrong Q_Key.
    QKEY_VIOLATIONS = 0x200_0000_0000 port_info.qkey_violations: u16;
    /// Number of entries of the GUID table.
    GUID_CAP = 0x400_0000_0000 port_info.guid_cap: u8;
    /// Request that clients register again.
    CLIENT_REREGISTER = 0x800_0000_0000 port_info.register_time_out.client_reregister / with_client_reregister: bool;
    /// Maximum propagation time of a packet through the subnet.
    SUBNET_TIME_OUT = 0x2000_0000_0000 port_info.register_time_out.subnet_time_out / with_subnet_time_out: TimeCode;
    /// Maximum response time of the port.
    RESP_TIME_VALUE = 0x8000_0000_0000 port_info.resp_time.resp_time_value / with_resp_time_value: TimeCode;
    /// Number of physical errors that count as one local link integrity error.
    LOCAL_PHY_ERRORS = 0x1_0000_0000_0000 port_info.error_limits.local_phy_errors / with_local_phy_errors: u8;
    /// Number of flow control periods with overruns that count as one excessive buffer overrun.
    OVERRUN_ERRORS = 0x2_0000_0000_0000 port_info.error_limits.overrun_errors / with_overrun_errors: u8;
    /// Maximum number of credits that the neighbour needs.
    MAX_CREDIT_HINT = 0x4_0000_0000_0000 port_info.max_credit_hint: u16;
    /// Round-trip latency of the link in units of 4 ns.
    LINK_ROUND_TRIP_LATENCY = 0x10_0000_0000_0000 port_info.ext_speeds2.link_round_trip_latency / with_link_round_trip_latency: u32;
    /// Second capability mask of the port.
    CAPABILITY_MASK2 = 0x20_0000_0000_0000 port_info.capability_mask2: PortCapability2;
    /// Extended link speed in use.
    LINK_SPEED_EXT_ACTIVE = 0x40_0000_0000_0000 port_info.ext_speeds.link_speed_ext_active / with_link_speed_ext_active: LinkSpeedExt;
    /// Supported extended link speeds.
    LINK_SPEED_EXT_SUPPORTED = 0x80_0000_0000_0000 port_info.ext_speeds.link_speed_ext_supported / with_link_speed_ext_supported: LinkSpeedsExt;
    /// Enabled extended link speeds.
    LINK_SPEED_EXT_ENABLED = 0x200_0000_0000_0000 port_info.ext_enabled.link_speed_ext_enabled / with_link_speed_ext_enabled: LinkSpeedsExt;
}
