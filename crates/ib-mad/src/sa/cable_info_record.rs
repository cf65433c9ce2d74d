//! CableInfoRecord: data of a cable.
use super::record::sa_record;
use crate::{wire, wire::Octets};

wire! {
    /// Data of a cable (IBTA 15.2.5.22). No public source has its layout; the bytes are kept, including the rest of the
    /// datagram.
    pub struct CableInfoRecord [200] {
        /// Bytes of the record, without a known layout.
        pub opaque: Octets<200>,
    }
}

sa_record! {
    /// Component mask of a [`CableInfoRecord`].
    CableInfoRecord CABLE_INFO_RECORD CableInfoMask;
}
