//! State and settings of an Omni-Path port.
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
    /// Link speeds of a port.
    pub struct OpaSpeeds [6] {
        /// Supported link speeds.
        pub supported: OpaLinkSpeeds,
        /// Enabled link speeds.
        pub enabled: OpaLinkSpeeds,
        /// Link speed in use.
        pub active: OpaLinkSpeeds,
    }
    /// Link widths of a port, or of a link that lost lanes.
    pub struct OpaWidths [8] {
        /// Supported link widths.
        pub supported: OpaLinkWidths,
        /// Enabled link widths.
        pub enabled: OpaLinkWidths,
        /// Link width in use for sending.
        pub tx_active: OpaLinkWidths,
        /// Link width in use for receiving.
        pub rx_active: OpaLinkWidths,
    }
    /// Limits of the preemption of packets.
    pub struct OpaPreemption [8] {
        /// Minimum number of bytes that are sent before a packet may be preempted.
        pub min_initial: Be16,
        /// Minimum number of bytes at the end of a packet that are not preempted.
        pub min_tail: Be16,
        /// Limit of large packets, which may be preempted: 512 bytes + 512 x this value.
        pub large_packet_limit: u8,
        /// Limit of small packets, which may preempt: 32 bytes + 32 x this value.
        pub small_packet_limit: u8,
        /// Maximum of `small_packet_limit`.
        pub max_small_packet_limit: u8,
        /// Maximum of preempting data: 256 bytes x this value; 255 means no limit.
        pub preemption_limit: u8,
    }
    /// State and settings of a port, 242 bytes (`struct opa_port_info` in `opa_port_info.h`).
    ///
    /// ```text
    ///   0  LID (4) | flow control mask (4)
    ///   8  lanes: preempting, how many, limits, arbitration (8)
    ///  16  states (4) | connector | groups | M_Key protection, LMC | SM's SL
    ///  24  checks | lanes in use | P_Keys of 8B and 10B (2 each) | violations (2 each)
    ///  36  trap QP (4) | SA's QP (4) | neighbour's port | reasons (2) | time-out
    ///  48  speeds (6) | widths (6) | widths after loss (8) | link modes (2) | CRCs (2)
    ///  72  port modes (2) | formats (4) | interleaving (2) | preemption (8)
    ///  88  largest LID (4) | errors that take the link down (4) | pass through (2) | lease (2) | units (4)
    /// 104  reserved (2) | bundle (2) | SM's LID (4) | M_Key (8) | subnet prefix (8)
    /// 128  MTU of each lane (16) | stall and life of each lane (32)
    /// 176  IPv6 address (16) | IPv4 address (4) | reserved (12)
    /// 208  neighbour's GUID (8) | capabilities (4) | reserved (2) | capabilities 3 (2) | reserved (4)
    /// 228  buffers (2) | replay depths, upper halves (2) | diagnosis (2) | replay depths, lower halves (2)
    /// 236  neighbour | largest MTU | response time | local port | reserved (2)
    /// ```
    pub struct OpaPortInfo [242] {
        /// Base LID of the port; at a switch's external port, of the neighbour.
        pub lid: OpaLid,
        /// Lanes with flow control, one bit each.
        pub flow_control_mask: Be32,
        /// Number of entries of the preempting arbitration table.
        pub vl_preempt_cap: u8,
        /// Number of supported data lanes.
        pub vl_cap: OpaVlCap,
        /// Number of units that high-priority lanes may send consecutively.
        pub vl_high_limit: Be16,
        /// Number of units that preempting lanes may send consecutively.
        pub vl_preempting_limit: Be16,
        /// Number of entries of the high-priority arbitration table.
        pub vl_arbitration_high_cap: u8,
        /// Number of entries of the low-priority arbitration table.
        pub vl_arbitration_low_cap: u8,
        /// States of the port.
        pub port_states: OpaPortStates,
        /// Type of the connector.
        pub port_type: OpaPortTypeByte,
        /// Address masks of groups and collectives.
        pub multicast_masks: OpaMulticastMasks,
        /// M_Key protection and LMC.
        pub mkey_lmc: OpaMkeyLmc,
        /// Service level of the subnet manager.
        pub sm_sl: OpaSmSl,
        /// Reason of the state "init", and checks of P_Keys.
        pub partition_enforcement: OpaPartitionEnforcement,
        /// Number of data lanes in use.
        pub operational: OpaOperationalVls,
        /// P_Key of packets with a header of 8 bytes, a header without a P_Key field.
        pub pkey_8b: Pkey,
        /// Upper 12 bits of the P_Key of packets with a header of 10 bytes.
        pub pkey_10b: Pkey,
        /// Number of received requests with a wrong M_Key.
        pub mkey_violations: Be16,
        /// Number of received packets with a wrong P_Key.
        pub pkey_violations: Be16,
        /// Number of received packets with a wrong Q_Key.
        pub qkey_violations: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved_sm_trap_qp: Reserved<1>,
        /// Queue pair of the subnet manager that receives traps.
        pub sm_trap_qp: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved_sa_qp: Reserved<1>,
        /// Queue pair of subnet administration.
        pub sa_qp: InBytes<Qpn, 3>,
        /// Port number of the neighbour.
        pub neighbor_port_num: u8,
        /// Reason why the link went down.
        pub link_down_reason: OpaLinkDownReason,
        /// Reason why the link went down, as the neighbour reports it.
        pub neighbor_link_down_reason: OpaLinkDownReason,
        /// Client reregistration, trap suppression and subnet time-out.
        pub subnet_time_out: OpaSubnetTimeOut,
        /// Link speeds of the port.
        pub link_speed: OpaSpeeds,
        /// Supported link widths.
        pub link_width_supported: OpaLinkWidths,
        /// Enabled link widths.
        pub link_width_enabled: OpaLinkWidths,
        /// Link width in use.
        pub link_width_active: OpaLinkWidths,
        /// Link widths after the loss of lanes.
        pub link_width_downgrade: OpaWidths,
        /// Modes of the link.
        pub port_link_mode: OpaLinkModes,
        /// CRC modes of the link.
        pub port_ltp_crc_mode: OpaCrcModes,
        /// Further modes of the port.
        pub port_mode: OpaPortModes,
        /// Supported packet formats.
        pub packet_formats_supported: OpaPacketFormats,
        /// Enabled packet formats.
        pub packet_formats_enabled: OpaPacketFormats,
        /// Interleaving of packets.
        pub interleave: OpaInterleave,
        /// Limits of the preemption of packets.
        pub preemption: OpaPreemption,
        /// Highest LID of the fabric.
        pub max_lid: OpaLid,
        /// Errors that take the link down, one bit each.
        pub port_error_action: Be32,
        /// Output port of passed-through packets; 0 if the port has no pass-through.
        pub pass_through_egress_port: u8,
        /// Directed routes through a pass-through port.
        pub pass_through: OpaPassThrough,
        /// Lease period of the M_Key in seconds, after which it is void; 0 means no limit.
        pub mkey_lease_period: Be16,
        /// Units of buffers and credits.
        pub buffer_units: OpaBufferUnits,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Next port of the same connector.
        pub bundle_next_port: u8,
        /// First lane of the connector that belongs to the port.
        pub bundle_lane: u8,
        /// LID of the master subnet manager.
        pub master_sm_lid: OpaLid,
        /// Management key that protects the port.
        pub mkey: Mkey,
        /// Subnet prefix of the port's GIDs.
        pub subnet_prefix: Be64,
        /// MTU of the lanes, two lanes in each byte.
        pub neighbor_mtu: [OpaNeighborMtu; 16],
        /// Limits of each lane after which packets that cannot be sent are dropped.
        pub xmit_q: [OpaStallLife; 32],
        /// IPv6 address of the port.
        pub ip_address_ipv6: Octets<16>,
        /// IPv4 address of the port.
        pub ip_address_ipv4: Octets<4>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<12>,
        /// Node GUID of the neighbour.
        pub neighbor_node_guid: Guid,
        /// First capability mask, as in InfiniBand.
        pub capability_mask: PortCapability,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<2>,
        /// Omni-Path capability mask.
        pub capability_mask3: OpaCapability3,
        /// Reserved: zero when sent, ignored when received.
        pub reserved4: Reserved<4>,
        /// Buffer space of all lanes.
        pub overall_buffer_space: Be16,
        /// Upper bytes of the replay depths.
        pub replay_depth_high: OpaReplayDepth,
        /// Diagnosis code of the port.
        pub diag_code: Be16,
        /// Lower bytes of the replay depths.
        pub replay_depth: OpaReplayDepth,
        /// Type and mode of the neighbour.
        pub neighbor_mode: OpaNeighborMode,
        /// Maximum payload that the port supports.
        pub mtu_cap: OpaMtuCap,
        /// Maximum response time of the port.
        pub resp_time: OpaResponseTime,
        /// Number of the port at which the request arrived.
        pub local_port_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved5: Reserved<2>,
    }
}
