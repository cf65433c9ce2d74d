//! Classes of vendors: 0x09 to 0x0F, and 0x30 to 0x4F with the vendor's number (IBTA 16.5).
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
    MadHeader, MgmtClass, VendorId,
    rmpp::RmppHeader,
    wire,
    wire::{InBytes, Octets, Reserved},
};

wire! {
    /// A datagram of a vendor's class 0x09 to 0x0F.
    pub struct VendorMad [256] {
        /// Common header.
        pub header: MadHeader,
        /// In the vendor's own layout.
        pub data: Octets<232>,
    }
}

wire! {
    /// A datagram of a vendor's class 0x30 to 0x4F.
    pub struct VendorOuiMad [256] {
        /// Common header.
        pub header: MadHeader,
        /// RMPP header.
        pub rmpp: RmppHeader,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Whose class it is.
        pub oui: InBytes<VendorId, 3>,
        /// In the vendor's own layout.
        pub data: Octets<216>,
    }
}

/// The maker of OpenIB's own tools: ibping, ibsysstat.
pub const OPENIB_OUI: VendorId = VendorId::of::<0x1405>();

/// Whether a class is a vendor's of the first range, without RMPP and vendor's number.
#[must_use]
pub const fn is_vendor(class: MgmtClass) -> bool {
    matches!(class.get(), 0x09..=0x0f)
}

/// Whether a class is a vendor's of the second range, with RMPP and vendor's number.
#[must_use]
pub const fn is_vendor_oui(class: MgmtClass) -> bool {
    matches!(class.get(), 0x30..=0x4f)
}
