//! Unpredictable random numbers, derived from the caller's seed.
use core::hash::Hasher;
use siphasher::sip::SipHasher24;

/// The source of every random number of a core: 128 bits that must be secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed([u8; 16]);

impl Seed {
    /// Creates a seed from the system's randomness.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, for a trace. They reveal every random number of the core.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

/// Creates a seed from a small number, for reproducible simulations.
impl From<u64> for Seed {
    fn from(number: u64) -> Self {
        Self(u128::from(number).to_be_bytes())
    }
}

impl core::fmt::Debug for Seed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// The purpose of a random number. Numbers of one purpose reveal nothing about those of another; transaction ids are
/// visible to every receiver of a datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Transaction ids, which peers see.
    TransactionIds = 1,
    /// Pauses that differ between nodes.
    Jitter = 2,
    /// Hash seeds of maps, so that no remote host can choose colliding keys.
    Maps = 3,
    /// Expiry times of cache entries.
    Expiry = 4,
    /// The hash seed of the map by GID.
    MapOfGids = 5,
    /// Pauses between confirmations of paths.
    Confirmations = 6,
    /// Times of what a node repeats at regular intervals.
    Intervals = 7,
}

/// A sequence of random numbers: SipHash-2-4 of a counter, with one key per purpose.
#[derive(Clone)]
pub(crate) struct Random {
    hasher: SipHasher24,
    counter: u64,
}

impl core::fmt::Debug for Random {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Random").field("counter", &self.counter).finish_non_exhaustive()
    }
}

impl Random {
    pub(crate) fn new(seed: Seed, purpose: Purpose) -> Self {
        let seeded = SipHasher24::new_with_key(&seed.0);
        let half = |half: u8| {
            let mut hasher = seeded;
            hasher.write_u8(purpose as u8);
            hasher.write_u8(half);
            hasher.finish()
        };
        Self { hasher: SipHasher24::new_with_keys(half(0), half(1)), counter: 0 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let mut hasher = self.hasher;
        hasher.write_u64(self.counter);
        self.counter = self.counter.wrapping_add(1);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, format};

    #[test]
    fn purposes_and_seeds_have_different_numbers() {
        let purposes = [Purpose::TransactionIds, Purpose::Jitter, Purpose::Maps, Purpose::Expiry];
        let numbers: BTreeSet<u64> = (0..50)
            .flat_map(|seed: u64| purposes.map(|purpose| Random::new(seed.into(), purpose)))
            .flat_map(|mut random| [random.next(), random.next(), random.next()])
            .collect();
        assert_eq!(numbers.len(), 50 * 4 * 3);
        let [mut a, mut b] = [(); 2].map(|()| Random::new(Seed::new([7; 16]), Purpose::Jitter));
        assert_eq!([a.next(), a.next()], [b.next(), b.next()]);
    }

    #[test]
    fn seed_is_not_displayed() {
        assert_eq!(format!("{:?}", Seed::from(77)), "Seed(..)");
        assert_eq!(format!("{:?}", Random::new(Seed::from(77), Purpose::Jitter)), "Random { counter: 0, .. }");
    }
}
