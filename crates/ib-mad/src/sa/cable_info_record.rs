//! CableInfoRecord: what a cable says of itself.
use super::record::sa_record;
use crate::{wire, wire::Octets};

wire! {
    /// What a cable says of itself (IBTA 15.2.5.22). No public source gives its layout: the bytes are kept as they are,
    /// with what follows them in the datagram.
    pub struct CableInfoRecord [200] {
        /// As it came.
        pub opaque: Octets<200>,
    }
}

sa_record! {
    /// Which fields of a [`CableInfoRecord`] count.
    CableInfoRecord CABLE_INFO_RECORD CableInfoMask;
}
