//! State and settings of a port.
use crate::{
    Generation, HoqLife, Lid, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkSpeeds, LinkSpeedsExt,
    LinkSpeedsExt2, LinkWidth, LinkWidths, Lmc, Mkey, Mtu, PortPhysicalState, PortState, ServiceLevel, TimeCode, VlCap,
    bits,
    smp::{PortCapability, PortCapability2},
    wire,
    wire::{Be16, Be64},
};

bits! {
    /// Supported link speeds and logical state of a port.
    pub struct SpeedState [1] in PortInfo.speed_state {
        /// Supported link speeds.
        link_speed_supported / with_link_speed_supported: LinkSpeeds = 4,
        /// Logical state of the port.
        port_state / with_port_state: PortState = 4,
    }
    /// Physical states of a port: now, and after its link is lost.
    pub struct PhysicalStates [1] in PortInfo.physical_states {
        /// Physical state of the port.
        port_physical_state / with_port_physical_state: PortPhysicalState = 4,
        /// Physical state that the port enters after its link is lost.
        link_down_default_state / with_link_down_default_state: LinkDownDefault = 4,
    }
    /// M_Key protection and LMC of a port.
    pub struct MkeyLmc [1] in PortInfo.mkey_lmc {
        /// Protection by the M_Key: 0 reads need no key; 1 reads need no key and hide it; 2 and 3 reads need the key.
        mkey_protect_bits / with_mkey_protect_bits: u8 = 2,
        _: 3,
        /// LID mask control: the port has 2^LMC LIDs.
        lmc / with_lmc: Lmc = 3,
    }
    /// Link speed in use, and enabled link speeds.
    pub struct LinkSpeedWord [1] in PortInfo.link_speed {
        /// Link speed in use.
        link_speed_active / with_link_speed_active: LinkSpeed = 4,
        /// Enabled link speeds.
        link_speed_enabled / with_link_speed_enabled: LinkSpeeds = 4,
    }
    /// MTU of the link, and service level of the subnet manager.
    pub struct NeighborMtuSl [1] in PortInfo.neighbor_mtu_sl {
        /// Maximum payload of packets on the link.
        neighbor_mtu / with_neighbor_mtu: Mtu = 4,
        /// Service level of packets to the master subnet manager.
        master_smsl / with_master_smsl: ServiceLevel = 4,
    }
    /// Number of virtual lanes, and requested initialization.
    pub struct VlCapInit [1] in PortInfo.vl_cap_init {
        /// Number of supported data lanes.
        vl_cap / with_vl_cap: VlCap = 4,
        /// Requested initialization, one bit each: 0 nothing is loaded, 1 content, 2 presence, 3 resume.
        init_type / with_init_type: u8 = 4,
    }
    /// Performed initialization, and supported MTU.
    pub struct InitReplyMtu [1] in PortInfo.init_reply_mtu {
        /// Performed initialization, in the bits of `init_type`.
        init_type_reply / with_init_type_reply: u8 = 4,
        /// Maximum payload that the port supports.
        mtu_cap / with_mtu_cap: Mtu = 4,
    }
    /// Limits after which a switch drops packets that it cannot send.
    pub struct StallLife [1] in PortInfo.stall_life {
        /// Number of consecutively dropped packets after which the lane is stalled.
        vl_stall_count / with_vl_stall_count: u8 = 3,
        /// Maximum time of a packet at the head of the queue.
        hoq_life / with_hoq_life: HoqLife = 5,
    }
    /// Data lanes in use, and checks of P_Keys and raw packets.
    pub struct OperationalVls [1] in PortInfo.operational {
        /// Number of data lanes in use.
        operational_vls / with_operational_vls: VlCap = 4,
        /// True if P_Keys of received packets are checked.
        partition_enforcement_inbound / with_partition_enforcement_inbound: bool = 1,
        /// True if P_Keys of sent packets are checked.
        partition_enforcement_outbound / with_partition_enforcement_outbound: bool = 1,
        /// True if received raw packets are dropped.
        filter_raw_inbound / with_filter_raw_inbound: bool = 1,
        /// True if raw packets to be sent are dropped.
        filter_raw_outbound / with_filter_raw_outbound: bool = 1,
    }
    /// Client reregistration, trap suppression and subnet time-out.
    pub struct RegisterTimeOut [1] in PortInfo.register_time_out {
        /// True if clients should register again with the subnet manager.
        client_reregister / with_client_reregister: bool = 1,
        /// Suppressed traps about P_Keys of multicast packets: bit 0 at the port, bit 1 at a switch's external ports.
        multicast_pkey_trap_suppression_enabled / with_multicast_pkey_trap_suppression_enabled: u8 = 2,
        /// Maximum propagation time of a packet through the subnet.
        subnet_time_out / with_subnet_time_out: TimeCode = 5,
    }
    /// Maximum response time of a port.
    pub struct RespTime [1] in PortInfo.resp_time {
        _: 3,
        /// Maximum time between a request and its response.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
    /// Error limits of the link.
    pub struct ErrorLimits [1] in PortInfo.error_limits {
        /// Number of physical errors that count as one local link integrity error.
        local_phy_errors / with_local_phy_errors: u8 = 4,
        /// Number of consecutive flow control periods with overruns that count as one excessive buffer overrun.
        overrun_errors / with_overrun_errors: u8 = 4,
    }
    /// Extended link speeds of the second field, and round-trip latency of the link.
    pub struct ExtSpeeds2 [4] in PortInfo.ext_speeds2 {
        _: 1,
        /// Extended link speed of the second field in use.
        link_speed_ext_active2 / with_link_speed_ext_active2: LinkSpeedExt2 = 2,
        /// Supported extended link speeds of the second field.
        link_speed_ext_supported2 / with_link_speed_ext_supported2: LinkSpeedsExt2 = 2,
        /// Enabled extended link speeds of the second field.
        link_speed_ext_enabled2 / with_link_speed_ext_enabled2: LinkSpeedsExt2 = 3,
        /// Round-trip latency of the link in units of 4 ns; all ones means unknown.
        link_round_trip_latency / with_link_round_trip_latency: u32 = 24,
    }
    /// Extended link speed in use, and supported extended link speeds.
    pub struct ExtSpeeds [1] in PortInfo.ext_speeds {
        /// Extended link speed in use.
        link_speed_ext_active / with_link_speed_ext_active: LinkSpeedExt = 4,
        /// Supported extended link speeds.
        link_speed_ext_supported / with_link_speed_ext_supported: LinkSpeedsExt = 4,
    }
    /// Enabled extended link speeds.
    pub struct ExtEnabled [1] in PortInfo.ext_enabled {
        _: 3,
        /// Enabled extended link speeds; 30 means none.
        link_speed_ext_enabled / with_link_speed_ext_enabled: LinkSpeedsExt = 5,
    }
}

wire! {
    /// State and settings of a port (IBTA 14.2.5.6), 64 bytes; the attribute modifier is the port number.
    ///
    /// ```text
    ///  0  M_Key (8)
    ///  8  GID prefix (8)
    /// 16  LID                 | master SM LID
    /// 20  capability mask
    /// 24  diagnosis code      | M_Key lease period
    /// 28  local port | width enabled | supported | active
    /// 32  speed supp. 4, state 4 | physical state 4, down default 4 | M_Key protect 2, 3, LMC 3 | active 4, enabled 4
    /// 36  neighbour MTU 4, SM SL 4 | VL cap 4, init 4 | VL high limit | VL arbitration high cap
    /// 40  VL arbitration low cap | init reply 4, MTU cap 4 | stall 3, HOQ life 5 | VLs 4, enforcement 4
    /// 44  M_Key violations    | P_Key violations
    /// 48  Q_Key violations    | GUID cap | reregister 1, suppression 2, subnet timeout 5
    /// 52  3, response time 5 | phy errors 4, overruns 4 | max credit hint
    /// 56  1, ext. speeds of the second field 7 | link round trip (3)
    /// 60  capability mask 2   | ext. active 4, supported 4 | 3, ext. enabled 5
    /// ```
    ///
    /// Values that stand for something else than themselves (IBTA 14.2.5.6, OpenSM's `ib_types.h`):
    ///
    /// | field | value | printed | meaning |
    /// |---|---|---|---|
    /// | `mkey_lease_period` | 0 | 0 | the M_Key has no lease |
    /// | `link_width_enabled` | 0 | 0 | in a Set: no change |
    /// | `link_width_enabled` | 255 | all supported | in a Set: every supported width |
    /// | `link_speed.link_speed_enabled` | 0 | 0 | in a Set: no change |
    /// | `link_speed.link_speed_enabled` | 15 | all supported | in a Set: every supported speed |
    /// | `link_speed.link_speed_active` | 0 | extended | an extended speed is in use |
    /// | `ext_speeds.link_speed_ext_active` | 0 | none | no extended speed of this field is in use |
    /// | `ext_enabled.link_speed_ext_enabled` | 0 | 0 | in a Set: no change |
    /// | `ext_enabled.link_speed_ext_enabled` | 30 | none | no extended speed is enabled |
    /// | `ext_enabled.link_speed_ext_enabled` | 31 | all supported | in a Set: every supported extended speed |
    /// | `ext_speeds2.link_speed_ext_active2` | 0 | none | no extended speed of this field is in use |
    /// | `speed_state.port_state` | 0 | no change | in a Set: no change |
    /// | `physical_states.port_physical_state` | 0 | no change | in a Set: no change |
    /// | `physical_states.link_down_default_state` | 0 | no change | in a Set: no change |
    /// | `operational.operational_vls` | 0 | 0 | in a Set: no change |
    /// | `vl_high_limit` | 255 | 255 | no limit |
    pub struct PortInfo [64] {
        /// Management key that protects the port.
        pub mkey: Mkey,
        /// Subnet prefix of the port's GIDs.
        pub gid_prefix: Be64,
        /// Base LID of the port.
        pub lid: Lid,
        /// LID of the master subnet manager.
        pub master_sm_lid: Lid,
        /// First capability mask.
        pub capability_mask: PortCapability,
        /// Diagnosis code: 0 if the port has no problem, else defined by the vendor.
        pub diag_code: Be16,
        /// Lease period of the M_Key in seconds, after which it is void; 0 means no limit.
        pub mkey_lease_period: Be16,
        /// Number of the port at which the request arrived.
        pub local_port_num: u8,
        /// Enabled link widths; 255 in a Set means all supported widths.
        pub link_width_enabled: LinkWidths,
        /// Supported link widths.
        pub link_width_supported: LinkWidths,
        /// Link width in use.
        pub link_width_active: LinkWidth,
        /// Supported link speeds and logical state.
        pub speed_state: SpeedState,
        /// Physical states: now, and after the link is lost.
        pub physical_states: PhysicalStates,
        /// M_Key protection and LMC.
        pub mkey_lmc: MkeyLmc,
        /// Link speed in use, and enabled link speeds.
        pub link_speed: LinkSpeedWord,
        /// MTU of the link, and service level of the subnet manager.
        pub neighbor_mtu_sl: NeighborMtuSl,
        /// Number of virtual lanes, and requested initialization.
        pub vl_cap_init: VlCapInit,
        /// Number of high-priority bytes before a low-priority packet may be sent, in units of 4096; 255 means no
        /// limit.
        pub vl_high_limit: u8,
        /// Number of entries of the high-priority arbitration table.
        pub vl_arbitration_high_cap: u8,
        /// Number of entries of the low-priority arbitration table.
        pub vl_arbitration_low_cap: u8,
        /// Performed initialization, and supported MTU.
        pub init_reply_mtu: InitReplyMtu,
        /// Limits after which a switch drops packets that it cannot send.
        pub stall_life: StallLife,
        /// Data lanes in use, and checks of P_Keys and raw packets.
        pub operational: OperationalVls,
        /// Number of received requests with a wrong M_Key.
        pub mkey_violations: Be16,
        /// Number of received packets with a wrong P_Key.
        pub pkey_violations: Be16,
        /// Number of received packets with a wrong Q_Key.
        pub qkey_violations: Be16,
        /// Number of entries of the port's GUID table.
        pub guid_cap: u8,
        /// Client reregistration, trap suppression and subnet time-out.
        pub register_time_out: RegisterTimeOut,
        /// Maximum response time of the port.
        pub resp_time: RespTime,
        /// Error limits of the link.
        pub error_limits: ErrorLimits,
        /// Maximum number of credits that the neighbour needs, in blocks of 64 bytes.
        pub max_credit_hint: Be16,
        /// Extended link speeds of the second field, and round-trip latency of the link.
        pub ext_speeds2: ExtSpeeds2,
        /// Second capability mask.
        pub capability_mask2: PortCapability2,
        /// Extended link speed in use, and supported extended link speeds.
        pub ext_speeds: ExtSpeeds,
        /// Enabled extended link speeds.
        pub ext_enabled: ExtEnabled,
    }
}

impl PortInfo {
    /// Bit of the attribute modifier: the reader knows extended speeds (IBTA 14.2.5.6). Without it, a switch leaves the
    /// fields of extended speeds empty, and a link of NDR reads as one of QDR.
    pub const EXTENDED_SPEEDS: u32 = 1 << 31;

    /// Returns the attribute modifier of a request for a port: its number, and [`EXTENDED_SPEEDS`](Self::EXTENDED_SPEEDS).
    /// Number 0 is the port that receives the request.
    ///
    /// ```
    /// use ib_mad::{Method, TransactionId, smp::{PortInfo, Smp}};
    /// let request = Smp::request(Method::GET, PortInfo::of_port(3), TransactionId::new(1), &PortInfo::ZERO);
    /// assert_eq!(request.header.attribute_modifier.get(), 0x8000_0003);
    /// ```
    #[must_use]
    pub const fn of_port(number: u8) -> u32 {
        Self::EXTENDED_SPEEDS | number as u32
    }

    /// Returns the generation of the link's speed; `None` if the code is unknown, or if the port has extended speeds
    /// that the fields do not show (see [`EXTENDED_SPEEDS`](Self::EXTENDED_SPEEDS)). FDR10 reads as QDR;
    /// [`MlnxExtendedPortInfo`](super::MlnxExtendedPortInfo) has it.
    #[must_use]
    pub fn generation(&self) -> Option<&'static Generation> {
        if self.lacks_extended_speeds() {
            return None;
        }
        self.ext_speeds2
            .link_speed_ext_active2()
            .generation()
            .or_else(|| self.ext_speeds.link_speed_ext_active().generation())
            .or_else(|| self.link_speed.link_speed_active().generation())
    }

    /// Returns the speed of one lane in Mb/s; `None` if the [generation](Self::generation) is unknown.
    #[must_use]
    pub fn lane_mbps(&self) -> Option<u32> {
        Some(self.generation()?.link_mbps(1))
    }

    /// True if the port has extended speeds, and none of the fields names a supported one. A link with an extended speed
    /// then reads as one of QDR; a link that reads as SDR or DDR has that speed.
    fn lacks_extended_speeds(&self) -> bool {
        self.link_speed.link_speed_active() == LinkSpeed::QDR
            && self.capability_mask.contains(PortCapability::EXTENDED_SPEEDS)
            && self.ext_speeds.link_speed_ext_supported().is_empty()
            && self.ext_speeds2.link_speed_ext_supported2().is_empty()
    }

    /// Returns the speed of the link in Mb/s: the speed of a lane times the lanes in use; `None` if one is unknown.
    #[must_use]
    pub fn link_mbps(&self) -> Option<u32> {
        Some(self.generation()?.link_mbps(self.link_width_active.lanes()?))
    }
}
