//! What is under way: datagrams, requests, answers.
use crate::{MadSend, PortId, QpId, RequestId, schedule::Appointment};
use alloc::{boxed::Box, sync::Arc};
use ib_mad::{Lid, Pkey, Qkey, Qpn, ServiceLevel, packet::Grh, sa::SaMad};

/// What is to happen.
#[derive(Debug)]
pub(crate) enum Due {
    /// A datagram arrives.
    Arrival(Arrival),
    /// The administrator has worked on a request.
    Served(Served),
    /// Nobody answered a transmission in time.
    NoAnswer(RequestId),
    /// A report arrives.
    Report(PortId, Box<SaMad>),
    /// A report has waited for its answer.
    ReportAgain(u64),
}

/// A datagram at the end of its way.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(super) to: QpId,
    /// Where the packet goes: of a multicast the group's.
    pub(super) dlid: Lid,
    pub(super) slid: Lid,
    pub(super) sl: ServiceLevel,
    pub(super) source: Qpn,
    pub(super) path_bits: u8,
    pub(super) qkey: Qkey,
    pub(super) pkey: Pkey,
    pub(super) grh: Option<Grh>,
    pub(super) payload: Arc<[u8]>,
}

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) port: PortId,
    pub(super) send: MadSend,
    pub(super) mad: Box<SaMad>,
    /// When this transmission's time is over.
    pub(super) until: Appointment,
}

/// A request that the administrator has worked on, or an answer on its way.
#[derive(Debug)]
pub(crate) enum Served {
    /// The subnet's own administrator answers now.
    Request { id: RequestId, port: PortId, mad: Box<SaMad> },
    /// The answer from outside arrives.
    Answer { id: RequestId, mad: Box<SaMad> },
}
