//! Which queue pair serves datagrams.
use super::SidrStatus;
use crate::{
    Pkey, Qkey, Qpn, ServiceId, wire,
    wire::{Be32, InBytes, Octets, Reserved},
};

wire! {
    /// A question for the queue pair of a service (IBTA 12.11.1), 232 bytes.
    pub struct CmSidrReq [232] {
        /// The asker's name of the question.
        pub request_id: Be32,
        /// Partition key that the asker uses with the service, 16 bits.
        pub pkey: Pkey,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Service that the asker looks for, or that was found.
        pub service_id: ServiceId,
        /// What the asker tells the service.
        pub private_data: Octets<216>,
    }
}

wire! {
    /// The answer (IBTA 12.11.2), 232 bytes.
    pub struct CmSidrRep [232] {
        /// The asker's name of the question.
        pub request_id: Be32,
        /// How it went.
        pub status: SidrStatus,
        /// Bytes of the additional information that count.
        pub additional_information_length: u8,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Queue pair of the service.
        pub qpn: InBytes<Qpn, 3>,
        /// Zero.
        pub reserved2: Reserved<1>,
        /// Service that the asker looks for, or that was found.
        pub service_id: ServiceId,
        /// Queue key of the service.
        pub qkey: Qkey,
        /// Where to ask instead.
        pub additional_information: Octets<72>,
        /// What the service tells the asker.
        pub private_data: Octets<136>,
    }
}
