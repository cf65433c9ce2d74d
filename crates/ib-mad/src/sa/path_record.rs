//! PathRecord: a path between two ports.
use super::{MultiPathRecord, record::sa_record};
use crate::{
    FlowLabel, Gid, Lid, Mtu, PacketLifeTime, Pkey, Rate, Selected, ServiceId, ServiceLevel, bits, wire, wire::Reserved,
};

bits! {
    /// Raw traffic, flow label and hop limit of a path.
    pub struct FlowHop [4] in PathRecord.flow_hop, MultiPathRecord.flow_hop {
        /// True for a path of raw packets.
        raw_traffic / with_raw_traffic: bool = 1,
        _: 3,
        /// Flow label of the global route header.
        flow_label / with_flow_label: FlowLabel = 20,
        /// Hop limit of the global route header; over 1 the path leaves the subnet.
        hop_limit / with_hop_limit: u8 = 8,
    }
    /// Reversibility and number of paths.
    pub struct ReversiblePaths [1] in PathRecord.reversible_paths, MultiPathRecord.reversible_paths {
        /// True if the path can be used in both directions.
        reversible / with_reversible: bool = 1,
        /// Number of requested paths.
        num_path / with_num_path: u8 = 7,
    }
    /// Quality of service class and service level of a path.
    pub struct QosSl [2] in PathRecord.qos_sl, MultiPathRecord.qos_sl {
        /// Quality of service class, 12 bits.
        qos_class / with_qos_class: u16 = 12,
        /// Service level of the path, 0 to 15.
        sl / with_sl: ServiceLevel = 4,
    }
}

wire! {
    /// A path between two ports (IBTA 15.2.5.16), 64 bytes.
    pub struct PathRecord [64] {
        /// Service that the path is for; 0 means any service.
        pub service_id: ServiceId,
        /// GID of the destination port.
        pub dgid: Gid,
        /// GID of the source port.
        pub sgid: Gid,
        /// Destination LID: of the destination port, or of a router if that port is in another subnet.
        pub dlid: Lid,
        /// LID of the source port.
        pub slid: Lid,
        /// Raw traffic, flow label and hop limit.
        pub flow_hop: FlowHop,
        /// Traffic class of the global route header.
        pub traffic_class: u8,
        /// Reversibility and number of paths.
        pub reversible_paths: ReversiblePaths,
        /// Partition key of the path, 16 bits.
        pub pkey: Pkey,
        /// Quality of service class and service level.
        pub qos_sl: QosSl,
        /// MTU of the path: a 2-bit selector and a 6-bit code.
        pub mtu: Selected<Mtu>,
        /// Static rate of the path: a 2-bit selector and a 6-bit code.
        pub rate: Selected<Rate>,
        /// Maximum lifetime of a packet: a 2-bit selector, then 4.096 us x 2^n with a 6-bit n.
        pub packet_life_time: Selected<PacketLifeTime>,
        /// Preference among several paths; 0 is the best.
        pub preference: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<6>,
    }
}

sa_record! {
    /// Component mask of a [`PathRecord`].
    PathRecord PATH_RECORD PathMask;
    /// Service id (two bits: upper and lower half).
    SERVICE_ID = 0x3 service_id: ServiceId;
    /// GID of the destination port.
    DGID = 0x4 dgid: Gid;
    /// GID of the source port.
    SGID = 0x8 sgid: Gid;
    /// Destination LID: of the destination port, or of a router if that port is in another subnet.
    DLID = 0x10 dlid: Lid;
    /// LID of the source port.
    SLID = 0x20 slid: Lid;
    /// Raw traffic: a path of raw packets.
    RAW_TRAFFIC = 0x40 flow_hop.raw_traffic / with_raw_traffic: bool;
    /// Flow label of the global route header, 20 bits.
    FLOW_LABEL = 0x100 flow_hop.flow_label / with_flow_label: FlowLabel;
    /// Hop limit of the global route header, 8 bits.
    HOP_LIMIT = 0x200 flow_hop.hop_limit / with_hop_limit: u8;
    /// Traffic class of the global route header, 8 bits.
    TRAFFIC_CLASS = 0x400 traffic_class: u8;
    /// Reversibility: a path that can be used in both directions.
    REVERSIBLE = 0x800 reversible_paths.reversible / with_reversible (Set): bool;
    /// Maximum number of paths.
    NUM_PATH = 0x1000 reversible_paths.num_path / with_num_path (Ignored): u8;
    /// Partition key of the path, 16 bits.
    PKEY = 0x2000 pkey (Partition): Pkey;
    /// Quality of service class.
    QOS_CLASS = 0x4000 qos_sl.qos_class / with_qos_class: u16;
    /// Service level of the path, 0 to 15.
    SL = 0x8000 qos_sl.sl / with_sl: ServiceLevel;
    /// Selector of the MTU; set it by `mtu`.
    MTU_SELECTOR = 0x1_0000 mtu.selector (Ignored);
    /// Code of the MTU; set it by `mtu`.
    MTU = 0x2_0000 mtu.value (graded Mtu);
    /// Selector of the rate; set it by `rate`.
    RATE_SELECTOR = 0x4_0000 rate.selector (Ignored);
    /// Code of the rate; set it by `rate`.
    RATE = 0x8_0000 rate.value (graded Rate);
    /// Selector of the lifetime; set it by `packet_life_time`.
    LIFE_SELECTOR = 0x10_0000 packet_life_time.selector (Ignored);
    /// Code of the lifetime; set it by `packet_life_time`.
    LIFE = 0x20_0000 packet_life_time.value (graded PacketLifeTime);
    /// Preference among several paths; 0 is the best.
    PREFERENCE = 0x40_0000 preference: u8;
}
