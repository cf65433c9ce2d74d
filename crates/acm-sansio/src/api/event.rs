//! Events for the administrator's log.
use super::{
    failed_request::{FailedRequest, RequestedBy},
    names::{DisplayWith, Ids, Level, Names},
    provider_event::ProviderEvent,
    resolver_event::ResolverEvent,
};
use crate::api::{
    SaError,
    account::Account,
    failure::FailureCounts,
    id::{ClientId, EndpointId, PortId, ProviderId},
};
use acm_wire::{Address, client::FrameError};
use alloc::boxed::Box;
use core::{fmt, time::Duration};
use ib_mad::{Lid, Pkey};

/// An event for the log. Its text keeps the words that people search ibacm's log for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Event {
    /// A port is active with this LID.
    PortUp(PortId, Lid),
    /// A port is no longer active.
    PortDown(PortId),
    /// A port is active, but no provider serves the subnet with this prefix.
    NotServed(PortId, u64),
    /// An endpoint was created.
    EndpointAdded(EndpointId, PortId, Pkey),
    /// An endpoint was removed.
    EndpointRemoved(EndpointId, PortId, Pkey),
    /// No queue pair could be opened for an endpoint; the next attempt follows after this many milliseconds.
    EndpointFailed(EndpointId, u64),
    /// An endpoint lost its queue pair because its device was closed.
    EndpointLost(EndpointId),
    /// No partition in the port's P_Key table matches the address.
    NoPartition(PortId, Address, Option<Pkey>),
    /// An address that another endpoint already has; the first endpoint keeps it.
    DuplicateAddress(Address),
    /// An address was added to an endpoint.
    AddressAdded(EndpointId, Address),
    /// An address was removed from an endpoint.
    AddressRemoved(EndpointId, Address),
    /// A connection was closed to make room for another one.
    ConnectionClosed(ClientId, Account),
    /// A connection was refused because too many are open.
    ConnectionRefused(ClientId, Account),
    /// A client sent bytes that are no request.
    BadFrame(ClientId, FrameError),
    /// A request failed.
    Failed(Box<FailedRequest>),
    /// The number of requests that failed in a period, by kind. NODELAY requests are not counted as failed.
    Failures(FailureCounts, Duration),
    /// A request was answered with a path.
    Answered(RequestedBy, Address),
    /// The subnet manager or the port moved; this many queries to the subnet administrator are sent again.
    SaMoved(PortId, usize),
    /// The subscription to notices succeeded; `true` if a failure was logged before.
    Subscribed(PortId, bool),
    /// The subscription to notices failed. It is retried; further failures are not logged.
    NotSubscribed(PortId, SaError),
    /// A response of the subnet administrator does not match its query.
    #[cfg_attr(feature = "serde", serde(rename = "BadSaAnswer"))]
    BadSaResponse(PortId),
    /// An event of a provider outside of the core.
    Provider(ProviderId, ProviderEvent),
    /// An event of the built-in provider.
    Ibacmp(ResolverEvent),
}

