//! The global route header and the transport headers.
use crate::{
    FlowLabel, Gid, Pkey, Psn, Qkey, Qpn, bits, code, wire,
    wire::{Be16, InBytes, Reserved},
};

bits! {
    /// Version, traffic class, flow label.
    pub struct GrhFlow [4] {
        /// Version: 6.
        ip_version / with_ip_version: u8 = 4,
        /// Traffic class.
        traffic_class / with_traffic_class: u8 = 8,
        /// Flow label.
        flow_label / with_flow_label: FlowLabel = 20,
    }
}

wire! {
    /// Global route header (IBTA 8.3), 40 bytes.
    pub struct Grh [40] {
        /// Version, traffic class, flow label.
        pub flow: GrhFlow,
        /// Bytes after this header.
        pub payload_length: Be16,
        /// What follows: 0x1B for the base transport header.
        pub next_header: u8,
        /// How many more routers the packet may pass.
        pub hop_limit: u8,
        /// Who sent it.
        pub sgid: Gid,
        /// Whom it is for.
        pub dgid: Gid,
    }
}

code! {
    /// Operation of a packet (IBTA 9.2.1): transport in the upper 3 bits. Only datagrams have names here.
    pub struct OpCode(u8) {
        /// A datagram.
        UD_SEND_ONLY = 0x64 "UD SEND only",
        /// A datagram with 4 bytes of immediate data.
        UD_SEND_ONLY_IMMEDIATE = 0x65 "UD SEND only with immediate",
    }
}

bits! {
    /// Solicited event, migration, padding, version.
    pub struct BthFlags [1] {
        /// The receiver should be woken.
        solicited_event / with_solicited_event: bool = 1,
        /// Migration state.
        migration / with_migration: bool = 1,
        /// Bytes that the payload was padded with.
        pad_count / with_pad_count: u8 = 2,
        /// Version of the transport: 0.
        header_version / with_header_version: u8 = 4,
    }
}
bits! {
    /// Congestion marks.
    pub struct Congestion [1] {
        /// The packet met congestion.
        fecn / with_fecn: bool = 1,
        /// A packet the other way met congestion.
        becn / with_becn: bool = 1,
        _: 6,
    }
}

wire! {
    /// Base transport header (IBTA 9.2), 12 bytes.
    pub struct Bth [12] {
        /// Operation.
        pub op_code: OpCode,
        /// Solicited event, migration, padding, version.
        pub flags: BthFlags,
        /// Partition.
        pub p_key: Pkey,
        /// Congestion marks.
        pub congestion: Congestion,
        /// Queue pair that the packet is for.
        pub dest_qp: InBytes<Qpn, 3>,
        /// Whether an acknowledgement is wanted.
        pub ack: AckRequest,
        /// Packet sequence number.
        pub psn: InBytes<Psn, 3>,
    }
}

bits! {
    /// Whether an acknowledgement is wanted.
    pub struct AckRequest [1] {
        /// Whether an acknowledgement is wanted.
        ack_request / with_ack_request: bool = 1,
        _: 7,
    }
}

wire! {
    /// Datagram extended transport header (IBTA 9.3.2), 8 bytes.
    pub struct Deth [8] {
        /// Queue key.
        pub q_key: Qkey,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Queue pair that sent the packet.
        pub src_qp: InBytes<Qpn, 3>,
    }
}
