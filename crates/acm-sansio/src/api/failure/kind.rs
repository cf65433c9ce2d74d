//! Kinds of failures, and counts by kind for the summary in the log.
use super::reason::Failure;
use crate::api::{SaError, Time};
use core::fmt;

/// Defines the kinds and their names.
macro_rules! kinds {
    ($($(#[$m:meta])* $kind:ident $name:literal,)*) => {
        /// A kind of failure. Failures of one kind have the same remedy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FailureKind {
            $($(#[$m])* $kind,)*
        }
        impl FailureKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Returns the name in counts.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// No peer has the address, or the peer does not receive our requests.
    NoAnswer "no answer from the peer",
    /// A peer responded that the address cannot be resolved.
    Refused "refused by the peer",
    /// The peer is in none of our multicast groups.
    NoSharedGroup "no group shared with the peer",
    /// The subnet administrator has no such path.
    NoPath "no path at the SA",
    /// The subnet administrator did not respond.
    SaSilent "SA silent",
    /// The subnet administrator responded BUSY to every attempt.
    SaBusy "SA busy",
    /// The subnet administrator refused the query, or its response is malformed.
    SaRefused "refused by the SA",
    /// The request got no turn before its deadline.
    NoTurn "no turn in time",
    /// No multicast group is joined yet.
    NoGroup "no group joined",
    /// The port is down, or the device did not send the query.
    PortDown "port down",
    /// The source of the path is not a local address.
    Source "source not ours",
    /// A limit is reached.
    Bound "bound reached",
    /// The kernel's deadline passed before the lookup ended.
    KernelDeadline "too late for the kernel",
    /// The request is invalid.
    BadRequest "bad request",
    /// The result is not cached, and the requester does not wait.
    NotYet "not known yet",
    /// A provider outside of the core returned no path.
    Provider "none from the provider",
}

impl Failure {
    /// Returns the kind of the failure.
    #[must_use]
    pub const fn kind(self) -> FailureKind {
        match self {
            Self::BadRequest(_) | Self::NotAnAddress => FailureKind::BadRequest,
            Self::NoSource | Self::NoPartition(_) | Self::NoAddress(_) | Self::NoRoute => FailureKind::Source,
            Self::NoGroup => FailureKind::NoGroup,
            Self::NoTurn | Self::Sa(SaError::NoTurn) => FailureKind::NoTurn,
            Self::NoResponse => FailureKind::NoAnswer,
            Self::PeerRefused(_) => FailureKind::Refused,
            Self::NoSharedGroup => FailureKind::NoSharedGroup,
            Self::Sa(SaError::TimedOut) => FailureKind::SaSilent,
            Self::Sa(error) if error.is_no_path() => FailureKind::NoPath,
            Self::Sa(SaError::Status(status)) if status.is_busy() => FailureKind::SaBusy,
            Self::Sa(SaError::Status(_) | SaError::BadResponse) => FailureKind::SaRefused,
            Self::EndpointClosed | Self::Sa(SaError::NotSent | SaError::Unneeded | SaError::PortDown) => {
                FailureKind::PortDown
            }
            Self::TooMany(_) => FailureKind::Bound,
            Self::NotYet => FailureKind::NotYet,
            Self::ProviderRefused(_) | Self::ProviderSilent | Self::ProviderDown | Self::ProviderGarbage => {
                FailureKind::Provider
            }
            Self::KernelDeadline => FailureKind::KernelDeadline,
        }
    }
}

/// Numbers of failed requests by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FailureCounts([u64; FailureKind::ALL.len()]);

impl FailureCounts {
    /// Returns the number of one kind.
    #[must_use]
    pub fn of(&self, kind: FailureKind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or(0)
    }

    /// Returns the sum over all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn count(&mut self, kind: FailureKind) {
        if let Some(count) = self.0.get_mut(kind as usize) {
            *count += 1;
        }
    }
}

/// Serializes the numbers in the order of [`FailureKind::ALL`]. A list of another length comes from another version.
#[cfg(feature = "serde")]
impl serde::Serialize for FailureCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0)
    }
}
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for FailureCounts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        let all = alloc::vec::Vec::<u64>::deserialize(deserializer)?;
        counts.0.iter_mut().zip(all).for_each(|(to, from)| *to = from);
        Ok(counts)
    }
}

