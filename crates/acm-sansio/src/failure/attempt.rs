//! What was tried for a request that fails.
use super::why::Failure;
use core::{fmt, time::Duration};
use ib_mad::{Gid, Lid};

/// A request that fails: why, and what was tried for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// Why it fails.
    pub failure: Failure,
    /// What was tried.
    pub tried: Tried,
}

impl From<Failure> for Attempt {
    /// A failure for which nothing was tried.
    fn from(failure: Failure) -> Self {
        Self { failure, tried: Tried::default() }
    }
}

/// What was tried for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tried {
    /// The group was asked, or it was waited for a turn to ask it.
    pub group: Option<GroupAsked>,
    /// The peer was found at this LID.
    pub found: Option<Lid>,
    /// Subnet administration was asked.
    pub sa: Option<SaAsked>,
    /// All of this was for somebody who asked before, and is not tried again for so long.
    pub again_in: Option<Duration>,
}

/// How a group was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupAsked {
    /// The MGID of the group that the question was sent to.
    pub mgid: Gid,
    /// How often; 0 while the lookup waits for its turn.
    pub times: u32,
    /// How long it took, or is taking: since it was asked first, or since it waits.
    pub time: Duration,
}

/// How subnet administration was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SaAsked {
    /// At this LID.
    pub lid: Lid,
    /// How long it took, the wait for a turn included.
    pub time: Duration,
}

/// A time as people read it: `6.1 s`, `12 ms`.
pub(crate) struct Took(pub(crate) Duration);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            millis @ ..1000 => write!(f, "{millis} ms"),
            millis => write!(f, "{}.{} s", millis / 1000, millis / 100 % 10),
        }
    }
}

impl fmt::Display for GroupAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mgid, time) = (self.mgid, Took(self.time));
        match self.times {
            0 => write!(f, "waited {time} for a turn to ask group {mgid}"),
            1 => write!(f, "asked group {mgid} once in {time}"),
            times => write!(f, "asked group {mgid} {times} times in {time}"),
        }
    }
}

impl fmt::Display for Tried {
    /// A clause for each thing, each after `; `: nothing if nothing was tried.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(group) = &self.group {
            write!(f, "; {group}")?;
        }
        if let Some(lid) = self.found {
            write!(f, "; found at LID {lid}")?;
        }
        if let Some(SaAsked { lid, time }) = self.sa {
            write!(f, "; asked the SA at LID {lid} for {}", Took(time))?;
        }
        match self.again_in {
            Some(time) => write!(f, "; tried before, and not again for {} (negative_timeout)", Took(time)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn group(times: u32, millis: u64) -> Option<GroupAsked> {
        let mgid = "ff12:a01b::1".parse().unwrap();
        Some(GroupAsked { mgid, times, time: Duration::from_millis(millis) })
    }

    #[test]
    fn what_was_tried_in_words() {
        let none = Tried::default();
        let sa = Some(SaAsked { lid: Lid::new(1), time: Duration::from_millis(6000) });
        let table = [
            (none, ""),
            (Tried { group: group(3, 6149), ..none }, "; asked group ff12:a01b::1 3 times in 6.1 s"),
            (Tried { group: group(1, 999), ..none }, "; asked group ff12:a01b::1 once in 999 ms"),
            (Tried { group: group(0, 60_000), ..none }, "; waited 60.0 s for a turn to ask group ff12:a01b::1"),
            (Tried { found: Some(Lid::new(4)), sa, ..none }, "; found at LID 4; asked the SA at LID 1 for 6.0 s"),
            (
                Tried { sa, again_in: Some(Duration::from_millis(400)), ..none },
                "; asked the SA at LID 1 for 6.0 s; tried before, and not again for 400 ms (negative_timeout)",
            ),
        ];
        for (tried, text) in table {
            assert_eq!(tried.to_string(), text);
        }
    }
}
