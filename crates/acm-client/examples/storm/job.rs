//! The start of an MPI job: the requests of each rank, in order.
use core::time::Duration;
use hdrhistogram::Histogram;

/// The number of ranks and nodes. The first ranks are on the first node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) ranks: u32,
    pub(crate) nodes: u32,
}

impl Job {
    /// Returns the node of a rank. Nodes are numbered from 1.
    pub(crate) fn node_of(self, rank: u32) -> u32 {
        let node = u64::from(rank) * u64::from(self.nodes) / u64::from(self.ranks.max(1));
        u32::try_from(node).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Returns the ranks of a node.
    pub(crate) fn ranks_of(self, node: u32) -> impl Iterator<Item = u32> {
        (0..self.ranks).filter(move |rank| self.node_of(*rank) == node)
    }

    /// Returns the nodes to which a rank needs a path, in the order of an all-to-all: the peer of step N is the rank
    /// plus N. Ranks of the same node communicate through memory and need no path.
    pub(crate) fn peers_of(self, rank: u32) -> impl Iterator<Item = u32> {
        let own = self.node_of(rank);
        (1..self.ranks).map(move |step| self.node_of((rank + step) % self.ranks)).filter(move |node| *node != own)
    }

    /// Returns the number of requests of all ranks.
    pub(crate) fn paths(self) -> u64 {
        (0..self.ranks).map(|rank| u64::try_from(self.peers_of(rank).count()).unwrap_or(u64::MAX)).sum()
    }
}

/// The result of a job.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The name of the variant: requests to the daemon or to the SA.
    pub(crate) name: &'static str,
    /// Number of paths that were found.
    pub(crate) found: u64,
    /// Number of paths that were not found.
    pub(crate) missing: u64,
    /// Time from the first request to the last response.
    pub(crate) took: Duration,
    /// Number of queries to the SA.
    pub(crate) queries: u64,
    /// Number of queries that were sent again after a time-out.
    pub(crate) repeated: u64,
    /// Number of datagrams to and from the SA and between daemons.
    pub(crate) datagrams: u64,
    /// Time until a rank received a path, in microseconds.
    pub(crate) latency: Histogram<u64>,
}
