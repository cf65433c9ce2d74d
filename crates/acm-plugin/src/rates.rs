//! The codes of rates and MTUs in libibverbs (`enum ibv_rate`, `enum ibv_mtu`).
use ib_device::LinkRate;
use ib_mad::Rate;

/// `IBV_RATE_MAX`: the rate is unknown.
const UNKNOWN: u32 = 0;
/// `IBV_MTU_2048`: the default for unknown MTUs in options.
const MTU_2048: u32 = 4;

/// Returns the code for `active_width` and `active_speed` of a link; 0 for invalid values.
#[must_use]
pub fn of_link(width: u8, speed: u8) -> u32 {
    LinkRate::from_codes(width, speed.into()).map_or(UNKNOWN, |rate| rate.code().get().into())
}

/// Returns the code for a rate in Gbit/s; the code of 10 Gbit/s for unknown rates.
#[must_use]
pub fn of_gbps(gbps: i32) -> u32 {
    let rate = u32::try_from(gbps).ok().and_then(Rate::from_gbps);
    rate.unwrap_or(Rate::GBPS_10).get().into()
}

/// Returns the code for an MTU in bytes; the code of 2048 bytes for unknown MTUs.
#[must_use]
pub fn of_mtu(bytes: i32) -> u32 {
    match bytes {
        256 => 1,
        512 => 2,
        1024 => 3,
        4096 => 5,
        _ => MTU_2048,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of ibacm 44.0, except for rates where ibacm is wrong or has no code (HDR, NDR, two lanes).
    #[test]
    fn links_have_the_rate_codes_of_ibacm_and_newer_codes() {
        let widths = [1, 2, 4, 8];
        let ibacm = [
            (1, [2, 3, 6, 4]),
            (2, [5, 6, 7, 8]),
            (4, [3, 7, 9, 10]),
            (8, [3, 7, 9, 10]),
            (16, [11, 12, 13, 14]),
            (32, [15, 16, 17, 18]),
        ];
        for (speed, codes) in ibacm {
            assert_eq!(widths.map(|width| of_link(width, speed)), codes, "speed {speed}");
        }
        assert_eq!([1, 16, 2, 4, 8].map(|width| of_link(width, 64)), [20, 16, 17, 21, 22]);
        assert_eq!([1, 16, 2, 4, 8].map(|width| of_link(width, 128)), [16, 17, 21, 23, 24]);
        assert_eq!([of_link(0, 1), of_link(3, 1), of_link(1, 0), of_link(1, 3)], [0; 4]);
    }

    #[test]
    fn options_have_rate_and_mtu_codes_with_defaults() {
        let known = [2, 5, 10, 20, 30, 40, 60, 80, 120, 14, 56, 112, 168, 25, 100, 200, 300];
        assert_eq!(known.map(of_gbps), [2, 5, 3, 6, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
        assert_eq!([28, 50, 400, 600, 800, 1200, 1600].map(of_gbps), [19, 20, 21, 22, 23, 24, 25]);
        assert_eq!([0, -1, 3, i32::MAX].map(of_gbps), [3; 4]);
        assert_eq!([256, 512, 1024, 2048, 4096, 0, -5, 1500].map(of_mtu), [1, 2, 3, 4, 5, 4, 4, 4]);
    }
}
