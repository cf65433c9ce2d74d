//! Another path for a connection.
use super::{AprStatus, SubnetLocalSl};
use crate::{
    FlowLabel, Gid, Lid, Qpn, Rate, TimeCode, bits, wire,
    wire::{Be32, Octets, Reserved},
};

bits! {
    /// Queue pair of the receiver, time to answer.
    pub struct LapQpTimeout [4] in CmLap.qp_timeout {
        /// Queue pair or end-to-end context of the receiver.
        remote_qpn / with_remote_qpn: Qpn = 24,
        /// Time in which the receiver should answer.
        remote_cm_response_timeout / with_remote_cm_response_timeout: TimeCode = 5,
        _: 3,
    }
}
bits! {
    /// Flow label, traffic class.
    pub struct LapFlowLabel [4] in CmLap.alternate_flow_label {
        /// Flow label of the alternate path, 20 bits.
        flow_label / with_flow_label: FlowLabel = 20,
        _: 4,
        /// Traffic class of the alternate path, 8 bits.
        traffic_class / with_traffic_class: u8 = 8,
    }
}
bits! {
    /// Static rate in its byte.
    pub struct ApPacketRate [1] in CmLap.alternate_rate {
        _: 2,
        /// Static rate of the alternate path, a code of 6 bits.
        packet_rate / with_packet_rate: Rate = 6,
    }
}
bits! {
    /// Time to acknowledge.
    pub struct LapAckTimeout [1] in CmLap.alternate_ack {
        /// Longest time until a packet is acknowledged.
        local_ack_timeout / with_local_ack_timeout: TimeCode = 5,
        _: 3,
    }
}

wire! {
    /// An alternate path for a connection (IBTA 12.8.1), 232 bytes.
    pub struct CmLap [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// Zero.
        pub reserved: Reserved<4>,
        /// Queue pair of the receiver, time to answer.
        pub qp_timeout: LapQpTimeout,
        /// Zero.
        pub reserved2: Reserved<4>,
        /// The sender's LID.
        pub alternate_local_port_lid: Lid,
        /// The receiver's LID.
        pub alternate_remote_port_lid: Lid,
        /// The sender's GID.
        pub alternate_local_port_gid: Gid,
        /// The receiver's GID.
        pub alternate_remote_port_gid: Gid,
        /// Flow label, traffic class.
        pub alternate_flow_label: LapFlowLabel,
        /// Hop limit of the alternate path, 8 bits.
        pub alternate_hop_limit: u8,
        /// Static rate of the alternate path, in the lower 6 bits.
        pub alternate_rate: ApPacketRate,
        /// Service level, whether the path stays in the subnet.
        pub alternate_sl: SubnetLocalSl,
        /// Time to acknowledge.
        pub alternate_ack: LapAckTimeout,
        /// What the sender tells.
        pub private_data: Octets<168>,
    }
}

wire! {
    /// How the change to another path went (IBTA 12.8.2), 232 bytes.
    pub struct CmApr [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// Bytes of the additional information that count.
        pub additional_information_length: u8,
        /// How it went.
        pub ap_status: AprStatus,
        /// Zero.
        pub reserved: Reserved<2>,
        /// The value that would do.
        pub additional_information: Octets<72>,
        /// What the sender tells.
        pub private_data: Octets<148>,
    }
}

wire! {
    /// A path that the receiver should suggest (IBTA A4). No public source gives its layout: the bytes are kept.
    pub struct CmSap [232] {
        /// As it came.
        pub opaque: Octets<232>,
    }
}

wire! {
    /// A suggested path (IBTA A4). No public source gives its layout: the bytes are kept.
    pub struct CmSpr [232] {
        /// As it came.
        pub opaque: Octets<232>,
    }
}
