//! The local route header.
use crate::{Lid, ServiceLevel, VirtualLane, bits, code, wire};

code! {
    /// Type of the header after the local route header (IBTA 7.7.5).
    pub struct LinkNextHeader(u8) {
        /// No InfiniBand transport header: a raw packet with an EtherType header.
        RAW = 0 "raw",
        /// Raw IPv6 packet.
        RAW_IPV6 = 1 "raw IPv6",
        /// Base transport header.
        BTH = 2 "BTH",
        /// Global route header, followed by the base transport header.
        GRH = 3 "GRH",
    }
}

bits! {
    /// Virtual lane and link version of a packet.
    pub struct VlVersion [1] in Lrh.vl_version {
        /// Virtual lane of the packet on this link.
        vl / with_vl: VirtualLane = 4,
        /// Version of the link, 0.
        link_version / with_link_version: u8 = 4,
    }
    /// Service level and next header of a packet.
    pub struct VlSl [1] in Lrh.sl_next {
        /// Service level of the packet.
        sl / with_sl: ServiceLevel = 4,
        _: 2,
        /// Next header: global route, transport, or a raw packet.
        next_header / with_next_header: LinkNextHeader = 2,
    }
    /// Length of a packet.
    pub struct PacketLength [2] in Lrh.length {
        _: 5,
        /// Length from this header to the invariant CRC, in units of 4 bytes.
        packet_length / with_packet_length: u16 = 11,
    }
}

wire! {
    /// Local route header (IBTA 7.7), 8 bytes.
    pub struct Lrh [8] {
        /// Virtual lane and link version.
        pub vl_version: VlVersion,
        /// Service level and next header.
        pub sl_next: VlSl,
        /// LID of the destination port.
        pub dlid: Lid,
        /// Length of the packet.
        pub length: PacketLength,
        /// LID of the source port.
        pub slid: Lid,
    }
}
