//! Forward error correction of a port.
use crate::{
    code, flags, wire,
    wire::{Be16, Be32, Reserved},
};

flags! {
    /// Set of forward error correction modes (IBTA 14.2.5.21).
    pub struct FecModes(u16) {
        /// No forward error correction.
        NONE = 0x1 "none",
        /// Fire code (FC-FEC).
        FIRE_CODE = 0x2 "FireCode",
        /// Reed-Solomon code (RS-FEC).
        RS_FEC = 0x4 "RS-FEC",
        /// Low-latency Reed-Solomon code (LL-RS-FEC).
        LL_RS_FEC = 0x8 "LL-RS-FEC",
    }
}

code! {
    /// The forward error correction mode in use (IBTA 14.2.5.21).
    pub struct FecMode(u16) {
        /// No forward error correction.
        NONE = 0 "none",
        /// Fire code (FC-FEC).
        FIRE_CODE = 1 "FireCode",
        /// Reed-Solomon code (RS-FEC).
        RS_FEC = 2 "RS-FEC",
        /// Low-latency Reed-Solomon code (LL-RS-FEC).
        LL_RS_FEC = 3 "LL-RS-FEC",
    }
}

wire! {
    /// Forward error correction of a port, and the end of its P_Key table (IBTA 14.2.5.21), 64 bytes.
    pub struct PortInfoExtended [64] {
        /// Fields that the port supports: bit 0 is forward error correction.
        pub capability_mask: Be32,
        /// Mode in use.
        pub fec_mode_active: FecMode,
        /// Modes supported at FDR, 14 Gb/s per lane.
        pub fdr_fec_mode_supported: FecModes,
        /// Modes enabled at FDR, 14 Gb/s per lane.
        pub fdr_fec_mode_enabled: FecModes,
        /// Modes supported at EDR, 25 Gb/s per lane.
        pub edr_fec_mode_supported: FecModes,
        /// Modes enabled at EDR, 25 Gb/s per lane.
        pub edr_fec_mode_enabled: FecModes,
        /// Modes supported at HDR, 50 Gb/s per lane.
        pub hdr_fec_mode_supported: FecModes,
        /// Modes enabled at HDR, 50 Gb/s per lane.
        pub hdr_fec_mode_enabled: FecModes,
        /// Modes supported at NDR, 100 Gb/s per lane.
        pub ndr_fec_mode_supported: FecModes,
        /// Modes enabled at NDR, 100 Gb/s per lane.
        pub ndr_fec_mode_enabled: FecModes,
        /// Largest index in use in the P_Key table, if the port supports it (`PartitionTop` of NVIDIA's ibutils2).
        pub partition_top: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<40>,
    }
}
