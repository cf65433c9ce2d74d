//! Times as exponents of two.
use crate::wire::small;
use core::time::Duration;

small! {
    /// A time of 4.096 us x 2^code, 5 bits: response times, lifetimes in switches, intervals of traps (IBTA
    /// 13.4.6.2.1).
    TimeCode(u8) 5 "{}";
}

impl TimeCode {
    /// Returns the time.
    #[must_use]
    pub const fn duration(self) -> Duration {
        // The maximum is 4096 ns << 31, which is 2.4 hours.
        Duration::from_nanos(4096 << self.get())
    }
}

small! {
    /// Maximum time of a packet at the head of a switch's queue, 5 bits: 4.096 us x 2^code (IBTA 14.2.5.6).
    HoqLife(u8) 5 "{}";
}

impl HoqLife {
    /// Returns the time; `None` if packets may wait forever (codes over 19).
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
    fn time_codes_are_exponents_of_two() {
        assert_eq!(TimeCode::of::<18>().duration(), Duration::from_nanos(1_073_741_824));
        assert_eq!(TimeCode::of::<31>().duration(), Duration::from_nanos(4096 << 31));
        assert_eq!(HoqLife::of::<19>().duration(), Some(Duration::from_nanos(4096 << 19)));
        assert_eq!(HoqLife::of::<20>().duration(), None);
    }
}
