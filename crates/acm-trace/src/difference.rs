//! The first difference between a replay and its trace.
use acm_sansio::Time;
use core::fmt;

/// The first difference between a replay and its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Time of the core's clock.
    pub time: Time,
    /// Number of the packet that was expected next, from 1, as Wireshark counts packets.
    pub frame: u64,
    /// Number of inputs and time-outs up to the difference.
    pub step: u64,
    /// The last input or time-out before the difference, as text.
    pub input: String,
    /// The recorded output, one line for each field.
    pub expected: String,
    /// The core's output, one line for each field.
    pub actual: String,
}

impl Difference {
    /// Returns the fields that differ: name, expected value, actual value. The value of a missing field is empty.
    #[must_use]
    pub fn fields(&self) -> Vec<(&str, &str, &str)> {
        let (expected, actual): (Vec<_>, Vec<_>) = (lines(&self.expected).collect(), lines(&self.actual).collect());
        let same_names = expected.len() == actual.len() && expected.iter().zip(&actual).all(|(a, b)| a.0 == b.0);
        if same_names {
            let pairs = expected.into_iter().zip(actual).filter(|(a, b)| a.1 != b.1);
            return pairs.map(|((name, expected), (_, actual))| (name, expected, actual)).collect();
        }
        let expected = expected.into_iter().map(|(name, value)| (name, value, ""));
        expected.chain(actual.into_iter().map(|(name, value)| (name, "", value))).collect()
    }
}

/// Splits each line into a name and a value.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .map(str::trim)
        .map(|line| line.split_once(' ').map_or((line, ""), |(name, value)| (name, value.trim())))
}

impl core::error::Error for Difference {}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, frame, step, input, .. } = self;
        write!(f, "differs at {time}, step {step} ({input}), packet {frame}")?;
        for (name, expected, actual) in self.fields() {
            match (expected, actual) {
                (expected, "") => write!(f, "\n  {name}: expected {expected}")?,
                ("", actual) => write!(f, "\n  {name}: actual {actual}")?,
                (expected, actual) => write!(f, "\n  {name}: expected {expected}, actual {actual}")?,
            }
        }
        Ok(())
    }
}
