//! A path between two Omni-Path ports.
use super::OpaLid;
use crate::{
    Gid, Mtu, PacketLifeTime, Pkey, Rate, Selected, ServiceId, bits,
    sa::{FlowHop, ReversiblePaths},
    wire,
    wire::Reserved,
};

bits! {
    /// Packet formats of the path, and type of service.
    pub struct OpaPacketKinds [1] {
        /// True for packets with a header of 8 bytes.
        l2_8b / with_l2_8b: bool = 1,
        /// True for packets with a header of 10 bytes.
        l2_10b / with_l2_10b: bool = 1,
        /// True for packets with a header of 9 bytes, the format of InfiniBand.
        l2_9b / with_l2_9b: bool = 1,
        /// True for packets with a header of 16 bytes.
        l2_16b / with_l2_16b: bool = 1,
        _: 2,
        /// Type of the service.
        qos_type / with_qos_type: u8 = 2,
    }
    /// A service level in one byte.
    pub struct OpaQosSl [1] {
        _: 3,
        /// Service level, 0 to 31.
        sl / with_sl: u8 = 5,
    }
}

wire! {
    /// A path between two ports, 64 bytes (`opa_path_rec_table` in Linux's `sa_query.c`).
    ///
    /// ```text
    ///  0  service id (8) | DGID (16) | SGID (16)
    /// 40  DLID (4) | SLID (4)
    /// 48  raw 1, 3, flow label 20, hop limit 8
    /// 52  traffic class | reversible 1, paths 7 | P_Key
    /// 56  formats 4, 2, kind 2 | priority | 3, SL 5 | reserved
    /// 60  MTU | rate | packet lifetime | preference
    /// ```
    pub struct OpaPathRecord [64] {
        /// Service that the path is for; 0 means any service.
        pub service_id: ServiceId,
        /// GID of the destination port.
        pub dgid: Gid,
        /// GID of the source port.
        pub sgid: Gid,
        /// LID of the destination port.
        pub dlid: OpaLid,
        /// LID of the source port.
        pub slid: OpaLid,
        /// Raw traffic, flow label and hop limit.
        pub flow_hop: FlowHop,
        /// Traffic class of the global route header.
        pub traffic_class: u8,
        /// Reversibility and number of paths.
        pub reversible_paths: ReversiblePaths,
        /// Partition key of the path.
        pub pkey: Pkey,
        /// Packet formats, and type of service.
        pub kinds: OpaPacketKinds,
        /// Priority of the service.
        pub qos_priority: u8,
        /// Service level of the path.
        pub qos_sl: OpaQosSl,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// MTU of the path, with a selector.
        pub mtu: Selected<Mtu>,
        /// Static rate of the path, with a selector.
        pub rate: Selected<Rate>,
        /// Packet lifetime of the path, with a selector.
        pub packet_life_time: Selected<PacketLifeTime>,
        /// Preference among several paths; 0 is the best.
        pub preference: u8,
    }
}
