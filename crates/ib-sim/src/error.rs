//! What a caller can do wrong.
use crate::{PortId, QpId};

/// A call that names what is not there, or asks what cannot be. Lost datagrams are no errors: see
/// [`Counters`](crate::Counters).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The subnet has no such port.
    #[error("no such port: {0}")]
    NoSuchPort(PortId),
    /// The port has no such queue pair.
    #[error("no such queue pair: {} of port {}", .0.qpn, .0.port)]
    NoSuchQp(QpId),
    /// The queue pair's number is in use, or one of the two that every node has.
    #[error("queue pair number {} is taken at node {}", .0.qpn, .0.port.node)]
    QpnTaken(QpId),
    /// The port's table ends before this P_Key index.
    #[error("no P_Key at index {index} of port {port}")]
    NoSuchPkey {
        /// Port whose table has no such entry.
        port: PortId,
        /// Index in the port's P_Key table.
        index: u16,
    },
    /// The port's table ends before this GID index.
    #[error("no GID at index {index} of port {port}")]
    NoSuchGid {
        /// Port whose table has no such entry.
        port: PortId,
        /// Index in the port's GID table.
        index: u8,
    },
    /// Not the GID of a multicast group.
    #[error("not a multicast GID: {0}")]
    NotMulticast(ib_mad::Gid),
    /// A multicast destination needs a global route that names the group.
    #[error("a datagram to a multicast LID needs the group's GID")]
    NoGroup,
    /// The payload is longer than the port's MTU.
    #[error("{got} bytes do not fit in a packet of {mtu}")]
    TooLong {
        /// Bytes that there are.
        got: usize,
        /// Bytes that fit.
        mtu: u16,
    },
    /// LIDs or queue pair numbers are used up.
    #[error("no {0} is left")]
    Exhausted(&'static str),
    /// Another port has the LID or one of the LIDs that path bits make.
    #[error("LID {0} is taken")]
    LidTaken(ib_mad::Lid),
}
