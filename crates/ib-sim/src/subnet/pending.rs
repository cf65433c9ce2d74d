//! Datagrams, requests and responses on their way.
use crate::{
    datagram::MadSend,
    id::{PortId, QpId, RequestId},
    schedule::TimerKey,
};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use ib_mad::{Lid, Pkey, Qkey, Qpn, ServiceLevel, packet::Grh, sa::SaMad};

/// An event that is due at some time.
#[derive(Debug)]
pub(crate) enum Timer {
    /// A datagram arrives.
    Arrival(Arrival),
    /// The administrator finished a request.
    SaDone(SaJob),
    /// A transmission had no response in time.
    MadTimeout(RequestId),
    /// A report arrives.
    Report(PortId, Box<SaMad>),
    /// A transmission of a report had no response in time.
    ReportTimeout(u64),
}

/// A datagram that arrives at one queue pair.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(super) to: QpId,
    /// Path bits of the destination LID: the low bits that the receiver's LMC masks.
    pub(super) path_bits: u8,
    /// The packet, which the receivers of a multicast share.
    pub(super) packet: Arc<Packet>,
}

/// A UD packet.
#[derive(Debug)]
pub(crate) struct Packet {
    /// The sender's port.
    pub(super) from: PortId,
    /// LID of the destination port or group.
    pub(super) dlid: Lid,
    pub(super) slid: Lid,
    pub(super) sl: ServiceLevel,
    pub(super) source: Qpn,
    pub(super) qkey: Qkey,
    pub(super) pkey: Pkey,
    pub(super) grh: Option<Grh>,
    pub(super) payload: Arc<[u8]>,
}

/// A request that waits for its response.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) port: PortId,
    pub(super) send: MadSend,
    pub(super) mad: Box<SaMad>,
    /// The timer of this transmission.
    pub(super) timer: TimerKey,
}

/// Work of the administrator.
#[derive(Debug)]
pub(crate) enum SaJob {
    /// A request to the built-in administrator.
    Request { id: RequestId, port: PortId, mad: Box<SaMad> },
    /// A complete table. `message` has the form in which Linux's umad returns a table.
    Table { id: RequestId, records: u32, message: Vec<u8> },
    /// A complete response of an external administrator, or an error.
    Response { id: RequestId, mad: Box<SaMad> },
}
