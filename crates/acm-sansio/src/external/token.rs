//! Ids of the adapter's operations, and their mapping to ids of the API.
use crate::api::{
    CallId, ExternalRequestId, ExternalSaId,
    id::{PortId, ProviderId, Token, handle},
};

handle! {
    /// A request to the provider.
    pub(super) PendingRequestId "ask";
    /// A call to the provider.
    pub(super) PendingCallId "own call";
}

/// The operation of a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A request. As a timer: its time-out.
    Request(PendingRequestId),
    /// A request of the provider to the subnet administrator.
    Sa(ExternalSaId),
    /// The time-out of the oldest call.
    Call,
    /// The next attempt to open a port.
    Port(PortId),
}

const REQUEST: u32 = 1;
const SA: u32 = 2;
const CALL: u32 = 3;
const PORT: u32 = 4;

/// The number of low bits of an index that belong to the adapter. The provider's id is above them, so that an id of
/// another provider's request matches nothing.
const OWN_BITS: u32 = 24;

impl Task {
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    pub(super) const fn token(self, provider: ProviderId) -> Token {
        let (kind, index, generation) = match self {
            Self::Request(id) => (REQUEST, id.index(), id.generation()),
            Self::Sa(id) => (SA, id.0 as u32, (id.0 >> 32) as u32),
            Self::Call => (CALL, 0, 0),
            Self::Port(port) => (PORT, port.0, 0),
        };
        Token { provider, kind, index, generation }
    }

    pub(super) fn of(token: Token) -> Self {
        match token.kind {
            REQUEST => Self::Request(PendingRequestId::new(token.index, token.generation)),
            SA => Self::Sa(ExternalSaId(u64::from(token.generation) << 32 | u64::from(token.index))),
            PORT => Self::Port(PortId(token.index)),
            _ => Self::Call,
        }
    }
}

const fn outer(provider: ProviderId, index: u32) -> u32 {
    (provider.0 as u32) << OWN_BITS | index
}

fn inner(provider: ProviderId, index: u32) -> Option<u32> {
    (index >> OWN_BITS == u32::from(provider.0)).then_some(index & ((1 << OWN_BITS) - 1))
}

impl PendingRequestId {
    /// Returns the id for the API.
    pub(super) const fn external_id(self, provider: ProviderId) -> ExternalRequestId {
        ExternalRequestId::new(outer(provider, self.index()), self.generation())
    }

    /// Returns the request of an API id, or `None` if it belongs to another provider.
    pub(super) fn from_external_id(id: ExternalRequestId, provider: ProviderId) -> Option<Self> {
        Some(Self::new(inner(provider, id.index())?, id.generation()))
    }
}

impl PendingCallId {
    /// Returns the id for the API.
    pub(super) const fn external_id(self, provider: ProviderId) -> CallId {
        CallId::new(outer(provider, self.index()), self.generation())
    }

    /// Returns the call of an API id, or `None` if it belongs to another provider.
    pub(super) fn from_external_id(id: CallId, provider: ProviderId) -> Option<Self> {
        Some(Self::new(inner(provider, id.index())?, id.generation()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_trip() {
        for task in [
            Task::Request(PendingRequestId::new(3, 9)),
            Task::Sa(ExternalSaId(0x0123_4567_89ab_cdef)),
            Task::Call,
            Task::Port(PortId(7)),
        ] {
            assert_eq!(Task::of(task.token(ProviderId(3))), task);
        }
    }

    #[test]
    fn id_matches_only_its_provider() {
        let (one, two) = (ProviderId(1), ProviderId(2));
        let (ask, call) = (PendingRequestId::new(5, 7), PendingCallId::new(5, 7));
        assert_ne!(ask.external_id(one), ask.external_id(two));
        assert_eq!(PendingRequestId::from_external_id(ask.external_id(one), one), Some(ask));
        assert_eq!(PendingRequestId::from_external_id(ask.external_id(one), two), None);
        assert_eq!(PendingCallId::from_external_id(call.external_id(two), two), Some(call));
        assert_eq!(PendingCallId::from_external_id(call.external_id(two), one), None);
    }
}
