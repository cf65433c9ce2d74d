//! The start of an MPI job: who asks for whom, and when.
use core::time::Duration;
use hdrhistogram::Histogram;

/// So many ranks on so many nodes, the first ones on the first node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) ranks: u32,
    pub(crate) nodes: u32,
}

impl Job {
    /// The node of a rank, from 1.
    pub(crate) fn node_of(self, rank: u32) -> u32 {
        let node = u64::from(rank) * u64::from(self.nodes) / u64::from(self.ranks.max(1));
        u32::try_from(node).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The ranks of a node.
    pub(crate) fn ranks_of(self, node: u32) -> impl Iterator<Item = u32> {
        (0..self.ranks).filter(move |rank| self.node_of(*rank) == node)
    }

    /// The nodes that a rank needs a path to, in the order of an all-to-all: in each step it has to do with the rank that
    /// is one further on. Ranks of its own node it reaches through memory.
    pub(crate) fn peers_of(self, rank: u32) -> impl Iterator<Item = u32> {
        let own = self.node_of(rank);
        (1..self.ranks).map(move |step| self.node_of((rank + step) % self.ranks)).filter(move |node| *node != own)
    }

    /// How many paths all ranks ask for.
    pub(crate) fn paths(self) -> u64 {
        (0..self.ranks).map(|rank| u64::try_from(self.peers_of(rank).count()).unwrap_or(u64::MAX)).sum()
    }
}

/// How a job went.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Who was asked.
    pub(crate) name: &'static str,
    /// Paths that were found.
    pub(crate) found: u64,
    /// Paths that were not.
    pub(crate) missing: u64,
    /// From the first question to the last answer.
    pub(crate) took: Duration,
    /// Questions to subnet administration.
    pub(crate) queries: u64,
    /// Those that were sent again, because no answer came in time.
    pub(crate) repeated: u64,
    /// Datagrams to and from subnet administration and between daemons.
    pub(crate) datagrams: u64,
    /// How long a rank waited for a path, in microseconds.
    pub(crate) latency: Histogram<u64>,
}
