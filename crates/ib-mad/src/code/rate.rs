//! Code of the static rate.
use crate::{ParseIdError, code};
use core::str::FromStr;

code! {
    /// Static rate of a path, as a code (IBTA 15.2.5.16; `enum ibv_rate`). The codes are not in the order of speed; use
    /// [`Rate::mbps`] to compare.
    pub struct Rate(u8) {
        /// 2.5 Gb/s: 1x SDR.
        GBPS_2_5 = 2 "2.5 Gb/s",
        /// 10 Gb/s: 4x SDR, 1x QDR.
        GBPS_10 = 3 "10 Gb/s",
        /// 30 Gb/s: 12x SDR.
        GBPS_30 = 4 "30 Gb/s",
        /// 5 Gb/s: 1x DDR.
        GBPS_5 = 5 "5 Gb/s",
        /// 20 Gb/s: 4x DDR.
        GBPS_20 = 6 "20 Gb/s",
        /// 40 Gb/s: 4x QDR.
        GBPS_40 = 7 "40 Gb/s",
        /// 60 Gb/s: 12x DDR.
        GBPS_60 = 8 "60 Gb/s",
        /// 80 Gb/s: 8x QDR.
        GBPS_80 = 9 "80 Gb/s",
        /// 120 Gb/s: 12x QDR.
        GBPS_120 = 10 "120 Gb/s",
        /// 14 Gb/s: 1x FDR.
        GBPS_14 = 11 "14 Gb/s",
        /// 56 Gb/s: 4x FDR.
        GBPS_56 = 12 "56 Gb/s",
        /// 112 Gb/s: 8x FDR.
        GBPS_112 = 13 "112 Gb/s",
        /// 168 Gb/s: 12x FDR.
        GBPS_168 = 14 "168 Gb/s",
        /// 25 Gb/s: 1x EDR.
        GBPS_25 = 15 "25 Gb/s",
        /// 100 Gb/s: 4x EDR.
        GBPS_100 = 16 "100 Gb/s",
        /// 200 Gb/s: 4x HDR, 8x EDR.
        GBPS_200 = 17 "200 Gb/s",
        /// 300 Gb/s: 12x EDR.
        GBPS_300 = 18 "300 Gb/s",
        /// 28 Gb/s: 2x FDR.
        GBPS_28 = 19 "28 Gb/s",
        /// 50 Gb/s: 1x HDR, 2x EDR.
        GBPS_50 = 20 "50 Gb/s",
        /// 400 Gb/s: 4x NDR, 8x HDR.
        GBPS_400 = 21 "400 Gb/s",
        /// 600 Gb/s: 12x HDR.
        GBPS_600 = 22 "600 Gb/s",
        /// 800 Gb/s: 4x XDR, 8x NDR.
        GBPS_800 = 23 "800 Gb/s",
        /// 1200 Gb/s: 12x NDR.
        GBPS_1200 = 24 "1200 Gb/s",
        /// 1600 Gb/s: 8x XDR.
        GBPS_1600 = 25 "1600 Gb/s",
    }
}

impl Rate {
    /// Returns the signalling rate in Mb/s, as `ib_rate_to_mbps` of Linux does: for FDR and later, 64/66 coding is
    /// included. `None` for an undefined code.
    #[must_use]
    pub const fn mbps(self) -> Option<u32> {
        Some(match self {
            Self::GBPS_2_5 => 2_500,
            Self::GBPS_5 => 5_000,
            Self::GBPS_10 => 10_000,
            Self::GBPS_20 => 20_000,
            Self::GBPS_30 => 30_000,
            Self::GBPS_40 => 40_000,
            Self::GBPS_60 => 60_000,
            Self::GBPS_80 => 80_000,
            Self::GBPS_120 => 120_000,
            Self::GBPS_14 => 14_062,
            Self::GBPS_28 => 28_125,
            Self::GBPS_56 => 56_250,
            Self::GBPS_112 => 112_500,
            Self::GBPS_168 => 168_750,
            Self::GBPS_25 => 25_781,
            Self::GBPS_50 => 53_125,
            Self::GBPS_100 => 103_125,
            Self::GBPS_200 => 206_250,
            Self::GBPS_300 => 309_375,
            Self::GBPS_400 => 425_000,
            Self::GBPS_600 => 637_500,
            Self::GBPS_800 => 850_000,
            Self::GBPS_1200 => 1_275_000,
            Self::GBPS_1600 => 1_700_000,
            _ => return None,
        })
    }

    /// Returns the code of a rate in Gb/s; 2 stands for 2.5 Gb/s. `None` if no code has this rate.
    #[must_use]
    pub const fn from_gbps(gbps: u32) -> Option<Self> {
        Some(match gbps {
            2 => Self::GBPS_2_5,
            5 => Self::GBPS_5,
            10 => Self::GBPS_10,
            14 => Self::GBPS_14,
            20 => Self::GBPS_20,
            25 => Self::GBPS_25,
            28 => Self::GBPS_28,
            30 => Self::GBPS_30,
            40 => Self::GBPS_40,
            50 => Self::GBPS_50,
            56 => Self::GBPS_56,
            60 => Self::GBPS_60,
            80 => Self::GBPS_80,
            100 => Self::GBPS_100,
            112 => Self::GBPS_112,
            120 => Self::GBPS_120,
            168 => Self::GBPS_168,
            200 => Self::GBPS_200,
            300 => Self::GBPS_300,
            400 => Self::GBPS_400,
            600 => Self::GBPS_600,
            800 => Self::GBPS_800,
            1200 => Self::GBPS_1200,
            1600 => Self::GBPS_1600,
            _ => return None,
        })
    }
}

impl FromStr for Rate {
    type Err = ParseIdError;
    /// Reads the text that `Display` prints, `2.5 Gb/s` to `1600 Gb/s`, with or without the unit.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let number = text.strip_suffix(" Gb/s").unwrap_or(text);
        let known = Self::KNOWN.iter().find(|(_, name)| name.strip_suffix(" Gb/s") == Some(number));
        known.map(|(own, _)| *own).ok_or(ParseIdError { what: "rate (2.5 to 1600 Gb/s)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_rate_is_read_back() {
        for (own, name) in Rate::KNOWN {
            assert_eq!(name.parse(), Ok(*own));
        }
        assert_eq!(("2.5".parse(), "100".parse()), (Ok(Rate::GBPS_2_5), Ok(Rate::GBPS_100)));
        for bad in ["", "2", "101", "100Gb/s", "100 Gb/s Gb/s", "+100", "100 Gb/sec"] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_rate_has_a_speed_that_fits_its_name() {
        for (rate, name) in Rate::KNOWN {
            let mbps = rate.mbps().unwrap();
            let named = name.split([' ', '.']).next().unwrap().parse().unwrap();
            assert_eq!(Rate::from_gbps(named), Some(*rate), "{name}");
            assert!(mbps / 1000 >= named && mbps / 1000 <= named + named / 8, "{name}: {mbps}");
        }
        assert_eq!(Rate::new(0).mbps(), None);
    }
}
