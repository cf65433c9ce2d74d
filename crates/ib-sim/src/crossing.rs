//! What crosses the links, for whoever watches.
use crate::PortId;
use alloc::sync::Arc;
use core::time::Duration;
use ib_mad::{Lid, Pkey, Qkey, Qpn, ServiceLevel, packet::Grh};

/// A packet between a port and the subnet: each transmission, and each that a receiver took.
///
/// What is lost, or refused where it arrives, was sent only. A multicast is sent once and received by many. What programs
/// of two nodes ask of each other through umad devices does not pass through the subnet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// When it was sent or received, in the time of the subnet.
    pub at: Duration,
    /// Whether the port received it; else the port sent it.
    pub delivered: bool,
    /// The port that sent or received it, as `delivered` says.
    pub port: PortId,
    /// LID that it comes from.
    pub slid: Lid,
    /// LID that it goes to.
    pub dlid: Lid,
    /// Service level of the packet, 0..=15.
    pub sl: ServiceLevel,
    /// The sender's partition.
    pub pkey: Pkey,
    /// Queue pair that it comes from.
    pub source: Qpn,
    /// Queue pair that it goes to; [`Qpn::MULTICAST`] for a group.
    pub dest: Qpn,
    /// Queue key in its datagram header (DETH).
    pub qkey: Qkey,
    /// The global route header, if there is one.
    pub grh: Option<Grh>,
    /// What stands behind the headers.
    pub payload: Arc<[u8]>,
}
