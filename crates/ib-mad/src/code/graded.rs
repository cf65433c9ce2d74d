//! Comparison by a selector: the order of values, and the best value that a path permits.
use super::{Mtu, PacketLifeTime, Rate, Selected, Selector};
use crate::wire::Bits;
use core::cmp::Ordering;

/// A value that a query compares by a [`Selector`] (IBTA 15.2.5.16).
pub trait Graded: Bits + Copy {
    /// True if the largest value is the best (MTU, rate); false if the smallest is (lifetime).
    const MOST_IS_BEST: bool;
    /// Returns the rank of the value; `None` for an undefined code.
    fn grade(self) -> Option<u64>;
    /// Returns every defined value.
    fn values() -> impl Iterator<Item = Self>;
}

impl Graded for Mtu {
    const MOST_IS_BEST: bool = true;
    fn grade(self) -> Option<u64> {
        Some(self.get().into())
    }
    fn values() -> impl Iterator<Item = Self> {
        Self::KNOWN.iter().map(|(mtu, _)| *mtu)
    }
}
impl Graded for Rate {
    const MOST_IS_BEST: bool = true;
    /// Ranks by speed; the codes are not in the order of speed.
    fn grade(self) -> Option<u64> {
        self.mbps().map(u64::from)
    }
    fn values() -> impl Iterator<Item = Self> {
        Self::KNOWN.iter().map(|(rate, _)| *rate)
    }
}
impl Graded for PacketLifeTime {
    const MOST_IS_BEST: bool = false;
    fn grade(self) -> Option<u64> {
        Some(self.get().into())
    }
    fn values() -> impl Iterator<Item = Self> {
        (0..=Self::MAX.get()).filter_map(Self::checked)
    }
}

impl Selector {
    /// True if the rank `own` compares with the rank `requested` as the selector requires. [`Best`](Self::Best) admits
    /// every value; the caller chooses the best one.
    pub(crate) fn admits(self, own: Option<u64>, requested: Option<u64>) -> bool {
        let order = own.zip(requested).map(|(own, requested)| own.cmp(&requested));
        match self {
            Self::GreaterThan => order == Some(Ordering::Greater),
            Self::LessThan => order == Some(Ordering::Less),
            Self::Exactly => order == Some(Ordering::Equal),
            Self::Best => true,
        }
    }
}

impl<T: Graded> Selected<T> {
    /// True if `own` compares with the requested value as the selector requires. [`Selector::Best`] admits every value:
    /// to find the best record, compare all records.
    #[must_use]
    pub fn admits(self, own: T) -> bool {
        self.selector().admits(own.grade(), self.parts().1.grade())
    }

    /// Returns the best value that satisfies the selector and that a path with this `limit` permits. The path permits
    /// `limit` and every worse value: a smaller MTU, a lower rate, a longer lifetime.
    ///
    /// ```
    /// use ib_mad::{Mtu, Selected, Selector};
    /// assert_eq!(Selected::new(Selector::LessThan, Mtu::B2048).within(Mtu::B4096), Some(Mtu::B1024));
    /// assert_eq!(Selected::new(Selector::GreaterThan, Mtu::B2048).within(Mtu::B2048), None);
    /// ```
    #[must_use]
    pub fn within(self, limit: T) -> Option<T> {
        let bound = limit.grade();
        let can_have = |own: &T| match own.grade().zip(bound) {
            Some((own, bound)) if T::MOST_IS_BEST => own <= bound,
            Some((own, bound)) => own >= bound,
            None => false,
        };
        match self.selector() {
            Selector::Best => Some(limit),
            Selector::Exactly => Some(self.parts().1).filter(can_have),
            _ if self.admits(limit) => Some(limit),
            _ => {
                let fitting = T::values().filter(can_have).filter(|own| self.admits(*own));
                if T::MOST_IS_BEST {
                    fitting.max_by_key(|own| own.grade())
                } else {
                    fitting.min_by_key(|own| own.grade())
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Selector::{Best, Exactly, GreaterThan, LessThan};

    #[test]
    fn within_picks_an_mtu_that_the_path_carries() {
        for (requested, picked) in [
            ((GreaterThan, Mtu::B1024), Some(Mtu::B2048)),
            ((GreaterThan, Mtu::B2048), None),
            ((LessThan, Mtu::B4096), Some(Mtu::B2048)),
            ((LessThan, Mtu::B2048), Some(Mtu::B1024)),
            ((LessThan, Mtu::B256), None),
            ((Exactly, Mtu::B512), Some(Mtu::B512)),
            ((Exactly, Mtu::B4096), None),
            ((Best, Mtu::B256), Some(Mtu::B2048)),
        ] {
            assert_eq!(Selected::new(requested.0, requested.1).within(Mtu::B2048), picked, "{requested:?}");
        }
    }

    #[test]
    fn within_compares_rates_by_speed() {
        for (requested, picked) in [
            ((GreaterThan, Rate::GBPS_56), Some(Rate::GBPS_100)),
            ((GreaterThan, Rate::GBPS_120), None),
            // 80 Gb/s has code 9 and 100 Gb/s code 16, but 5 Gb/s has code 5 and 10 Gb/s code 3.
            ((LessThan, Rate::GBPS_10), Some(Rate::GBPS_5)),
            ((LessThan, Rate::GBPS_2_5), None),
            ((LessThan, Rate::GBPS_200), Some(Rate::GBPS_100)),
            ((Exactly, Rate::GBPS_40), Some(Rate::GBPS_40)),
            ((Exactly, Rate::GBPS_200), None),
            ((Best, Rate::new(0)), Some(Rate::GBPS_100)),
            ((Exactly, Rate::new(0)), None),
        ] {
            assert_eq!(Selected::new(requested.0, requested.1).within(Rate::GBPS_100), picked, "{requested:?}");
        }
        assert!(Selected::new(GreaterThan, Rate::GBPS_5).admits(Rate::GBPS_10));
        assert!(!Selected::new(GreaterThan, Rate::new(0)).admits(Rate::GBPS_10), "a code without a speed");
    }

    #[test]
    fn within_picks_the_shortest_lifetime() {
        let life = PacketLifeTime::masked;
        for (requested, picked) in [
            ((GreaterThan, life(18)), Some(life(19))),
            ((GreaterThan, life(17)), Some(life(18))),
            ((GreaterThan, life(63)), None),
            ((LessThan, life(18)), None),
            ((LessThan, life(19)), Some(life(18))),
            ((Exactly, life(20)), Some(life(20))),
            ((Exactly, life(17)), None),
            ((Best, life(0)), Some(life(18))),
        ] {
            assert_eq!(Selected::new(requested.0, requested.1).within(life(18)), picked, "{requested:?}");
        }
    }
}
