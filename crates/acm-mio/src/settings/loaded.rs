//! Providers that were loaded, as lines of the options call them.
use acm_sansio::api::ProviderId;

/// What a line calls a provider that there is none of: its subnets are nobody's.
pub(crate) const NOBODY: &str = "none";

/// A provider that was loaded when the daemon began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) id: ProviderId,
    /// What it calls itself.
    pub(crate) name: String,
    /// What lines of the options call it.
    pub(crate) names: Vec<String>,
}

impl Known {
    /// Whether a line means it.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}
