//! Code of the static rate.
use super::Generation;
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
    /// Every rate with a link of this rate: its generation and its lanes. If several links have a rate, it is the one
    /// whose speed Linux gives to the rate.
    const LINKS: &'static [(Self, Generation, u8)] = &[
        (Self::GBPS_2_5, Generation::SDR, 1),
        (Self::GBPS_10, Generation::SDR, 4),
        (Self::GBPS_30, Generation::SDR, 12),
        (Self::GBPS_5, Generation::DDR, 1),
        (Self::GBPS_20, Generation::DDR, 4),
        (Self::GBPS_40, Generation::QDR, 4),
        (Self::GBPS_60, Generation::DDR, 12),
        (Self::GBPS_80, Generation::QDR, 8),
        (Self::GBPS_120, Generation::QDR, 12),
        (Self::GBPS_14, Generation::FDR, 1),
        (Self::GBPS_56, Generation::FDR, 4),
        (Self::GBPS_112, Generation::FDR, 8),
        (Self::GBPS_168, Generation::FDR, 12),
        (Self::GBPS_25, Generation::EDR, 1),
        (Self::GBPS_100, Generation::EDR, 4),
        (Self::GBPS_200, Generation::EDR, 8),
        (Self::GBPS_300, Generation::EDR, 12),
        (Self::GBPS_28, Generation::FDR, 2),
        (Self::GBPS_50, Generation::HDR, 1),
        (Self::GBPS_400, Generation::HDR, 8),
        (Self::GBPS_600, Generation::HDR, 12),
        (Self::GBPS_800, Generation::NDR, 8),
        (Self::GBPS_1200, Generation::NDR, 12),
        (Self::GBPS_1600, Generation::XDR, 8),
    ];

    /// Returns the signalling rate in Mb/s, as `ib_rate_to_mbps` of Linux does. `None` for an undefined code.
    #[must_use]
    pub const fn mbps(self) -> Option<u32> {
        match self.link() {
            Some((generation, lanes)) => Some(generation.link_mbps(lanes)),
            None => None,
        }
    }

    /// Returns the nominal rate in tenths of Gb/s, as in the name: 25 is 2.5 Gb/s. `None` for an undefined code.
    #[must_use]
    pub const fn tenths(self) -> Option<u32> {
        match self.link() {
            Some((generation, lanes)) => Some(generation.link_tenths(lanes)),
            None => None,
        }
    }

    /// Returns the code of a rate in Gb/s; 2 stands for 2.5 Gb/s. `None` if no code has this rate.
    #[must_use]
    pub const fn from_gbps(gbps: u32) -> Option<Self> {
        let mut rest = Self::LINKS;
        while let [(own, generation, lanes), more @ ..] = rest {
            if generation.link_tenths(*lanes) / 10 == gbps {
                return Some(*own);
            }
            rest = more;
        }
        None
    }

    const fn link(self) -> Option<(Generation, u8)> {
        let mut rest = Self::LINKS;
        while let [(own, generation, lanes), more @ ..] = rest {
            if own.get() == self.get() {
                return Some((*generation, *lanes));
            }
            rest = more;
        }
        None
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
        assert_eq!((Rate::new(0).mbps(), Rate::new(0).tenths(), Rate::new(26).mbps()), (None, None, None));
        assert_eq!((Rate::GBPS_2_5.tenths(), Rate::GBPS_1600.tenths()), (Some(25), Some(16_000)));
        assert_eq!(
            (Rate::from_gbps(1600), Rate::from_gbps(0), Rate::from_gbps(2400)),
            (Some(Rate::GBPS_1600), None, None)
        );
    }

    /// The speeds of `ib_rate_to_mbps` in Linux's `drivers/infiniband/core/verbs.c`.
    #[test]
    fn speeds_of_rates_are_those_of_linux() {
        let linux = [
            2_500, 10_000, 30_000, 5_000, 20_000, 40_000, 60_000, 80_000, 120_000, 14_062, 56_250, 112_500, 168_750,
            25_781, 103_125, 206_250, 309_375, 28_125, 53_125, 425_000, 637_500, 850_000, 1_275_000, 1_700_000,
        ];
        for (code, mbps) in (2..).zip(linux) {
            assert_eq!(Rate::new(code).mbps(), Some(mbps), "{}", Rate::new(code));
        }
        assert_eq!(Rate::KNOWN.len(), linux.len());
    }
}
