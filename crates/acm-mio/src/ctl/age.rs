//! Durations as people write them: `90s`, `1h30m`, `2d`.
use core::{
    fmt::{self, Display},
    str::FromStr,
    time::Duration,
};

const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)];

/// A duration in whole seconds. Its text has the two largest units: `3d4h`, `1m1s`, `59s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Age(pub(super) Duration);

impl Age {
    /// Returns the duration of a number of seconds; 0 for a number that is none.
    pub(super) fn of_seconds(seconds: f64) -> Self {
        Self(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }
}

impl Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_secs();
        let first = UNITS.iter().position(|(_, size)| rest >= *size).unwrap_or(UNITS.len() - 1);
        let mut text = String::new();
        for (unit, size) in UNITS.into_iter().skip(first).take(2) {
            let count = rest / size;
            rest %= size;
            if count > 0 || text.is_empty() {
                text += &format!("{count}{unit}");
            }
        }
        f.pad(&text)
    }
}

impl FromStr for Age {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?}: expected a time such as 90s, 10m, 1h30m or 2d");
        let (mut seconds, mut rest) = (0u64, text);
        while !rest.is_empty() {
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            let number: u64 = number.parse().map_err(|_| bad())?;
            let mut letters = after.chars();
            let unit = letters.next().unwrap_or('s');
            let (_, size) = UNITS.into_iter().find(|(letter, _)| *letter == unit).ok_or_else(bad)?;
            seconds = number.checked_mul(size).and_then(|part| seconds.checked_add(part)).ok_or_else(bad)?;
            rest = letters.as_str();
        }
        match u32::try_from(seconds) {
            Ok(_) if !text.is_empty() => Ok(Self(Duration::from_secs(seconds))),
            _ => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_two_largest_units_and_is_read_again() {
        let texts = ["0s", "59s", "1m", "59m59s", "1h", "23h59m", "1d", "3d4h"];
        let seconds = [0.0, 59.9, 60.0, 3599.0, 3600.0, 86_399.0, 86_400.0, 3.0 * 86_400.0 + 4.0 * 3600.0 + 61.0];
        assert_eq!(seconds.map(|seconds| Age::of_seconds(seconds).to_string()), texts);
        for text in texts {
            assert_eq!(text.parse::<Age>().unwrap().to_string(), text);
        }
        assert_eq!([1e300, -1.0].map(|bad| Age::of_seconds(bad).to_string()), ["0s", "0s"]);
    }

    #[test]
    fn number_without_a_unit_is_seconds_and_other_text_is_refused() {
        let seconds = |text: &str| text.parse::<Age>().map(|age| age.0.as_secs());
        assert_eq!(["90", "1h30m", "2d", "1m1"].map(seconds), [Ok(90), Ok(5400), Ok(172_800), Ok(61)]);
        for bad in ["", "m", "1x", "-1", "1.5h", "99999999999d", "4294967296"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
