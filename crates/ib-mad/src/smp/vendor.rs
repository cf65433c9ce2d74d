//! Diagnosis and LED attributes, and an attribute of Mellanox.
use crate::{
    LinkSpeed, LinkSpeeds, bits, wire,
    wire::{Be16, Octets, Reserved},
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

wire! {
    /// Link speeds of Mellanox switches before FDR was standardized (attribute 0xFF90, OpenSM), 16 bytes; bit 0 is
    /// FDR10.
    pub struct MlnxExtendedPortInfo [16] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// Mask of the fields that a Set changes.
        pub state_change_enable: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<3>,
        /// Supported link speeds.
        pub link_speed_supported: LinkSpeeds,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<3>,
        /// Enabled link speeds.
        pub link_speed_enabled: LinkSpeeds,
        /// Reserved: zero when sent, ignored when received.
        pub reserved4: Reserved<3>,
        /// Link speed in use.
        pub link_speed_active: LinkSpeed,
    }
}
