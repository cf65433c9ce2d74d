//! Deadlines of many nodes in the order of time.
use acm_sansio::Time;
use std::collections::BTreeSet;

/// At most one deadline per node, ordered by time, then by node.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    ordered: BTreeSet<(Time, usize)>,
    of_node: Vec<Option<Time>>,
}

impl Deadlines {
    /// Replaces the deadline of a node.
    pub(crate) fn set(&mut self, node: usize, at: Option<Time>) {
        if self.of_node.len() <= node {
            self.of_node.resize(node + 1, None);
        }
        let before = core::mem::replace(&mut self.of_node[node], at);
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.ordered.remove(&(before, node));
        }
        if let Some(at) = at {
            self.ordered.insert((at, node));
        }
    }

    /// Returns the earliest deadline.
    pub(crate) fn next(&self) -> Option<Time> {
        self.ordered.first().map(|(at, _)| *at)
    }

    /// Returns the first node whose deadline is not after `now`.
    pub(crate) fn due(&self, now: Time) -> Option<usize> {
        self.ordered.first().filter(|(at, _)| *at <= now).map(|(_, node)| *node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_due_by_time_then_by_number() {
        let at = Time::from_nanos;
        let mut deadlines = Deadlines::default();
        for (node, time) in [(3, 20), (1, 20), (2, 10), (0, 30)] {
            deadlines.set(node, Some(at(time)));
        }
        deadlines.set(2, Some(at(20)));
        deadlines.set(0, None);
        assert_eq!((deadlines.next(), deadlines.due(at(19))), (Some(at(20)), None));
        let mut due = Vec::new();
        while let Some(node) = deadlines.due(at(20)) {
            due.push(node);
            deadlines.set(node, None);
        }
        assert_eq!((due, deadlines.next()), (vec![1, 2, 3], None));
    }
}
