//! What a port is and does.
use super::{
    OpaBufferUnits, OpaCapability3, OpaCrcModes, OpaInterleave, OpaLid, OpaLinkDownReason, OpaLinkModes, OpaLinkSpeeds,
    OpaLinkWidths, OpaMkeyLmc, OpaMtuCap, OpaMulticastMasks, OpaNeighborMode, OpaNeighborMtu, OpaOperationalVls,
    OpaPacketFormats, OpaPartitionEnforcement, OpaPassThrough, OpaPortModes, OpaPortStates, OpaPortTypeByte,
    OpaReplayDepth, OpaResponseTime, OpaSmSl, OpaStallLife, OpaSubnetTimeOut, OpaVlCap,
};
use crate::{
    Guid, Mkey, Pkey, Qpn,
    smp::PortCapability,
    wire,
    wire::{Be16, Be32, Be64, InBytes, Octets, Reserved},
};

wire! {
    /// Speeds of a link.
    pub struct OpaSpeeds [6] {
        /// What the port can.
        pub supported: OpaLinkSpeeds,
        /// What may be used.
        pub enabled: OpaLinkSpeeds,
        /// What is in use.
        pub active: OpaLinkSpeeds,
    }
}
wire! {
    /// Widths of a link, or of one that lost lanes.
    pub struct OpaWidths [8] {
        /// What the port can.
        pub supported: OpaLinkWidths,
        /// What may be used.
        pub enabled: OpaLinkWidths,
        /// What is in use when it sends.
        pub tx_active: OpaLinkWidths,
        /// What is in use when it receives.
        pub rx_active: OpaLinkWidths,
    }
}
wire! {
    /// Which packets are held for which others.
    pub struct OpaPreemption [8] {
        /// Bytes at the start of a packet that are sent first.
        pub min_initial: Be16,
        /// Bytes at the end of a packet that are not held.
        pub min_tail: Be16,
        /// Packets of 512 bytes + 512 x this may be held.
        pub large_packet_limit: u8,
        /// Packets of up to 32 bytes + 32 x this go first.
        pub small_packet_limit: u8,
        /// The largest value of that.
        pub max_small_packet_limit: u8,
        /// 256 bytes x this go first at most; 255 = no limit.
        pub preemption_limit: u8,
    }
}

