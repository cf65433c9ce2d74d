//! What is under way with a provider: requests, calls, and what it asks of subnet administration.
use super::{message::Wanted, ports::LifeCall};
use crate::{
    account::AccountId,
    credit::{Credit, Places},
    door::ProviderFunction,
    id::{EndpointId, QuestionId},
};
use ib_mad::TransactionId;

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) endpoint: EndpointId,
    /// Who pays, until the provider answers or its time is over, even if the asker left.
    pub(super) account: AccountId,
    pub(super) wanted: Wanted,
    pub(super) stage: Stage,
    /// The asker is there still.
    pub(super) waits: bool,
}

/// How far a request is.
#[derive(Debug)]
pub(super) enum Stage {
    /// It waits for its turn.
    Queued(Places),
    /// The provider was asked.
    Called(Credit),
}

/// A call that has not returned.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: ProviderFunction,
    /// What it opens or closes.
    pub(super) life: Option<LifeCall>,
}

/// A request of the provider that is not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct SaAsked {
    pub(super) endpoint: EndpointId,
    pub(super) question: QuestionId,
    /// The provider's own.
    pub(super) tid: TransactionId,
}
