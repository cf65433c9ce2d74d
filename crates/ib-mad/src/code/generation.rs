//! Generations of link speeds, SDR to XDR: the one table of what is known about them.
use super::{LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkWidth, MlnxLinkSpeed};

/// Field that has the speed in use of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpeedField {
    /// `link_speed_active` of PortInfo.
    LinkSpeed(LinkSpeed),
    /// `link_speed_active` of MlnxExtendedPortInfo; PortInfo has the value of QDR.
    Mlnx(MlnxLinkSpeed),
    /// `link_speed_ext_active` of PortInfo.
    LinkSpeedExt(LinkSpeedExt),
    /// `link_speed_ext_active2` of PortInfo.
    LinkSpeedExt2(LinkSpeedExt2),
}

/// Line code of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineCode {
    /// 8b/10b: four fifths of the signalling rate are data.
    B8B10,
    /// 64b/66b, without or with forward error correction of the same size.
    B64B66,
    /// 256b/257b with the Reed-Solomon code RS(544, 514), on lanes with four levels (PAM4).
    Rs544,
}

/// A generation of link speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generation {
    /// Name of the generation: `EDR`.
    pub name: &'static str,
    /// Signalling rate of a lane in kb/s.
    pub lane_kbps: u32,
    /// Nominal rate of a lane in tenths of Gb/s, as in the names of rates and in sysfs: 25 is 2.5 Gb/s.
    pub lane_tenths: u32,
    /// Line code.
    pub line_code: LineCode,
    /// `active_speed` of `struct ibv_port_attr`.
    pub verbs_speed: u16,
    /// Field of the speed in use, and its value.
    pub field: SpeedField,
}

