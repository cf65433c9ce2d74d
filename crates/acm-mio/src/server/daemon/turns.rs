//! Whose turn it is.
use std::collections::VecDeque;

/// Clients whose turn it is, each once, in the order they came. Keeps its room: no allocation in the steady state.
#[derive(Debug, Default)]
pub(super) struct Turns {
    order: VecDeque<usize>,
    queued: Vec<bool>,
}

impl Turns {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub(super) fn insert(&mut self, index: usize) {
        if self.queued.len() <= index {
            self.queued.resize(index + 1, false);
        }
        if let Some(queued) = self.queued.get_mut(index)
            && !core::mem::replace(queued, true)
        {
            self.order.push_back(index);
        }
    }

    /// The next one. It may be gone by now.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let index = self.order.pop_front()?;
        if let Some(queued) = self.queued.get_mut(index) {
            *queued = false;
        }
        Some(index)
    }
}
