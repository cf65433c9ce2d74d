//! What a switch is.
use crate::{
    Lid, TimeCode, bits, wire,
    wire::{Be16, Reserved},
};

bits! {
    /// Time in the switch, what changed.
    pub struct LifeTimeChange [1] in SwitchInfo.life_time_change {
        /// How long a packet may stay in the switch; codes over 19 mean forever.
        life_time_value / with_life_time_value: TimeCode = 5,
        /// Whether a port changed its state since this was written as 1.
        port_state_change / with_port_state_change: bool = 1,
        /// 0 none, 1 one table for all output ports, 2 one for each.
        optimized_sl_to_vl_mapping_programming / with_optimized_sl_to_vl_mapping_programming: u8 = 2,
    }
}
bits! {
    /// What the switch can do at its borders.
    pub struct EnforcementCaps [1] in SwitchInfo.enforcement_caps {
        /// Checks P_Keys of what comes in.
        inbound_enforcement_cap / with_inbound_enforcement_cap: bool = 1,
        /// Checks P_Keys of what goes out.
        outbound_enforcement_cap / with_outbound_enforcement_cap: bool = 1,
        /// Drops raw packets that come in.
        filter_raw_inbound_cap / with_filter_raw_inbound_cap: bool = 1,
        /// Drops raw packets that go out.
        filter_raw_outbound_cap / with_filter_raw_outbound_cap: bool = 1,
        /// Port 0 is a whole end port, not only a place for management.
        enhanced_port0 / with_enhanced_port0: bool = 1,
        _: 3,
    }
}

wire! {
    /// What a switch is (IBTA 14.2.5.4), 20 bytes.
    pub struct SwitchInfo [20] {
        /// Entries of the linear forwarding table.
        pub linear_fdb_cap: Be16,
        /// Entries of the random forwarding table.
        pub random_fdb_cap: Be16,
        /// Entries of the multicast forwarding table.
        pub multicast_fdb_cap: Be16,
        /// Last LID that the linear forwarding table is used for.
        pub linear_fdb_top: Lid,
        /// Where packets go whose LID the random table lacks.
        pub default_port: u8,
        /// Where multicast packets go whose group is unknown, unless they came from there.
        pub default_multicast_primary_port: u8,
        /// Where those go that came from the primary port.
        pub default_multicast_not_primary_port: u8,
        /// Time in the switch, what changed.
        pub life_time_change: LifeTimeChange,
        /// LIDs that the random table keeps for one port.
        pub lids_per_port: Be16,
        /// Entries of each port's P_Key table.
        pub partition_enforcement_cap: Be16,
        /// What the switch can do at its borders.
        pub enforcement_caps: EnforcementCaps,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Last group that the multicast forwarding table is used for.
        pub multicast_fdb_top: Lid,
    }
}
