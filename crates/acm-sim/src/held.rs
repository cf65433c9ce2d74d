//! The events of stopped daemons, which wait.
use crate::foreign::{index_of, port_of};
use ib_sim::Event;
use std::collections::{BTreeMap, VecDeque};

/// Datagrams that the queue pairs of a stopped daemon hold; further ones are lost.
const RECEIVE_DEPTH: usize = 1024;

/// The events of stopped daemons, by node.
#[derive(Debug, Default)]
pub(crate) struct Held(BTreeMap<usize, VecDeque<Event>>);

impl Held {
    pub(crate) fn stop(&mut self, index: usize) {
        self.0.entry(index).or_default();
    }

    /// Returns what has waited for a daemon, which is no longer stopped.
    pub(crate) fn release(&mut self, index: usize) -> VecDeque<Event> {
        self.0.remove(&index).unwrap_or_default()
    }

    pub(crate) fn has(&self, index: usize) -> bool {
        self.0.contains_key(&index)
    }

    /// Keeps an event of a stopped daemon. Returns other events.
    pub(crate) fn keep(&mut self, event: Event) -> Option<Event> {
        let Some(waiting) = self.0.get_mut(&index_of(port_of(&event).node)) else { return Some(event) };
        if !matches!(event, Event::Datagram { .. }) || waiting.len() < RECEIVE_DEPTH {
            waiting.push_back(event);
        }
        None
    }
}
