//! What a port is and does.
use crate::{
    HoqLife, Lid, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkSpeeds, LinkSpeedsExt, LinkSpeedsExt2,
    LinkWidth, LinkWidths, Lmc, Mkey, Mtu, PortPhysicalState, PortState, ServiceLevel, TimeCode, VlCap, bits,
    smp::{PortCapability, PortCapability2},
    wire,
    wire::{Be16, Be64},
};

bits! {
    /// Speeds that the port can use, its state.
    pub struct SpeedState [1] in PortInfo.speed_state {
        /// Speeds that the port can use.
        link_speed_supported / with_link_speed_supported: LinkSpeeds = 4,
        /// Logical state.
        port_state / with_port_state: PortState = 4,
    }
}
bits! {
    /// Physical state, and the one after a link is lost.
    pub struct PhysicalStates [1] in PortInfo.physical_states {
        /// Physical state.
        port_physical_state / with_port_physical_state: PortPhysicalState = 4,
        /// State after the link is lost.
        link_down_default_state / with_link_down_default_state: LinkDownDefault = 4,
    }
}
bits! {
    /// What the M_Key protects, how many LIDs the port has.
    pub struct MkeyLmc [1] in PortInfo.mkey_lmc {
        /// 0: reads are free; 1: reads hide the key; 2 and 3: reads need the key.
        mkey_protect_bits / with_mkey_protect_bits: u8 = 2,
        _: 3,
        /// The port has 2^LMC LIDs.
        lmc / with_lmc: Lmc = 3,
    }
}
bits! {
    /// Speed in use, speeds that may be used.
    pub struct LinkSpeedWord [1] in PortInfo.link_speed {
        /// The speed in use.
        link_speed_active / with_link_speed_active: LinkSpeed = 4,
        /// Speeds that may be used.
        link_speed_enabled / with_link_speed_enabled: LinkSpeeds = 4,
    }
}
bits! {
    /// Largest packets to the neighbour, service level of the subnet manager.
    pub struct NeighborMtuSl [1] in PortInfo.neighbor_mtu_sl {
        /// Largest payload that may be sent over the link.
        neighbor_mtu / with_neighbor_mtu: Mtu = 4,
        /// Service level to the master subnet manager.
        master_smsl / with_master_smsl: ServiceLevel = 4,
    }
}
bits! {
    /// Lanes that there are, what initialization is asked for.
    pub struct VlCapInit [1] in PortInfo.vl_cap_init {
        /// Data lanes that the port has.
        vl_cap / with_vl_cap: VlCap = 4,
        /// What the port should keep when it is initialized: bit 0 nothing is loaded, 1 content, 2 presence, 3 resume.
        init_type / with_init_type: u8 = 4,
    }
}
bits! {
    /// What initialization was done, largest packets of the port.
    pub struct InitReplyMtu [1] in PortInfo.init_reply_mtu {
        /// What the port kept, in the bits of `init_type`.
        init_type_reply / with_init_type_reply: u8 = 4,
        /// Largest payload that the port can send.
        mtu_cap / with_mtu_cap: Mtu = 4,
    }
}
bits! {
    /// When a switch drops packets that cannot go out.
    pub struct StallLife [1] in PortInfo.stall_life {
        /// Packets in a row that are dropped before the lane counts as stalled.
        vl_stall_count / with_vl_stall_count: u8 = 3,
        /// Time at the head of the queue.
        hoq_life / with_hoq_life: HoqLife = 5,
    }
}
bits! {
    /// Lanes in use, what is checked.
    pub struct OperationalVls [1] in PortInfo.operational {
        /// Data lanes in use.
        operational_vls / with_operational_vls: VlCap = 4,
        /// P_Keys of what comes in are checked.
        partition_enforcement_inbound / with_partition_enforcement_inbound: bool = 1,
        /// P_Keys of what goes out are checked.
        partition_enforcement_outbound / with_partition_enforcement_outbound: bool = 1,
        /// Raw packets that come in are dropped.
        filter_raw_inbound / with_filter_raw_inbound: bool = 1,
        /// Raw packets that go out are dropped.
        filter_raw_outbound / with_filter_raw_outbound: bool = 1,
    }
}
bits! {
    /// Registering again, time of the subnet.
    pub struct RegisterTimeOut [1] in PortInfo.register_time_out {
        /// Clients should register again with the subnet manager.
        client_reregister / with_client_reregister: bool = 1,
        /// Traps about P_Keys of multicast packets are held back: bit 0 at the port, bit 1 at a switch's external ports.
        multicast_pkey_trap_suppression_enabled / with_multicast_pkey_trap_suppression_enabled: u8 = 2,
        /// Longest time through the subnet.
        subnet_time_out / with_subnet_time_out: TimeCode = 5,
    }
}
bits! {
    /// Time to answer.
    pub struct RespTime [1] in PortInfo.resp_time {
        _: 3,
        /// Longest time between a request and its answer.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
}
bits! {
    /// When errors of the link count.
    pub struct ErrorLimits [1] in PortInfo.error_limits {
        /// Physical errors that make one local link integrity error.
        local_phy_errors / with_local_phy_errors: u8 = 4,
        /// Flow control periods with overruns that make one excessive buffer overrun.
        overrun_errors / with_overrun_errors: u8 = 4,
    }
}
bits! {
    /// Extended speeds of the second field, round trip of the link.
    pub struct ExtSpeeds2 [4] in PortInfo.ext_speeds2 {
        _: 1,
        /// The speed in use.
        link_speed_ext_active2 / with_link_speed_ext_active2: LinkSpeedExt2 = 2,
        /// Speeds that the port can use.
        link_speed_ext_supported2 / with_link_speed_ext_supported2: LinkSpeedsExt2 = 2,
        /// Speeds that may be used.
        link_speed_ext_enabled2 / with_link_speed_ext_enabled2: LinkSpeedsExt2 = 3,
        /// Round trip of the link in units of 4 ns; all ones = not known.
        link_round_trip_latency / with_link_round_trip_latency: u32 = 24,
    }
}
bits! {
    /// Extended speed in use, extended speeds that the port can use.
    pub struct ExtSpeeds [1] in PortInfo.ext_speeds {
        /// The extended speed in use.
        link_speed_ext_active / with_link_speed_ext_active: LinkSpeedExt = 4,
        /// Extended speeds that the port can use.
        link_speed_ext_supported / with_link_speed_ext_supported: LinkSpeedsExt = 4,
    }
}
bits! {
    /// Extended speeds that may be used.
    pub struct ExtEnabled [1] in PortInfo.ext_enabled {
        _: 3,
        /// Extended speeds that may be used; 30 = none.
        link_speed_ext_enabled / with_link_speed_ext_enabled: LinkSpeedsExt = 5,
    }
}

wire! {
    /// What a port is and does (IBTA 14.2.5.6), 64 bytes; the attribute modifier is the port's number.
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
    pub struct PortInfo [64] {
        /// Key that guards the port.
        pub mkey: Mkey,
        /// Subnet prefix of the port's GIDs.
        pub gid_prefix: Be64,
        /// The port's first LID.
        pub lid: Lid,
        /// Where the master subnet manager is.
        pub master_sm_lid: Lid,
        /// What the port can do.
        pub capability_mask: PortCapability,
        /// 0 = well; else the vendor's number of what is wrong.
        pub diag_code: Be16,
        /// How long the M_Key holds without its owner, in seconds; 0 = forever.
        pub mkey_lease_period: Be16,
        /// Number of the port that the question came in by.
        pub local_port_num: u8,
        /// Widths that may be used; 255 in a Set = all that are supported.
        pub link_width_enabled: LinkWidths,
        /// Widths that the port can use.
        pub link_width_supported: LinkWidths,
        /// Width in use.
        pub link_width_active: LinkWidth,
        /// Speeds that the port can use, its state.
        pub speed_state: SpeedState,
        /// Physical state, and the one after a link is lost.
        pub physical_states: PhysicalStates,
        /// What the M_Key protects, how many LIDs the port has.
        pub mkey_lmc: MkeyLmc,
        /// Speed in use, speeds that may be used.
        pub link_speed: LinkSpeedWord,
        /// Largest packets to the neighbour, service level of the subnet manager.
        pub neighbor_mtu_sl: NeighborMtuSl,
        /// Lanes that there are, what initialization is asked for.
        pub vl_cap_init: VlCapInit,
        /// High-priority bytes that may go before a low-priority packet, in units of 4096; 255 = no limit.
        pub vl_high_limit: u8,
        /// Entries of the high-priority arbitration table.
        pub vl_arbitration_high_cap: u8,
        /// Entries of the low-priority arbitration table.
        pub vl_arbitration_low_cap: u8,
        /// What initialization was done, largest packets of the port.
        pub init_reply_mtu: InitReplyMtu,
        /// When a switch drops packets that cannot go out.
        pub stall_life: StallLife,
        /// Lanes in use, what is checked.
        pub operational: OperationalVls,
        /// Requests with a wrong M_Key.
        pub mkey_violations: Be16,
        /// Packets with a wrong P_Key.
        pub pkey_violations: Be16,
        /// Packets with a wrong Q_Key.
        pub qkey_violations: Be16,
        /// Entries of the port's table of GUIDs.
        pub guid_cap: u8,
        /// Registering again, time of the subnet.
        pub register_time_out: RegisterTimeOut,
        /// Time to answer.
        pub resp_time: RespTime,
        /// When errors of the link count.
        pub error_limits: ErrorLimits,
        /// Credits that the neighbour may need at most, in blocks of 64 bytes.
        pub max_credit_hint: Be16,
        /// Extended speeds of the second field, round trip of the link.
        pub ext_speeds2: ExtSpeeds2,
        /// What the port can do, more of it.
        pub capability_mask2: PortCapability2,
        /// Extended speed in use, extended speeds that the port can use.
        pub ext_speeds: ExtSpeeds,
        /// Extended speeds that may be used.
        pub ext_enabled: ExtEnabled,
    }
}

impl PortInfo {
    /// Mb/s of one lane at the speed in use; `None` if the code is unknown.
    #[must_use]
    pub fn lane_mbps(&self) -> Option<u32> {
        self.ext_speeds2
            .link_speed_ext_active2()
            .mbps()
            .or_else(|| self.ext_speeds.link_speed_ext_active().mbps())
            .or_else(|| self.link_speed.link_speed_active().mbps())
    }

    /// Mb/s of the link: those of a lane times the lanes in use; `None` if a code is unknown.
    #[must_use]
    pub fn link_mbps(&self) -> Option<u32> {
        Some(self.lane_mbps()? * u32::from(self.link_width_active.lanes()?))
    }
}
