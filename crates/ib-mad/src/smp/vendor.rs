//! Diagnosis, lights, and Mellanox's own attribute.
use crate::{
    LinkSpeed, LinkSpeeds, bits, wire,
    wire::{Be16, Octets, Reserved},
};

wire! {
    /// What a vendor says of its device's health (IBTA 14.2.5.14), 64 bytes.
    pub struct VendorDiag [64] {
        /// Attribute modifier to ask for next; 0 = no more.
        pub next_index: Be16,
        /// In the vendor's own layout.
        pub diag_data: Octets<62>,
    }
}

bits! {
    /// The light.
    pub struct LedMask [4] in LedInfo.led {
        /// Whether it is on.
        led_mask / with_led_mask: bool = 1,
        _: 31,
    }
}

wire! {
    /// A port's light (IBTA 14.2.5.15), 4 bytes.
    pub struct LedInfo [4] {
        /// The light.
        pub led: LedMask,
    }
}

wire! {
    /// Speeds of Mellanox switches before FDR was a standard (attribute 0xFF90, OpenSM), 16 bytes; bit 0 is FDR10.
    pub struct MlnxExtendedPortInfo [16] {
        /// Zero.
        pub reserved: Reserved<3>,
        /// Which of the fields count in a Set.
        pub state_change_enable: u8,
        /// Zero.
        pub reserved2: Reserved<3>,
        /// Speeds that the port can use.
        pub link_speed_supported: LinkSpeeds,
        /// Zero.
        pub reserved3: Reserved<3>,
        /// Speeds that it may use.
        pub link_speed_enabled: LinkSpeeds,
        /// Zero.
        pub reserved4: Reserved<3>,
        /// The speed in use.
        pub link_speed_active: LinkSpeed,
    }
}
