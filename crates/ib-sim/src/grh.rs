//! The global route header.
use ib_mad::{FlowLabel, Gid, bits, wire, wire::Be16};

bits! {
    /// Version, traffic class, flow label.
    pub struct VersionClassFlow [4] {
        /// IP version: 6.
        version / with_version: u8 = 4,
        /// Traffic class.
        traffic_class / with_traffic_class: u8 = 8,
        /// Flow label.
        flow_label / with_flow_label: FlowLabel = 20,
    }
}

wire! {
    /// Global route header, 40 bytes (IBTA 8.3). It stands in front of every multicast datagram and of those unicast
    /// ones whose sender gave a global route.
    pub struct Grh [40] {
        /// Version, traffic class, flow label.
        pub version_class_flow: VersionClassFlow,
        /// Bytes behind this header, up to the end of the invariant CRC.
        pub payload_length: Be16,
        /// What follows: 0x1B, an InfiniBand transport header.
        pub next_header: u8,
        /// Hop limit.
        pub hop_limit: u8,
        /// Source.
        pub sgid: Gid,
        /// Destination: a port or a multicast group.
        pub dgid: Gid,
    }
}

impl Grh {
    /// Next header of InfiniBand's own transport.
    pub const NEXT_HEADER_IBA: u8 = 0x1b;
}
