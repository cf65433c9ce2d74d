//! What the server tells a program.
use super::error::ClientError;
use crate::{
    AgentId, PortChange, Source,
    proto::{DatagramIn, Fault, Kind, MadIn, QpFault, Refusal, Refused, ReportIn, TIMED_OUT, kind},
};
use ib_mad::{Lid, Qpn, Wire, packet::Grh, sa::SaMad};

/// What the server told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A datagram came.
    Datagram {
        /// Who received it.
        qpn: Qpn,
        /// Who sent it.
        source: Source,
        /// The global route header, if the sender used one; of a multicast always.
        grh: Option<&'a Grh>,
        /// The bytes behind the headers.
        payload: &'a [u8],
    },
    /// An answer to [`Client::send_mad`](super::Client::send_mad).
    Mad {
        /// Number of the port that sent the request.
        port: u8,
        /// The request's agent.
        agent: AgentId,
        /// The answer, with the request's transaction id.
        mad: &'a SaMad,
    },
    /// No answer came to any transmission of a request.
    MadTimedOut {
        /// Number of the port that sent the request.
        port: u8,
        /// The request's agent.
        agent: AgentId,
        /// The request, with its transaction id.
        mad: &'a SaMad,
    },
    /// A report of the administrator, to be answered with [`Client::send_mad`](super::Client::send_mad) without a
    /// time-out.
    Report {
        /// Number of the port that received it.
        port: u8,
        /// LID of the sender.
        slid: Lid,
        /// Queue pair of the sender.
        qpn: Qpn,
        /// The `SubnAdmReport()`, with the notice as its data.
        mad: &'a SaMad,
    },
    /// A port changed; [`Client::port`](super::Client::port) has its attributes now.
    Port {
        /// Number of the port that changed.
        port: u8,
        /// What changed at it.
        change: PortChange,
    },
    /// Something of a queue pair broke.
    Fault {
        /// The queue pair.
        qpn: Qpn,
        /// Which part of the queue pair broke.
        fault: Fault,
    },
    /// A request was not done.
    Refused {
        /// Kind of the request.
        request: Kind,
        /// Why the server refused.
        refusal: Refusal,
        /// The queue pair, if it was about one; else 0.
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
            let (mad, agent) = (SaMad::parse(rest)?, AgentId(header.agent.get()));
            match header.status.get() {
                TIMED_OUT => Message::MadTimedOut { port: header.port, agent, mad },
                _ => Message::Mad { port: header.port, agent, mad },
            }
        }
        Kind::REPORT_IN => {
            let (header, rest) = ReportIn::parse_prefix(message)?;
            let (qpn, mad) = (Qpn::masked(header.qpn.get()), SaMad::parse(rest)?);
            Message::Report { port: header.port, slid: header.slid, qpn, mad }
        }
        Kind::QP_FAULT => {
            let broken = QpFault::parse(message)?;
            Message::Fault { qpn: Qpn::masked(broken.qpn.get()), fault: broken.fault }
        }
        _ => {
            let refused = Refused::parse(message)?;
            Message::Refused { request: refused.request, refusal: refused.refusal, qpn: Qpn::masked(refused.qpn.get()) }
        }
    })
}
