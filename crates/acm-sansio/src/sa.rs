//! The queue of each port's requests to subnet administration: `sa_depth` in flight, the rest wait.
use crate::{
    id::{EndpointId, PortId, RequestId, SaRequestId},
    provider::Token,
};
use acm_wire::client::ClientStatus;
use alloc::collections::{BTreeMap, VecDeque};
use ib_mad::{AttributeId, Status, sa::SaMad};

use crate::arena::Arena;

/// Why subnet administration gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaError {
    /// No answer came in time.
    #[error("no answer from the SA")]
    TimedOut,
    /// The request could not be sent.
    #[error("request to the SA not sent")]
    NotSent,
    /// Too many requests wait.
    #[error("too many requests to the SA wait")]
    QueueFull,
    /// The port is not active.
    #[error("port is down")]
    PortDown,
    /// It answered with this status.
    #[error("SA status {0} ({n:#06x})", n = .0.get())]
    Status(Status),
}

impl SaError {
    /// What a client is told.
    #[must_use]
    pub const fn client_status(self) -> ClientStatus {
        match self {
            Self::TimedOut => ClientStatus::ETIMEDOUT,
            Self::QueueFull => ClientStatus::ENOMEM,
            Self::NotSent | Self::PortDown => ClientStatus::ENODATA,
            Self::Status(status) => match (status.general(), status.class_code()) {
                (general, _) if general & 1 != 0 => ClientStatus::ETIMEDOUT,
                (0, 1) => ClientStatus::ENOMEM,
                (0, 2 | 4 | 6) => ClientStatus::EINVAL,
                _ => ClientStatus::ENODATA,
            },
        }
    }
}

/// Whom an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The provider, who knows the request by a token.
    Provider(EndpointId, Token),
    /// A client's QUERY_SA.
    Query(EndpointId, RequestId),
    /// A group is being left at shutdown or with its endpoint; nobody waits.
    Leave,
}

#[derive(Debug)]
pub(crate) struct SaRequest {
    pub(crate) port: PortId,
    pub(crate) purpose: Purpose,
    pub(crate) mad: SaMad,
    pub(crate) progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// In the queue.
    Waiting,
    /// Sent; so many times a busy administration was asked before.
    InFlight { busy: u32 },
    /// The administration was busy so many times; to be asked again.
    Pausing { busy: u32 },
}

#[derive(Debug, Default)]
pub(crate) struct PortQueue {
    pub(crate) in_flight: u32,
    pub(crate) waiting: VecDeque<SaRequestId>,
    /// Joins and leaves go before everything else, because nothing works without them, and one at a time, so that
    /// leaving a group and joining it again cannot change places on the way.
    pub(crate) memberships: VecDeque<SaRequestId>,
    /// One of them is in flight.
    membership_in_flight: bool,
}

impl PortQueue {
    fn pop(&mut self) -> Option<SaRequestId> {
        if !self.membership_in_flight
            && let Some(id) = self.memberships.pop_front()
        {
            self.membership_in_flight = true;
            return Some(id);
        }
        self.waiting.pop_front()
    }
}

impl SaRequest {
    fn is_membership(&self) -> bool {
        self.mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD
    }
}

#[derive(Debug)]
pub(crate) struct SaQueue {
    pub(crate) requests: Arena<SaRequestId, SaRequest>,
    pub(crate) ports: BTreeMap<PortId, PortQueue>,
}

impl SaQueue {
    pub(crate) const fn new() -> Self {
        Self { requests: Arena::new(), ports: BTreeMap::new() }
    }

    /// Puts a request at the end of its port's queue, unless the queue is full.
    pub(crate) fn push(&mut self, port: PortId, purpose: Purpose, mad: SaMad, limit: usize) -> Result<(), SaError> {
        let queue = self.ports.entry(port).or_default();
        let request = SaRequest { port, purpose, mad, progress: Progress::Waiting };
        let line = if request.is_membership() { &mut queue.memberships } else { &mut queue.waiting };
        if line.len() >= limit {
            return Err(SaError::QueueFull);
        }
        line.push_back(self.requests.insert(request));
        Ok(())
    }

    /// The next request that may be sent, marked as in flight.
    pub(crate) fn next(&mut self, port: PortId, depth: u32) -> Option<(SaRequestId, SaMad)> {
        let queue = self.ports.get_mut(&port)?;
        while queue.in_flight < depth.max(1) {
            let id = queue.pop()?;
            if let Some(request) = self.requests.get_mut(id) {
                request.progress = Progress::InFlight { busy: 0 };
                queue.in_flight += 1;
                return Some((id, request.mad));
            }
        }
        None
    }

    /// Takes a request out, whatever its progress.
    pub(crate) fn remove(&mut self, id: SaRequestId) -> Option<SaRequest> {
        let request = self.requests.remove(id)?;
        if let Some(queue) = self.ports.get_mut(&request.port) {
            match request.progress {
                Progress::Waiting => {
                    queue.waiting.retain(|other| *other != id);
                    queue.memberships.retain(|other| *other != id);
                }
                Progress::InFlight { .. } | Progress::Pausing { .. } => {
                    queue.in_flight -= 1;
                    queue.membership_in_flight &= !request.is_membership();
                }
            }
        }
        Some(request)
    }

    /// All requests of a port, oldest place first.
    pub(crate) fn of_port(&self, port: PortId) -> alloc::vec::Vec<SaRequestId> {
        self.requests.iter().filter(|(_, request)| request.port == port).map(|(id, _)| id).collect()
    }
}
