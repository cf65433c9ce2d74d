//! Times as exponents of two.
use crate::id::small;
use core::time::Duration;

small! {
    /// A time of 4.096 us x 2^code, 5 bits: time to answer, to live in a switch, between traps (IBTA 13.4.6.2.1).
    TimeCode(u8) 5 "{}";
}

impl TimeCode {
    /// The time.
    #[must_use]
    pub const fn duration(self) -> Duration {
        // At most 4096 ns << 31: 2.5 hours.
        Duration::from_nanos(4096 << self.get())
    }
}

small! {
    /// How long a packet may wait at the head of a switch's queue, 5 bits: 4.096 us x 2^code (IBTA 14.2.5.6).
    HoqLife(u8) 5 "{}";
}

impl HoqLife {
    /// The time; `None` if packets may wait forever (codes over 19).
    #[must_use]
    pub const fn duration(self) -> Option<Duration> {
        match self.get() {
            code @ 0..=19 => Some(Duration::from_nanos(4096 << code)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(TimeCode::of::<18>().duration(), Duration::from_nanos(1_073_741_824));
        assert_eq!(TimeCode::of::<31>().duration(), Duration::from_nanos(4096 << 31));
        assert_eq!(HoqLife::of::<19>().duration(), Some(Duration::from_nanos(4096 << 19)));
        assert_eq!(HoqLife::of::<20>().duration(), None);
    }
}
