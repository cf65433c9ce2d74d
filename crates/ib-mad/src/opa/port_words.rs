//! Bit-packed words of OpaPortInfo.
use super::{OpaLinkInitReason, OpaLmc, OpaMtu, OpaOfflineReason, OpaPortPhysicalState, OpaPortType};
use crate::{HoqLife, PortState, TimeCode, bits};

bits! {
    /// Number of supported data lanes.
    pub struct OpaVlCap [1] {
        _: 3,
        /// Number of supported data lanes.
        cap / with_cap: u8 = 5,
    }
    /// States of a port.
    pub struct OpaPortStates [4] {
        _: 9,
        /// True if the LED of the port is on.
        led_enabled / with_led_enabled: bool = 1,
        /// True if the subnet manager has started to configure the port.
        is_sm_configuration_started / with_is_sm_configuration_started: bool = 1,
        /// True if the neighbour is up.
        neighbor_normal / with_neighbor_normal: bool = 1,
        /// Reason why the port is offline.
        offline_disabled_reason / with_offline_disabled_reason: OpaOfflineReason = 4,
        _: 8,
        /// Physical state of the port.
        port_physical_state / with_port_physical_state: OpaPortPhysicalState = 4,
        /// Logical state of the port.
        port_state / with_port_state: PortState = 4,
    }
    /// Type of a port's connector.
    pub struct OpaPortTypeByte [1] {
        _: 4,
        /// Type of the connector.
        port_type / with_port_type: OpaPortType = 4,
    }
    /// Address masks of groups and collectives.
    pub struct OpaMulticastMasks [1] {
        _: 2,
        /// Additional one bits at the top of a collective's address.
        collective_mask / with_collective_mask: u8 = 3,
        /// Number of one bits at the top of a group's address.
        multicast_mask / with_multicast_mask: u8 = 3,
    }
    /// M_Key protection and LMC of a port.
    pub struct OpaMkeyLmc [1] {
        /// Protection by the M_Key: 0 reads need no key; 1 reads need no key and hide it; 2 and 3 reads need the key.
        mkey_protect_bits / with_mkey_protect_bits: u8 = 2,
        _: 2,
        /// LID mask control: the port has 2^LMC LIDs.
        lmc / with_lmc: OpaLmc = 4,
    }
    /// Service level of the subnet manager.
    pub struct OpaSmSl [1] {
        _: 3,
        /// Service level of packets to the master subnet manager, 0 to 31.
        master_smsl / with_master_smsl: u8 = 5,
    }
    /// Reason of the state "init", and checks of P_Keys.
    pub struct OpaPartitionEnforcement [1] {
        /// Reason why the link stays in the state "init".
        link_init_reason / with_link_init_reason: OpaLinkInitReason = 4,
        /// True if P_Keys of received packets are checked.
        partition_enforcement_inbound / with_partition_enforcement_inbound: bool = 1,
        /// True if P_Keys of sent packets are checked.
        partition_enforcement_outbound / with_partition_enforcement_outbound: bool = 1,
        _: 2,
    }
    /// Number of data lanes in use.
    pub struct OpaOperationalVls [1] {
        _: 3,
        /// Number of data lanes in use.
        operational_vls / with_operational_vls: u8 = 5,
    }
    /// Client reregistration, trap suppression and subnet time-out.
    pub struct OpaSubnetTimeOut [1] {
        /// True if clients should register again with the subnet manager.
        client_reregister / with_client_reregister: bool = 1,
        /// Suppressed traps about P_Keys of multicast packets.
        multicast_pkey_trap_suppression_enabled / with_multicast_pkey_trap_suppression_enabled: u8 = 2,
        /// Maximum propagation time of a packet through the subnet.
        subnet_time_out / with_subnet_time_out: TimeCode = 5,
    }
    /// Modes of the link; 4 is Omni-Path.
    pub struct OpaLinkModes [2] {
        _: 1,
        /// Supported modes of the link.
        supported / with_supported: u8 = 5,
        /// Enabled modes of the link.
        enabled / with_enabled: u8 = 5,
        /// Mode of the link in use.
        active / with_active: u8 = 5,
    }
    /// CRC modes of the link: 1 for 14 bits, 2 for 16 bits, 4 for 48 bits, 8 for each lane.
    pub struct OpaCrcModes [2] {
        _: 4,
        /// Supported CRC modes.
        supported / with_supported: u8 = 4,
        /// Enabled CRC modes.
        enabled / with_enabled: u8 = 4,
        /// CRC mode in use.
        active / with_active: u8 = 4,
    }
    /// Further modes of a port.
    pub struct OpaPortModes [2] {
        _: 9,
        /// True if the port becomes active by itself.
        is_active_optimize_enabled / with_is_active_optimize_enabled: bool = 1,
        /// True if packets pass through the port.
        is_pass_through_enabled / with_is_pass_through_enabled: bool = 1,
        /// True if the port sends virtual lane markers.
        is_vl_marker_enabled / with_is_vl_marker_enabled: bool = 1,
        _: 2,
        /// True if traps and queries have headers of 16 bytes.
        is_16b_trap_query_enabled / with_is_16b_trap_query_enabled: bool = 1,
        _: 1,
    }
    /// Interleaving of packets.
    pub struct OpaInterleave [2] {
        _: 2,
        /// Supported distances of interleaving.
        distance_supported / with_distance_supported: u8 = 2,
        /// Enabled distances of interleaving.
        distance_enabled / with_distance_enabled: u8 = 2,
        /// Maximum nesting level for sending that is enabled.
        max_nest_level_tx_enabled / with_max_nest_level_tx_enabled: u8 = 5,
        /// Maximum nesting level for receiving that is supported.
        max_nest_level_rx_supported / with_max_nest_level_rx_supported: u8 = 5,
    }
    /// Directed routes through a pass-through port.
    pub struct OpaPassThrough [1] {
        _: 7,
        /// True if directed-route datagrams are forwarded.
        dr_control / with_dr_control: bool = 1,
    }
    /// Units of buffers and credits.
    pub struct OpaBufferUnits [4] {
        _: 9,
        /// Initial number of units of lane 15.
        vl15_init / with_vl15_init: u16 = 12,
        /// Credit rate of lane 15: 32 x 2^n.
        vl15_credit_rate / with_vl15_credit_rate: u8 = 5,
        /// Unit of a credit acknowledgement: the buffer unit x 2^n.
        credit_ack / with_credit_ack: u8 = 3,
        /// Buffer unit: 8 x 2^n.
        buffer_alloc / with_buffer_alloc: u8 = 3,
    }
    /// MTU of two lanes.
    pub struct OpaNeighborMtu [1] {
        /// MTU of the even lane.
        even / with_even: OpaMtu = 4,
        /// MTU of the odd lane.
        odd / with_odd: OpaMtu = 4,
    }
    /// Limits of a lane after which packets that cannot be sent are dropped.
    pub struct OpaStallLife [1] {
        /// Number of consecutively dropped packets after which the lane is stalled.
        vl_stall_count / with_vl_stall_count: u8 = 3,
        /// Maximum time of a packet at the head of the queue.
        hoq_life / with_hoq_life: HoqLife = 5,
    }
    /// Replay depths of a port: the upper or the lower byte of each depth.
    pub struct OpaReplayDepth [2] {
        /// Byte of the replay depth of the buffer.
        buffer / with_buffer: u8 = 8,
        /// Byte of the replay depth of the wire.
        wire / with_wire: u8 = 8,
    }
    /// Type and mode of the neighbour.
    pub struct OpaNeighborMode [1] {
        _: 4,
        /// True if the local node may manage the fabric.
        mgmt_allowed / with_mgmt_allowed: bool = 1,
        /// True if the neighbour's firmware is not authenticated.
        neighbor_fw_authen_bypass / with_neighbor_fw_authen_bypass: bool = 1,
        /// Type of the neighbour: 0 host fabric interface, 1 switch.
        neighbor_node_type / with_neighbor_node_type: u8 = 2,
    }
    /// Maximum payload of a port.
    pub struct OpaMtuCap [1] {
        _: 4,
        /// Maximum payload that the port supports.
        mtu_cap / with_mtu_cap: OpaMtu = 4,
    }
    /// Maximum response time of a port.
    pub struct OpaResponseTime [1] {
        _: 3,
        /// Maximum time between a request and its response.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
}
