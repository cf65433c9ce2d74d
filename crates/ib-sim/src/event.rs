//! What the subnet tells.
use crate::{AgentId, PortChange, PortId, QpId, RequestId, Source};
use alloc::{boxed::Box, sync::Arc};
use ib_mad::{Lid, Qpn, packet::Grh, sa::SaMad};

/// Something that happened at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A datagram came. The receivers of one multicast share its bytes.
    Datagram {
        /// Who received it.
        qp: QpId,
        /// Who sent it.
        source: Source,
        /// The global route header, if the sender used one; of a multicast always.
        grh: Option<Grh>,
        /// The bytes behind the headers.
        payload: Arc<[u8]>,
    },
    /// An answer to [`Subnet::send_mad`](crate::Subnet::send_mad) came. Its transaction id is the request's.
    Mad {
        /// Port that sent the request.
        port: PortId,
        /// Whose request it answers.
        agent: AgentId,
        /// The answer, whatever its status.
        mad: Box<SaMad>,
    },
    /// No answer came to any transmission of a request: Linux hands it back with status 110 (`ETIMEDOUT`).
    MadTimedOut {
        /// Port that sent the request.
        port: PortId,
        /// Whose request it was.
        agent: AgentId,
        /// The request, with its transaction id.
        mad: Box<SaMad>,
    },
    /// A report of the administrator came: a notice that the port subscribed to. It is sent again until the port
    /// answers with its transaction id ([`Subnet::send_mad`](crate::Subnet::send_mad) without a time-out).
    Report {
        /// Port that received it.
        port: PortId,
        /// LID of the sender.
        slid: Lid,
        /// Queue pair of the sender.
        qpn: Qpn,
        /// The `SubnAdmReport()`, with the notice as its data.
        mad: Box<SaMad>,
    },
    /// A port changed; [`Subnet::port`](crate::Subnet::port) has its attributes now.
    Port {
        /// Port that changed.
        port: PortId,
        /// What changed at it.
        change: PortChange,
    },
    /// A request for the administrator outside: to be answered with [`Subnet::answer_mad`](crate::Subnet::answer_mad).
    /// Only with [`SaMode::External`](crate::SaMode::External). A repeated transmission has the same id.
    SaRequest {
        /// What to answer.
        request: RequestId,
        /// Port that sent the request.
        port: PortId,
        /// The request, with the asker's transaction id.
        mad: Box<SaMad>,
    },
}
