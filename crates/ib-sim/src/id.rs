//! What names the parts of a subnet.
use core::fmt;
use ib_mad::Qpn;

/// A node: its number in the order of adding, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The node with this number; the first one added is 1.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }
    /// The number, from 1, in the order of adding.
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
    /// Port `port` of node number `node`, both from 1.
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

/// A queue pair. Numbers are unique in a node and come again only after all others were used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QpId {
    /// The port that it is bound to.
    pub port: PortId,
    /// Queue pair number, unique at its node.
    pub qpn: Qpn,
}
impl fmt::Debug for QpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "qp {} of {}", self.qpn, self.port)
    }
}

/// Who sends management datagrams at a port: a number of the caller's choice, handed back with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub u64);

/// A request on its way to an administrator outside ([`SaMode::External`](crate::SaMode::External)). Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub(crate) u64);

impl RequestId {
    /// The number, which the caller may send along and turn back.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
    /// From a number of [`RequestId::get`]. One that was never given out or is over is ignored where it is used.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }
}
