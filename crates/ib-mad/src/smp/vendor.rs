//! Diagnosis and LED attributes.
use crate::{
    bits, wire,
    wire::{Be16, Octets},
};

wire! {
    /// Diagnostic data of a vendor's device (IBTA 14.2.5.14), 64 bytes.
    pub struct VendorDiag [64] {
        /// Attribute modifier of the next request; 0 if there are no more data.
        pub next_index: Be16,
        /// Data in the vendor's layout.
        pub diag_data: Octets<62>,
    }
}

bits! {
    /// State of an LED.
    pub struct LedMask [4] in LedInfo.led {
        /// True if the LED is on.
        led_mask / with_led_mask: bool = 1,
        _: 31,
    }
}

wire! {
    /// LED of a port (IBTA 14.2.5.15), 4 bytes.
    pub struct LedInfo [4] {
        /// State of the LED.
        pub led: LedMask,
    }
}
