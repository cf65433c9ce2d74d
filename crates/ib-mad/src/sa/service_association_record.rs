//! ServiceAssociationRecord: services that belong to a key.
use super::record::sa_record;
use crate::{
    wire,
    wire::{Octets, Text},
};

wire! {
    /// A service that belongs to a key (IBTA 15.2.5.15), 80 bytes. No public source names its component mask bits.
    pub struct ServiceAssociationRecord [80] {
        /// Key that the service belongs to, 128 bits.
        pub service_key: Octets<16>,
        /// What a person calls the service.
        pub service_name: Text<64>,
    }
}

sa_record! {
    /// Which fields of a [`ServiceAssociationRecord`] count.
    ServiceAssociationRecord SERVICE_ASSOCIATION_RECORD ServiceAssociationMask;
}
