//! Events of the subnet.
use crate::{
    datagram::Source,
    id::{AgentId, PortId, QpId, RequestId},
    port::PortChange,
};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use ib_mad::{Lid, Qpn, packet::Grh, sa::SaMad};

/// An event at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A datagram was received. The receivers of a multicast datagram share its bytes.
    Datagram {
        /// The receiving queue pair.
        qp: QpId,
        /// The sender.
        source: Source,
        /// The global route header, if the packet had one. Every multicast packet has one.
        grh: Option<Grh>,
        /// The payload.
        payload: Arc<[u8]>,
    },
    /// A response to [`Subnet::send_mad`](crate::subnet::Subnet::send_mad). It has the transaction id of the request.
    Mad {
        /// Port that sent the request.
        port: PortId,
        /// The agent of the request.
        agent: AgentId,
        /// The response, with any status.
        mad: Box<SaMad>,
    },
    /// No transmission of a request had a response. Linux returns such a request with status 110 (`ETIMEDOUT`).
    MadTimedOut {
        /// Port that sent the request.
        port: PortId,
        /// The agent of the request.
        agent: AgentId,
        /// The request, with its transaction id.
        mad: Box<SaMad>,
    },
    /// A table arrived: the response to a GetTable request of [`Subnet::send_mad`](crate::subnet::Subnet::send_mad). An
    /// error is an [`Event::Mad`].
    Table {
        /// Port that sent the request.
        port: PortId,
        /// Agent that sent the request.
        agent: AgentId,
        /// The segments as one message, in the form in which Linux's umad returns it.
        message: Vec<u8>,
    },
    /// A report of the administrator: a notice to which the port subscribed. The administrator repeats the report until
    /// the port responds with the report's transaction id ([`Subnet::send_mad`](crate::subnet::Subnet::send_mad) with a
    /// time-out of zero).
    Report {
        /// Port that received the report.
        port: PortId,
        /// LID of the sender.
        slid: Lid,
        /// Queue pair of the sender.
        qpn: Qpn,
        /// The `SubnAdmReport()`, with the notice as its data.
        mad: Box<SaMad>,
    },
    /// A port changed. [`Subnet::port`](crate::subnet::Subnet::port) has the new attributes.
    Port {
        /// Port that changed.
        port: PortId,
        /// The change.
        change: PortChange,
    },
    /// A request to the external administrator ([`SaMode::External`](crate::port::SaMode::External)). The
    /// administrator responds by [`Subnet::respond_to_mad`](crate::subnet::Subnet::respond_to_mad). Every transmission
    /// of a request has the same id.
    SaRequest {
        /// The id for the response.
        request: RequestId,
        /// Port that sent the request.
        port: PortId,
        /// The request, with the requester's transaction id.
        mad: Box<SaMad>,
    },
}
