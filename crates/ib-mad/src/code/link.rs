//! Width and speed of a link.
use crate::{code, flags};

flags! {
    /// Link widths that a port can or may use, a set (IBTA 14.2.5.6).
    pub struct LinkWidths(u8) {
        /// One lane.
        X1 = 0x01 "1X",
        /// Four lanes.
        X4 = 0x02 "4X",
        /// Eight lanes.
        X8 = 0x04 "8X",
        /// Twelve lanes.
        X12 = 0x08 "12X",
        /// Two lanes.
        X2 = 0x10 "2X",
    }
}

code! {
    /// The link width in use (IBTA 14.2.5.6).
    pub struct LinkWidth(u8) {
        /// One lane.
        X1 = 0x01 "1X",
        /// Four lanes.
        X4 = 0x02 "4X",
        /// Eight lanes.
        X8 = 0x04 "8X",
        /// Twelve lanes.
        X12 = 0x08 "12X",
        /// Two lanes.
        X2 = 0x10 "2X",
    }
}

impl LinkWidth {
    /// The number of lanes; `None` for a code without a meaning.
    #[must_use]
    pub const fn lanes(self) -> Option<u8> {
        match self {
            Self::X1 => Some(1),
            Self::X2 => Some(2),
            Self::X4 => Some(4),
            Self::X8 => Some(8),
            Self::X12 => Some(12),
            _ => None,
        }
    }
}

flags! {
    /// Link speeds per lane that a port can or may use, a set of the first generations (IBTA 14.2.5.6).
    pub struct LinkSpeeds(u8) {
        /// 2.5 Gb/s.
        SDR = 1 "2.5 Gb/s",
        /// 5 Gb/s.
        DDR = 2 "5 Gb/s",
        /// 10 Gb/s.
        QDR = 4 "10 Gb/s",
    }
}

code! {
    /// The link speed per lane in use, if it is one of the first generations (IBTA 14.2.5.6).
    pub struct LinkSpeed(u8) {
        /// An extended speed is in use.
        EXTENDED = 0 "extended",
        /// 2.5 Gb/s.
        SDR = 1 "2.5 Gb/s",
        /// 5 Gb/s.
        DDR = 2 "5 Gb/s",
        /// 10 Gb/s.
        QDR = 4 "10 Gb/s",
    }
}

impl LinkSpeed {
    /// Mb/s per lane; `None` if an extended speed is in use.
    #[must_use]
    pub const fn mbps(self) -> Option<u32> {
        match self {
            Self::SDR => Some(2_500),
            Self::DDR => Some(5_000),
            Self::QDR => Some(10_000),
            _ => None,
        }
    }
}

flags! {
    /// Extended link speeds per lane that a port can or may use, a set (IBTA 14.2.5.6).
    pub struct LinkSpeedsExt(u8) {
        /// 14.0625 Gb/s.
        FDR = 1 "14 Gb/s",
        /// 25.78125 Gb/s.
        EDR = 2 "25 Gb/s",
        /// 53.125 Gb/s.
        HDR = 4 "50 Gb/s",
        /// 106.25 Gb/s.
        NDR = 8 "100 Gb/s",
    }
}

code! {
    /// The extended link speed per lane in use (IBTA 14.2.5.6).
    pub struct LinkSpeedExt(u8) {
        /// None: see [`LinkSpeed`].
        NONE = 0 "none",
        /// 14.0625 Gb/s.
        FDR = 1 "14 Gb/s",
        /// 25.78125 Gb/s.
        EDR = 2 "25 Gb/s",
        /// 53.125 Gb/s.
        HDR = 4 "50 Gb/s",
        /// 106.25 Gb/s.
        NDR = 8 "100 Gb/s",
    }
}

impl LinkSpeedExt {
    /// Mb/s per lane; `None` if no extended speed is in use.
    #[must_use]
    pub const fn mbps(self) -> Option<u32> {
        match self {
            Self::FDR => Some(14_062),
            Self::EDR => Some(25_781),
            Self::HDR => Some(53_125),
            Self::NDR => Some(106_250),
            _ => None,
        }
    }
}

flags! {
    /// Extended link speeds of the second field that a port can or may use, a set (IBTA 1.6, 14.2.5.6).
    pub struct LinkSpeedsExt2(u8) {
        /// 212.5 Gb/s.
        XDR = 1 "200 Gb/s",
    }
}

code! {
    /// The extended link speed of the second field in use (IBTA 1.6, 14.2.5.6).
    pub struct LinkSpeedExt2(u8) {
        /// None: see [`LinkSpeedExt`].
        NONE = 0 "none",
        /// 212.5 Gb/s.
        XDR = 1 "200 Gb/s",
    }
}

impl LinkSpeedExt2 {
    /// Mb/s per lane; `None` if no such speed is in use.
    #[must_use]
    pub const fn mbps(self) -> Option<u32> {
        match self {
            Self::XDR => Some(212_500),
            _ => None,
        }
    }
}
