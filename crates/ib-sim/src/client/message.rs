//! Messages of the server to a program.
use super::error::ClientError;
use crate::{
    datagram::Source,
    id::AgentId,
    port::PortChange,
    proto::{DatagramIn, Fault, Kind, MadIn, QpFault, QpGroup, Refusal, Refused, ReportIn, TIMED_OUT, kind},
};
use ib_mad::{Gid, Lid, Qpn, Wire, packet::Grh, sa::SaMad};

/// A message of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A datagram was received.
    Datagram {
        /// The receiving queue pair.
        qpn: Qpn,
        /// The sender.
        source: Source,
        /// The global route header, if the packet had one. Every multicast packet has one.
        grh: Option<&'a Grh>,
        /// The payload.
        payload: &'a [u8],
    },
    /// A response to [`Client::send_mad`](super::Client::send_mad).
    Mad {
        /// Number of the port that sent the request.
        port: u8,
        /// The request's agent.
        agent: AgentId,
        /// The response, with the request's transaction id: a datagram, or a table as one message.
        mad: &'a [u8],
    },
    /// No transmission of a request had a response.
    MadTimedOut {
        /// Number of the port that sent the request.
        port: u8,
        /// The request's agent.
        agent: AgentId,
        /// The request, with its transaction id.
        mad: &'a SaMad,
    },
    /// A report of the administrator. To respond, the program calls [`Client::send_mad`](super::Client::send_mad) with
    /// a time-out of zero.
    Report {
        /// Number of the port that received the report.
        port: u8,
        /// LID of the sender.
        slid: Lid,
        /// Queue pair of the sender.
        qpn: Qpn,
        /// The `SubnAdmReport()`, with the notice as its data.
        mad: &'a SaMad,
    },
    /// A port changed. [`Client::port`](super::Client::port) has the new attributes.
    Port {
        /// Number of the port that changed.
        port: u8,
        /// The change.
        change: PortChange,
    },
    /// A part of a queue pair failed.
    Fault {
        /// The queue pair.
        qpn: Qpn,
        /// The failed part.
        fault: Fault,
    },
    /// A queue pair is attached to a group: the result of [`Client::attach`](super::Client::attach).
    Attached {
        /// The queue pair.
        qpn: Qpn,
        /// GID of the group.
        mgid: Gid,
        /// LID of the group, as in the request.
        mlid: Lid,
    },
    /// The server refused a request.
    Refused {
        /// Kind of the request.
        request: Kind,
        /// The reason.
        refusal: Refusal,
        /// The queue pair of the request, or 0.
        qpn: Qpn,
    },
}

pub(super) fn read_message(message: &[u8]) -> Result<Message<'_>, ClientError> {
    Ok(match kind(message)? {
        Kind::DATAGRAM_IN => {
            let (header, payload) = DatagramIn::parse_prefix(message)?;
            let qpn = Qpn::masked(header.to.get());
            Message::Datagram { qpn, source: header.source(), grh: header.grh(), payload }
        }
        Kind::MAD_IN => {
            let (header, rest) = MadIn::parse_prefix(message)?;
            let agent = AgentId(header.agent.get());
            match header.status.get() {
                TIMED_OUT => Message::MadTimedOut { port: header.port, agent, mad: <SaMad as Wire>::parse(rest)? },
                _ => Message::Mad { port: header.port, agent, mad: rest },
            }
        }
        Kind::REPORT_IN => {
            let (header, rest) = ReportIn::parse_prefix(message)?;
            let (qpn, mad) = (Qpn::masked(header.qpn.get()), <SaMad as Wire>::parse(rest)?);
            Message::Report { port: header.port, slid: header.slid, qpn, mad }
        }
        Kind::QP_FAULT => {
            let failed = QpFault::parse(message)?;
            Message::Fault { qpn: Qpn::masked(failed.qpn.get()), fault: failed.fault }
        }
        Kind::ATTACHED => {
            let group = QpGroup::parse(message)?;
            Message::Attached { qpn: Qpn::masked(group.qpn.get()), mgid: group.mgid, mlid: group.mlid }
        }
        _ => {
            let refused = Refused::parse(message)?;
            Message::Refused { request: refused.request, refusal: refused.refusal, qpn: Qpn::masked(refused.qpn.get()) }
        }
    })
}
