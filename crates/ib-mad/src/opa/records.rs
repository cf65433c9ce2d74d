//! Records of Omni-Path's subnet administration that a path tool reads: nodes, ports, links and groups.
//!
//! Sources: `stl_sa_types.h` of opa-ff and Wireshark's `packet-opa-mad.c`. The component masks and the send-only full
//! member of groups are those of opa-ff alone.
use super::{OPA_BASE_VERSION, OPA_CLASS_VERSION, OpaLid, OpaLinkDownReason, OpaNodeInfo, OpaPortInfo};
use crate::{
    Gid, Guid, Mtu, NodeType, PacketLifeTime, Pkey, Qkey, Rate, Selected, bits,
    code::PortCapability,
    sa::{JoinState, ProxyJoin, ScopeState, record::sa_record},
    smp::NodeDescription,
    wire,
    wire::{Be64, Reserved},
};

wire! {
    /// Identity and size of a node, 116 bytes; 120 bytes from record to record in a response.
    pub struct OpaNodeRecord [116] {
        /// LID of the end port.
        pub lid: OpaLid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Identity and size of the node.
        pub node_info: OpaNodeInfo,
        /// Description of the node.
        pub node_description: NodeDescription,
    }
    /// A reason why a link went down, 16 bytes.
    pub struct OpaLinkDown [16] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<6>,
        /// Reason of the neighbour.
        pub neighbor_link_down_reason: OpaLinkDownReason,
        /// Reason of the port.
        pub link_down_reason: OpaLinkDownReason,
        /// Time of the event in the manager's units; 0 means that the entry is unused.
        pub timestamp: Be64,
    }
    /// State and capabilities of a port, with the last reasons why its link went down, 378 bytes; 384 bytes from record
    /// to record in a response. A request does not fit into the 256 bytes of an [`SaMad`](crate::sa::SaMad).
    pub struct OpaPortInfoRecord [378] {
        /// LID of the node.
        pub end_port_lid: OpaLid,
        /// Number of the port.
        pub port_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// State and capabilities of the port.
        pub port_info: OpaPortInfo,
        /// Reasons why the link went down, in no order.
        pub link_down_reasons: [OpaLinkDown; 8],
    }
    /// A link between two ports, 12 bytes; 16 bytes from record to record in a response.
    pub struct OpaLinkRecord [12] {
        /// LID of the node at the first end.
        pub from_lid: OpaLid,
        /// Port number at the first end.
        pub from_port: u8,
        /// Port number at the second end.
        pub to_port: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// LID of the node at the second end.
        pub to_lid: OpaLid,
    }
}

bits! {
    /// Service level and hop limit of a group.
    pub struct OpaSlHop [4] in OpaMcMemberRecord.sl_hop {
        /// Service level of the group's packets, 0 to 31.
        sl / with_sl: u8 = 5,
        _: 19,
        /// Hop limit of the global route header.
        hop_limit / with_hop_limit: u8 = 8,
    }
}

wire! {
    /// Membership of a port in a multicast group, 56 bytes.
    pub struct OpaMcMemberRecord [56] {
        /// GID of the multicast group.
        pub mgid: Gid,
        /// GID of the member port.
        pub port_gid: Gid,
        /// Queue key of the group's datagrams.
        pub qkey: Qkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// MTU of the group, with a selector.
        pub mtu: Selected<Mtu>,
        /// Traffic class of the global route header.
        pub traffic_class: u8,
        /// Partition key of the group.
        pub pkey: Pkey,
        /// Static rate of the group, with a selector.
        pub rate: Selected<Rate>,
        /// Maximum lifetime of a packet in the subnet, with a selector.
        pub packet_life_time: Selected<PacketLifeTime>,
        /// Service level and hop limit.
        pub sl_hop: OpaSlHop,
        /// Scope of the group, and kind of membership.
        pub scope_state: ScopeState,
        /// Proxy flag of the join.
        pub proxy_join: ProxyJoin,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<2>,
        /// Multicast LID of the group.
        pub mlid: OpaLid,
    }
}

