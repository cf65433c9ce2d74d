//! A path between two ports.
use super::OpaLid;
use crate::{
    Gid, Mtu, PacketLifeTime, Pkey, Rate, Selected, ServiceId, bits,
    sa::{FlowHop, ReversiblePaths},
    wire,
    wire::Reserved,
};

bits! {
    /// Formats of packets that the path is for, kind of service.
    pub struct OpaPacketKinds [1] {
        /// 8 bytes of header.
        l2_8b / with_l2_8b: bool = 1,
        /// 10 bytes of header.
        l2_10b / with_l2_10b: bool = 1,
        /// 9 bytes of header: InfiniBand's.
        l2_9b / with_l2_9b: bool = 1,
        /// 16 bytes of header.
        l2_16b / with_l2_16b: bool = 1,
        _: 2,
        /// Kind of service.
        qos_type / with_qos_type: u8 = 2,
    }
}
bits! {
    /// Service level in its byte.
    pub struct OpaQosSl [1] {
        _: 3,
        /// Service level, one of 32.
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
        /// Service that the path is for; 0 = any.
        pub service_id: ServiceId,
        /// Destination GID.
        pub dgid: Gid,
        /// Source GID.
        pub sgid: Gid,
        /// Destination LID.
        pub dlid: OpaLid,
        /// Source LID.
        pub slid: OpaLid,
        /// Raw traffic, flow label, hop limit.
        pub flow_hop: FlowHop,
        /// Traffic class of the global route header.
        pub traffic_class: u8,
        /// Reversible, number of paths.
        pub reversible_paths: ReversiblePaths,
        /// Partition.
        pub pkey: Pkey,
        /// Formats of packets, kind of service.
        pub kinds: OpaPacketKinds,
        /// Priority of the service.
        pub qos_priority: u8,
        /// Service level.
        pub qos_sl: OpaQosSl,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Maximum transfer unit.
        pub mtu: Selected<Mtu>,
        /// Static rate.
        pub rate: Selected<Rate>,
        /// Packet lifetime.
        pub packet_life_time: Selected<PacketLifeTime>,
        /// Preference among several; 0 is best.
        pub preference: u8,
    }
}
