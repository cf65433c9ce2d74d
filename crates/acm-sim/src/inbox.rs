//! Events that a node has received and not yet handled.
use acm_sansio::{
    Time,
    turns::{Lane, Turns},
};
use core::time::Duration;
use ib_sim::{Event, QpId};
use std::collections::{BTreeMap, VecDeque};

/// Speed at which a node handles events of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handling {
    /// Time to handle one event.
    pub cost: Duration,
    /// Datagrams that a queue pair holds until they are read; further datagrams are lost.
    pub receive_depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// Responses of subnet administration.
    SaResponses,
    /// Events of ports.
    Ports,
    /// Datagrams of a queue pair.
    Datagrams(QpId),
}

/// Unhandled events of one node by source, served round-robin as by a fabric of the daemon.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    turns: Turns<Source>,
    waiting: BTreeMap<Source, VecDeque<Event>>,
    /// End of the current event's handling.
    free_at: Time,
    pub(crate) lost: u64,
}

impl Inbox {
    pub(crate) fn push(&mut self, event: Event, handling: Handling) {
        let (source, lane) = match &event {
            Event::Datagram { qp, .. } => (Source::Datagrams(*qp), Lane::Bulk),
            Event::Port { .. } => (Source::Ports, Lane::Urgent),
            _ => (Source::SaResponses, Lane::Urgent),
        };
        let queue = self.waiting.entry(source).or_default();
        if lane == Lane::Bulk && queue.len() >= handling.receive_depth {
            self.lost += 1;
            return;
        }
        queue.push_back(event);
        self.turns.ready(source, lane);
    }

    /// Returns the time at which the next event is handled, if there is one.
    pub(crate) fn next_time(&self, now: Time) -> Option<Time> {
        (!self.turns.is_empty()).then_some(self.free_at.max(now))
    }

    /// Returns the next event, unless the node is busy or has none.
    pub(crate) fn pop(&mut self, now: Time, handling: Handling) -> Option<Event> {
        if self.free_at > now {
            return None;
        }
        let source = self.turns.next()?;
        let queue = self.waiting.entry(source).or_default();
        let event = queue.pop_front();
        if queue.is_empty() {
            self.turns.dry(source);
        }
        self.free_at = now + handling.cost;
        event
    }
}
