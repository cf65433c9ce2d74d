//! Attempts of a failed request.
use super::reason::Failure;
use core::{fmt, time::Duration};
use ib_mad::{Gid, Lid};

/// A failed request: why it failed, and what was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// Why it fails.
    pub failure: Failure,
    /// The attempts.
    #[cfg_attr(feature = "serde", serde(rename = "tried"))]
    pub details: AttemptDetails,
}

impl From<Failure> for Attempt {
    /// Creates a failure without any attempts.
    fn from(failure: Failure) -> Self {
        Self { failure, details: AttemptDetails::default() }
    }
}

/// The attempts of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AttemptDetails {
    /// The multicast request, or the wait for its turn.
    pub group: Option<MulticastAttempt>,
    /// The peer was found at this LID.
    pub found: Option<Lid>,
    /// The query to the subnet administrator.
    pub sa: Option<SaAttempt>,
    /// The time until the next attempt, if the failure comes from the cache.
    #[cfg_attr(feature = "serde", serde(rename = "again_in"))]
    pub retry_in: Option<Duration>,
}

/// A multicast request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MulticastAttempt {
    /// The MGID of the base group. The request may have been sent to one host that claims the address instead.
    pub mgid: Gid,
    /// Number of times that it was sent; 0 while it waits for its turn.
    pub times: u32,
    /// Time since it was first sent, or since it began to wait for its turn.
    pub time: Duration,
}

/// A query to the subnet administrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SaAttempt {
    /// The LID of the subnet administrator at the time of the failure.
    pub lid: Lid,
    /// Duration of the query, including the wait for its turn.
    pub time: Duration,
}

/// A duration in readable form: `6.1 s`, `12 ms`.
pub(crate) struct Took(pub(crate) Duration);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            millis @ ..1000 => write!(f, "{millis} ms"),
            millis => write!(f, "{}.{} s", millis / 1000, millis / 100 % 10),
        }
    }
}

impl fmt::Display for MulticastAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mgid, time) = (self.mgid, Took(self.time));
        match self.times {
            0 => write!(f, "waited {time} for a turn to ask group {mgid}"),
            1 => write!(f, "asked group {mgid} once in {time}"),
            times => write!(f, "asked group {mgid} {times} times in {time}"),
        }
    }
}

impl fmt::Display for AttemptDetails {
    /// Writes a clause for each attempt, each after `; `. Writes nothing if nothing was tried.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(group) = &self.group {
            write!(f, "; {group}")?;
        }
        if let Some(lid) = self.found {
            write!(f, "; found at LID {lid}")?;
        }
        if let Some(SaAttempt { lid, time }) = self.sa {
            write!(f, "; asked the SA at LID {lid} for {}", Took(time))?;
        }
        match self.retry_in {
            Some(time) => write!(f, "; tried before, and not again for {} (negative_timeout)", Took(time)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn group(times: u32, millis: u64) -> Option<MulticastAttempt> {
        let mgid = "ff12:a01b::1".parse().unwrap();
        Some(MulticastAttempt { mgid, times, time: Duration::from_millis(millis) })
    }

    #[test]
    fn attempt_details_have_a_readable_text() {
        let none = AttemptDetails::default();
        let sa = Some(SaAttempt { lid: Lid::new(1), time: Duration::from_millis(6000) });
        let table = [
            (none, ""),
            (AttemptDetails { group: group(3, 6149), ..none }, "; asked group ff12:a01b::1 3 times in 6.1 s"),
            (AttemptDetails { group: group(1, 999), ..none }, "; asked group ff12:a01b::1 once in 999 ms"),
            (
                AttemptDetails { group: group(0, 60_000), ..none },
                "; waited 60.0 s for a turn to ask group ff12:a01b::1",
            ),
            (
                AttemptDetails { found: Some(Lid::new(4)), sa, ..none },
                "; found at LID 4; asked the SA at LID 1 for 6.0 s",
            ),
            (
                AttemptDetails { sa, retry_in: Some(Duration::from_millis(400)), ..none },
                "; asked the SA at LID 1 for 6.0 s; tried before, and not again for 400 ms (negative_timeout)",
            ),
        ];
        for (tried, text) in table {
            assert_eq!(tried.to_string(), text);
        }
    }
}
