//! Attributes without a public layout, kept and shown as bytes.
use crate::{wire, wire::Octets};

wire! {
    /// Table of the vendor-specific attributes of a node (IBTA 14.2.5.18), 64 bytes.
    pub struct VendorMadsTable [64] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<64>,
    }
    /// Data of the port's cable (IBTA 14.2.5.20), 64 bytes.
    pub struct CableInfo [64] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<64>,
    }
}
