//! The global route header and the headers of datagrams.
use crate::{
    FlowLabel, Gid, Pkey, Psn, Qkey, Qpn, bits, code, wire,
    wire::{Be16, InBytes, Reserved},
};
use core::net::Ipv4Addr;

bits! {
    /// Version, traffic class and flow label of a global route header.
    pub struct GrhFlow [4] in Grh.flow {
        /// Version of IP: 6.
        ip_version / with_ip_version: u8 = 4,
        /// Traffic class: class of service between subnets.
        traffic_class / with_traffic_class: u8 = 8,
        /// Flow label: routers keep packets with the same label in order.
        flow_label / with_flow_label: FlowLabel = 20,
    }
}

wire! {
    /// Global route header (IBTA 8.3), 40 bytes. Every multicast packet has this header. A unicast packet has it if the
    /// sender's address vector has a [`GlobalRoute`](crate::GlobalRoute).
    pub struct Grh [40] {
        /// Version, traffic class and flow label.
        pub flow: GrhFlow,
        /// Length from the end of this header to the end of the invariant CRC, in bytes.
        pub payload_length: Be16,
        /// Type of the next header: [`Grh::NEXT_HEADER_IBA`].
        pub next_header: u8,
        /// Remaining number of routers on the path.
        pub hop_limit: u8,
        /// GID of the sending port.
        pub sgid: Gid,
        /// GID of the receiving port, or of a multicast group.
        pub dgid: Gid,
    }
}

impl Grh {
    /// Next header of the InfiniBand transport: the base transport header.
    pub const NEXT_HEADER_IBA: u8 = 0x1b;

    /// Returns the GID of a received datagram's sender. The 40 bytes before the datagram are a global route header, or
    /// end with the IPv4 header of `RoCEv2` (IBTA A17.4). An IPv4 address is returned as an IPv4-mapped GID. `None` if
    /// there is neither header.
    #[must_use]
    pub fn source_gid(&self) -> Option<Gid> {
        match self.ipv4()? {
            None => Some(self.sgid),
            Some([source, _]) => Some(source.to_ipv6_mapped().into()),
        }
    }

    /// Returns the destination GID of a received datagram: the GID of a port or group. Reads both headers as
    /// [`source_gid`](Self::source_gid) does.
    #[must_use]
    pub fn destination_gid(&self) -> Option<Gid> {
        match self.ipv4()? {
            None => Some(self.dgid),
            Some([_, destination]) => Some(destination.to_ipv6_mapped().into()),
        }
    }

    /// Returns source and destination of an IPv4 header in the last 20 bytes; `Some(None)` for a global route header.
    fn ipv4(&self) -> Option<Option<[Ipv4Addr; 2]>> {
        if self.flow.ip_version() == 6 {
            return Some(None);
        }
        let [.., version, _, _, _] = self.sgid.get();
        let [_, _, _, _, _, _, _, _, a, b, c, d, e, f, g, h] = self.dgid.get();
        (version >> 4 == 4).then(|| Some([Ipv4Addr::new(a, b, c, d), Ipv4Addr::new(e, f, g, h)]))
    }
}

code! {
    /// Operation of a packet (IBTA 9.2.1), with the transport in the upper 3 bits. Only the operations of datagrams
    /// have constants.
    pub struct OpCode(u8) {
        /// A datagram in one packet.
        UD_SEND_ONLY = 0x64 "UD SEND only",
        /// A datagram with 4 bytes of immediate data.
        UD_SEND_ONLY_IMMEDIATE = 0x65 "UD SEND only with immediate",
    }
}

bits! {
    /// Solicited event, migration, padding and version.
    pub struct BthFlags [1] in Bth.flags {
        /// Solicited event: requests an event at the receiver.
        solicited_event / with_solicited_event: bool = 1,
        /// Migration state of the connection.
        migration / with_migration: bool = 1,
        /// Number of padding bytes after the payload.
        pad_count / with_pad_count: u8 = 2,
        /// Version of the transport, 0.
        header_version / with_header_version: u8 = 4,
    }
    /// Congestion marks of a packet.
    pub struct Congestion [1] in Bth.congestion {
        /// Forward mark: the packet encountered congestion.
        fecn / with_fecn: bool = 1,
        /// Backward mark: a packet in the other direction encountered congestion.
        becn / with_becn: bool = 1,
        _: 6,
    }
}

impl Congestion {
    /// The byte in the computation of the invariant CRC: all ones.
    pub(super) const ONES: Self = Self([0xff]);
}

wire! {
    /// Base transport header (IBTA 9.2), 12 bytes.
    pub struct Bth [12] {
        /// Operation code of the packet.
        pub op_code: OpCode,
        /// Solicited event, migration, padding and version.
        pub flags: BthFlags,
        /// Partition key of the packet.
        pub pkey: Pkey,
        /// Congestion marks of the packet.
        pub congestion: Congestion,
        /// Destination queue pair.
        pub dest_qp: InBytes<Qpn, 3>,
        /// Acknowledge request.
        pub ack: AckRequest,
        /// Packet sequence number.
        pub psn: InBytes<Psn, 3>,
    }
}

bits! {
    /// Acknowledge request of a packet.
    pub struct AckRequest [1] in Bth.ack {
        /// True if the sender requests an acknowledgement.
        ack_request / with_ack_request: bool = 1,
        _: 7,
    }
}

wire! {
    /// Datagram extended transport header (IBTA 9.3.2), 8 bytes.
    pub struct Deth [8] {
        /// Queue key of the destination queue pair.
        pub qkey: Qkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Source queue pair.
        pub src_qp: InBytes<Qpn, 3>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;

    #[test]
    fn gids_are_read_from_a_global_route_header_or_ipv4() {
        let mut bytes = [0; 40];
        (bytes[0], bytes[8], bytes[23], bytes[24], bytes[39]) = (0x60, 0xfe, 1, 0xff, 2);
        let gids = |bytes: &[u8; 40]| {
            let grh = Grh::parse(bytes).unwrap();
            (grh.source_gid(), grh.destination_gid())
        };
        assert_eq!(gids(&bytes), ("fe00::1".parse().ok(), "ff00::2".parse().ok()));
        // Linux rxe, 10.0.0.1 to 10.0.0.2; rxe leaves the first 20 bytes unwritten.
        let mut v4 = [0; 40];
        v4[20] = 0x45;
        v4[32..].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(gids(&v4), ("::ffff:10.0.0.1".parse().ok(), "::ffff:10.0.0.2".parse().ok()));
        assert_eq!(gids(&[0; 40]), (None, None));
    }
}
