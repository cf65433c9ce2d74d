//! Where a replay differs from its trace.
use acm_sansio::Time;
use core::fmt;

/// Where a replay differs from its trace: the first place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The core's time.
    pub time: Time,
    /// The packet that was expected to be next, as Wireshark counts them, from 1.
    pub frame: u64,
    /// How many things the core was told up to there, from 1.
    pub step: u64,
    /// The last of them.
    pub told: String,
    /// What was recorded, a line for each field.
    pub expected: String,
    /// What the core wants now, a line for each field.
    pub actual: String,
}

impl Difference {
    /// The fields that differ: their names, what was expected, what there is. Lines that stand in one of both alone have
    /// nothing at the other side.
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

/// Lines as names and values.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .map(str::trim)
        .map(|line| line.split_once(' ').map_or((line, ""), |(name, value)| (name, value.trim())))
}

impl core::error::Error for Difference {}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, frame, step, told, .. } = self;
        write!(f, "differs at {time}, step {step} ({told}), packet {frame}")?;
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
