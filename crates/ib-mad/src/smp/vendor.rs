//! Diagnosis and LED attributes, and an attribute of Mellanox.
use crate::{
    bits, code, flags, wire,
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

flags! {
    /// Set of link speeds per lane beside those of PortInfo (`FDR10` in OpenSM's `ib_types.h`).
    pub struct MlnxLinkSpeeds(u8) {
        /// FDR10, 10.3125 Gb/s: the lane rate of QDR with the coding of FDR.
        FDR10 = 1 "FDR10",
    }
}

code! {
    /// Link speed per lane in use beside those of PortInfo (`FDR10` in OpenSM's `ib_types.h`).
    pub struct MlnxLinkSpeed(u8) {
        /// The speed in use is that of PortInfo.
        NONE = 0 "none",
        /// FDR10, 10.3125 Gb/s: the lane rate of QDR with the coding of FDR.
        FDR10 = 1 "FDR10",
    }
}

impl MlnxLinkSpeed {
    /// Returns the speed per lane in Mb/s; `None` if the speed in use is that of PortInfo.
    #[must_use]
    pub const fn mbps(self) -> Option<u32> {
        match self {
            Self::FDR10 => Some(10_312),
            _ => None,
        }
    }
}

wire! {
    /// Link speeds of Mellanox devices before FDR was standardized (attribute 0xFF90, OpenSM), 16 bytes.
    pub struct MlnxExtendedPortInfo [16] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// Mask of the fields that a Set changes.
        pub state_change_enable: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<3>,
        /// Supported link speeds.
        pub link_speed_supported: MlnxLinkSpeeds,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<3>,
        /// Enabled link speeds.
        pub link_speed_enabled: MlnxLinkSpeeds,
        /// Reserved: zero when sent, ignored when received.
        pub reserved4: Reserved<3>,
        /// Link speed in use.
        pub link_speed_active: MlnxLinkSpeed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire as _;
    use std::string::ToString as _;

    #[test]
    fn speed_of_mellanox_is_fdr10() {
        let bytes = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1];
        let info = MlnxExtendedPortInfo::parse(&bytes).unwrap();
        assert_eq!(
            (info.link_speed_supported.to_string(), info.link_speed_active.to_string()),
            ("FDR10".into(), "FDR10".into())
        );
        assert_eq!((info.link_speed_active.mbps(), MlnxLinkSpeed::NONE.mbps()), (Some(10_312), None));
    }
}
