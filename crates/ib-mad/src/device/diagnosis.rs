//! Diagnostic tests of devices, and status codes of device management.
use crate::{
    code, wire,
    wire::{Be16, Be32},
};

code! {
    /// Status codes of device management, in the upper byte of a status (IBTA 16.3.2).
    pub struct DeviceStatus(u16) {
        /// The I/O controller did not respond.
        NO_IOC_RESPONSE = 0x0100 "no answer of the controller",
        /// The I/O controller has no service entries.
        NO_SERVICE_ENTRIES = 0x0200 "no service entries",
        /// The I/O controller failed.
        IOC_FAILURE = 0x8000 "failure of the controller",
    }
}

wire! {
    /// Duration of a diagnostic test (IBTA 16.3.3.6), 4 bytes.
    pub struct DiagnosticTimeout [4] {
        /// Maximum duration, in ms.
        pub max_diag_time: Be32,
    }
    /// Request to prepare a device for a test (IBTA 16.3.3.7), without data.
    pub struct PrepareToTest [0] {
    }
    /// Request to test a device once (IBTA 16.3.3.8), without data.
    pub struct TestDeviceOnce [0] {
    }
    /// Request to test a device repeatedly, until another request ends the test (IBTA 16.3.3.9), without data.
    pub struct TestDeviceLoop [0] {
    }
    /// Result of a diagnostic test (IBTA 16.3.3.10), 2 bytes.
    pub struct DiagCode [2] {
        /// Diagnosis code: 0 if the device has no problem, else defined by the vendor.
        pub diag_code: Be16,
    }
}
