//! An estimate of the number of ports of the fabric, by which pauses and spreads are scaled.
use ib_mad::{Lid, id::Lmc};

/// The largest port number that the known LIDs imply. A subnet manager assigns LIDs without large gaps, and hardware
/// sets the source LID of a datagram, so that a remote host cannot forge it. The estimate never falls: a value that is
/// too high only makes pauses longer. Switches have LIDs, too, and are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FabricSize(u16);

impl FabricSize {
    /// Records a LID of the fabric. All ports have the same LMC, and each port has 2^LMC LIDs.
    pub(crate) fn saw(&mut self, lid: Lid, lmc: Lmc) {
        if lid.is_unicast() {
            self.0 = self.0.max(lid.get() >> lmc.get());
        }
    }

    /// Returns the number of ports, at least 1.
    pub(crate) fn ports(self) -> u32 {
        u32::from(self.0).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_unicast_lid_without_its_path_bits_is_the_number_of_ports() {
        let mut size = FabricSize::default();
        let mut after = |lid, lmc| {
            size.saw(Lid::new(lid), Lmc::checked(lmc).unwrap());
            size.ports()
        };
        let sizes = [after(0, 0), after(40, 0), after(8, 0), after(0xc000, 0), after(0xffff, 0), after(803, 3)];
        assert_eq!(sizes, [1, 40, 40, 40, 40, 100]);
        assert_eq!(after(0xbfff, 0), 49_151);
    }
}
