//! Errors of calls.
use crate::id::{PortId, QpId};

/// A call with an unknown object or with invalid arguments. A lost datagram is not an error: see
/// [`Counters`](crate::counters::Counters).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The subnet has no such port.
    #[error("no such port: {0}")]
    NoSuchPort(PortId),
    /// The port has no such queue pair.
    #[error("no such queue pair: {} of port {}", .0.qpn, .0.port)]
    NoSuchQp(QpId),
    /// The queue pair number is in use, or is 0 or 1.
    #[error("queue pair number {} is taken at node {}", .0.qpn, .0.port.node)]
    QpnTaken(QpId),
    /// The P_Key table of the port has no such index.
    #[error("no P_Key at index {index} of port {port}")]
    NoSuchPkey {
        /// Port whose table has no such entry.
        port: PortId,
        /// Index in the port's P_Key table.
        index: u16,
    },
    /// The GID table of the port has no such index.
    #[error("no GID at index {index} of port {port}")]
    NoSuchGid {
        /// Port whose table has no such entry.
        port: PortId,
        /// Index in the port's GID table.
        index: u8,
    },
    /// The GID is not that of a multicast group.
    #[error("not a multicast GID: {0}")]
    NotMulticast(ib_mad::Gid),
    /// A datagram to a multicast LID has no global route with the group's GID.
    #[error("a datagram to a multicast LID needs the group's GID")]
    NoGroup,
    /// The port sends nothing without a global route.
    #[error("port {0} requires a global route")]
    NoRoute(PortId),
    /// The payload is longer than the port's MTU.
    #[error("{got} bytes do not fit in a packet of {mtu}")]
    TooLong {
        /// Bytes of the payload.
        got: usize,
        /// The port's MTU in bytes.
        mtu: u16,
    },
    /// All LIDs or all queue pair numbers are in use; the text names the exhausted numbers.
    #[error("no {0} is left")]
    Exhausted(&'static str),
    /// Another port has one of the port's LIDs.
    #[error("LID {0} is taken")]
    LidTaken(ib_mad::Lid),
}
