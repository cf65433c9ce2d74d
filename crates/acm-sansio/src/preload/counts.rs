//! What is counted while a table is filled.

/// What was counted while a table of routes was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RouteCounts {
    /// Ports that were named.
    pub ports: usize,
    /// Ports that were named with the LID of another: the first one counts.
    pub duplicate_lids: usize,
    /// Sections that were there before with the same port and LID, or were too many; left out.
    pub sections_left_out: usize,
    /// Destinations of all sections that can be reached.
    pub routes: usize,
    /// Of these, LIDs whose port was not named, so that they have no GID. With an LMC that the file does not say, all
    /// LIDs but the first of each port.
    pub nameless: usize,
}
