//! A request for an address.
use super::{Lookup, Remote};
use crate::{
    accounts::credit::{Credit, QueuePositions},
    api::{Time, failure::Failure},
};
use acm_wire::Address;
use ib_mad::TransactionId;

/// A request for an address, to the group or by unicast to one host that may have it.
#[derive(Debug)]
pub(crate) struct MulticastRequest {
    pub(crate) tid: TransactionId,
    /// The host that it is sent to; `None`: the base group.
    pub(crate) to: Option<Remote>,
    /// `true` if the host has proven the address before. If it is silent and its datagrams have no generation, its location
    /// is used: it may run C ibacm, which responds to the LID that it has cached. Else the group is asked.
    pub(crate) is_known: bool,
    /// A host that claimed the address after it was sent. The response may be older than this claim.
    pub(crate) claimed: Option<Remote>,
    /// The local address from which it is sent.
    pub(crate) source: Address,
    /// Number of times that it was sent to this receiver.
    pub(crate) times_sent: u32,
    /// The time when it was first sent; before that, the time since which it waits for its turn.
    pub(crate) since: Time,
    /// The number of doubts when it was first sent.
    pub(crate) asked: u32,
    pub(crate) stage: Stage,
    /// The last refusal by a receiver of the request. It ends nothing, because another peer may respond with the
    /// address.
    pub(crate) refused: Option<Failure>,
    pub(crate) lookup: Lookup,
}

/// The progress of a multicast request.
#[derive(Debug)]
pub(crate) enum Stage {
    /// It waits for a time, so that not all nodes ask at once.
    Paused,
    /// It waits for a credit.
    Queued(QueuePositions),
    /// It was sent, and a response is still likely.
    Sent(Credit),
    /// It was sent, and holds no credit: the response is late, or it was sent to a host that claims the address.
    Late,
}

impl MulticastRequest {
    pub(crate) fn new(now: Time, tid: TransactionId, source: Address, lookup: Lookup) -> Self {
        let stage = Stage::Queued(QueuePositions::default());
        Self {
            tid,
            to: None,
            is_known: false,
            claimed: None,
            source,
            times_sent: 0,
            since: now,
            asked: 0,
            stage,
            refused: None,
            lookup,
        }
    }

    /// Changes the receiver. A refusal by the one before is not the reason if this one is silent.
    pub(crate) const fn turn_to(&mut self, receiver: Option<Remote>) {
        (self.to, self.is_known, self.times_sent, self.refused) = (receiver, false, 0, None);
    }

    /// Records that it is sent now, after this number of doubts.
    pub(crate) const fn sent(&mut self, now: Time, doubts: u32) {
        self.times_sent += 1;
        if self.times_sent == 1 {
            (self.since, self.asked) = (now, doubts);
        }
    }
}
