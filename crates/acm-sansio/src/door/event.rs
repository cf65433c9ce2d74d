//! What an administrator may want to read.
use super::level::Level;
use crate::{
    account::Account,
    failure::Failure,
    ibacmp,
    id::{ClientId, EndpointId, KernelRequestId, PortId},
    sa::SaError,
};
use acm_wire::{Address, client::FrameError};
use core::fmt;
use ib_mad::{Lid, Pkey};

/// Who asked: to be named in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedBy {
    /// A client's connection, and who pays for it.
    Client(ClientId, Account),
    /// The kernel, by the number of its request.
    Kernel(KernelRequestId),
}

impl fmt::Display for RequestedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(client, account) => write!(f, "{client} of {account}"),
            Self::Kernel(id) => write!(f, "kernel request {}", id.0),
        }
    }
}

/// Something that happened. Its text keeps the words that people search ibacm's log for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A port is active, with this LID.
    PortUp(PortId, Lid),
    /// A port is not active any more.
    PortDown(PortId),
    /// A port is active, and no provider here serves the subnet with this prefix.
    NotServed(PortId, u64),
    /// An endpoint was made.
    EndpointAdded(EndpointId, PortId, Pkey),
    /// An endpoint is gone.
    EndpointRemoved(EndpointId, PortId, Pkey),
    /// An endpoint got no queue pair; it is tried again after so many milliseconds.
    EndpointFailed(EndpointId, u64),
    /// An endpoint lost its queue pair with its device.
    EndpointLost(EndpointId),
    /// No partition of the port's table fits the address.
    NoPartition(PortId, Address, Option<Pkey>),
    /// An address that another endpoint has already; the first keeps it.
    DuplicateAddress(Address),
    /// An address was added to an endpoint.
    AddressAdded(EndpointId, Address),
    /// An endpoint has an address no more.
    AddressRemoved(EndpointId, Address),
    /// A connection was closed to make room for another.
    ConnectionClosed(ClientId, Account),
    /// A connection was refused: too many are open.
    ConnectionRefused(ClientId, Account),
    /// A client's connection carries bytes that are no request.
    BadFrame(ClientId, FrameError),
    /// A request was refused before any lookup.
    Refused(RequestedBy, Failure),
    /// A request was answered: with a path, or why not.
    Answered(RequestedBy, Address, Result<(), Failure>),
    /// The subnet manager or the port moved; so many requests to subnet administration are sent again.
    SaMoved(PortId, usize),
    /// Subnet administration tells which ports and groups come and go; whether it was said that it does not.
    Subscribed(PortId, bool),
    /// It does not. It is asked again, and this is not said again.
    NotSubscribed(PortId, SaError),
    /// An answer of subnet administration does not fit its request.
    BadSaAnswer(PortId),
    /// Something that the built-in protocol says.
    Ibacmp(ibacmp::Event),
}

