//! Advice for the administrator about each failure.
use super::{
    kind::FailureKind,
    reason::{Bound, Failure},
};
use crate::api::SaError;

impl Failure {
    /// Returns advice for the administrator, as a clause.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::BadRequest(_) => "that program asks for what cannot be asked",
            Self::NoSource => "ask from an address that is served, or have it served: ib_acme -e, the address file",
            Self::NoPartition(_) => "ask for a partition of this node, or change the partitions of the subnet manager",
            Self::NoAddress(_) => "add an address in that partition to the address file",
            Self::NoRoute => "give a source (ib_acme -s), or look at: ip route get, ip link",
            Self::NotAnAddress => "ask for it as a path (ib_acme -f g, ib_acme -f l)",
            Self::NoGroup => "\"join failed\" in this log says why",
            Self::NoTurn => "many lookups for what nobody has wait before it: resolve_depth, lookup_share",
            Self::NoResponse => "is its node up, and does a daemon in the same partition serve it (ib_acme -e)?",
            Self::PeerRefused(_) => "the log of that node says why",
            Self::NoSharedGroup => "min_mtu, min_rate and partitions must fit on both nodes",
            Self::Sa(error) => sa_advice(self, error),
            Self::EndpointClosed => "is the port up (ibstat), and still in that partition?",
            Self::TooMany(Bound::Destinations) => "who asks for so much? acmctl status --all",
            Self::TooMany(_) => "raise it, or look who asks for so much: acmctl status --all",
            Self::ProviderRefused(_) | Self::ProviderGarbage => {
                "what the provider's library does is its own: its documents"
            }
            Self::ProviderSilent => "is its peer up? Its library gave no answer in time",
            Self::ProviderDown => "this log says since when, and in which call",
            Self::NotYet => "it is being looked up: ask again, or without NODELAY (ib_acme without -c)",
            Self::KernelDeadline => "it is still looked up; the kernel asks subnet administration itself",
        }
    }
}

const fn sa_advice(failure: Failure, error: SaError) -> &'static str {
    match error {
        SaError::TimedOut => "does the subnet manager run and answer (sminfo, saquery)?",
        SaError::NotSent => "does the device work (ibstat, acmctl check)?",
        SaError::NoTurn => "subnet administration is too slow for what is asked: sa_depth",
        SaError::Unneeded => "ask again",
        SaError::BadResponse => "a fault of the subnet manager, or somebody forges",
        SaError::PortDown => "is the port up (ibstat)?",
        SaError::Status(_) => match failure.kind() {
            FailureKind::NoPath => "ask the subnet manager: saquery -p, its partitions and its log",
            FailureKind::SaBusy => "too many nodes ask it at once: preload files, or route_prot acm",
            _ => "the subnet manager's log says why",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec::Vec};
    use ib_mad::{Pkey, Status};

    #[test]
    fn each_failure_has_its_own_advice() {
        let status = |status| Failure::Sa(SaError::Status(status));
        let all = [
            Failure::NoSource,
            Failure::NoPartition(Pkey::default()),
            Failure::NoAddress(Pkey::default()),
            Failure::NoRoute,
            Failure::NoGroup,
            Failure::NoTurn,
            Failure::NoResponse,
            Failure::NoSharedGroup,
            Failure::Sa(SaError::TimedOut),
            Failure::Sa(SaError::NotSent),
            Failure::Sa(SaError::NoTurn),
            Failure::Sa(SaError::PortDown),
            status(Status::SA_NO_RECORDS),
            status(Status::BUSY),
            status(Status::SA_REQUEST_INVALID),
            Failure::EndpointClosed,
            Failure::TooMany(Bound::Requests),
            Failure::TooMany(Bound::Destinations),
            Failure::NotYet,
            Failure::KernelDeadline,
        ];
        let different: BTreeSet<&str> = all.iter().map(|failure| failure.advice()).collect();
        assert_eq!(different.len(), all.len(), "{:?}", different.into_iter().collect::<Vec<_>>());
    }
}
