//! ServiceAssociationRecord: services by key.
use super::record::sa_record;
use crate::{
    wire,
    wire::{Octets, Text},
};

wire! {
    /// A service and its key (IBTA 15.2.5.15), 80 bytes. No public source names its component mask bits.
    pub struct ServiceAssociationRecord [80] {
        /// Key of the service, 128 bits.
        pub service_key: Octets<16>,
        /// Name of the service.
        pub service_name: Text<64>,
    }
}

sa_record! {
    /// Component mask of a [`ServiceAssociationRecord`].
    ServiceAssociationRecord SERVICE_ASSOCIATION_RECORD ServiceAssociationMask;
}
