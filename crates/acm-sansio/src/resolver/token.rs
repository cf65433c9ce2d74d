//! Operations of the built-in provider, and their tokens.
pub use crate::api::id::DestId;
use crate::api::id::{EndpointId, PortId, ProviderId, Token};

/// The operation of a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A lookup, which requests wait for. As a timer: the end of the pause before its multicast request, of the time in
    /// which the request gets its turn, or of the time for a response. The same holds for the request that checks the
    /// location of a path in use.
    Lookup(DestId),
    /// The end of the time in which the response to a multicast request is likely.
    Credit(DestId),
    /// The path query of a destination.
    Route(DestId),
    /// The join of an endpoint's group, by the group's index.
    Group(EndpointId, u32),
    /// The next joins of all groups of an endpoint that is in them.
    Rejoin(EndpointId),
    /// The next witness of an endpoint.
    Witness(EndpointId),
    /// The next slice of the sweep.
    Sweep,
    /// The next slice of destinations at stale GIDs.
    StaleGids,
    /// The expiry of the oldest cached failure.
    Negatives,
    /// The renewal query of a destination.
    Renew(DestId),
    /// The next renewal of a port.
    Renewals(PortId),
    /// The announcement of an endpoint.
    Announce(EndpointId),
    /// The table of all paths of an endpoint. As a timer: its next query, or the next lookups that it completes.
    Prefetch(EndpointId),
    /// The query for the capabilities of an endpoint's subnet administrator.
    Capabilities(EndpointId),
    /// The path query of an endpoint for a comparison. As a timer: its beginning.
    Compare(EndpointId),
    /// The next confirmation of a path in use.
    Confirm,
}

const LOOKUP: u32 = 1;
const CREDIT: u32 = 2;
const ROUTE: u32 = 3;
const SWEEP: u32 = 4;
const NEGATIVES: u32 = 5;
const RENEW: u32 = 6;
const RENEWALS: u32 = 7;
const ANNOUNCE: u32 = 8;
const STALE_GIDS: u32 = 9;
const COMPARE: u32 = 10;
const PREFETCH: u32 = 11;
const CAPABILITIES: u32 = 12;
const CONFIRM: u32 = 13;
const REJOIN: u32 = 14;
const WITNESS: u32 = 15;
/// The first kind of groups; the group's index is added.
const GROUP: u32 = 16;

impl Task {
    pub(crate) const fn token(self) -> Token {
        let (kind, index, generation) = match self {
            Self::Lookup(id) => (LOOKUP, id.index(), id.generation()),
            Self::Credit(id) => (CREDIT, id.index(), id.generation()),
            Self::Route(id) => (ROUTE, id.index(), id.generation()),
            Self::Group(id, index) => (GROUP + index, id.index(), id.generation()),
            Self::Rejoin(id) => (REJOIN, id.index(), id.generation()),
            Self::Witness(id) => (WITNESS, id.index(), id.generation()),
            Self::Sweep => (SWEEP, 0, 0),
            Self::StaleGids => (STALE_GIDS, 0, 0),
            Self::Confirm => (CONFIRM, 0, 0),
            Self::Negatives => (NEGATIVES, 0, 0),
            Self::Renew(id) => (RENEW, id.index(), id.generation()),
            Self::Renewals(port) => (RENEWALS, port.0, 0),
            Self::Announce(id) => (ANNOUNCE, id.index(), id.generation()),
            Self::Prefetch(id) => (PREFETCH, id.index(), id.generation()),
            Self::Capabilities(id) => (CAPABILITIES, id.index(), id.generation()),
            Self::Compare(id) => (COMPARE, id.index(), id.generation()),
        };
        Token { provider: ProviderId::BUILT_IN, kind, index, generation }
    }

    pub(crate) const fn of(token: Token) -> Self {
        let dest = DestId::new(token.index, token.generation);
        match token.kind {
            LOOKUP => Self::Lookup(dest),
            CREDIT => Self::Credit(dest),
            ROUTE => Self::Route(dest),
            REJOIN => Self::Rejoin(EndpointId::new(token.index, token.generation)),
            WITNESS => Self::Witness(EndpointId::new(token.index, token.generation)),
            SWEEP => Self::Sweep,
            STALE_GIDS => Self::StaleGids,
            CONFIRM => Self::Confirm,
            NEGATIVES => Self::Negatives,
            RENEW => Self::Renew(dest),
            RENEWALS => Self::Renewals(PortId(token.index)),
            ANNOUNCE => Self::Announce(EndpointId::new(token.index, token.generation)),
            PREFETCH => Self::Prefetch(EndpointId::new(token.index, token.generation)),
            CAPABILITIES => Self::Capabilities(EndpointId::new(token.index, token.generation)),
            COMPARE => Self::Compare(EndpointId::new(token.index, token.generation)),
            group => {
                debug_assert!(group >= GROUP, "a task that has no arm here");
                Self::Group(EndpointId::new(token.index, token.generation), group.saturating_sub(GROUP))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_trip() {
        let (dest, endpoint) = (DestId::new(3, 9), EndpointId::new(2, 7));
        for task in [
            Task::Lookup(dest),
            Task::Credit(dest),
            Task::Route(dest),
            Task::Group(endpoint, 1),
            Task::Group(endpoint, 0),
            Task::Rejoin(endpoint),
            Task::Witness(endpoint),
            Task::Sweep,
            Task::StaleGids,
            Task::Negatives,
            Task::Renew(dest),
            Task::Renewals(PortId(3)),
            Task::Announce(endpoint),
            Task::Prefetch(endpoint),
            Task::Capabilities(endpoint),
            Task::Compare(endpoint),
            Task::Confirm,
        ] {
            assert_eq!(Task::of(task.token()), task);
        }
    }
}
