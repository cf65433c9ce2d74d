//! Values that a query compares by a selector: what is more, what is best, what a path can have.
use super::{Mtu, PacketLifeTime, Rate, Selected, Selector};
use crate::wire::Bits;
use core::cmp::Ordering;

/// A value that a query compares by a [`Selector`] (IBTA 15.2.5.16).
pub trait Graded: Bits + Copy {
    /// Whether the best is the most (the largest MTU, the fastest rate) or the least (the shortest lifetime).
    const MOST_IS_BEST: bool;
    /// Its place among the others; `None` for a code without a meaning.
    fn grade(self) -> Option<u64>;
    /// Every value with a meaning.
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
    /// By speed, which the codes are not in the order of.
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
        (0..=Self::MAX.get()).filter_map(Self::new)
    }
}

impl Selector {
    /// Whether something of this grade is what is asked for. Of [`Best`](Self::Best) everything is, as far as one alone
    /// can tell.
    pub(crate) fn admits(self, own: Option<u64>, asked: Option<u64>) -> bool {
        let order = own.zip(asked).map(|(own, asked)| own.cmp(&asked));
        match self {
            Self::GreaterThan => order == Some(Ordering::Greater),
            Self::LessThan => order == Some(Ordering::Less),
            Self::Exactly => order == Some(Ordering::Equal),
            Self::Best => true,
        }
    }
}

impl<T: Graded> Selected<T> {
    /// Whether a value is what this asks for. Any is if the best is asked for: which one that is, all of them together
    /// tell.
    #[must_use]
    pub fn admits(self, own: T) -> bool {
        self.selector().admits(own.grade(), self.parts().1.grade())
    }

    /// The best value that this asks for, on a path that can have what is as good as `limit` or less good: smaller
    /// packets, slower, or with more time to live.
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
    fn an_mtu_that_the_path_carries() {
        for (asked, picked) in [
            ((GreaterThan, Mtu::B1024), Some(Mtu::B2048)),
            ((GreaterThan, Mtu::B2048), None),
            ((LessThan, Mtu::B4096), Some(Mtu::B2048)),
            ((LessThan, Mtu::B2048), Some(Mtu::B1024)),
            ((LessThan, Mtu::B256), None),
            ((Exactly, Mtu::B512), Some(Mtu::B512)),
            ((Exactly, Mtu::B4096), None),
            ((Best, Mtu::B256), Some(Mtu::B2048)),
        ] {
            assert_eq!(Selected::new(asked.0, asked.1).within(Mtu::B2048), picked, "{asked:?}");
        }
    }

    #[test]
    fn rates_go_by_speed() {
        for (asked, picked) in [
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
            assert_eq!(Selected::new(asked.0, asked.1).within(Rate::GBPS_100), picked, "{asked:?}");
        }
        assert!(Selected::new(GreaterThan, Rate::GBPS_5).admits(Rate::GBPS_10));
        assert!(!Selected::new(GreaterThan, Rate::new(0)).admits(Rate::GBPS_10), "a code without a speed");
    }

    #[test]
    fn of_lifetimes_the_shortest_is_best() {
        let life = PacketLifeTime::masked;
        for (asked, picked) in [
            ((GreaterThan, life(18)), Some(life(19))),
            ((GreaterThan, life(17)), Some(life(18))),
            ((GreaterThan, life(63)), None),
            ((LessThan, life(18)), None),
            ((LessThan, life(19)), Some(life(18))),
            ((Exactly, life(20)), Some(life(20))),
            ((Exactly, life(17)), None),
            ((Best, life(0)), Some(life(18))),
        ] {
            assert_eq!(Selected::new(asked.0, asked.1).within(life(18)), picked, "{asked:?}");
        }
    }
}
