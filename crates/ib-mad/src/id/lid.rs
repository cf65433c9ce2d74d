//! Local identifiers.
use super::from_str_number;
use crate::{id, wire::Bits};
use core::fmt;

id! {
    /// Local identifier: a port's (or multicast group's) address inside one subnet, 2 bytes (IBTA 4.1.3).
    ///
    /// 0 is reserved, 0x0001..=0xBFFF are unicast, 0xC000..=0xFFFE multicast, 0xFFFF is permissive.
    pub struct Lid(u16), "{}"
}
from_str_number! { Lid: u16, "LID (0 to 65535)"; }

impl Lid {
    /// The reserved LID: "none".
    pub const NONE: Self = Self::new(0);
    /// The permissive LID: whoever receives it.
    pub const PERMISSIVE: Self = Self::new(0xffff);

    /// Whether the LID names one port.
    #[must_use]
    pub const fn is_unicast(self) -> bool {
        matches!(self.get(), 0x0001..=0xbfff)
    }

    /// Whether the LID names a multicast group.
    #[must_use]
    pub const fn is_multicast(self) -> bool {
        matches!(self.get(), 0xc000..=0xfffe)
    }

    /// The LID that a port is known by: this one without its path bits.
    #[must_use]
    pub const fn base(self, lmc: Lmc) -> Self {
        Self::new(self.get() & !lmc.mask())
    }

    /// The path bits of this LID.
    #[must_use]
    pub const fn path_bits(self, lmc: Lmc) -> u8 {
        (self.get() & lmc.mask()).to_be_bytes()[1]
    }
}

/// LID mask control: a port answers to 2^LMC LIDs in a row (3 bits, IBTA 4.1.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Lmc(u8);

impl Lmc {
    /// From a number; only its low 3 bits count.
    #[must_use]
    pub const fn new(value: u8) -> Self {
        Self(value & 7)
    }
    /// The number, 0..=7.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
    /// The bits of a LID that are path bits.
    #[must_use]
    pub const fn mask(self) -> u16 {
        (1 << self.0) - 1
    }
}

impl fmt::Display for Lmc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
impl fmt::Debug for Lmc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
impl Bits for Lmc {
    fn from_raw(raw: u64) -> Self {
        Self(raw.to_be_bytes()[7] & 7)
    }
    fn into_raw(self) -> u64 {
        u64::from(self.0)
    }
    fn show_bits(raw: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{raw}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_path_bits() {
        assert!(Lid::new(1).is_unicast() && Lid::new(0xbfff).is_unicast() && !Lid::NONE.is_unicast());
        assert!(Lid::new(0xc000).is_multicast() && !Lid::PERMISSIVE.is_multicast());
        assert_eq!(Lid::new(0x1237).base(Lmc::new(3)), Lid::new(0x1230));
        assert_eq!(Lid::new(0x1237).path_bits(Lmc::new(3)), 7);
        assert_eq!(Lid::new(0x1237).base(Lmc::new(0)), Lid::new(0x1237));
    }

    #[test]
    fn text() {
        assert_eq!("0x11".parse(), Ok(Lid::new(17)));
        assert_eq!("17".parse(), Ok(Lid::new(17)));
        for bad in ["", "65536", "0x10000", "-1", "+1", "0x+1", "x"] {
            assert!(bad.parse::<Lid>().is_err(), "{bad}");
        }
    }
}
