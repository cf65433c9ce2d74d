//! Vendor classes: 0x09 to 0x0F, and 0x30 to 0x4F with a vendor id (IBTA 16.5).
//!
//! ```text
//!  0  common header (24 bytes)
//! 24  data (232 bytes)                          0x09 to 0x0F
//!
//! 24  RMPP header (12 bytes)                    0x30 to 0x4F
//! 36  reserved | vendor (3)
//! 40  data (216 bytes)
//! ```
use crate::{
    MadHeader, VendorId,
    rmpp::RmppHeader,
    wire,
    wire::{InBytes, Octets, Reserved},
};

wire! {
    /// A datagram of a vendor class 0x09 to 0x0F.
    pub struct VendorMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Data in the vendor's layout.
        pub data: Octets<232>,
    }
}

wire! {
    /// A datagram of a vendor class 0x30 to 0x4F.
    pub struct VendorOuiMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// RMPP header, 12 bytes.
        pub rmpp: RmppHeader,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Vendor that defines the class.
        pub oui: InBytes<VendorId, 3>,
        /// Data in the vendor's layout.
        pub data: Octets<216>,
    }
}

/// Vendor id of OpenIB's tools ibping and ibsysstat.
pub const OPENIB_OUI: VendorId = VendorId::of::<0x1405>();
