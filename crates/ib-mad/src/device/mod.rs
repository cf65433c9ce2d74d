//! Device management (IBTA 16.3): I/O units, their controllers, and the services of controllers.
//!
//! ```text
//!  0  common header (24 bytes)
//! 24  reserved (40)
//! 64  attribute (192 bytes)
//! ```
mod diagnosis;
mod io_controller_profile;
mod io_unit_info;
mod service_entries;

pub use diagnosis::*;
pub use io_controller_profile::*;
pub use io_unit_info::*;
pub use service_entries::*;

use crate::{
    MadHeader,
    attribute::attributes,
    notice::{ClassPortInfo, Notice},
    wire,
    wire::{Octets, Reserved},
};

wire! {
    /// A device management datagram (IBTA 16.3.1); class version 1.
    pub struct DeviceMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<40>,
        /// Attribute, 192 bytes.
        pub data: Octets<192>,
    }
}

attributes! {
    /// An attribute of device management.
    pub enum DeviceAttribute in DEVICE_MGMT {
        own {
            IoUnitInfo = 0x0010,
            IoControllerProfile = 0x0011,
            ServiceEntries = 0x0012,
            DiagnosticTimeout = 0x0020,
            PrepareToTest = 0x0021,
            TestDeviceOnce = 0x0022,
            TestDeviceLoop = 0x0023,
            DiagCode = 0x0024,
        }
        shared {
            ClassPortInfo = 0x0001,
            Notice = 0x0002,
        }
    }
}