macro_rules! generations {
    ($($(#[$m:meta])* $name:ident $kbps:literal $tenths:literal $code:ident $verbs:literal $field:ident($t:ident::$speed:ident),)*) => {
        impl Generation {
            $($(#[$m])* pub const $name: Self = Self {
                name: stringify!($name),
                lane_kbps: $kbps,
                lane_tenths: $tenths,
                line_code: LineCode::$code,
                verbs_speed: $verbs,
                field: SpeedField::$field($t::$speed),
            };)*
            /// Every generation, the slowest first.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

// A new generation is one line here, and a value of its field in `link.rs`.
generations! {
    /// Single data rate.
    SDR 2_500_000 25 B8B10 1 LinkSpeed(LinkSpeed::SDR),
    /// Double data rate.
    DDR 5_000_000 50 B8B10 2 LinkSpeed(LinkSpeed::DDR),
    /// Quad data rate.
    QDR 10_000_000 100 B8B10 4 LinkSpeed(LinkSpeed::QDR),
    /// FDR10 of Mellanox: nearly the rate of QDR with the line code of FDR.
    FDR10 10_312_500 100 B64B66 8 Mlnx(MlnxLinkSpeed::FDR10),
    /// Fourteen data rate.
    FDR 14_062_500 140 B64B66 16 LinkSpeedExt(LinkSpeedExt::FDR),
    /// Enhanced data rate.
    EDR 25_781_250 250 B64B66 32 LinkSpeedExt(LinkSpeedExt::EDR),
    /// High data rate.
    HDR 53_125_000 500 Rs544 64 LinkSpeedExt(LinkSpeedExt::HDR),
    /// Next data rate.
    NDR 106_250_000 1_000 Rs544 128 LinkSpeedExt(LinkSpeedExt::NDR),
    /// Extended data rate.
    XDR 212_500_000 2_000 Rs544 256 LinkSpeedExt2(LinkSpeedExt2::XDR),
}

impl Generation {
    /// Returns the generation with this `active_speed` of `struct ibv_port_attr`.
    #[must_use]
    pub const fn from_verbs(speed: u16) -> Option<&'static Self> {
        let mut rest = Self::ALL;
        while let [own, more @ ..] = rest {
            if own.verbs_speed == speed {
                return Some(own);
            }
            rest = more;
        }
        None
    }

    /// Returns the signalling rate of a link with `lanes` lanes in Mb/s, rounded down.
    #[must_use]
    pub const fn link_mbps(&self, lanes: u8) -> u32 {
        self.lane_kbps / 50 * lanes as u32 / 20
    }

    /// Returns the nominal rate of a link with `lanes` lanes in tenths of Gb/s.
    #[must_use]
    pub const fn link_tenths(&self, lanes: u8) -> u32 {
        self.lane_tenths * lanes as u32
    }
}

macro_rules! by_field {
    ($($t:ident $field:ident $none:literal,)*) => {$(
        impl $t {
            #[doc = concat!("Returns the generation of the speed; `None` ", $none, ".")]
            #[must_use]
            pub const fn generation(self) -> Option<&'static Generation> {
                let mut rest = Generation::ALL;
                while let [own, more @ ..] = rest {
                    if let SpeedField::$field(speed) = own.field
                        && speed.get() == self.get()
                    {
                        return Some(own);
                    }
                    rest = more;
                }
                None
            }

            #[doc = concat!("Returns the speed per lane in Mb/s; `None` ", $none, ".")]
            #[must_use]
            pub const fn mbps(self) -> Option<u32> {
                match self.generation() {
                    Some(generation) => Some(generation.link_mbps(1)),
                    None => None,
                }
            }
        }
    )*};
}
by_field! {
    LinkSpeed LinkSpeed "if an extended speed is in use",
    MlnxLinkSpeed Mlnx "if the speed in use is that of PortInfo",
    LinkSpeedExt LinkSpeedExt "if no extended speed is in use",
    LinkSpeedExt2 LinkSpeedExt2 "if no speed of the second field is in use",
}

impl LinkWidth {
    /// Numbers of lanes that a link may have, and their codes, the least first.
    pub const LANES: &'static [(u8, Self)] =
        &[(1, Self::X1), (2, Self::X2), (4, Self::X4), (8, Self::X8), (12, Self::X12)];

    /// Returns the number of lanes; `None` for an undefined code.
    #[must_use]
    pub const fn lanes(self) -> Option<u8> {
        let mut rest = Self::LANES;
        while let [(lanes, own), more @ ..] = rest {
            if own.get() == self.get() {
                return Some(*lanes);
            }
            rest = more;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generation_is_found_by_its_code_in_each_field() {
        let names = |speeds: &[Option<&Generation>]| speeds.iter().map(|own| own.map_or("", |own| own.name)).collect();
        let base: std::vec::Vec<_> = names(&[1, 2, 4, 0, 8].map(|code| LinkSpeed::new(code).generation()));
        assert_eq!(base, ["SDR", "DDR", "QDR", "", ""]);
        let extended: std::vec::Vec<_> = names(&[1, 2, 4, 8, 0].map(|code| LinkSpeedExt::new(code).generation()));
        assert_eq!(extended, ["FDR", "EDR", "HDR", "NDR", ""]);
        let other: std::vec::Vec<_> = names(&[LinkSpeedExt2::new(1).generation(), MlnxLinkSpeed::new(1).generation()]);
        assert_eq!(other, ["XDR", "FDR10"]);
        for (bit, own) in Generation::ALL.iter().enumerate() {
            assert_eq!((Generation::from_verbs(own.verbs_speed), own.verbs_speed), (Some(own), 1 << bit));
        }
        assert_eq!(Generation::from_verbs(0), None);
    }

    #[test]
    fn link_rate_has_the_fractions_of_its_lanes() {
        assert_eq!((Generation::EDR.link_mbps(1), Generation::EDR.link_mbps(4)), (25_781, 103_125));
        assert_eq!((Generation::FDR.link_mbps(1), Generation::FDR.link_mbps(12)), (14_062, 168_750));
        assert_eq!((Generation::XDR.link_mbps(12), Generation::XDR.link_tenths(8)), (2_550_000, 16_000));
    }
}