impl Event {
    /// Returns the event's level.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::DuplicateAddress(..)
            | Self::NotSubscribed(..)
            | Self::Subscribed(_, true)
            | Self::EndpointFailed(..)
            | Self::EndpointLost(..)
            | Self::Provider(..)
            | Self::PortUp(..)
            | Self::PortDown(..)
            | Self::NotServed(..)
            | Self::Failures(..)
            | Self::EndpointAdded(..)
            | Self::EndpointRemoved(..)
            | Self::SaMoved(..)
            | Self::BadSaResponse(..) => Level::Always,
            // Any local program, and any address of a removed partition, can cause these events repeatedly.
            Self::NoPartition(..)
            | Self::Subscribed(_, false)
            | Self::BadFrame(..)
            | Self::AddressAdded(..)
            | Self::AddressRemoved(..)
            | Self::ConnectionClosed(..)
            | Self::ConnectionRefused(..)
            | Self::Failed(..) => Level::Verbose,
            Self::Answered(..) => Level::Debug,
            Self::Ibacmp(event) => event.level(),
        }
    }

    /// Returns the destination or local address that the event is about.
    #[must_use]
    pub fn dest(&self) -> Option<Address> {
        match self {
            Self::NoPartition(_, address, _)
            | Self::DuplicateAddress(address)
            | Self::AddressAdded(_, address)
            | Self::AddressRemoved(_, address)
            | Self::Answered(_, address) => Some(*address),
            Self::Failed(failed) => failed.dest,
            Self::Provider(_, event) => event.address(),
            Self::Ibacmp(event) => event.dest(),
            _ => None,
        }
    }

    /// Returns the port that the event is about.
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
            | Self::BadSaResponse(port) => Some(*port),
            Self::Provider(_, event) => event.port(),
            _ => None,
        }
    }

    /// Returns the endpoint that the event is about.
    #[must_use]
    pub fn endpoint(&self) -> Option<EndpointId> {
        match self {
            Self::EndpointAdded(endpoint, ..)
            | Self::EndpointRemoved(endpoint, ..)
            | Self::EndpointFailed(endpoint, _)
            | Self::EndpointLost(endpoint)
            | Self::AddressAdded(endpoint, _)
            | Self::AddressRemoved(endpoint, _) => Some(*endpoint),
            Self::Failed(failed) => failed.endpoint,
            Self::Provider(_, event) => event.endpoint(),
            Self::Ibacmp(event) => Some(event.endpoint()),
            _ => None,
        }
    }

    /// Returns the client connection that the event is about.
    #[must_use]
    pub fn client(&self) -> Option<ClientId> {
        match self {
            Self::ConnectionClosed(client, _)
            | Self::ConnectionRefused(client, _)
            | Self::BadFrame(client, _)
            | Self::Answered(RequestedBy::Client(client, _), _) => Some(*client),
            Self::Failed(failed) => match failed.by {
                RequestedBy::Client(client, _) => Some(client),
                RequestedBy::Kernel(_) => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for Event {
    /// Writes the event with plain ids.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&Ids, f)
    }
}

impl DisplayWith for Event {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortUp(port, lid) => write!(f, "{port} is active, LID {lid}", port = port.named(names)),
            Self::PortDown(port) => write!(f, "{port} is down", port = port.named(names)),
            Self::NotServed(port, prefix) => {
                write!(
                    f,
                    "notice - {port}: not served: no provider for subnet prefix {prefix:#018x}",
                    port = port.named(names)
                )
            }
            Self::EndpointAdded(_, port, pkey) => write!(f, "{port} pkey {pkey} opened", port = port.named(names)),
            Self::EndpointRemoved(_, port, pkey) => write!(f, "{port} pkey {pkey} closed", port = port.named(names)),
            Self::EndpointFailed(id, again_ms) => {
                write!(f, "ERROR - {id}: no queue pair; again in {again_ms} ms", id = id.named(names))
            }
            Self::EndpointLost(id) => write!(f, "{id}: queue pair lost with its device", id = id.named(names)),
            Self::NoPartition(port, address, Some(pkey)) => {
                write!(
                    f,
                    "ERROR - unable to assign {address}: pkey {pkey} is not in the table of {port}",
                    port = port.named(names)
                )
            }
            Self::NoPartition(port, address, None) => {
                write!(f, "ERROR - unable to assign {address}: {port} has no pkey", port = port.named(names))
            }
            Self::DuplicateAddress(address) => write!(f, "notice - duplicate address {address}: the first stays"),
            Self::AddressAdded(id, address) => write!(f, "Added {address} to {id}", id = id.named(names)),
            Self::AddressRemoved(id, address) => write!(f, "Removed {address} from {id}", id = id.named(names)),
            Self::ConnectionClosed(client, account) => {
                write!(
                    f,
                    "notice - {client} of {account} closed to make room (connections, connection_share)",
                    client = client.named(names)
                )
            }
            Self::ConnectionRefused(client, account) => {
                write!(
                    f,
                    "notice - {client} of {account} refused: too many connections (connections, connection_share)",
                    client = client.named(names)
                )
            }
            Self::BadFrame(client, error) => {
                write!(f, "ERROR - {client} closed: {error}", client = client.named(names))
            }
            Self::Failed(failed) => failed.write(names, f),
            Self::Failures(counts, time) => {
                let (all, seconds) = (counts.total(), time.as_secs());
                let were = if all == 1 { "request" } else { "requests" };
                write!(
                    f,
                    "notice - {all} {were} failed in {seconds} s: {counts} (log_level 1 says why each of them did)"
                )
            }
            Self::Answered(by, address) => write!(f, "{by}: path to {address}", by = by.named(names)),
            Self::SaMoved(port, count) => {
                write!(f, "{port}: subnet manager or port moved, {count} requests sent again", port = port.named(names))
            }
            Self::Subscribed(port, _) => {
                write!(f, "{port}: subscribed to notices of subnet administration", port = port.named(names))
            }
            Self::NotSubscribed(port, error) => {
                write!(f, "notice - {port}: no notices of subnet administration: {error}", port = port.named(names))
            }
            Self::BadSaResponse(port) => {
                write!(f, "ERROR - {port}: SA answer does not fit its request", port = port.named(names))
            }
            Self::Provider(provider, event) => event.write_of(*provider, names, f),
            Self::Ibacmp(event) => event.write(names, f),
        }
    }
}

#[cfg(test)]
mod tests;
