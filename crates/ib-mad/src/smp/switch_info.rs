//! Tables and settings of a switch.
use crate::{
    Lid, TimeCode, bits, wire,
    wire::{Be16, Reserved},
};

bits! {
    /// Packet lifetime in a switch, port state change, and programming of SL-to-VL tables.
    pub struct LifeTimeChange [1] in SwitchInfo.life_time_change {
        /// Maximum time of a packet in the switch; codes over 19 mean no limit.
        life_time_value / with_life_time_value: TimeCode = 5,
        /// True if a port changed its state since this bit was cleared by writing 1.
        port_state_change / with_port_state_change: bool = 1,
        /// Support of optimized SL-to-VL programming: 0 none, 1 one table for all output ports, 2 one table for each
        /// output port.
        optimized_sl_to_vl_mapping_programming / with_optimized_sl_to_vl_mapping_programming: u8 = 2,
    }
    /// Enforcement capabilities of a switch.
    pub struct EnforcementCaps [1] in SwitchInfo.enforcement_caps {
        /// Checks P_Keys of received packets.
        inbound_enforcement_cap / with_inbound_enforcement_cap: bool = 1,
        /// Checks P_Keys of sent packets.
        outbound_enforcement_cap / with_outbound_enforcement_cap: bool = 1,
        /// Drops received raw packets.
        filter_raw_inbound_cap / with_filter_raw_inbound_cap: bool = 1,
        /// Drops raw packets to be sent.
        filter_raw_outbound_cap / with_filter_raw_outbound_cap: bool = 1,
        /// Port 0 is a full end port (enhanced port 0) and not only a management port.
        enhanced_port0 / with_enhanced_port0: bool = 1,
        _: 3,
    }
}

wire! {
    /// Tables and settings of a switch (IBTA 14.2.5.4), 20 bytes.
    pub struct SwitchInfo [20] {
        /// Number of entries of the linear forwarding table.
        pub linear_fdb_cap: Be16,
        /// Number of entries of the random forwarding table.
        pub random_fdb_cap: Be16,
        /// Number of entries of the multicast forwarding table.
        pub multicast_fdb_cap: Be16,
        /// Highest LID in the linear forwarding table.
        pub linear_fdb_top: Lid,
        /// Output port of packets whose LID is not in the random forwarding table.
        pub default_port: u8,
        /// Output port of multicast packets to an unknown group, unless they arrived at this port.
        pub default_multicast_primary_port: u8,
        /// Output port of multicast packets to an unknown group that arrived at the primary port.
        pub default_multicast_not_primary_port: u8,
        /// Packet lifetime, port state change, and programming of SL-to-VL tables.
        pub life_time_change: LifeTimeChange,
        /// Number of LIDs of one port in the random forwarding table.
        pub lids_per_port: Be16,
        /// Number of entries of each port's P_Key table.
        pub partition_enforcement_cap: Be16,
        /// Enforcement capabilities of the switch.
        pub enforcement_caps: EnforcementCaps,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Highest multicast LID in the multicast forwarding table.
        pub multicast_fdb_top: Lid,
    }
}
