//! What an administrator may want to read.
use crate::{
    id::{ClientId, EndpointId, KernelRequestId, PortId},
    sa::SaError,
};
use acm_wire::{
    Address,
    client::{ClientStatus, FrameError},
    multicast::MessageError,
};
use core::fmt;
use ib_mad::{Gid, Lid, Mtu, Pkey, Rate};

/// How important an event is: ibacm's `log_level` 0, 1, 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Problems and what changes the service.
    Always,
    /// What happened on the way.
    Verbose,
    /// Every step.
    Debug,
}

/// Something that happened. Its text keeps the words that people search ibacm's log for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A port is active.
    PortUp(PortId, Lid),
    /// A port is not active any more.
    PortDown(PortId),
    /// An endpoint was made.
    EndpointAdded(EndpointId, PortId, Pkey),
    /// An endpoint is gone.
    EndpointRemoved(EndpointId, PortId, Pkey),
    /// An endpoint got no queue pair.
    EndpointFailed(EndpointId),
    /// No partition of the port's table fits the address.
    NoPartition(PortId, Address, Option<Pkey>),
    /// An address that another endpoint has already; the first keeps it.
    DuplicateAddress(Address),
    /// An address was added to an endpoint.
    AddressAdded(EndpointId, Address),
    /// A group was joined.
    Joined(EndpointId, Gid, Lid, Mtu, Rate),
    /// A group could not be joined; it is tried again after so many milliseconds.
    JoinFailed(EndpointId, Gid, SaError, u64),
    /// A client's connection carries bytes that are no request.
    BadFrame(ClientId, FrameError),
    /// A client's request was refused.
    Refused(ClientId, ClientStatus),
    /// A request of the kernel was refused, or its deadline came.
    KernelRefused(KernelRequestId, ClientStatus),
    /// A destination could not be resolved.
    ResolveFailed(Address, ClientStatus),
    /// A datagram that is not ours to understand.
    BadDatagram(EndpointId, MessageError),
    /// A datagram without a global route header.
    NoGrh(EndpointId),
    /// An asker is in none of our groups.
    NoSharedGroup(EndpointId, Address),
    /// A destination answers from another queue pair or port than before.
    PeerChanged(EndpointId, Address),
    /// An answer of subnet administration does not fit its request.
    BadSaAnswer(PortId),
}

impl Event {
    /// How important it is.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::DuplicateAddress(..)
            | Self::EndpointFailed(..)
            | Self::JoinFailed(..)
            | Self::PortUp(..)
            | Self::PortDown(..)
            | Self::EndpointAdded(..)
            | Self::EndpointRemoved(..)
            | Self::BadSaAnswer(..) => Level::Always,
            // Any user's program and any address of a partition that is gone may cause these again and again: at the
            // default level they would fill the disk.
            Self::NoPartition(..)
            | Self::BadFrame(..)
            | Self::AddressAdded(..)
            | Self::Joined(..)
            | Self::Refused(..)
            | Self::KernelRefused(..)
            | Self::ResolveFailed(..)
            | Self::BadDatagram(..)
            | Self::NoSharedGroup(..)
            | Self::PeerChanged(..) => Level::Verbose,
            Self::NoGrh(..) => Level::Debug,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortUp(port, lid) => write!(f, "port {} is active, LID {lid}", port.0),
            Self::PortDown(port) => write!(f, "port {} is down", port.0),
            Self::EndpointAdded(id, port, pkey) => write!(f, "{id}: port {} pkey {pkey} opened", port.0),
            Self::EndpointRemoved(id, port, pkey) => write!(f, "{id}: port {} pkey {pkey} closed", port.0),
            Self::EndpointFailed(id) => write!(f, "ERROR - {id}: no queue pair"),
            Self::NoPartition(port, address, Some(pkey)) => {
                write!(f, "ERROR - unable to assign {address}: pkey {pkey} is not in the table of port {}", port.0)
            }
            Self::NoPartition(port, address, None) => {
                write!(f, "ERROR - unable to assign {address}: port {} has no pkey", port.0)
            }
            Self::DuplicateAddress(address) => write!(f, "notice - duplicate address {address}: the first stays"),
            Self::AddressAdded(id, address) => write!(f, "Added {address} to {id}"),
            Self::Joined(id, mgid, mlid, mtu, rate) => {
                write!(f, "join successful: {id} group {mgid} MLID {:#x} mtu {mtu} rate {rate}", mlid.get())
            }
            Self::JoinFailed(id, mgid, error, again_ms) => {
                write!(f, "ERROR - join failed: {id} group {mgid}: {error}; again in {again_ms} ms")
            }
            Self::BadFrame(client, error) => write!(f, "ERROR - {client} closed: {error}"),
            Self::Refused(client, status) => write!(f, "notice - failing request of {client}: {status}"),
            Self::KernelRefused(id, status) => write!(f, "notice - failing request {} of the kernel: {status}", id.0),
            Self::ResolveFailed(address, status) => write!(f, "notice - failing request for {address}: {status}"),
            Self::BadDatagram(id, error) => write!(f, "notice - {id}: datagram dropped: {error}"),
            Self::NoGrh(id) => write!(f, "notice - {id}: datagram without a GRH dropped"),
            Self::NoSharedGroup(id, address) => write!(f, "notice - {id}: no shared multicast group with {address}"),
            Self::PeerChanged(id, address) => write!(f, "notice - {id}: {address} has moved, resetting"),
            Self::BadSaAnswer(port) => write!(f, "ERROR - port {}: SA answer does not fit its request", port.0),
        }
    }
}