const VERSIONS: [u8; 2] = [OPA_BASE_VERSION, OPA_CLASS_VERSION];

sa_record! {
    /// Component mask of an [`OpaNodeRecord`].
    OpaNodeRecord NODE_RECORD OpaNodeMask in VERSIONS;
    /// LID of the end port.
    LID = 0x1 lid: OpaLid;
    /// Kind of the node.
    NODE_TYPE = 0x10 node_info.node_type: NodeType;
    /// GUID of the system that the node is part of.
    SYSTEM_IMAGE_GUID = 0x80 node_info.system_image_guid: Guid;
    /// GUID of the node.
    NODE_GUID = 0x100 node_info.node_guid: Guid;
    /// GUID of the port.
    PORT_GUID = 0x200 node_info.port_guid: Guid;
    /// Description of the node.
    NODE_DESCRIPTION = 0x8000 node_description: NodeDescription;
}

sa_record! {
    /// Component mask of an [`OpaPortInfoRecord`].
    OpaPortInfoRecord PORT_INFO_RECORD OpaPortInfoMask in VERSIONS;
    /// LID of the node.
    END_PORT_LID = 0x1 end_port_lid: OpaLid;
    /// Number of the port.
    PORT_NUM = 0x2 port_num: u8;
    /// Capabilities of the port.
    CAPABILITY_MASK = 0x8 port_info.capability_mask: PortCapability;
}

sa_record! {
    /// Component mask of an [`OpaLinkRecord`].
    OpaLinkRecord LINK_RECORD OpaLinkMask in VERSIONS;
    /// LID of the node at the first end.
    FROM_LID = 0x1 from_lid: OpaLid;
    /// Port number at the first end.
    FROM_PORT = 0x2 from_port: u8;
    /// Port number at the second end.
    TO_PORT = 0x4 to_port: u8;
    /// LID of the node at the second end.
    TO_LID = 0x10 to_lid: OpaLid;
}

sa_record! {
    /// Component mask of an [`OpaMcMemberRecord`].
    OpaMcMemberRecord MC_MEMBER_RECORD OpaMcMemberMask in VERSIONS;
    /// GID of the multicast group.
    MGID = 0x1 mgid: Gid;
    /// GID of the member port.
    PORT_GID = 0x2 port_gid: Gid;
    /// Queue key of the group's datagrams.
    QKEY = 0x4 qkey: Qkey;
    /// Selector of the MTU; set it by `mtu`.
    MTU_SELECTOR = 0x10 mtu.selector (Ignored);
    /// Code of the MTU; set it by `mtu`.
    MTU = 0x20 mtu.value (graded Mtu);
    /// Traffic class of the global route header.
    TRAFFIC_CLASS = 0x40 traffic_class: u8;
    /// Partition key of the group.
    PKEY = 0x80 pkey (Partition): Pkey;
    /// Selector of the rate; set it by `rate`.
    RATE_SELECTOR = 0x100 rate.selector (Ignored);
    /// Code of the rate; set it by `rate`.
    RATE = 0x200 rate.value (graded Rate);
    /// Selector of the lifetime; set it by `packet_life_time`.
    LIFE_SELECTOR = 0x400 packet_life_time.selector (Ignored);
    /// Code of the lifetime; set it by `packet_life_time`.
    LIFE = 0x800 packet_life_time.value (graded PacketLifeTime);
    /// Service level of the group's packets, 0 to 31.
    SL = 0x1000 sl_hop.sl / with_sl: u8;
    /// Hop limit of the global route header.
    HOP_LIMIT = 0x4000 sl_hop.hop_limit / with_hop_limit: u8;
    /// Scope of the group: 2 link, 5 site, 8 organization, 14 global.
    SCOPE = 0x8000 scope_state.scope / with_scope: u8;
    /// Kind of membership of the port.
    JOIN_STATE = 0x2_0000 scope_state.join_state / with_join_state: JoinState;
    /// Proxy flag of the join.
    PROXY_JOIN = 0x4_0000 proxy_join.proxy_join / with_proxy_join: bool;
    /// Multicast LID of the group.
    MLID = 0x8_0000 mlid: OpaLid;
}
