//! MultiPathRecord: paths between groups of ports.
use super::{FlowHop, QosSl, Query, ReversiblePaths, record::sa_record};
use crate::{
    FlowLabel, Gid, Mtu, PacketLifeTime, Pkey, Rate, Selected, ServiceId, ServiceLevel, bits, wire, wire::InBytes,
};

bits! {
    /// Independence of the requested paths.
    pub struct Independence [1] in MultiPathRecord.independence {
        /// Independence: 0 any paths; 1 paths as independent of each other as possible.
        independence_selector / with_independence_selector: u8 = 2,
        _: 6,
    }
}

wire! {
    /// Query for paths between groups of ports (IBTA 15.2.5.25), 200 bytes; the response consists of path records.
    ///
    /// ```text
    ///  0  raw 1, 3, flow label 20, hop limit 8
    ///  4  traffic class | reversible 1, paths 7 | P_Key
    ///  8  QoS class 12, SL 4   | MTU | rate
    /// 12  packet lifetime | service id (first byte) | independence 2, 6 | sources
    /// 16  destinations | service id (7 bytes)
    /// 24  GIDs of sources, then of destinations (16 bytes each; eleven fit)
    /// ```
    pub struct MultiPathRecord [200] {
        /// Raw traffic, flow label and hop limit.
        pub flow_hop: FlowHop,
        /// Traffic class of the global route header, 8 bits.
        pub traffic_class: u8,
        /// Reversibility and number of paths.
        pub reversible_paths: ReversiblePaths,
        /// Partition key of the paths, 16 bits.
        pub pkey: Pkey,
        /// Quality of service class and service level.
        pub qos_sl: QosSl,
        /// MTU of the paths: a 2-bit selector and a 6-bit code.
        pub mtu: Selected<Mtu>,
        /// Static rate of the paths: a 2-bit selector and a 6-bit code.
        pub rate: Selected<Rate>,
        /// Maximum lifetime of a packet: a 2-bit selector, then 4.096 us x 2^n with a 6-bit n.
        pub packet_life_time: Selected<PacketLifeTime>,
        /// Most significant byte of the service id.
        pub service_id_8msb: u8,
        /// Independence of the requested paths.
        pub independence: Independence,
        /// Number of source GIDs.
        pub sgid_count: u8,
        /// Number of destination GIDs, which follow the source GIDs.
        pub dgid_count: u8,
        /// Lower 7 bytes of the service id.
        pub service_id_56lsb: InBytes<u64, 7>,
        /// Source GIDs, then destination GIDs.
        pub gids: [Gid; 11],
    }
}

sa_record! {
    /// Component mask of a [`MultiPathRecord`].
    MultiPathRecord MULTI_PATH_RECORD MultiPathMask;
    /// Raw traffic: paths of raw packets.
    RAW_TRAFFIC = 0x1 flow_hop.raw_traffic / with_raw_traffic: bool;
    /// Flow label of the global route header, 20 bits.
    FLOW_LABEL = 0x4 flow_hop.flow_label / with_flow_label: FlowLabel;
    /// Hop limit of the global route header, 8 bits.
    HOP_LIMIT = 0x8 flow_hop.hop_limit / with_hop_limit: u8;
    /// Traffic class of the global route header, 8 bits.
    TRAFFIC_CLASS = 0x10 traffic_class: u8;
    /// Reversibility: paths that can be used in both directions.
    REVERSIBLE = 0x20 reversible_paths.reversible / with_reversible (Set): bool;
    /// Maximum number of paths for each pair of ports.
    NUM_PATH = 0x40 reversible_paths.num_path / with_num_path (Ignored): u8;
    /// Partition key of the paths, 16 bits.
    PKEY = 0x80 pkey (Partition): Pkey;
    /// Quality of service class.
    QOS_CLASS = 0x100 qos_sl.qos_class / with_qos_class: u16;
    /// Service level of the paths, 0 to 15.
    SL = 0x200 qos_sl.sl / with_sl: ServiceLevel;
    /// Selector of the MTU; set it by `mtu`.
    MTU_SELECTOR = 0x400 mtu.selector (Ignored);
    /// Code of the MTU; set it by `mtu`.
    MTU = 0x800 mtu.value (graded Mtu);
    /// Selector of the rate; set it by `rate`.
    RATE_SELECTOR = 0x1000 rate.selector (Ignored);
    /// Code of the rate; set it by `rate`.
    RATE = 0x2000 rate.value (graded Rate);
    /// Selector of the lifetime; set it by `packet_life_time`.
    LIFE_SELECTOR = 0x4000 packet_life_time.selector (Ignored);
    /// Code of the lifetime; set it by `packet_life_time`.
    LIFE = 0x8000 packet_life_time.value (graded PacketLifeTime);
    /// Most significant byte of the service id; set it by `service_id`.
    SERVICE_ID_8MSB = 0x1_0000 service_id_8msb;
    /// Independence of the requested paths.
    INDEPENDENCE = 0x2_0000 independence.independence_selector / with_independence_selector: u8;
    /// Number of source GIDs; set it by `gids`.
    SGID_COUNT = 0x8_0000 sgid_count;
    /// Number of destination GIDs; set it by `gids`.
    DGID_COUNT = 0x10_0000 dgid_count;
    /// Lower 7 bytes of the service id; set them by `service_id`.
    SERVICE_ID_56LSB = 0x20_0000 service_id_56lsb;
}

impl Query<MultiPathRecord> {
    /// Sets the service that the paths are for.
    #[must_use]
    pub fn service_id(mut self, value: ServiceId) -> Self {
        let [first, ..] = value.get().to_be_bytes();
        self.record.service_id_8msb = first;
        self.record.service_id_56lsb = InBytes::new(value.get());
        self.also(MultiPathMask::SERVICE_ID_8MSB | MultiPathMask::SERVICE_ID_56LSB)
    }
    /// Sets source and destination GIDs, at most eleven together; further GIDs are left out.
    #[must_use]
    pub fn gids(mut self, sources: &[Gid], destinations: &[Gid]) -> Self {
        let mut slots = self.record.gids.iter_mut();
        let mut put = |gids: &[Gid]| slots.by_ref().zip(gids).map(|(to, from)| *to = *from).count();
        let counts = (put(sources), put(destinations));
        self.record.sgid_count = u8::try_from(counts.0).unwrap_or_default();
        self.record.dgid_count = u8::try_from(counts.1).unwrap_or_default();
        self.also(MultiPathMask::SGID_COUNT | MultiPathMask::DGID_COUNT)
    }
}
