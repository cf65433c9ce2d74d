//! Bit-packed words of a port's attribute.
use super::{OpaLinkInitReason, OpaMtu, OpaOfflineReason, OpaPortType};
use crate::{HoqLife, Lmc, PortPhysicalState, PortState, TimeCode, bits};

bits! {
    /// Lanes that there are.
    pub struct OpaVlCap [1] {
        _: 3,
        /// Data lanes that the port has.
        cap / with_cap: u8 = 5,
    }
}
bits! {
    /// States of a port.
    pub struct OpaPortStates [4] {
        _: 9,
        /// Its light is on.
        led_enabled / with_led_enabled: bool = 1,
        /// The subnet manager has begun with it.
        is_sm_configuration_started / with_is_sm_configuration_started: bool = 1,
        /// The neighbour is up.
        neighbor_normal / with_neighbor_normal: bool = 1,
        /// Why it is offline.
        offline_disabled_reason / with_offline_disabled_reason: OpaOfflineReason = 4,
        _: 8,
        /// Physical state.
        port_physical_state / with_port_physical_state: PortPhysicalState = 4,
        /// Logical state.
        port_state / with_port_state: PortState = 4,
    }
}
bits! {
    /// Kind of the port's plug.
    pub struct OpaPortTypeByte [1] {
        _: 4,
        /// Kind of the port's plug.
        port_type / with_port_type: OpaPortType = 4,
    }
}
bits! {
    /// How addresses of groups and collectives look.
    pub struct OpaMulticastMasks [1] {
        _: 2,
        /// More ones at the top of a collective's address.
        collective_mask / with_collective_mask: u8 = 3,
        /// Ones at the top of a group's address.
        multicast_mask / with_multicast_mask: u8 = 3,
    }
}
bits! {
    /// What the M_Key protects, how many LIDs the port has.
    pub struct OpaMkeyLmc [1] {
        /// 0: reads are free; 1: reads hide the key; 2 and 3: reads need the key.
        mkey_protect_bits / with_mkey_protect_bits: u8 = 2,
        _: 3,
        /// The port has 2^LMC LIDs.
        lmc / with_lmc: Lmc = 3,
    }
}
bits! {
    /// Service level of the subnet manager.
    pub struct OpaSmSl [1] {
        _: 3,
        /// Service level to the master subnet manager, one of 32.
        master_smsl / with_master_smsl: u8 = 5,
    }
}
bits! {
    /// Why the link waits, what is checked.
    pub struct OpaPartitionEnforcement [1] {
        /// Why the link stays in the state "init".
        link_init_reason / with_link_init_reason: OpaLinkInitReason = 4,
        /// P_Keys of what comes in are checked.
        partition_enforcement_inbound / with_partition_enforcement_inbound: bool = 1,
        /// P_Keys of what goes out are checked.
        partition_enforcement_outbound / with_partition_enforcement_outbound: bool = 1,
        _: 2,
    }
}
bits! {
    /// Lanes in use.
    pub struct OpaOperationalVls [1] {
        _: 3,
        /// Data lanes in use.
        operational_vls / with_operational_vls: u8 = 5,
    }
}
bits! {
    /// Registering again, time of the subnet.
    pub struct OpaSubnetTimeOut [1] {
        /// Clients should register again with the subnet manager.
        client_reregister / with_client_reregister: bool = 1,
        /// Traps about P_Keys of multicast packets are held back.
        multicast_pkey_trap_suppression_enabled / with_multicast_pkey_trap_suppression_enabled: u8 = 2,
        /// Longest time through the subnet.
        subnet_time_out / with_subnet_time_out: TimeCode = 5,
    }
}
bits! {
    /// Modes of the link; 4 is Omni-Path.
    pub struct OpaLinkModes [2] {
        _: 1,
        /// What the port can.
        supported / with_supported: u8 = 5,
        /// What may be used.
        enabled / with_enabled: u8 = 5,
        /// What is in use.
        active / with_active: u8 = 5,
    }
}
bits! {
    /// Check sums of the link: 1 of 14 bits, 2 of 16, 4 of 48, 8 for each lane.
    pub struct OpaCrcModes [2] {
        _: 4,
        /// What the port can.
        supported / with_supported: u8 = 4,
        /// What may be used.
        enabled / with_enabled: u8 = 4,
        /// What is in use.
        active / with_active: u8 = 4,
    }
}
bits! {
    /// What else the port does.
    pub struct OpaPortModes [2] {
        _: 9,
        /// It goes active by itself.
        is_active_optimize_enabled / with_is_active_optimize_enabled: bool = 1,
        /// Packets pass it without a look.
        is_pass_through_enabled / with_is_pass_through_enabled: bool = 1,
        /// It sends markers of lanes.
        is_vl_marker_enabled / with_is_vl_marker_enabled: bool = 1,
        _: 2,
        /// Traps and queries have headers of 16 bytes.
        is_16b_trap_query_enabled / with_is_16b_trap_query_enabled: bool = 1,
        _: 1,
    }
}
bits! {
    /// How packets are mixed.
    pub struct OpaInterleave [2] {
        _: 2,
        /// Distances that the port can.
        distance_supported / with_distance_supported: u8 = 2,
        /// Distances that may be used.
        distance_enabled / with_distance_enabled: u8 = 2,
        /// How deep it may nest what it sends.
        max_nest_level_tx_enabled / with_max_nest_level_tx_enabled: u8 = 5,
        /// How deep it can receive it.
        max_nest_level_rx_supported / with_max_nest_level_rx_supported: u8 = 5,
    }
}
bits! {
    /// Directed routes through a port that packets pass without a look.
    pub struct OpaPassThrough [1] {
        _: 7,
        /// They are sent on.
        dr_control / with_dr_control: bool = 1,
    }
}
bits! {
    /// Units of buffers and credits.
    pub struct OpaBufferUnits [4] {
        _: 9,
        /// Units of lane 15 at the start.
        vl15_init / with_vl15_init: u16 = 12,
        /// Credits of lane 15: 32 x 2^n.
        vl15_credit_rate / with_vl15_credit_rate: u8 = 5,
        /// Unit of an acknowledgement: that of a buffer x 2^n.
        credit_ack / with_credit_ack: u8 = 3,
        /// Unit of a buffer: 8 x 2^n.
        buffer_alloc / with_buffer_alloc: u8 = 3,
    }
}
bits! {
    /// Largest packets of two lanes.
    pub struct OpaNeighborMtu [1] {
        /// Of the even one.
        even / with_even: OpaMtu = 4,
        /// Of the odd one.
        odd / with_odd: OpaMtu = 4,
    }
}
bits! {
    /// When packets of a lane are dropped that cannot go out.
    pub struct OpaStallLife [1] {
        /// Packets in a row that are dropped before the lane counts as stalled.
        vl_stall_count / with_vl_stall_count: u8 = 3,
        /// Time at the head of the queue.
        hoq_life / with_hoq_life: HoqLife = 5,
    }
}
bits! {
    /// How much can be sent again: this byte is one half of each depth.
    pub struct OpaReplayDepth [2] {
        /// Of the buffer.
        buffer / with_buffer: u8 = 8,
        /// Of the wire.
        wire / with_wire: u8 = 8,
    }
}
bits! {
    /// What the neighbour is.
    pub struct OpaNeighborMode [1] {
        _: 4,
        /// This node may manage.
        mgmt_allowed / with_mgmt_allowed: bool = 1,
        /// The neighbour's firmware is not authenticated.
        neighbor_fw_authen_bypass / with_neighbor_fw_authen_bypass: bool = 1,
        /// 0 host fabric interface, 1 switch.
        neighbor_node_type / with_neighbor_node_type: u8 = 2,
    }
}
bits! {
    /// Largest packets of the port.
    pub struct OpaMtuCap [1] {
        _: 4,
        /// Largest payload that the port can send.
        mtu_cap / with_mtu_cap: OpaMtu = 4,
    }
}
bits! {
    /// Time to answer.
    pub struct OpaResponseTime [1] {
        _: 3,
        /// Longest time between a request and its answer.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
}