impl Event {
    /// How important it is.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::DuplicateAddress(..)
            | Self::NotSubscribed(..)
            | Self::Subscribed(_, true)
            | Self::EndpointFailed(..)
            | Self::EndpointLost(..)
            | Self::PortUp(..)
            | Self::PortDown(..)
            | Self::NotServed(..)
            | Self::EndpointAdded(..)
            | Self::EndpointRemoved(..)
            | Self::SaMoved(..)
            | Self::BadSaAnswer(..) => Level::Always,
            // Any user's program and any address of a partition that is gone may cause these again and again.
            Self::NoPartition(..)
            | Self::Subscribed(_, false)
            | Self::BadFrame(..)
            | Self::AddressAdded(..)
            | Self::AddressRemoved(..)
            | Self::ConnectionClosed(..)
            | Self::ConnectionRefused(..)
            | Self::Refused(..) => Level::Verbose,
            Self::Answered(..) => Level::Debug,
            Self::Ibacmp(event) => event.level(),
        }
    }

    /// The destination or local address that it is about.
    #[must_use]
    pub const fn dest(&self) -> Option<Address> {
        match self {
            Self::NoPartition(_, address, _)
            | Self::DuplicateAddress(address)
            | Self::AddressAdded(_, address)
            | Self::AddressRemoved(_, address)
            | Self::Answered(_, address, _) => Some(*address),
            Self::Ibacmp(event) => event.dest(),
            _ => None,
        }
    }

    /// The port that it is about.
    #[must_use]
    pub const fn port(&self) -> Option<PortId> {
        match self {
            Self::PortUp(port, _)
            | Self::PortDown(port)
            | Self::NotServed(port, _)
            | Self::EndpointAdded(_, port, _)
            | Self::EndpointRemoved(_, port, _)
            | Self::NoPartition(port, ..)
            | Self::SaMoved(port, _)
            | Self::Subscribed(port, _)
            | Self::NotSubscribed(port, _)
            | Self::BadSaAnswer(port) => Some(*port),
            _ => None,
        }
    }

    /// The endpoint that it is about.
    #[must_use]
    pub const fn endpoint(&self) -> Option<EndpointId> {
        match self {
            Self::EndpointAdded(endpoint, ..)
            | Self::EndpointRemoved(endpoint, ..)
            | Self::EndpointFailed(endpoint, _)
            | Self::EndpointLost(endpoint)
            | Self::AddressAdded(endpoint, _)
            | Self::AddressRemoved(endpoint, _) => Some(*endpoint),
            Self::Ibacmp(event) => Some(event.endpoint()),
            _ => None,
        }
    }

    /// The client's connection that it is about.
    #[must_use]
    pub const fn client(&self) -> Option<ClientId> {
        match self {
            Self::ConnectionClosed(client, _)
            | Self::ConnectionRefused(client, _)
            | Self::BadFrame(client, _)
            | Self::Refused(RequestedBy::Client(client, _), _)
            | Self::Answered(RequestedBy::Client(client, _), ..) => Some(*client),
            _ => None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortUp(port, lid) => write!(f, "port {} is active, LID {lid}", port.0),
            Self::PortDown(port) => write!(f, "port {} is down", port.0),
            Self::NotServed(port, prefix) => {
                write!(f, "notice - port {}: not served: no provider for subnet prefix {prefix:#018x}", port.0)
            }
            Self::EndpointAdded(id, port, pkey) => write!(f, "{id}: port {} pkey {pkey} opened", port.0),
            Self::EndpointRemoved(id, port, pkey) => write!(f, "{id}: port {} pkey {pkey} closed", port.0),
            Self::EndpointFailed(id, again_ms) => write!(f, "ERROR - {id}: no queue pair; again in {again_ms} ms"),
            Self::EndpointLost(id) => write!(f, "{id}: queue pair lost with its device"),
            Self::NoPartition(port, address, Some(pkey)) => {
                write!(f, "ERROR - unable to assign {address}: pkey {pkey} is not in the table of port {}", port.0)
            }
            Self::NoPartition(port, address, None) => {
                write!(f, "ERROR - unable to assign {address}: port {} has no pkey", port.0)
            }
            Self::DuplicateAddress(address) => write!(f, "notice - duplicate address {address}: the first stays"),
            Self::AddressAdded(id, address) => write!(f, "Added {address} to {id}"),
            Self::AddressRemoved(id, address) => write!(f, "Removed {address} from {id}"),
            Self::ConnectionClosed(client, account) => {
                write!(f, "notice - {client} of {account} closed to make room (connections, connection_share)")
            }
            Self::ConnectionRefused(client, account) => {
                write!(
                    f,
                    "notice - {client} of {account} refused: too many connections (connections, connection_share)"
                )
            }
            Self::BadFrame(client, error) => write!(f, "ERROR - {client} closed: {error}"),
            Self::Refused(by, failure) => write!(f, "notice - failing request of {by}: {failure}"),
            Self::Answered(by, address, Ok(())) => write!(f, "{by}: path to {address}"),
            Self::Answered(by, address, Err(failure)) => {
                write!(f, "{by}: no path to {address}: {failure}; status {}", failure.status())
            }
            Self::SaMoved(port, count) => {
                write!(f, "port {}: subnet manager or port moved, {count} requests sent again", port.0)
            }
            Self::Subscribed(port, _) => write!(f, "port {}: subscribed to notices of subnet administration", port.0),
            Self::NotSubscribed(port, error) => {
                write!(f, "notice - port {}: no notices of subnet administration: {error}", port.0)
            }
            Self::BadSaAnswer(port) => write!(f, "ERROR - port {}: SA answer does not fit its request", port.0),
            Self::Ibacmp(event) => event.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
