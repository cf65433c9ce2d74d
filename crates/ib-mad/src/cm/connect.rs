//! Answers to a request for a connection.
use super::{CmMessage, RejectReason};
use crate::{
    Guid, Psn, Qkey, Qpn, TimeCode, bits, wire,
    wire::{Be32, InBytes, Octets, Reserved},
};

bits! {
    /// Which message this is about.
    pub struct MessageBits [1] {
        /// Which message this is about.
        message / with_message: CmMessage = 2,
        _: 6,
    }
}
bits! {
    /// Time that is needed.
    pub struct ServiceTimeout [1] in CmMra.timeout {
        /// Time until the real answer comes.
        service_timeout / with_service_timeout: TimeCode = 5,
        _: 3,
    }
}

wire! {
    /// More time is needed (IBTA 12.6.6), 232 bytes.
    pub struct CmMra [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// Which message came.
        pub message_mraed: MessageBits,
        /// Time that is needed.
        pub timeout: ServiceTimeout,
        /// What the sender tells.
        pub private_data: Octets<222>,
    }
}

bits! {
    /// Length of the additional information.
    pub struct InfoLength [1] in CmRej.info_length {
        /// Bytes of the additional information that count.
        rejected_info_length / with_rejected_info_length: u8 = 7,
        _: 1,
    }
}

wire! {
    /// A connection is refused (IBTA 12.6.7), 232 bytes.
    pub struct CmRej [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// Which message is refused.
        pub message_rejected: MessageBits,
        /// Length of the additional information.
        pub info_length: InfoLength,
        /// Why the connection is refused.
        pub reason: RejectReason,
        /// Additional information: the value that would do.
        pub ari: Octets<72>,
        /// What the sender tells.
        pub private_data: Octets<148>,
    }
}

bits! {
    /// Time to acknowledge, other path, flow control.
    pub struct AckFailover [1] in CmRep.ack_failover {
        /// Longest time until the answerer acknowledges a packet.
        target_ack_delay / with_target_ack_delay: TimeCode = 5,
        /// 0: the alternate path is taken; 1: not supported; 2: refused.
        failover_accepted / with_failover_accepted: u8 = 2,
        /// The answerer does end-to-end flow control.
        end_to_end_flow_control / with_end_to_end_flow_control: bool = 1,
    }
}
bits! {
    /// Retries of a receiver that is not ready, shared receive queue.
    pub struct RetrySrq [1] in CmRep.retry_srq {
        /// How often a packet is sent again to a receiver that is not ready; 7 = forever.
        rnr_retry_count / with_rnr_retry_count: u8 = 3,
        /// The answerer's queue pair has a shared receive queue.
        srq / with_srq: bool = 1,
        _: 4,
    }
}

wire! {
    /// A connection is granted (IBTA 12.6.8), 232 bytes.
    pub struct CmRep [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// The answerer's queue key, for datagrams.
        pub local_qkey: Qkey,
        /// The answerer's queue pair.
        pub local_qpn: InBytes<Qpn, 3>,
        /// Zero.
        pub reserved: Reserved<1>,
        /// The answerer's end-to-end context.
        pub local_eecn: InBytes<u32, 3>,
        /// Zero.
        pub reserved2: Reserved<1>,
        /// The answerer's first packet sequence number.
        pub starting_psn: InBytes<Psn, 3>,
        /// Zero.
        pub reserved3: Reserved<1>,
        /// Reads and atomic operations that the answerer can answer at once.
        pub responder_resources: u8,
        /// Reads and atomic operations that it will start at once.
        pub initiator_depth: u8,
        /// Time to acknowledge, other path, flow control.
        pub ack_failover: AckFailover,
        /// Retries of a receiver that is not ready, shared receive queue.
        pub retry_srq: RetrySrq,
        /// The answerer's adapter.
        pub local_ca_guid: Guid,
        /// What the service tells the asker.
        pub private_data: Octets<196>,
    }
}

wire! {
    /// The asker is ready (IBTA 12.6.9), 232 bytes.
    pub struct CmRtu [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// What the asker tells the service.
        pub private_data: Octets<224>,
    }
}
