//! What the adapter keeps.
use super::{
    ports::{EndpointState, ServedPort},
    token::{AskId, OwnCall, Task},
    under_way::{Asked, Call, SaAsked},
};
use crate::{
    arena::Arena,
    credit::CreditQueue,
    door::ExternalSaId,
    id::{EndpointId, PortId, ProviderId, Token},
};
use alloc::{collections::BTreeMap, string::String};

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
    pub(super) calls: Arena<OwnCall, Call>,
    /// The one of them that opens or closes something.
    pub(super) life: Option<OwnCall>,
    /// A call did not return in time, and none has since.
    pub(super) hangs: bool,
    /// Requests that are not answered.
    pub(super) asked: Arena<AskId, Asked>,
    /// Those that wait for their turn.
    pub(super) queue: CreditQueue<AskId>,
    /// What it asked of subnet administration.
    pub(super) sa: BTreeMap<ExternalSaId, SaAsked>,
}

impl External {
    pub(crate) fn new(id: ProviderId, name: &str) -> Self {
        Self {
            id,
            name: name.into(),
            ports: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            calls: Arena::new(),
            life: None,
            hangs: false,
            asked: Arena::new(),
            queue: CreditQueue::default(),
            sa: BTreeMap::new(),
        }
    }

    pub(super) const fn token(&self, task: Task) -> Token {
        task.token(self.id)
    }
}
