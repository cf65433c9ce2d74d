//! Messages between the event loop and the thread of a device.
use super::endpoint::OutgoingDatagram;
use acm_sansio::{
    EndpointId, Input, PortId, SaRequestId,
    api::{DatagramSource, SaAddress, SaSend, SendFailure},
    port::PortAttributes,
};
use ib_mad::{Gid, Lid, Qpn, sa::SaMad};

/// A command of the event loop.
#[derive(Debug)]
pub(super) enum Command {
    /// Reads the device again: it may have changed or been removed.
    Read,
    /// Opens a queue pair. [`Report::EndpointOpened`] or [`Report::EndpointFailed`] follows.
    Open {
        endpoint: EndpointId,
        port: PortId,
        pkey_index: u16,
        /// The endpoint's name in the log.
        name: String,
    },
    Close(EndpointId),
    /// Attaches a queue pair to a group, again until it works. [`Report::Attached`] follows.
    Attach(EndpointId, Gid, Lid),
    Detach(EndpointId, Gid),
    Send(EndpointId, OutgoingDatagram),
    /// Sends a request to subnet administration. [`Report::SaResponse`] or [`Report::SaFailed`] follows.
    SaSend(SaSend),
    /// Sends the response to a report of subnet administration.
    SaReply(PortId, SaAddress, SaMad),
}

/// A report of the thread of a device.
#[derive(Debug)]
pub(super) enum Report {
    /// The device was read for the first time, and opened if possible.
    Read,
    PortOpened(PortId),
    PortClosed(PortId),
    PortUp(PortId, Box<PortAttributes>),
    PortDown(PortId),
    Reregister(PortId),
    EndpointOpened(EndpointId, Qpn),
    EndpointFailed(EndpointId),
    EndpointLost(EndpointId),
    Attached(EndpointId, Gid, Lid),
    SaResponse(SaRequestId, Vec<u8>),
    SaFailed(SaRequestId, SendFailure),
    /// A report of subnet administration.
    Notice {
        port: PortId,
        lid: Lid,
        qpn: Qpn,
        mad: Vec<u8>,
    },
    Datagram(EndpointId, DatagramSource, Box<[u8]>),
}

impl Report {
    /// Returns the input of the core; `None` if the report is for the event loop alone.
    pub(super) fn input(&self) -> Option<Input<'_>> {
        Some(match self {
            Self::Read | Self::PortOpened(_) | Self::PortClosed(_) => return None,
            Self::PortUp(port, attributes) => Input::PortUp { port: *port, attributes: (**attributes).clone() },
            Self::PortDown(port) => Input::PortDown(*port),
            Self::Reregister(port) => Input::ClientReregister(*port),
            Self::EndpointOpened(endpoint, qpn) => Input::EndpointOpened { endpoint: *endpoint, qpn: *qpn },
            Self::EndpointFailed(endpoint) => Input::EndpointFailed(*endpoint),
            Self::EndpointLost(endpoint) => Input::EndpointLost(*endpoint),
            Self::Attached(endpoint, mgid, mlid) => Input::Attached { endpoint: *endpoint, mgid: *mgid, mlid: *mlid },
            Self::SaResponse(id, mad) => Input::SaResponse { id: *id, mad },
            Self::SaFailed(id, failure) => Input::SaFailed { id: *id, failure: *failure },
            Self::Notice { port, lid, qpn, mad } => Input::SaReport { port: *port, lid: *lid, qpn: *qpn, mad },
            Self::Datagram(endpoint, source, payload) => {
                Input::Datagram { endpoint: *endpoint, source: *source, payload }
            }
        })
    }
}
