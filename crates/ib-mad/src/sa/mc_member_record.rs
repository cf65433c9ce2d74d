//! MCMemberRecord: membership in a multicast group.
use super::record::sa_record;
use crate::{
    FlowLabel, Gid, Lid, Mtu, PacketLifeTime, Pkey, Qkey, Rate, Selected, ServiceLevel, bits, flags, wire,
    wire::Reserved,
};

bits! {
    /// Service level, flow label and hop limit of a group.
    pub struct SlFlowHop [4] in McMemberRecord.sl_flow_hop {
        /// Service level of the group's packets, 0 to 15.
        sl / with_sl: ServiceLevel = 4,
        /// Flow label of the global route header, 20 bits.
        flow_label / with_flow_label: FlowLabel = 20,
        /// Hop limit of the global route header, 8 bits.
        hop_limit / with_hop_limit: u8 = 8,
    }
    /// Scope of the group, and kind of membership.
    pub struct ScopeState [1] in McMemberRecord.scope_state {
        /// Scope of the group: 2 link, 5 site, 8 organization, 14 global.
        scope / with_scope: u8 = 4,
        /// Kind of membership of the port.
        join_state / with_join_state: JoinState = 4,
    }
    /// Proxy flag of a join.
    pub struct ProxyJoin [1] in McMemberRecord.proxy_join {
        /// True if another port requested the membership.
        proxy_join / with_proxy_join: bool = 1,
        _: 7,
    }
}

flags! {
    /// Set of membership kinds, 4 bits (IBTA 15.2.5.17).
    pub struct JoinState(u8) {
        /// The port sends and receives. The group exists as long as it has a full member.
        FULL_MEMBER = 1 "full member",
        /// The port sends and receives. The membership does not keep the group in existence.
        NON_MEMBER = 2 "non-member",
        /// The port only sends. The membership does not keep the group in existence.
        SEND_ONLY_NON_MEMBER = 4 "send-only non-member",
        /// The port only sends. The membership keeps the group in existence.
        SEND_ONLY_FULL_MEMBER = 8 "send-only full member",
    }
}

wire! {
    /// Membership of a port in a multicast group (IBTA 15.2.5.17), 52 bytes; the distance in tables is 56 bytes.
    pub struct McMemberRecord [52] {
        /// GID of the multicast group.
        pub mgid: Gid,
        /// GID of the member port.
        pub port_gid: Gid,
        /// Queue key of the group's datagrams.
        pub qkey: Qkey,
        /// Multicast LID of the group.
        pub mlid: Lid,
        /// MTU of the group: a 2-bit selector and a 6-bit code.
        pub mtu: Selected<Mtu>,
        /// Traffic class of the global route header, 8 bits.
        pub traffic_class: u8,
        /// Partition key of the group, 16 bits.
        pub pkey: Pkey,
        /// Static rate of the group: a 2-bit selector and a 6-bit code.
        pub rate: Selected<Rate>,
        /// Maximum lifetime of a packet in the subnet: a 2-bit selector, then 4.096 us x 2^n with a 6-bit n.
        pub packet_life_time: Selected<PacketLifeTime>,
        /// Service level, flow label and hop limit.
        pub sl_flow_hop: SlFlowHop,
        /// Scope of the group, and kind of membership.
        pub scope_state: ScopeState,
        /// Proxy flag of the join.
        pub proxy_join: ProxyJoin,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
    }
}

sa_record! {
    /// Component mask of a [`McMemberRecord`].
    McMemberRecord MC_MEMBER_RECORD McMemberMask;
    /// GID of the multicast group.
    MGID = 0x1 mgid: Gid;
    /// GID of the member port.
    PORT_GID = 0x2 port_gid: Gid;
    /// Queue key of the group's datagrams.
    QKEY = 0x4 qkey: Qkey;
    /// Multicast LID of the group.
    MLID = 0x8 mlid: Lid;
    /// Selector of the MTU; set it by `mtu`.
    MTU_SELECTOR = 0x10 mtu.selector (Ignored);
    /// Code of the MTU; set it by `mtu`.
    MTU = 0x20 mtu.value (graded Mtu);
    /// Traffic class of the global route header, 8 bits.
    TRAFFIC_CLASS = 0x40 traffic_class: u8;
    /// Partition key of the group, 16 bits.
    PKEY = 0x80 pkey (Partition): Pkey;
    /// Selector of the rate; set it by `rate`.
    RATE_SELECTOR = 0x100 rate.selector (Ignored);
    /// Code of the rate; set it by `rate`.
    RATE = 0x200 rate.value (graded Rate);
    /// Selector of the lifetime; set it by `packet_life_time`.
    LIFE_SELECTOR = 0x400 packet_life_time.selector (Ignored);
    /// Code of the lifetime; set it by `packet_life_time`.
    LIFE = 0x800 packet_life_time.value (graded PacketLifeTime);
    /// Service level of the group's packets, 0 to 15.
    SL = 0x1000 sl_flow_hop.sl / with_sl: ServiceLevel;
    /// Flow label of the global route header, 20 bits.
    FLOW_LABEL = 0x2000 sl_flow_hop.flow_label / with_flow_label: FlowLabel;
    /// Hop limit of the global route header, 8 bits.
    HOP_LIMIT = 0x4000 sl_flow_hop.hop_limit / with_hop_limit: u8;
    /// Scope of the group: 2 link, 5 site, 8 organization, 14 global.
    SCOPE = 0x8000 scope_state.scope / with_scope: u8;
    /// Kind of membership of the port.
    JOIN_STATE = 0x1_0000 scope_state.join_state / with_join_state: JoinState;
    /// Proxy flag of the join.
    PROXY_JOIN = 0x2_0000 proxy_join.proxy_join / with_proxy_join: bool;
}
