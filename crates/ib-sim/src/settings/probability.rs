//! Probabilities.
use core::{fmt, str::FromStr};

/// A probability in millionths. Integers give equal results on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Probability(u32);

impl Probability {
    /// Never: 0 millionths.
    pub const NEVER: Self = Self(0);
    /// Always: a million millionths.
    pub const ALWAYS: Self = Self(1_000_000);

    /// Creates a probability from millionths. A value over one million is `ALWAYS`.
    #[must_use]
    pub const fn per_million(value: u32) -> Self {
        Self(if value > 1_000_000 { 1_000_000 } else { value })
    }
    /// Creates a probability from percent. A value over 100 is `ALWAYS`.
    #[must_use]
    pub const fn percent(value: u32) -> Self {
        Self::per_million(value.saturating_mul(10_000))
    }
    /// Returns the value in millionths, 0..=1_000_000.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
    /// Returns true with this probability. For a probability of 0 or 1, the random sequence does not advance.
    pub(crate) const fn happens(self, rng: &mut crate::rng::Rng) -> bool {
        match self.0 {
            0 => false,
            1_000_000 => true,
            _ => rng.below(1_000_000) < self.0 as u64,
        }
    }
}

/// The error of a text that is not a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a probability (0 to 1, or 0% to 100%)")]
pub struct ParseProbabilityError;

impl FromStr for Probability {
    type Err = ParseProbabilityError;
    /// Parses `0.3` or `30%`. Digits after the sixth (fourth with `%`) are ignored.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, places) = text.strip_suffix('%').map_or((text, 6), |number| (number, 4));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 3 || !digits(whole) || !digits(fraction) {
            return Err(ParseProbabilityError);
        }
        let value = fraction
            .bytes()
            .chain(core::iter::repeat(b'0'))
            .take(places)
            .try_fold(whole.parse::<u32>().map_err(|_| ParseProbabilityError)?, |value, digit| {
                value.checked_mul(10)?.checked_add(u32::from(digit - b'0'))
            })
            .filter(|value| *value <= 1_000_000)
            .ok_or(ParseProbabilityError)?;
        Ok(Self(value))
    }
}
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:04}%", self.0 / 10_000, self.0 % 10_000)
    }
}
impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use alloc::string::ToString;

    #[test]
    fn text_is_parsed_and_written_as_a_fraction_or_percent() {
        for (text, millionths) in [("0", 0), ("0.3", 300_000), ("30%", 300_000), ("1", 1_000_000), ("0.1%", 1_000)] {
            let value: Probability = text.parse().unwrap();
            assert_eq!(value, Probability::per_million(millionths), "{text}");
            assert_eq!(value.to_string().parse(), Ok(value), "{text}");
        }
        for bad in ["", "1.1", "101%", "-1", "x", "1e3", ".5", "4294967296", "0.3 "] {
            assert!(bad.parse::<Probability>().is_err(), "{bad}");
        }
    }

    #[test]
    fn event_happens_as_often_as_its_probability() {
        let mut rng = Rng::new(7);
        let hits = (0..100_000).filter(|_| Probability::percent(30).happens(&mut rng)).count();
        assert!((29_000..31_000).contains(&hits), "{hits}");
        assert!(Probability::ALWAYS.happens(&mut rng) && !Probability::NEVER.happens(&mut rng));
    }
}
