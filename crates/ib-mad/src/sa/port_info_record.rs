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
    ENDPORT_LID = 0x1 "endport_lid" endport_lid(value: Lid) |r| r.endport_lid = value;
    /// Number of the port.
    PORT_NUM = 0x2 "port_num" port_num(value: u8) |r| r.port_num = value;
    /// Comparison options of the capability mask.
    OPTIONS = 0x4 "options" options(value: PortInfoOptions) |r| r.options = value;
    /// Management key that protects the port.
    MKEY = 0x8 "port_info.mkey" mkey(value: Mkey) |r| r.port_info.mkey = value;
    /// Subnet prefix of the port's GIDs, 64 bits.
    GID_PREFIX = 0x10 "port_info.gid_prefix" gid_prefix(value: u64) |r| r.port_info.gid_prefix = value.into();
    /// Base LID of the port.
    LID = 0x20 "port_info.lid" lid(value: Lid) |r| r.port_info.lid = value;
    /// LID of the master subnet manager.
    MASTER_SM_LID = 0x40 "port_info.master_sm_lid" master_sm_lid(value: Lid) |r| r.port_info.master_sm_lid = value;
    /// First capability mask of the port.
    CAPABILITY_MASK = 0x80 "port_info.capability_mask" capability_mask(value: PortCapability)
        |r| r.port_info.capability_mask = value;
    /// Diagnosis code of the port.
    DIAG_CODE = 0x100 "port_info.diag_code" diag_code(value: u16) |r| r.port_info.diag_code = value.into();
    /// Lease period of the M_Key, in seconds.
    MKEY_LEASE_PERIOD = 0x200 "port_info.mkey_lease_period" mkey_lease_period(value: u16)
        |r| r.port_info.mkey_lease_period = value.into();
    /// Number of the local port.
    LOCAL_PORT_NUM = 0x400 "port_info.local_port_num" local_port_num(value: u8) |r| r.port_info.local_port_num = value;
    /// Enabled link widths.
    LINK_WIDTH_ENABLED = 0x800 "port_info.link_width_enabled" link_width_enabled(value: LinkWidths)
        |r| r.port_info.link_width_enabled = value;
    /// Supported link widths.
    LINK_WIDTH_SUPPORTED = 0x1000 "port_info.link_width_supported" link_width_supported(value: LinkWidths)
        |r| r.port_info.link_width_supported = value;
    /// Link width in use.
    LINK_WIDTH_ACTIVE = 0x2000 "port_info.link_width_active" link_width_active(value: LinkWidth)
        |r| r.port_info.link_width_active = value;
    /// Supported link speeds.
    LINK_SPEED_SUPPORTED = 0x4000 "port_info.speed_state.link_speed_supported" link_speed_supported(value: LinkSpeeds)
        |r| r.port_info.speed_state = r.port_info.speed_state.with_link_speed_supported(value);
    /// Logical state of the port, such as initialize, armed or active.
    PORT_STATE = 0x8000 "port_info.speed_state.port_state" port_state(value: PortState)
        |r| r.port_info.speed_state = r.port_info.speed_state.with_port_state(value);
    /// Physical state of the port's link, such as polling or link up.
    PORT_PHYSICAL_STATE = 0x1_0000 "port_info.physical_states.port_physical_state"
        port_physical_state(value: PortPhysicalState)
        |r| r.port_info.physical_states = r.port_info.physical_states.with_port_physical_state(value);
    /// Physical state after the link is lost.
    LINK_DOWN_DEFAULT_STATE = 0x2_0000 "port_info.physical_states.link_down_default_state"
        link_down_default_state(value: LinkDownDefault)
        |r| r.port_info.physical_states = r.port_info.physical_states.with_link_down_default_state(value);
    /// Protection bits of the M_Key.
    MKEY_PROTECT_BITS = 0x4_0000 "port_info.mkey_lmc.mkey_protect_bits" mkey_protect_bits(value: u8)
        |r| r.port_info.mkey_lmc = r.port_info.mkey_lmc.with_mkey_protect_bits(value);
    /// LID mask control: the port has 2^LMC LIDs.
    LMC = 0x10_0000 "port_info.mkey_lmc.lmc" lmc(value: Lmc)
        |r| r.port_info.mkey_lmc = r.port_info.mkey_lmc.with_lmc(value);
    /// Link speed in use.
    LINK_SPEED_ACTIVE = 0x20_0000 "port_info.link_speed.link_speed_active" link_speed_active(value: LinkSpeed)
        |r| r.port_info.link_speed = r.port_info.link_speed.with_link_speed_active(value);
    /// Enabled link speeds.
    LINK_SPEED_ENABLED = 0x40_0000 "port_info.link_speed.link_speed_enabled" link_speed_enabled(value: LinkSpeeds)
        |r| r.port_info.link_speed = r.port_info.link_speed.with_link_speed_enabled(value);
    /// Maximum payload of packets on the link.
    NEIGHBOR_MTU = 0x80_0000 "port_info.neighbor_mtu_sl.neighbor_mtu" neighbor_mtu(value: Mtu)
        |r| r.port_info.neighbor_mtu_sl = r.port_info.neighbor_mtu_sl.with_neighbor_mtu(value);
    /// Service level of packets to the master subnet manager.
    MASTER_SMSL = 0x100_0000 "port_info.neighbor_mtu_sl.master_smsl" master_smsl(value: ServiceLevel)
        |r| r.port_info.neighbor_mtu_sl = r.port_info.neighbor_mtu_sl.with_master_smsl(value);
    /// Number of supported data lanes.
    VL_CAP = 0x200_0000 "port_info.vl_cap_init.vl_cap" vl_cap(value: VlCap)
        |r| r.port_info.vl_cap_init = r.port_info.vl_cap_init.with_vl_cap(value);
    /// Requested initialization.
    INIT_TYPE = 0x400_0000 "port_info.vl_cap_init.init_type" init_type(value: u8)
        |r| r.port_info.vl_cap_init = r.port_info.vl_cap_init.with_init_type(value);
    /// Number of high-priority bytes before a low-priority packet may be sent.
    VL_HIGH_LIMIT = 0x800_0000 "port_info.vl_high_limit" vl_high_limit(value: u8) |r| r.port_info.vl_high_limit = value;
    /// Number of entries of the high-priority arbitration table.
    VL_ARBITRATION_HIGH_CAP = 0x1000_0000 "port_info.vl_arbitration_high_cap" vl_arbitration_high_cap(value: u8)
        |r| r.port_info.vl_arbitration_high_cap = value;
    /// Number of entries of the low-priority arbitration table.
    VL_ARBITRATION_LOW_CAP = 0x2000_0000 "port_info.vl_arbitration_low_cap" vl_arbitration_low_cap(value: u8)
        |r| r.port_info.vl_arbitration_low_cap = value;
    /// Performed initialization.
    INIT_TYPE_REPLY = 0x4000_0000 "port_info.init_reply_mtu.init_type_reply" init_type_reply(value: u8)
        |r| r.port_info.init_reply_mtu = r.port_info.init_reply_mtu.with_init_type_reply(value);
    /// Maximum payload that the port supports.
    MTU_CAP = 0x8000_0000 "port_info.init_reply_mtu.mtu_cap" mtu_cap(value: Mtu)
        |r| r.port_info.init_reply_mtu = r.port_info.init_reply_mtu.with_mtu_cap(value);
    /// Number of consecutively dropped packets after which a lane is stalled.
    VL_STALL_COUNT = 0x1_0000_0000 "port_info.stall_life.vl_stall_count" vl_stall_count(value: u8)
        |r| r.port_info.stall_life = r.port_info.stall_life.with_vl_stall_count(value);
    /// Maximum time of a packet at the head of the queue.
    HOQ_LIFE = 0x2_0000_0000 "port_info.stall_life.hoq_life" hoq_life(value: HoqLife)
        |r| r.port_info.stall_life = r.port_info.stall_life.with_hoq_life(value);
    /// Number of data lanes in use.
    OPERATIONAL_VLS = 0x4_0000_0000 "port_info.operational.operational_vls" operational_vls(value: VlCap)
        |r| r.port_info.operational = r.port_info.operational.with_operational_vls(value);
    /// Check of the P_Keys of received packets.
    PARTITION_ENFORCEMENT_INBOUND = 0x8_0000_0000 "port_info.operational.partition_enforcement_inbound"
        partition_enforcement_inbound(value: bool)
        |r| r.port_info.operational = r.port_info.operational.with_partition_enforcement_inbound(value);
    /// Check of the P_Keys of sent packets.
    PARTITION_ENFORCEMENT_OUTBOUND = 0x10_0000_0000 "port_info.operational.partition_enforcement_outbound"
        partition_enforcement_outbound(value: bool)
        |r| r.port_info.operational = r.port_info.operational.with_partition_enforcement_outbound(value);
    /// Filter that drops received raw packets.
    FILTER_RAW_INBOUND = 0x20_0000_0000 "port_info.operational.filter_raw_inbound" filter_raw_inbound(value: bool)
        |r| r.port_info.operational = r.port_info.operational.with_filter_raw_inbound(value);
    /// Filter that drops raw packets to be sent.
    FILTER_RAW_OUTBOUND = 0x40_0000_0000 "port_info.operational.filter_raw_outbound" filter_raw_outbound(value: bool)
        |r| r.port_info.operational = r.port_info.operational.with_filter_raw_outbound(value);
    /// Number of received requests with a wrong M_Key.
    MKEY_VIOLATIONS = 0x80_0000_0000 "port_info.mkey_violations" mkey_violations(value: u16)
        |r| r.port_info.mkey_violations = value.into();
    /// Number of received packets with a wrong P_Key.
    PKEY_VIOLATIONS = 0x100_0000_0000 "port_info.pkey_violations" pkey_violations(value: u16)
        |r| r.port_info.pkey_violations = value.into();
    /// Number of received packets with a wrong Q_Key.
    QKEY_VIOLATIONS = 0x200_0000_0000 "port_info.qkey_violations" qkey_violations(value: u16)
        |r| r.port_info.qkey_violations = value.into();
    /// Number of entries of the GUID table.
    GUID_CAP = 0x400_0000_0000 "port_info.guid_cap" guid_cap(value: u8) |r| r.port_info.guid_cap = value;
    /// Request that clients register again.
    CLIENT_REREGISTER = 0x800_0000_0000 "port_info.register_time_out.client_reregister" client_reregister(value: bool)
        |r| r.port_info.register_time_out = r.port_info.register_time_out.with_client_reregister(value);
    /// Maximum propagation time of a packet through the subnet.
    SUBNET_TIME_OUT = 0x2000_0000_0000 "port_info.register_time_out.subnet_time_out" subnet_time_out(value: TimeCode)
        |r| r.port_info.register_time_out = r.port_info.register_time_out.with_subnet_time_out(value);
    /// Maximum response time of the port.
    RESP_TIME_VALUE = 0x8000_0000_0000 "port_info.resp_time.resp_time_value" resp_time_value(value: TimeCode)
        |r| r.port_info.resp_time = r.port_info.resp_time.with_resp_time_value(value);
    /// Number of physical errors that count as one local link integrity error.
    LOCAL_PHY_ERRORS = 0x1_0000_0000_0000 "port_info.error_limits.local_phy_errors" local_phy_errors(value: u8)
        |r| r.port_info.error_limits = r.port_info.error_limits.with_local_phy_errors(value);
    /// Number of flow control periods with overruns that count as one excessive buffer overrun.
    OVERRUN_ERRORS = 0x2_0000_0000_0000 "port_info.error_limits.overrun_errors" overrun_errors(value: u8)
        |r| r.port_info.error_limits = r.port_info.error_limits.with_overrun_errors(value);
    /// Maximum number of credits that the neighbour needs.
    MAX_CREDIT_HINT = 0x4_0000_0000_0000 "port_info.max_credit_hint" max_credit_hint(value: u16)
        |r| r.port_info.max_credit_hint = value.into();
    /// Round-trip latency of the link in units of 4 ns.
    LINK_ROUND_TRIP_LATENCY = 0x10_0000_0000_0000 "port_info.ext_speeds2.link_round_trip_latency"
        link_round_trip_latency(value: u32)
        |r| r.port_info.ext_speeds2 = r.port_info.ext_speeds2.with_link_round_trip_latency(value);
    /// Second capability mask of the port.
    CAPABILITY_MASK2 = 0x20_0000_0000_0000 "port_info.capability_mask2" capability_mask2(value: PortCapability2)
        |r| r.port_info.capability_mask2 = value;
    /// Extended link speed in use.
    LINK_SPEED_EXT_ACTIVE = 0x40_0000_0000_0000 "port_info.ext_speeds.link_speed_ext_active"
        link_speed_ext_active(value: LinkSpeedExt)
        |r| r.port_info.ext_speeds = r.port_info.ext_speeds.with_link_speed_ext_active(value);
    /// Supported extended link speeds.
    LINK_SPEED_EXT_SUPPORTED = 0x80_0000_0000_0000 "port_info.ext_speeds.link_speed_ext_supported"
        link_speed_ext_supported(value: LinkSpeedsExt)
        |r| r.port_info.ext_speeds = r.port_info.ext_speeds.with_link_speed_ext_supported(value);
    /// Enabled extended link speeds.
    LINK_SPEED_EXT_ENABLED = 0x200_0000_0000_0000 "port_info.ext_enabled.link_speed_ext_enabled"
        link_speed_ext_enabled(value: LinkSpeedsExt)
        |r| r.port_info.ext_enabled = r.port_info.ext_enabled.with_link_speed_ext_enabled(value);
}
