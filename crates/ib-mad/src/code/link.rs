//! Codes of the width and speed of a link. `generation.rs` has the speeds.
use crate::{code, flags};

flags! {
    /// Set of link widths that a port supports or has enabled (IBTA 14.2.5.6).
    pub struct LinkWidths(u8) {
        /// Width of one lane.
        X1 = 0x01 "1X",
        /// Width of four lanes.
        X4 = 0x02 "4X",
        /// Width of eight lanes.
        X8 = 0x04 "8X",
        /// Width of twelve lanes.
        X12 = 0x08 "12X",
        /// Width of two lanes.
        X2 = 0x10 "2X",
    }
    special {
        /// All supported widths are enabled (OpenSM's `IB_LINK_WIDTH_SET_LWS`).
        ALL_SUPPORTED = 255 "all supported",
    }
}

code! {
    /// The link width in use (IBTA 14.2.5.6).
    pub struct LinkWidth(u8) {
        /// Width of one lane.
        X1 = 0x01 "1X",
        /// Width of four lanes.
        X4 = 0x02 "4X",
        /// Width of eight lanes.
        X8 = 0x04 "8X",
        /// Width of twelve lanes.
        X12 = 0x08 "12X",
        /// Width of two lanes.
        X2 = 0x10 "2X",
    }
}

flags! {
    /// Set of link speeds per lane, first generations, that a port supports or has enabled (IBTA 14.2.5.6).
    pub struct LinkSpeeds(u8) {
        /// SDR, 2.5 Gb/s.
        SDR = 1 "2.5 Gb/s",
        /// DDR, 5 Gb/s.
        DDR = 2 "5 Gb/s",
        /// QDR, 10 Gb/s.
        QDR = 4 "10 Gb/s",
    }
    special {
        /// All supported speeds are enabled (OpenSM's `IB_LINK_SPEED_SET_LSS`).
        ALL_SUPPORTED = 15 "all supported",
    }
}

code! {
    /// The link speed per lane in use, for the first generations (IBTA 14.2.5.6).
    pub struct LinkSpeed(u8) {
        /// An extended speed is in use.
        EXTENDED = 0 "extended",
        /// SDR, 2.5 Gb/s.
        SDR = 1 "2.5 Gb/s",
        /// DDR, 5 Gb/s.
        DDR = 2 "5 Gb/s",
        /// QDR, 10 Gb/s.
        QDR = 4 "10 Gb/s",
    }
}

flags! {
    /// Set of extended link speeds per lane that a port supports or has enabled (IBTA 14.2.5.6).
    pub struct LinkSpeedsExt(u8) {
        /// FDR, 14.0625 Gb/s.
        FDR = 1 "14 Gb/s",
        /// EDR, 25.78125 Gb/s.
        EDR = 2 "25 Gb/s",
        /// HDR, 53.125 Gb/s.
        HDR = 4 "50 Gb/s",
        /// NDR, 106.25 Gb/s.
        NDR = 8 "100 Gb/s",
    }
    special {
        /// No extended speed is enabled (OpenSM's `IB_LINK_SPEED_EXT_DISABLE`).
        NONE_ENABLED = 30 "none",
        /// All supported extended speeds are enabled (OpenSM's `IB_LINK_SPEED_EXT_SET_LSES`).
        ALL_SUPPORTED = 31 "all supported",
    }
}

code! {
    /// The extended link speed per lane in use (IBTA 14.2.5.6).
    pub struct LinkSpeedExt(u8) {
        /// No extended speed is in use; see [`LinkSpeed`].
        NONE = 0 "none",
        /// FDR, 14.0625 Gb/s.
        FDR = 1 "14 Gb/s",
        /// EDR, 25.78125 Gb/s.
        EDR = 2 "25 Gb/s",
        /// HDR, 53.125 Gb/s.
        HDR = 4 "50 Gb/s",
        /// NDR, 106.25 Gb/s.
        NDR = 8 "100 Gb/s",
    }
}

flags! {
    /// Set of extended link speeds of the second field that a port supports or has enabled (IBTA 1.6, 14.2.5.6).
    pub struct LinkSpeedsExt2(u8) {
        /// XDR, 212.5 Gb/s.
        XDR = 1 "200 Gb/s",
    }
}

code! {
    /// The extended link speed of the second field in use (IBTA 1.6, 14.2.5.6).
    pub struct LinkSpeedExt2(u8) {
        /// No speed of the second field is in use; see [`LinkSpeedExt`].
        NONE = 0 "none",
        /// XDR, 212.5 Gb/s.
        XDR = 1 "200 Gb/s",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_stands_for_all_or_none_is_not_shown_as_a_set() {
        use std::string::ToString as _;
        assert_eq!(LinkWidths::from_bits_retain(255).to_string(), "all supported");
        assert_eq!(LinkSpeeds::from_bits_retain(15).to_string(), "all supported");
        assert_eq!(LinkSpeedsExt::from_bits_retain(30).to_string(), "none");
        assert_eq!(LinkSpeedsExt::from_bits_retain(31).to_string(), "all supported");
        assert_eq!((LinkWidths::X1 | LinkWidths::X4).to_string(), "1X|4X");
        assert_eq!(LinkSpeeds::from_bits_retain(7).to_string(), "2.5 Gb/s|5 Gb/s|10 Gb/s");
        assert_eq!(LinkSpeedsExt::from_bits_retain(15).to_string(), "14 Gb/s|25 Gb/s|50 Gb/s|100 Gb/s");
    }
}
