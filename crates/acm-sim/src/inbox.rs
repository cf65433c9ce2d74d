//! What a node has received and not handled yet, if handling takes it time.
use acm_sansio::{
    Time,
    turns::{Lane, Turns},
};
use core::time::Duration;
use ib_sim::{Event, QpId};
use std::collections::{BTreeMap, VecDeque};

/// How fast a node handles what the fabric tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handling {
    /// Time that it takes for each event.
    pub cost: Duration,
    /// Datagrams that a queue pair keeps until they are read; more are lost.
    pub receive_depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// Answers of subnet administration.
    Answers,
    /// Events of ports.
    Ports,
    /// Datagrams of a queue pair.
    Datagrams(QpId),
}

/// Events of one node by their source; sources take turns as a fabric's do.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    turns: Turns<Source>,
    waiting: BTreeMap<Source, VecDeque<Event>>,
    /// It is busy until then.
    free_at: Time,
    pub(crate) lost: u64,
}

impl Inbox {
    pub(crate) fn push(&mut self, event: Event, handling: Handling) {
        let (source, lane) = match &event {
            Event::Datagram { qp, .. } => (Source::Datagrams(*qp), Lane::Bulk),
            Event::Port { .. } => (Source::Ports, Lane::Urgent),
            _ => (Source::Answers, Lane::Urgent),
        };
        let queue = self.waiting.entry(source).or_default();
        if lane == Lane::Bulk && queue.len() >= handling.receive_depth {
            self.lost += 1;
            return;
        }
        queue.push_back(event);
        self.turns.ready(source, lane);
    }

    /// When the next event is handled, if there is one.
    pub(crate) fn next_time(&self, now: Time) -> Option<Time> {
        (!self.turns.is_empty()).then_some(self.free_at.max(now))
    }

    /// The event whose turn it is, if the node is free.
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