wire! {
    /// What a port is and does, 242 bytes (`struct opa_port_info` in `opa_port_info.h`).
    ///
    /// ```text
    ///   0  LID (4) | flow control mask (4)
    ///   8  lanes: preempting, how many, limits, arbitration (8)
    ///  16  states (4) | plug | groups | M_Key protection, LMC | SM's SL
    ///  24  checks | lanes in use | P_Keys of 8B and 10B (2 each) | violations (2 each)
    ///  36  trap QP (4) | SA's QP (4) | neighbour's port | reasons (2) | time-out
    ///  48  speeds (6) | widths (6) | widths after loss (8) | link modes (2) | check sums (2)
    ///  72  port modes (2) | formats (4) | interleaving (2) | preemption (8)
    ///  88  largest LID (4) | errors that take the link down (4) | pass through (2) | lease (2) | units (4)
    /// 104  reserved (2) | bundle (2) | SM's LID (4) | M_Key (8) | subnet prefix (8)
    /// 128  MTU of each lane (16) | stall and life of each lane (32)
    /// 176  IPv6 address (16) | IPv4 address (4) | reserved (12)
    /// 208  neighbour's GUID (8) | capabilities (4) | reserved (2) | capabilities 3 (2) | reserved (4)
    /// 228  buffers (2) | replay depths, upper halves (2) | diagnosis (2) | replay depths, lower halves (2)
    /// 236  neighbour | largest MTU | time to answer | local port | reserved (2)
    /// ```
    pub struct OpaPortInfo [242] {
        /// The port's first LID; of a switch's external port, the neighbour's.
        pub lid: OpaLid,
        /// Lanes with flow control, one bit each.
        pub flow_control_mask: Be32,
        /// Entries of the preempting arbitration table.
        pub vl_preempt_cap: u8,
        /// Lanes that there are.
        pub vl_cap: OpaVlCap,
        /// Units that high-priority lanes may send in a row.
        pub vl_high_limit: Be16,
        /// Units that preempting lanes may send in a row.
        pub vl_preempting_limit: Be16,
        /// Entries of the high-priority arbitration table.
        pub vl_arbitration_high_cap: u8,
        /// Entries of the low-priority arbitration table.
        pub vl_arbitration_low_cap: u8,
        /// States.
        pub port_states: OpaPortStates,
        /// Kind of the plug.
        pub port_type: OpaPortTypeByte,
        /// How addresses of groups look.
        pub multicast_masks: OpaMulticastMasks,
        /// What the M_Key protects, how many LIDs the port has.
        pub mkey_lmc: OpaMkeyLmc,
        /// Service level of the subnet manager.
        pub sm_sl: OpaSmSl,
        /// Why the link waits, what is checked.
        pub partition_enforcement: OpaPartitionEnforcement,
        /// Lanes in use.
        pub operational: OpaOperationalVls,
        /// P_Key of packets with 8 bytes of header, which do not say it.
        pub pkey_8b: Pkey,
        /// The upper 12 bits of the P_Key of packets with 10 bytes of header.
        pub pkey_10b: Pkey,
        /// Requests with a wrong M_Key.
        pub mkey_violations: Be16,
        /// Packets with a wrong P_Key.
        pub pkey_violations: Be16,
        /// Packets with a wrong Q_Key.
        pub qkey_violations: Be16,
        /// Zero.
        pub reserved_sm_trap_qp: Reserved<1>,
        /// Queue pair of the subnet manager that traps go to.
        pub sm_trap_qp: InBytes<Qpn, 3>,
        /// Zero.
        pub reserved_sa_qp: Reserved<1>,
        /// Queue pair of subnet administration.
        pub sa_qp: InBytes<Qpn, 3>,
        /// Port of the neighbour.
        pub neighbor_port_num: u8,
        /// Why the link went down.
        pub link_down_reason: OpaLinkDownReason,
        /// What the neighbour says of that.
        pub neighbor_link_down_reason: OpaLinkDownReason,
        /// Registering again, time of the subnet.
        pub subnet_time_out: OpaSubnetTimeOut,
        /// Speeds.
        pub link_speed: OpaSpeeds,
        /// Widths that the port can use.
        pub link_width_supported: OpaLinkWidths,
        /// Widths that may be used.
        pub link_width_enabled: OpaLinkWidths,
        /// The width in use.
        pub link_width_active: OpaLinkWidths,
        /// Widths of a link that lost lanes.
        pub link_width_downgrade: OpaWidths,
        /// Modes of the link.
        pub port_link_mode: OpaLinkModes,
        /// Check sums of the link.
        pub port_ltp_crc_mode: OpaCrcModes,
        /// What else the port does.
        pub port_mode: OpaPortModes,
        /// Formats of packets that the port can use.
        pub packet_formats_supported: OpaPacketFormats,
        /// Formats of packets that may be used.
        pub packet_formats_enabled: OpaPacketFormats,
        /// How packets are mixed.
        pub interleave: OpaInterleave,
        /// Which packets are held for which others.
        pub preemption: OpaPreemption,
        /// The largest LID.
        pub max_lid: OpaLid,
        /// Errors that take the link down, one bit each.
        pub port_error_action: Be32,
        /// Where packets go that pass the port without a look; 0 = they do not.
        pub pass_through_egress_port: u8,
        /// Directed routes through such a port.
        pub pass_through: OpaPassThrough,
        /// How long the M_Key holds without its owner, in seconds; 0 = forever.
        pub mkey_lease_period: Be16,
        /// Units of buffers and credits.
        pub buffer_units: OpaBufferUnits,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Next port of the same plug.
        pub bundle_next_port: u8,
        /// First lane of the plug that is this port's.
        pub bundle_lane: u8,
        /// LID of the master subnet manager.
        pub master_sm_lid: OpaLid,
        /// The key that guards the port.
        pub mkey: Mkey,
        /// Prefix of the port's GIDs.
        pub subnet_prefix: Be64,
        /// Largest packets of two lanes each.
        pub neighbor_mtu: [OpaNeighborMtu; 16],
        /// When packets of each lane are dropped that cannot go out.
        pub xmit_q: [OpaStallLife; 32],
        /// IPv6 address.
        pub ip_address_ipv6: Octets<16>,
        /// IPv4 address.
        pub ip_address_ipv4: Octets<4>,
        /// Zero.
        pub reserved2: Reserved<12>,
        /// GUID of the neighbour.
        pub neighbor_node_guid: Guid,
        /// What the port can do, InfiniBand's part.
        pub capability_mask: PortCapability,
        /// Zero.
        pub reserved3: Reserved<2>,
        /// What the port can do, Omni-Path's part.
        pub capability_mask3: OpaCapability3,
        /// Zero.
        pub reserved4: Reserved<4>,
        /// Buffers of all lanes.
        pub overall_buffer_space: Be16,
        /// Upper halves of what can be sent again.
        pub replay_depth_high: OpaReplayDepth,
        /// Result of diagnosis.
        pub diag_code: Be16,
        /// Lower halves of what can be sent again.
        pub replay_depth: OpaReplayDepth,
        /// What the neighbour is.
        pub neighbor_mode: OpaNeighborMode,
        /// Largest packets of the port.
        pub mtu_cap: OpaMtuCap,
        /// Time to answer.
        pub resp_time: OpaResponseTime,
        /// Number of the port that the question came in by.
        pub local_port_num: u8,
        /// Zero.
        pub reserved5: Reserved<2>,
    }
}
