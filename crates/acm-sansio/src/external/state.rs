//! What the adapter keeps.
use super::{
    ports::{EndpointState, LifecycleCall, ServedPort},
    resolve_message::Query,
    token::{PendingCallId, PendingRequestId, Task},
};
use crate::{
    account::AccountId,
    api::{ExternalSaId, ProviderFunction},
    arena::Arena,
    credit::{Credit, CreditQueue, QueuePositions},
    id::{EndpointId, PortId, ProviderId, SaQueryId, Token},
};
use alloc::{collections::BTreeMap, string::String};
use ib_mad::TransactionId;

/// Requests that were called and are not returned from, beside one call that opens or closes something.
pub(super) const MAX_CALLS: usize = 64;
/// Requests that it has not answered. Those beyond wait for their turn.
pub(super) const MAX_UNANSWERED: u32 = 1024;
/// Its requests to subnet administration. Those beyond fail at once.
pub(super) const MAX_SA_REQUESTS: usize = 256;

/// A provider outside of the core, as the core sees it.
#[derive(Debug)]
pub(crate) struct External {
    pub(super) id: ProviderId,
    pub(super) name: String,
    /// Ports that it was told of, or is to be told of.
    pub(super) ports: BTreeMap<PortId, ServedPort>,
    /// Endpoints, in the same way.
    pub(super) endpoints: BTreeMap<EndpointId, EndpointState>,
    /// Calls that have not returned.
    pub(super) calls: Arena<PendingCallId, Call>,
    /// The one of them that opens or closes something.
    pub(super) lifecycle: Option<PendingCallId>,
    /// A call did not return in time, and none has since.
    pub(super) hangs: bool,
    /// Requests that are not answered.
    pub(super) requests: Arena<PendingRequestId, PendingRequest>,
    /// Those that wait for their turn.
    pub(super) queue: CreditQueue<PendingRequestId>,
    /// What it asked of subnet administration.
    pub(super) sa: BTreeMap<ExternalSaId, PendingSaRequest>,
}

impl External {
    pub(crate) fn new(id: ProviderId, name: &str) -> Self {
        Self {
            id,
            name: name.into(),
            ports: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            calls: Arena::new(),
            lifecycle: None,
            hangs: false,
            requests: Arena::new(),
            queue: CreditQueue::default(),
            sa: BTreeMap::new(),
        }
    }

    pub(super) const fn token(&self, task: Task) -> Token {
        task.token(self.id)
    }
}

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) endpoint: EndpointId,
    /// Who pays, until the provider answers or its time is over, even if the asker left.
    pub(super) account: AccountId,
    pub(super) query: Query,
    pub(super) stage: Stage,
    /// The asker is there still.
    pub(super) waited_for: bool,
}

/// How far a request is.
#[derive(Debug)]
pub(super) enum Stage {
    /// It waits for its turn.
    Queued(QueuePositions),
    /// The provider was asked.
    Called(Credit),
}

/// A call that has not returned.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: ProviderFunction,
    /// What it opens or closes.
    pub(super) lifecycle: Option<LifecycleCall>,
}

/// A request of the provider that is not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingSaRequest {
    pub(super) endpoint: EndpointId,
    pub(super) query: SaQueryId,
    /// The provider's own.
    pub(super) tid: TransactionId,
}
