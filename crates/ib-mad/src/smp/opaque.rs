//! Attributes whose layout no public source gives: their bytes are kept and shown as they are.
use crate::{wire, wire::Octets};

wire! {
    /// Vendors' own attributes that the node has (IBTA 14.2.5.18), 64 bytes.
    pub struct VendorMadsTable [64] {
        /// As it came.
        pub opaque: Octets<64>,
    }
}
wire! {
    /// The node's place in the hardware (IBTA 14.2.5.19), 64 bytes.
    pub struct HierarchyInfo [64] {
        /// As it came.
        pub opaque: Octets<64>,
    }
}
wire! {
    /// What the port's cable says of itself (IBTA 14.2.5.20), 64 bytes.
    pub struct CableInfo [64] {
        /// As it came.
        pub opaque: Octets<64>,
    }
}
