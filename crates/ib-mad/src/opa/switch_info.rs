//! Tables and settings of an Omni-Path switch.
use super::{OpaLid, OpaMulticastMasks};
use crate::{
    TimeCode, bits, flags, wire,
    wire::{Be16, Be32, Octets, Reserved},
};

bits! {
    /// Packet lifetime in a switch, and port state change.
    pub struct OpaLifeTimeChange [1] {
        /// Maximum time of a packet in the switch.
        life_time_value / with_life_time_value: TimeCode = 5,
        /// True if a port changed its state.
        port_state_change / with_port_state_change: bool = 1,
        _: 2,
    }
    /// Type of port 0.
    pub struct OpaSwitchPort0 [1] {
        _: 4,
        /// True if port 0 is a full end port (enhanced port 0).
        enhanced_port0 / with_enhanced_port0: bool = 1,
        _: 3,
    }
    /// Settings of adaptive routing.
    pub struct OpaAdaptiveRouting [2] {
        /// True if adaptive routing is on.
        enable / with_enable: bool = 1,
        /// True if adaptive routing is paused.
        pause / with_pause: bool = 1,
        /// Algorithm: 0 random, 1 greedy, 2 random greedy.
        algorithm / with_algorithm: u8 = 3,
        /// Interval of changes: 64 ms x 2^n.
        frequency / with_frequency: u8 = 3,
        /// True if only routes over failed links are changed.
        lost_routes_only / with_lost_routes_only: bool = 1,
        /// Level of congestion from which routes are changed.
        threshold / with_threshold: u8 = 3,
        _: 4,
    }
}
flags! {
    /// Capabilities of a switch.
    pub struct OpaSwitchCapability(u16) {
        /// Supports adaptive routing.
        ADAPTIVE_ROUTING = 0x1 "adaptive routing",
        /// Supports the configuration of address ranges.
        ADDRESS_RANGE_CONFIG = 0x4 "address range config",
        /// Supports extended SC-to-SC tables.
        EXTENDED_SCSC = 0x8 "extended SCSC",
    }
}

wire! {
    /// Routing modes of a switch, a set of bits; 1 is linear.
    pub struct OpaRoutingMode [2] {
        /// Supported routing modes.
        pub supported: u8,
        /// Enabled routing modes.
        pub enabled: u8,
    }
    /// Tables and settings of a switch, 84 bytes (`STL_SWITCH_INFO` in opa-ff's `stl_sm_types.h`).
    pub struct OpaSwitchInfo [84] {
        /// Number of entries of the linear forwarding table.
        pub linear_fdb_cap: Be32,
        /// Number of entries of the port group forwarding table.
        pub port_group_fdb_cap: Be32,
        /// Number of entries of the multicast forwarding table.
        pub multicast_fdb_cap: Be32,
        /// Highest LID in the linear forwarding table.
        pub linear_fdb_top: OpaLid,
        /// Highest multicast LID in the multicast forwarding table.
        pub multicast_fdb_top: OpaLid,
        /// Number of entries of the table of collectives.
        pub collective_cap: Be32,
        /// Highest address in the table of collectives.
        pub collective_top: OpaLid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// IPv6 address of the switch.
        pub ip_address_ipv6: Octets<16>,
        /// IPv4 address of the switch.
        pub ip_address_ipv4: Octets<4>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<15>,
        /// Packet lifetime, and port state change.
        pub life_time_change: OpaLifeTimeChange,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<2>,
        /// Number of entries of each port's P_Key table.
        pub partition_enforcement_cap: Be16,
        /// Maximum number of entries of the port group table.
        pub port_group_cap: u8,
        /// Number of entries in use of the port group table.
        pub port_group_top: u8,
        /// Routing modes of the switch.
        pub routing_mode: OpaRoutingMode,
        /// Type of port 0.
        pub port0: OpaSwitchPort0,
        /// Address masks of groups and collectives.
        pub multicast_masks: OpaMulticastMasks,
        /// Settings of adaptive routing.
        pub adaptive_routing: OpaAdaptiveRouting,
        /// Capabilities of the switch.
        pub capability_mask: OpaSwitchCapability,
        /// Capabilities of the switch for collectives.
        pub capability_mask_collectives: Be16,
    }
}
