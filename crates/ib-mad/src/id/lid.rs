//! Local identifiers (LIDs) and the LID mask control (LMC).
use crate::id;
use crate::wire::{from_str_number, small};

id! {
    /// Local identifier: the address of a port or multicast group in one subnet, 2 bytes (IBTA 4.1.3).
    ///
    /// 0 is reserved, 0x0001..=0xBFFF are unicast, 0xC000..=0xFFFE multicast, 0xFFFF is permissive.
    pub struct Lid(u16), "{}"
}
from_str_number! { Lid: u16, "LID (0 to 65535)"; }

impl Lid {
    /// The reserved LID 0, which means "none".
    pub const NONE: Self = Self::new(0);
    /// The permissive LID 0xFFFF: every port accepts a packet to it.
    pub const PERMISSIVE: Self = Self::new(0xffff);

    /// True if the LID names one port.
    #[must_use]
    pub const fn is_unicast(self) -> bool {
        matches!(self.get(), 0x0001..=0xbfff)
    }

    /// True if the LID names a multicast group.
    #[must_use]
    pub const fn is_multicast(self) -> bool {
        matches!(self.get(), 0xc000..=0xfffe)
    }

    /// Returns the base LID of the port: this LID without its path bits.
    #[must_use]
    pub const fn base(self, lmc: Lmc) -> Self {
        Self::new(self.get() & !lmc.mask())
    }

    /// Returns the path bits of this LID.
    #[must_use]
    pub const fn path_bits(self, lmc: Lmc) -> u8 {
        (self.get() & lmc.mask()).to_be_bytes()[1]
    }
}

small! {
    /// LID mask control, 3 bits: a port has 2^LMC consecutive LIDs (IBTA 4.1.3).
    Lmc(u8) 3 "{}";
}

impl Lmc {
    /// Returns the mask of the path bits in a LID.
    #[must_use]
    pub const fn mask(self) -> u16 {
        (1 << self.get()) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lid_ranges_and_path_bits() {
        assert!(Lid::new(1).is_unicast() && Lid::new(0xbfff).is_unicast() && !Lid::NONE.is_unicast());
        assert!(Lid::new(0xc000).is_multicast() && !Lid::PERMISSIVE.is_multicast());
        assert_eq!(Lid::new(0x1237).base(Lmc::of::<3>()), Lid::new(0x1230));
        assert_eq!(Lid::new(0x1237).path_bits(Lmc::of::<3>()), 7);
        assert_eq!(Lid::new(0x1237).base(Lmc::ZERO), Lid::new(0x1237));
    }

    #[test]
    fn lid_is_parsed_from_decimal_and_hex() {
        assert_eq!("0x11".parse(), Ok(Lid::new(17)));
        assert_eq!("17".parse(), Ok(Lid::new(17)));
        for bad in ["", "65536", "0x10000", "-1", "+1", "0x+1", "x"] {
            assert!(bad.parse::<Lid>().is_err(), "{bad}");
        }
    }
}
