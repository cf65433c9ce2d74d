//! What a switch is.
use super::{OpaLid, OpaMulticastMasks};
use crate::{
    TimeCode, bits, flags, wire,
    wire::{Be16, Be32, Octets, Reserved},
};

bits! {
    /// Time in the switch, what changed.
    pub struct OpaLifeTimeChange [1] {
        /// How long a packet may stay in the switch.
        life_time_value / with_life_time_value: TimeCode = 5,
        /// Whether a port changed its state.
        port_state_change / with_port_state_change: bool = 1,
        _: 2,
    }
}
bits! {
    /// What port 0 is.
    pub struct OpaSwitchPort0 [1] {
        _: 4,
        /// Port 0 is a whole end port.
        enhanced_port0 / with_enhanced_port0: bool = 1,
        _: 3,
    }
}
bits! {
    /// Adaptive routing.
    pub struct OpaAdaptiveRouting [2] {
        /// On.
        enable / with_enable: bool = 1,
        /// Held for now.
        pause / with_pause: bool = 1,
        /// 0 random, 1 greedy, 2 random greedy.
        algorithm / with_algorithm: u8 = 3,
        /// Looks again after 64 ms x 2^n.
        frequency / with_frequency: u8 = 3,
        /// Only for links that failed.
        lost_routes_only / with_lost_routes_only: bool = 1,
        /// From which level of congestion on.
        threshold / with_threshold: u8 = 3,
        _: 4,
    }
}
flags! {
    /// What a switch can do.
    pub struct OpaSwitchCapability(u16) {
        /// Adaptive routing.
        ADAPTIVE_ROUTING = 0x1 "adaptive routing",
        /// Ranges of addresses can be set.
        ADDRESS_RANGE_CONFIG = 0x4 "address range config",
        /// More tables of channels.
        EXTENDED_SCSC = 0x8 "extended SCSC",
    }
}

wire! {
    /// How a switch routes: a set of bits; 1 is linear.
    pub struct OpaRoutingMode [2] {
        /// What it can.
        pub supported: u8,
        /// What it does.
        pub enabled: u8,
    }
}

wire! {
    /// What a switch is, 84 bytes (`STL_SWITCH_INFO` in opa-ff's `stl_sm_types.h`).
    pub struct OpaSwitchInfo [84] {
        /// Entries of the linear forwarding table.
        pub linear_fdb_cap: Be32,
        /// Entries of the table of port groups.
        pub port_group_fdb_cap: Be32,
        /// Entries of the multicast forwarding table.
        pub multicast_fdb_cap: Be32,
        /// Last LID that the linear forwarding table is used for.
        pub linear_fdb_top: OpaLid,
        /// Last group that the multicast forwarding table is used for.
        pub multicast_fdb_top: OpaLid,
        /// Entries of the table of collectives.
        pub collective_cap: Be32,
        /// Last address that the table of collectives is used for.
        pub collective_top: OpaLid,
        /// Zero.
        pub reserved: Reserved<4>,
        /// IPv6 address.
        pub ip_address_ipv6: Octets<16>,
        /// IPv4 address.
        pub ip_address_ipv4: Octets<4>,
        /// Zero.
        pub reserved2: Reserved<15>,
        /// Time in the switch, what changed.
        pub life_time_change: OpaLifeTimeChange,
        /// Zero.
        pub reserved3: Reserved<2>,
        /// Entries of each port's P_Key table.
        pub partition_enforcement_cap: Be16,
        /// Entries of the table of port groups, at most.
        pub port_group_cap: u8,
        /// Entries of the table of port groups, now.
        pub port_group_top: u8,
        /// How it routes.
        pub routing_mode: OpaRoutingMode,
        /// What port 0 is.
        pub port0: OpaSwitchPort0,
        /// How addresses of groups look.
        pub multicast_masks: OpaMulticastMasks,
        /// Adaptive routing.
        pub adaptive_routing: OpaAdaptiveRouting,
        /// What the switch can do.
        pub capability_mask: OpaSwitchCapability,
        /// What it can do about collectives.
        pub capability_mask_collectives: Be16,
    }
}
