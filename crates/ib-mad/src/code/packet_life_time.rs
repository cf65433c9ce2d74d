//! Packet lifetime code.
use crate::wire::small;
use core::{fmt, time::Duration};

small! {
    /// Maximum lifetime of a packet in the subnet: 4.096 us x 2^code (6 bits, IBTA 15.2.5.16).
    PacketLifeTime(u8) 6;
}

impl PacketLifeTime {
    /// Returns 4.096 us x 2^code.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "4096 ns << 63 is 2^75 ns, 2^46 s")]
    pub const fn duration(self) -> Duration {
        let nanos = 4096_u128 << self.get();
        Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32)
    }
}

impl fmt::Display for PacketLifeTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `{:?}` of `Duration` prints microseconds with a non-ASCII letter.
        let nanos = self.duration().as_nanos();
        match nanos {
            0..1_000_000 => write!(f, "{}.{:03} us", nanos / 1_000, nanos % 1_000),
            1_000_000..1_000_000_000 => write!(f, "{}.{:03} ms", nanos / 1_000_000, nanos / 1_000 % 1_000),
            _ => write!(f, "{}.{:03} s", nanos / 1_000_000_000, nanos / 1_000_000 % 1_000),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn packet_lifetime_is_an_exponent_of_two() {
        assert_eq!(PacketLifeTime::ZERO.duration(), Duration::from_nanos(4096));
        assert_eq!(PacketLifeTime::of::<18>().duration(), Duration::from_nanos(4096 << 18));
        assert_eq!(PacketLifeTime::of::<18>().to_string(), "1.073 s");
        assert_eq!(PacketLifeTime::of::<63>().duration().as_nanos(), 4096_u128 << 63);
    }
}