impl fmt::Display for FailureCounts {
    /// Writes the kinds that are not zero: `3 no answer from the peer, 1 SA silent`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for kind in FailureKind::ALL {
            let count = self.of(kind);
            if count > 0 {
                write!(f, "{before}{count} {}", kind.name())?;
                before = ", ";
            }
        }
        Ok(())
    }
}

/// Failed requests since the last summary in the log.
#[derive(Debug, Default)]
pub(crate) struct FailureSummary {
    pub(crate) counts: FailureCounts,
    /// The time of the first of them.
    pub(crate) since: Time,
}

#[cfg(test)]
mod tests {
    use super::{super::reason::Bound, *};
    use acm_wire::client::ClientStatus;
    use alloc::{collections::BTreeSet, string::ToString};
    use ib_mad::{Pkey, Status};

    #[test]
    fn each_failure_has_a_kind() {
        let sa = |status| Failure::Sa(SaError::Status(Status::new(status)));
        let table = [
            (Failure::NoResponse, FailureKind::NoAnswer),
            (Failure::PeerRefused(ClientStatus::ENODATA), FailureKind::Refused),
            (Failure::NoSharedGroup, FailureKind::NoSharedGroup),
            (Failure::Sa(SaError::TimedOut), FailureKind::SaSilent),
            (sa(0x0300), FailureKind::NoPath),
            (sa(0x0500), FailureKind::NoPath),
            (sa(0x0001), FailureKind::SaBusy),
            (sa(0x0200), FailureKind::SaRefused),
            (Failure::Sa(SaError::BadResponse), FailureKind::SaRefused),
            (Failure::Sa(SaError::NoTurn), FailureKind::NoTurn),
            (Failure::NoTurn, FailureKind::NoTurn),
            (Failure::NoGroup, FailureKind::NoGroup),
            (Failure::EndpointClosed, FailureKind::PortDown),
            (Failure::Sa(SaError::PortDown), FailureKind::PortDown),
            (Failure::Sa(SaError::NotSent), FailureKind::PortDown),
            (Failure::NoSource, FailureKind::Source),
            (Failure::NoPartition(Pkey::default()), FailureKind::Source),
            (Failure::NoAddress(Pkey::default()), FailureKind::Source),
            (Failure::NoRoute, FailureKind::Source),
            (Failure::TooMany(Bound::Lookups), FailureKind::Bound),
            (Failure::KernelDeadline, FailureKind::KernelDeadline),
            (Failure::BadRequest(ClientStatus::EINVAL), FailureKind::BadRequest),
            (Failure::NotAnAddress, FailureKind::BadRequest),
            (Failure::NotYet, FailureKind::NotYet),
            (Failure::ProviderRefused(ClientStatus::ENODATA), FailureKind::Provider),
            (Failure::ProviderSilent, FailureKind::Provider),
            (Failure::ProviderDown, FailureKind::Provider),
            (Failure::ProviderGarbage, FailureKind::Provider),
        ];
        for (failure, kind) in table {
            assert_eq!(failure.kind(), kind, "{failure}");
        }
        let seen: BTreeSet<FailureKind> = table.iter().map(|(_, kind)| *kind).collect();
        assert_eq!(seen.len(), FailureKind::ALL.len());
    }

    #[test]
    fn failure_counts_list_only_kinds_that_occurred() {
        let mut counts = FailureCounts::default();
        assert_eq!((counts.to_string().as_str(), counts.total()), ("", 0));
        counts.count(FailureKind::Source);
        (0..3).for_each(|_| counts.count(FailureKind::NoAnswer));
        assert_eq!(counts.to_string(), "3 no answer from the peer, 1 source not ours");
        assert_eq!((counts.total(), counts.of(FailureKind::NoAnswer), counts.of(FailureKind::NotYet)), (4, 3, 0));
        FailureKind::ALL.into_iter().for_each(|kind| counts.count(kind));
        assert_eq!(counts.total(), 4 + FailureKind::ALL.len() as u64);
    }
}
