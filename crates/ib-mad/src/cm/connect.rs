//! Responses to a request for a connection, and the end of a connection.
use super::{CmMessage, RejectReason};
use crate::{
    Guid, Psn, Qkey, Qpn, TimeCode, bits, wire,
    wire::{Be32, InBytes, Octets, Reserved},
};

bits! {
    /// Message to which an MRA or REJ responds.
    pub struct MessageBits [1] {
        /// Message to which the MRA or REJ responds.
        message / with_message: CmMessage = 2,
        _: 6,
    }
    /// Time that the sender of an MRA needs.
    pub struct ServiceTimeout [1] in CmMra.timeout {
        /// Time until the response is sent.
        service_timeout / with_service_timeout: TimeCode = 5,
        _: 3,
    }
}

wire! {
    /// MRA: a message was received, and the response needs more time (IBTA 12.6.6), 232 bytes.
    pub struct CmMra [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Message that was received.
        pub message_mraed: MessageBits,
        /// Time until the response is sent.
        pub timeout: ServiceTimeout,
        /// Private data of the sender.
        pub private_data: Octets<222>,
    }
}

bits! {
    /// Length of the additional rejection information.
    pub struct InfoLength [1] in CmRej.info_length {
        /// Length of the additional information, in bytes.
        rejected_info_length / with_rejected_info_length: u8 = 7,
        _: 1,
    }
}

wire! {
    /// REJ: the connection is rejected (IBTA 12.6.7), 232 bytes.
    pub struct CmRej [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Message that is rejected.
        pub message_rejected: MessageBits,
        /// Length of the additional information.
        pub info_length: InfoLength,
        /// Reason of the rejection.
        pub reason: RejectReason,
        /// Additional rejection information: an acceptable value.
        pub ari: Octets<72>,
        /// Private data of the sender.
        pub private_data: Octets<148>,
    }
}

bits! {
    /// Target ACK delay, failover and end-to-end flow control.
    pub struct AckFailover [1] in CmRep.ack_failover {
        /// Maximum time until the responder acknowledges a packet.
        target_ack_delay / with_target_ack_delay: TimeCode = 5,
        /// Failover: 0 the alternate path is accepted, 1 not supported, 2 rejected.
        failover_accepted / with_failover_accepted: u8 = 2,
        /// True if the responder has end-to-end flow control.
        end_to_end_flow_control / with_end_to_end_flow_control: bool = 1,
    }
    /// RNR retry count and shared receive queue.
    pub struct RetrySrq [1] in CmRep.retry_srq {
        /// RNR retry count: repetitions of a packet to a receiver that is not ready; 7 means no limit.
        rnr_retry_count / with_rnr_retry_count: u8 = 3,
        /// True if the responder's queue pair has a shared receive queue.
        srq / with_srq: bool = 1,
        _: 4,
    }
}

wire! {
    /// REP: the connection is accepted (IBTA 12.6.8), 232 bytes.
    pub struct CmRep [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Queue key of the responder, for datagrams.
        pub local_qkey: Qkey,
        /// Queue pair of the responder.
        pub local_qpn: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// End-to-end context of the responder.
        pub local_eecn: InBytes<u32, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// First packet sequence number of the responder.
        pub starting_psn: InBytes<Psn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<1>,
        /// Number of concurrent RDMA reads and atomic operations that the sender can respond to.
        pub responder_resources: u8,
        /// Number of concurrent RDMA reads and atomic operations that the sender will issue.
        pub initiator_depth: u8,
        /// Target ACK delay, failover and end-to-end flow control.
        pub ack_failover: AckFailover,
        /// RNR retry count and shared receive queue.
        pub retry_srq: RetrySrq,
        /// GUID of the responder's channel adapter.
        pub local_ca_guid: Guid,
        /// Private data of the service.
        pub private_data: Octets<196>,
    }
    /// RTU: the requester is ready to use the connection (IBTA 12.6.9), 232 bytes.
    pub struct CmRtu [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Private data of the requester.
        pub private_data: Octets<224>,
    }
    /// DREQ: request to end a connection (IBTA 12.6.10), 232 bytes.
    pub struct CmDreq [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Queue pair or end-to-end context of the receiver.
        pub remote_qpn: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Private data of the sender.
        pub private_data: Octets<220>,
    }
    /// DREP: response to a DREQ (IBTA 12.6.11), 232 bytes.
    pub struct CmDrep [232] {
        /// Communication id of the sender.
        pub local_comm_id: Be32,
        /// Communication id of the receiver.
        pub remote_comm_id: Be32,
        /// Private data of the sender.
        pub private_data: Octets<224>,
    }
}
