//! Inputs of a trace.
use crate::{Kind, encode};
use acm_sansio::{ClientId, EndpointId, Input, PortId, SaRequestId, api::DatagramSource};
use ib_mad::{Lid, Qpn};

/// An [`Input`] that borrows nothing.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are those of the input with the same name")]
pub enum OwnedInput {
    /// [`Input::ClientMessage`].
    ClientMessage { client: ClientId, message: Vec<u8> },
    /// [`Input::SaResponse`].
    SaResponse { id: SaRequestId, mad: Vec<u8> },
    /// [`Input::SaReport`].
    SaReport { port: PortId, lid: Lid, qpn: Qpn, mad: Vec<u8> },
    /// [`Input::Datagram`].
    Datagram { endpoint: EndpointId, source: DatagramSource, payload: Vec<u8> },
    /// Any other input, which borrows nothing.
    Other(Input<'static>),
}

impl OwnedInput {
    /// Returns the input for [`Acm::handle_input`](acm_sansio::Acm::handle_input).
    #[must_use]
    pub fn as_input(&self) -> Input<'_> {
        match *self {
            Self::ClientMessage { client, ref message } => Input::ClientMessage { client, message },
            Self::SaResponse { id, ref mad } => Input::SaResponse { id, mad },
            Self::SaReport { port, lid, qpn, ref mad } => Input::SaReport { port, lid, qpn, mad },
            Self::Datagram { endpoint, source, ref payload } => Input::Datagram { endpoint, source, payload },
            Self::Other(ref input) => input.clone(),
        }
    }

    /// Returns the kind of the packet that holds the input.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::ClientMessage { .. } => Kind::ClientMessage,
            Self::SaResponse { .. } => Kind::SaAnswer,
            Self::SaReport { .. } => Kind::SaReport,
            Self::Datagram { .. } => Kind::Datagram,
            Self::Other(input) => encode::kind_of_input(input),
        }
    }
}
