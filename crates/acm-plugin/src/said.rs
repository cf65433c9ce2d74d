//! What a library says, until the core or the log has it.
use acm_sansio::{
    EndpointId,
    api::{CallId, ExternalRequestId, ExternalSaId, ProviderMessage},
};
use acm_wire::client::Counter;

/// Something that a library said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A call returned.
    Returned {
        /// The call that returned.
        call: CallId,
        /// Whether it gave zero, or nothing.
        is_ok: bool,
    },
    /// A request was answered.
    Answered {
        /// The request that it answers.
        request: ExternalRequestId,
        /// The message, as long as its header says.
        message: Vec<u8>,
    },
    /// Counters of an endpoint.
    Counters {
        /// The request that asked for them.
        request: ExternalRequestId,
        /// In the host's byte order.
        values: Vec<u64>,
    },
    /// A request to subnet administration.
    SaAsked {
        /// To be given back with the answer.
        id: ExternalSaId,
        /// The endpoint whose port it is sent from.
        endpoint: EndpointId,
        /// The whole datagram, in the byte order of the wire.
        mad: Box<[u8; 256]>,
    },
    /// One of the daemon's counters.
    Counted(Counter),
    /// A line for the log.
    Line(LogLine),
    /// So many lines are lost: they came faster than they were written.
    LinesLost(u64),
}

/// A line that a library wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// From 0, always, to 2.
    pub level: u8,
    /// One line of printable characters.
    pub text: String,
}

impl Said {
    /// What the core is told; `None` if it is for the log.
    #[must_use]
    pub fn to_core(&self) -> Option<ProviderMessage<'_>> {
        Some(match self {
            Self::Returned { call, is_ok } => ProviderMessage::Returned { call: *call, is_ok: *is_ok },
            Self::Answered { request, message } => ProviderMessage::ResolveResponse { request: *request, message },
            Self::Counters { request, values } => ProviderMessage::Counters { request: *request, values },
            Self::SaAsked { id, endpoint, mad } => {
                ProviderMessage::SaRequest { id: *id, endpoint: *endpoint, mad: mad.as_slice() }
            }
            Self::Counted(counter) => ProviderMessage::IncrementCounter(*counter),
            Self::Line(_) | Self::LinesLost(_) => return None,
        })
    }
}
