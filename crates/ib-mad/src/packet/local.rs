//! The local route header.
use crate::{Lid, ServiceLevel, VirtualLane, bits, code, wire};

code! {
    /// What follows the local route header (IBTA 7.7.5).
    pub struct LinkNextHeader(u8) {
        /// A raw packet.
        RAW = 0 "raw",
        /// A raw IPv6 packet.
        RAW_IPV6 = 1 "raw IPv6",
        /// The base transport header.
        BTH = 2 "BTH",
        /// The global route header, then the base transport header.
        GRH = 3 "GRH",
    }
}

bits! {
    /// Lane, version.
    pub struct VlVersion [1] in Lrh.vl_version {
        /// Virtual lane.
        vl / with_vl: VirtualLane = 4,
        /// Version of the link: 0.
        link_version / with_link_version: u8 = 4,
    }
}
bits! {
    /// Service level, what follows.
    pub struct VlSl [1] in Lrh.sl_next {
        /// Service level.
        sl / with_sl: ServiceLevel = 4,
        _: 2,
        /// Which header follows: global route, transport, or a raw packet.
        next_header / with_next_header: LinkNextHeader = 2,
    }
}
bits! {
    /// Length of the packet.
    pub struct PacketLength [2] in Lrh.length {
        _: 5,
        /// From this header to the invariant check, in units of 4 bytes.
        packet_length / with_packet_length: u16 = 11,
    }
}

wire! {
    /// Local route header (IBTA 7.7), 8 bytes.
    pub struct Lrh [8] {
        /// Lane, version.
        pub vl_version: VlVersion,
        /// Service level, what follows.
        pub sl_next: VlSl,
        /// Whom the packet is for.
        pub dlid: Lid,
        /// Length of the packet.
        pub length: PacketLength,
        /// Who sent it.
        pub slid: Lid,
    }
}
