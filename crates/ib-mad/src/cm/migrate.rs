//! Alternate paths of a connection.
use super::{AprStatus, SubnetLocalSl};
use crate::{
    FlowLabel, Gid, Lid, Qpn, Rate, TimeCode, bits, wire,
    wire::{Be32, Octets, Reserved},
};

bits! {
    /// Queue pair of the receiver, and its response time-out.
    pub struct LapQpTimeout [4] in CmLap.qp_timeout {
        /// Queue pair or end-to-end context of the receiver.
        remote_qpn / with_remote_qpn: Qpn = 24,
        /// Time in which the receiver should respond.
        remote_cm_response_timeout / with_remote_cm_response_timeout: TimeCode = 5,
        _: 3,
    }
    /// Flow label and traffic class of the alternate path.
    pub struct LapFlowLabel [4] in CmLap.alternate_flow_label {
        /// Flow label of the alternate path, 20 bits.
        flow_label / with_flow_label: FlowLabel = 20,
        _: 4,
        /// Traffic class of the alternate path, 8 bits.
        traffic_class / with_traffic_class: u8 = 8,
    }
    /// Static rate of the alternate path, in one byte.
    pub struct ApPacketRate [1] in CmLap.alternate_rate {
        _: 2,
        /// Static rate of the alternate path, a code of 6 bits.
        packet_rate / with_packet_rate: Rate = 6,
    }
    /// ACK time-out of the alternate path.
    pub struct LapAckTimeout [1] in CmLap.alternate_ack {
        /// Time-out of an acknowledgement.
        local_ack_timeout / with_local_ack_timeout: TimeCode = 5,
        _: 3,
    }
}

wire! {
    /// LAP: load an alternate path for a connection (IBTA 12.8.1), 232 bytes.
    pub struct CmLap [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Queue pair of the receiver, and its response time-out.
        pub qp_timeout: LapQpTimeout,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<4>,
        /// LID of the sender.
        pub alternate_local_port_lid: Lid,
        /// LID of the receiver.
        pub alternate_remote_port_lid: Lid,
        /// GID of the sender.
        pub alternate_local_port_gid: Gid,
        /// GID of the receiver.
        pub alternate_remote_port_gid: Gid,
        /// Flow label and traffic class.
        pub alternate_flow_label: LapFlowLabel,
        /// Hop limit of the alternate path, 8 bits.
        pub alternate_hop_limit: u8,
        /// Static rate of the alternate path, in the lower 6 bits.
        pub alternate_rate: ApPacketRate,
        /// Service level and subnet-local flag of the path.
        pub alternate_sl: SubnetLocalSl,
        /// ACK time-out of the alternate path.
        pub alternate_ack: LapAckTimeout,
        /// Private data of the sender.
        pub private_data: Octets<168>,
    }
    /// APR: response to a LAP (IBTA 12.8.2), 232 bytes.
    pub struct CmApr [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Length of the additional information, in bytes.
        pub additional_information_length: u8,
        /// Status of the alternate path.
        pub ap_status: AprStatus,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Additional information: an acceptable value.
        pub additional_information: Octets<72>,
        /// Private data of the sender.
        pub private_data: Octets<148>,
    }
    /// SAP: request to suggest an alternate path (IBTA A4). No public source has its layout; the bytes are kept.
    pub struct CmSap [232] {
        /// Bytes of the message, without a known layout.
        pub opaque: Octets<232>,
    }
    /// SPR: suggested alternate path (IBTA A4). No public source has its layout; the bytes are kept.
    pub struct CmSpr [232] {
        /// Bytes of the message, without a known layout.
        pub opaque: Octets<232>,
    }
}
