//! Identifiers of the parts of a subnet.
use core::fmt;
use ib_mad::Qpn;

/// A node, by its number in the order in which nodes were added, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Creates the id with this number. The first added node is 1.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }
    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
    pub(crate) fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok()?.checked_sub(1)
    }
}
impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}
impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A port of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId {
    /// Node that has the port.
    pub node: NodeId,
    /// Port number, from 1.
    pub port: u8,
}
impl PortId {
    /// Creates the id of port `port` of node `node`, both from 1.
    #[must_use]
    pub const fn new(node: u32, port: u8) -> Self {
        Self { node: NodeId::new(node), port }
    }
}
impl fmt::Debug for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {self}")
    }
}
impl fmt::Display for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.node, self.port)
    }
}

/// A queue pair. Numbers are unique in a node. The number of a closed queue pair is assigned again only after all other
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QpId {
    /// The port that the queue pair is bound to.
    pub port: PortId,
    /// Queue pair number, unique in its node.
    pub qpn: Qpn,
}
impl fmt::Debug for QpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "qp {} of {}", self.qpn, self.port)
    }
}

/// A sender of management datagrams at a port. The caller chooses the number; the response has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub u64);

/// A request to an external administrator ([`SaMode::External`](crate::port::SaMode::External)). No number is
/// used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub(crate) u64);

impl RequestId {
    /// Returns the number, for example to send it to another process along with the request.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
    /// Creates an id from a number of [`RequestId::get`]. The id of an unknown or ended request has no effect.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }
}
