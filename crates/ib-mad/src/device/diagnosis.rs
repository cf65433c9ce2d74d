//! Tests of devices.
use crate::{
    code, wire,
    wire::{Be16, Be32},
};

code! {
    /// Device management's own codes of the upper byte of a status (IBTA 16.3.2).
    pub struct DeviceStatus(u16) {
        /// The controller did not answer.
        NO_IOC_RESPONSE = 0x0100 "no answer of the controller",
        /// The controller has no services.
        NO_SERVICE_ENTRIES = 0x0200 "no service entries",
        /// The controller failed.
        IOC_FAILURE = 0x8000 "failure of the controller",
    }
}

wire! {
    /// How long a test takes (IBTA 16.3.3.6), 4 bytes.
    pub struct DiagnosticTimeout [4] {
        /// Milliseconds at most.
        pub max_diag_time: Be32,
    }
}
wire! {
    /// Makes a device ready for a test (IBTA 16.3.3.7). There is no data.
    pub struct PrepareToTest [0] {
    }
}
wire! {
    /// Tests a device (IBTA 16.3.3.8). There is no data.
    pub struct TestDeviceOnce [0] {
    }
}
wire! {
    /// Tests a device until it is told otherwise (IBTA 16.3.3.9). There is no data.
    pub struct TestDeviceLoop [0] {
    }
}
wire! {
    /// What a test found (IBTA 16.3.3.10), 2 bytes.
    pub struct DiagCode [2] {
        /// 0 = well; else the vendor's number.
        pub diag_code: Be16,
    }
}
