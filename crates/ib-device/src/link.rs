//! Layer, width, speed and rate of a link.
use core::fmt;
use ib_mad::{Generation, LinkWidth, Rate};

/// The layer below the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkLayer {
    /// InfiniBand, with LIDs and a subnet manager.
    InfiniBand,
    /// Ethernet (RoCE, iWARP), without LIDs and subnet manager.
    Ethernet,
    /// Another link layer, or unknown.
    Other,
}

/// Signalling rate of a link: lanes times the speed of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkRate {
    /// Tenths of Gb/s, the kernel's unit: 25 is 2.5 Gb/s.
    tenths: u32,
}

impl LinkRate {
    /// Creates a rate from tenths of Gb/s; `None` for 0.
    #[must_use]
    pub const fn from_tenths(tenths: u32) -> Option<Self> {
        if tenths == 0 { None } else { Some(Self { tenths }) }
    }

    /// Creates a rate from the numbers of `ibv_port_attr`: `active_width` (1 = 1x, 2 = 4x, 4 = 8x, 8 = 12x, 16 = 2x)
    /// and `active_speed` ([`Generation::verbs_speed`]).
    ///
    /// `None` for undefined numbers. XDR does not fit in the 8 bits of libibverbs' field `active_speed`, which is 0 for
    /// XDR. Use the rate in sysfs for such a port.
    #[must_use]
    pub const fn from_codes(active_width: u8, active_speed: u16) -> Option<Self> {
        match (LinkWidth::new(active_width).lanes(), Generation::from_verbs(active_speed)) {
            (Some(lanes), Some(generation)) => Self::from_tenths(generation.link_tenths(lanes)),
            _ => None,
        }
    }

    /// Parses the text of sysfs: `2.5 Gb/sec (1X)`, `100 Gb/sec (2X HDR)`.
    #[must_use]
    pub fn from_sysfs(text: &str) -> Option<Self> {
        let (number, _) = text.split_once(" Gb/sec")?;
        let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
        if tenth.len() != 1 || whole.starts_with('+') {
            return None;
        }
        let whole: u32 = whole.parse().ok()?;
        Self::from_tenths(whole.checked_mul(10)?.checked_add(u32::from(tenth.parse::<u8>().ok()?))?)
    }

    /// Returns the rate in tenths of Gb/s.
    #[must_use]
    pub const fn tenths(self) -> u32 {
        self.tenths
    }

    /// Returns the code of this rate. For a rate without a code (for example of 16 lanes), returns the code of the next
    /// slower rate.
    #[must_use]
    pub fn code(self) -> Rate {
        let rates = Rate::KNOWN.iter().map(|(rate, _)| *rate);
        let fitting = rates.filter(|rate| rate.tenths().is_some_and(|nominal| nominal <= self.tenths));
        fitting.max_by_key(|rate| rate.tenths()).unwrap_or(Rate::GBPS_2_5)
    }
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tenths / 10, self.tenths % 10) {
            (whole, 0) => write!(f, "{whole} Gb/s"),
            (whole, tenth) => write!(f, "{whole}.{tenth} Gb/s"),
        }
    }
}
impl fmt::Debug for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_counted_in_tenths_of_gigabits() {
        let rates = [25, 400].map(|tenths| LinkRate::from_tenths(tenths).unwrap());
        assert_eq!(rates.map(LinkRate::tenths), [25, 400]);
        assert_eq!(format!("{rates:?}"), "[2.5 Gb/s, 40 Gb/s]");
    }

    #[test]
    fn every_width_and_speed_has_the_code_of_the_specification() {
        // Rows: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR; columns: 1x, 2x, 4x, 8x, 12x; IBTA codes.
        let codes = [
            [2, 5, 3, 6, 4],
            [5, 3, 6, 7, 8],
            [3, 6, 7, 9, 10],
            [3, 6, 7, 9, 10],
            [11, 19, 12, 13, 14],
            [15, 20, 16, 17, 18],
            [20, 16, 17, 21, 22],
            [16, 17, 21, 23, 24],
            // 12x XDR (2400 Gb/s) has no code, and gets the code of the next lower rate.
            [17, 21, 23, 25, 25],
        ];
        for (row, speed) in codes.iter().zip([1, 2, 4, 8, 16, 32, 64, 128, 256]) {
            for (code, width) in row.iter().zip([1, 16, 2, 4, 8]) {
                let rate = LinkRate::from_codes(width, speed).unwrap();
                assert_eq!(rate.code(), Rate::new(*code), "width {width} speed {speed}: {rate}");
            }
        }
        assert_eq!(LinkRate::from_codes(3, 1), None);
        assert_eq!(LinkRate::from_codes(1, 0), None);
    }

    #[test]
    fn sysfs_text_is_parsed_and_malformed_text_is_rejected() {
        for (text, shown, code) in [
            ("2.5 Gb/sec (1X)", "2.5 Gb/s", Rate::GBPS_2_5),
            ("10 Gb/sec (1X FDR10)", "10 Gb/s", Rate::GBPS_10),
            ("5 Gb/sec (2X)", "5 Gb/s", Rate::GBPS_5),
            ("56 Gb/sec (4X FDR)", "56 Gb/s", Rate::GBPS_56),
            ("100 Gb/sec (2X HDR)", "100 Gb/s", Rate::GBPS_100),
            ("800 Gb/sec (4X XDR)", "800 Gb/s", Rate::GBPS_800),
            ("8 Gb/sec (4X something new)", "8 Gb/s", Rate::GBPS_5),
        ] {
            let rate = LinkRate::from_sysfs(text).unwrap();
            assert_eq!((rate.to_string().as_str(), rate.code()), (shown, code), "{text}");
        }
        for bad in
            ["", "0 Gb/sec", "x Gb/sec", "2.55 Gb/sec", "-1 Gb/sec", "+1 Gb/sec", "2. Gb/sec", "4294967295 Gb/sec"]
        {
            assert_eq!(LinkRate::from_sysfs(bad), None, "{bad:?}");
        }
    }
}
