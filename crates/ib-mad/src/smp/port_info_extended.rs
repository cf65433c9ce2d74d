//! Error correction of a port.
use crate::{
    code, flags, wire,
    wire::{Be32, Reserved},
};

flags! {
    /// Ways of forward error correction, a set (IBTA 14.2.5.21).
    pub struct FecModes(u16) {
        /// No correction.
        NONE = 0x1 "none",
        /// Fire code.
        FIRE_CODE = 0x2 "FireCode",
        /// Reed-Solomon.
        RS_FEC = 0x4 "RS-FEC",
        /// Reed-Solomon with low latency.
        LL_RS_FEC = 0x8 "LL-RS-FEC",
    }
}

code! {
    /// The way of forward error correction in use (IBTA 14.2.5.21).
    pub struct FecMode(u16) {
        /// No correction.
        NONE = 0 "none",
        /// Fire code.
        FIRE_CODE = 1 "FireCode",
        /// Reed-Solomon.
        RS_FEC = 2 "RS-FEC",
        /// Reed-Solomon with low latency.
        LL_RS_FEC = 3 "LL-RS-FEC",
    }
}

wire! {
    /// Error correction of a port (IBTA 14.2.5.21), 64 bytes.
    pub struct PortInfoExtended [64] {
        /// Which of the fields the port has: bit 0 is error correction.
        pub capability_mask: Be32,
        /// The way in use.
        pub fec_mode_active: FecMode,
        /// Supported at 14 Gb/s lanes.
        pub fdr_fec_mode_supported: FecModes,
        /// Enabled at 14 Gb/s lanes.
        pub fdr_fec_mode_enabled: FecModes,
        /// Supported at 25 Gb/s lanes.
        pub edr_fec_mode_supported: FecModes,
        /// Enabled at 25 Gb/s lanes.
        pub edr_fec_mode_enabled: FecModes,
        /// Supported at 50 Gb/s lanes.
        pub hdr_fec_mode_supported: FecModes,
        /// Enabled at 50 Gb/s lanes.
        pub hdr_fec_mode_enabled: FecModes,
        /// Supported at 100 Gb/s lanes.
        pub ndr_fec_mode_supported: FecModes,
        /// Enabled at 100 Gb/s lanes.
        pub ndr_fec_mode_enabled: FecModes,
        /// Zero.
        pub reserved: Reserved<42>,
    }
}
