//! State of the adapter.
use super::{
    ports::{EndpointState, LifecycleCall, ServedPort},
    resolve_message::Query,
    token::{PendingCallId, PendingRequestId, Task},
};
use crate::{
    accounts::credit::{Credit, CreditQueue, QueuePositions},
    api::{
        ExternalSaId, ProviderFunction,
        account::AccountId,
        id::{EndpointId, PortId, ProviderId, SaQueryId, Token},
    },
    collections::arena::Arena,
};
use alloc::{collections::BTreeMap, string::String};
use ib_mad::TransactionId;

/// The maximum number of calls for requests that have not returned. One call that opens or closes something may come on
/// top.
pub(super) const MAX_CALLS: usize = 64;
/// The maximum number of requests without a response. Further requests wait for their turn.
pub(super) const MAX_UNANSWERED: u32 = 1024;
/// The maximum number of its requests to the subnet administrator. Further requests fail at once.
pub(super) const MAX_SA_REQUESTS: usize = 256;

/// A provider outside of the core.
#[derive(Debug)]
pub(crate) struct External {
    pub(super) id: ProviderId,
    pub(super) name: String,
    /// Ports that the provider has open, or should have open.
    pub(super) ports: BTreeMap<PortId, ServedPort>,
    /// Endpoints that the provider has open, or should have open.
    pub(super) endpoints: BTreeMap<EndpointId, EndpointState>,
    /// Calls that have not returned.
    pub(super) calls: Arena<PendingCallId, Call>,
    /// The call that opens or closes something.
    pub(super) lifecycle: Option<PendingCallId>,
    /// `true` if a call did not return in time and none has returned since.
    pub(super) hangs: bool,
    /// Open requests.
    pub(super) requests: Arena<PendingRequestId, PendingRequest>,
    /// Requests that wait for their turn.
    pub(super) queue: CreditQueue<PendingRequestId>,
    /// The provider's open requests to the subnet administrator.
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

/// An open request.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) endpoint: EndpointId,
    /// The account that is charged until the provider responds or the request times out, even if the requester
    /// disconnects.
    pub(super) account: AccountId,
    pub(super) query: Query,
    pub(super) stage: Stage,
    /// `true` while the requester is connected.
    pub(super) waited_for: bool,
}

/// The progress of a request.
#[derive(Debug)]
pub(super) enum Stage {
    /// Waiting for a turn.
    Queued(QueuePositions),
    /// The provider was called.
    Called(Credit),
}

/// A call that has not returned.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: ProviderFunction,
    /// The object that it opens or closes.
    pub(super) lifecycle: Option<LifecycleCall>,
}

/// An open request of the provider to the subnet administrator.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingSaRequest {
    pub(super) endpoint: EndpointId,
    pub(super) query: SaQueryId,
    /// The provider's transaction id.
    pub(super) tid: TransactionId,
}
