//! A multicast request and how far it is.
use super::lookup::Lookup;
use crate::{
    Time,
    credit::{Credit, Places},
    failure::Failure,
};
use acm_wire::Address;
use ib_mad::TransactionId;

/// A multicast request.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) tid: TransactionId,
    /// Our address that it is asked from.
    pub(super) source: Address,
    /// How often it was sent.
    pub(super) asked: u32,
    /// When it was sent first, or until then when it began to wait for its turn.
    pub(super) since: Time,
    pub(super) sent_at: Time,
    pub(super) stage: Stage,
    /// What a peer said that ends nothing yet: the one who has the address may say otherwise.
    pub(super) refused: Option<Failure>,
    pub(super) lookup: Lookup,
}

/// How far a multicast request is.
#[derive(Debug)]
pub(super) enum Stage {
    /// It waits for a credit.
    Queued(Places),
    /// It is sent, and an answer is likely still to come.
    Sent(Credit),
    /// It is sent, and an answer is late: that holds up nobody else.
    Late,
}

impl Asking {
    pub(super) fn new(now: Time, tid: TransactionId, source: Address, lookup: Lookup) -> Self {
        let stage = Stage::Queued(Places::default());
        Self { tid, source, asked: 0, since: now, sent_at: now, stage, refused: None, lookup }
    }
}
