//! Service id resolution: the queue pair of a datagram service.
use super::SidrStatus;
use crate::{
    Pkey, Qkey, Qpn, ServiceId, wire,
    wire::{Be32, InBytes, Octets, Reserved},
};

wire! {
    /// SIDR_REQ: a request for the queue pair of a service (IBTA 12.11.1), 232 bytes.
    pub struct CmSidrReq [232] {
        /// Request id of the requester.
        pub request_id: Be32,
        /// Partition key of the requested service, 16 bits.
        pub pkey: Pkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Id of the requested service.
        pub service_id: ServiceId,
        /// Private data of the requester.
        pub private_data: Octets<216>,
    }
    /// SIDR_REP: the response to a SIDR_REQ (IBTA 12.11.2), 232 bytes.
    pub struct CmSidrRep [232] {
        /// Request id of the requester.
        pub request_id: Be32,
        /// Status of the resolution.
        pub status: SidrStatus,
        /// Length of the additional information, in bytes.
        pub additional_information_length: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Queue pair of the service.
        pub qpn: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Id of the requested service.
        pub service_id: ServiceId,
        /// Queue key of the service.
        pub qkey: Qkey,
        /// Additional information: address of the service for a redirect.
        pub additional_information: Octets<72>,
        /// Private data of the service.
        pub private_data: Octets<136>,
    }
}
