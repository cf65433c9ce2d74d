//! Packets on the links, for watchers.
use crate::id::PortId;
use alloc::sync::Arc;
use core::time::Duration;
use ib_mad::{Lid, Pkey, Qkey, Qpn, ServiceLevel, packet::Grh};

/// A packet between a port and the subnet: the sending or the reception of a packet by a port.
///
/// A packet that is lost, or dropped at its destination, has no reception. A multicast packet has one sending and a
/// reception for each member. Requests between programs of two nodes by umad devices do not pass through the subnet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Time of sending or reception, in the time of the subnet.
    pub at: Duration,
    /// True if the port received the packet, false if it sent it.
    pub delivered: bool,
    /// The port that sent or received the packet.
    pub port: PortId,
    /// LID of the source.
    pub slid: Lid,
    /// LID of the destination.
    pub dlid: Lid,
    /// Service level of the packet, 0..=15.
    pub sl: ServiceLevel,
    /// P_Key of the sender.
    pub pkey: Pkey,
    /// Queue pair of the source.
    pub source: Qpn,
    /// Queue pair of the destination; [`Qpn::MULTICAST`] for a group.
    pub dest: Qpn,
    /// Queue key in the datagram header (DETH).
    pub qkey: Qkey,
    /// The global route header, if there is one.
    pub grh: Option<Grh>,
    /// The bytes after the headers.
    pub payload: Arc<[u8]>,
}
