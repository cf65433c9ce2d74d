//! Log events of the built-in provider.
use crate::api::{
    DisplayWith, Level, Names, SaError,
    failure::{Attempt, Failure},
    id::EndpointId,
};
use acm_wire::{Address, multicast::MessageError};
use core::fmt;
use ib_mad::{Gid, Lid, Mtu, Rate};

/// An event of the built-in provider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ResolverEvent {
    /// A group was joined.
    Joined(EndpointId, Gid, Lid, Mtu, Rate),
    /// A join failed; the next attempt follows after this many milliseconds.
    JoinFailed(EndpointId, Gid, SaError, u64),
    /// A lookup failed while this many requests waited for it.
    LookupFailed(EndpointId, Address, Attempt, usize),
    /// A datagram that is not a valid ACM message.
    BadDatagram(EndpointId, MessageError),
    /// A datagram that is too long, with its length in bytes.
    LongDatagram(EndpointId, usize),
    /// A datagram without a global route header.
    NoGrh(EndpointId),
    /// A remote host's request names none of our groups.
    NoSharedGroup(EndpointId, Address),
    /// A destination moved to another port or queue pair.
    PeerChanged(EndpointId, Address),
    /// A remote host with this GID claims an address in use; its owner is asked.
    ClaimChecked(EndpointId, Address, Gid),
    /// The verification found the address at its previous location.
    ClaimRefuted(EndpointId, Address, Gid),
    /// Two hosts have an address: the known one with the first GID, which stays in use, and another.
    AddressConflict(EndpointId, Address, Gid, Gid),
    /// A multicast request was sent; with the number of times so far.
    #[cfg_attr(feature = "serde", serde(rename = "Asked"))]
    RequestSent(EndpointId, Address, u32),
    /// A peer responded that it cannot resolve the address.
    Refused(EndpointId, Address, Failure),
    /// The location of an address was found.
    Located(EndpointId, Address, Gid, Lid),
    /// A query for the path was sent to the subnet administrator.
    #[cfg_attr(feature = "serde", serde(rename = "RouteAsked"))]
    RouteRequested(EndpointId, Address),
    /// The path was found.
    RouteFound(EndpointId, Address),
    /// The path was taken from a preloaded file.
    Preloaded(EndpointId, Address),
    /// A preloaded entry contradicts the fabric.
    PreloadRefuted(EndpointId, Address),
    /// The subnet administrator sent all paths; with their number, and the number of those that are queried one by one.
    Prefetched(EndpointId, usize, usize),
    /// The query for all paths failed; the next one follows after this many seconds.
    PrefetchFailed(EndpointId, SaError, u64),
    /// The subnet administrator no longer has the cached path.
    #[cfg_attr(feature = "serde", serde(rename = "RouteGone"))]
    RouteRemoved(EndpointId, Address),
    /// Responses of the subnet administrator showed whether service ids count.
    ServiceIds(EndpointId, IdFinding),
    /// The subnet administrator gives another path to a GID than the parameters of a group.
    GroupUnsuitable(EndpointId, Gid),
}

/// A finding about service ids, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum IdFinding {
    /// The SA ignores service ids.
    Ignored,
    /// The SA supports rules by service id.
    Supported,
    /// The dynamic ports of a port space have equal paths.
    PortsAlike,
    /// Paths of dynamic ports of a port space differ.
    PortsDiffer,
}

impl ResolverEvent {
    pub(crate) const fn level(&self) -> Level {
        match self {
            Self::JoinFailed(..) | Self::AddressConflict(..) | Self::GroupUnsuitable(..) => Level::Always,
            Self::Joined(..)
            | Self::BadDatagram(..)
            | Self::LongDatagram(..)
            | Self::NoSharedGroup(..)
            | Self::PeerChanged(..)
            | Self::RouteRemoved(..)
            | Self::ClaimChecked(..)
            | Self::ClaimRefuted(..)
            | Self::Prefetched(..)
            | Self::PrefetchFailed(..)
            | Self::ServiceIds(..)
            | Self::PreloadRefuted(..) => Level::Verbose,
            Self::NoGrh(..)
            | Self::LookupFailed(..)
            | Self::RequestSent(..)
            | Self::Refused(..)
            | Self::Located(..)
            | Self::RouteRequested(..)
            | Self::RouteFound(..)
            | Self::Preloaded(..) => Level::Debug,
        }
    }

    pub(crate) const fn dest(&self) -> Option<Address> {
        match self {
            Self::LookupFailed(_, address, ..)
            | Self::NoSharedGroup(_, address)
            | Self::PeerChanged(_, address)
            | Self::ClaimChecked(_, address, _)
            | Self::ClaimRefuted(_, address, _)
            | Self::AddressConflict(_, address, ..)
            | Self::RequestSent(_, address, _)
            | Self::Refused(_, address, _)
            | Self::Located(_, address, ..)
            | Self::RouteRequested(_, address)
            | Self::RouteFound(_, address)
            | Self::Preloaded(_, address)
            | Self::PreloadRefuted(_, address)
            | Self::RouteRemoved(_, address) => Some(*address),
            _ => None,
        }
    }

    pub(crate) const fn endpoint(&self) -> EndpointId {
        match self {
            Self::Joined(endpoint, ..)
            | Self::JoinFailed(endpoint, ..)
            | Self::LookupFailed(endpoint, ..)
            | Self::BadDatagram(endpoint, _)
            | Self::LongDatagram(endpoint, _)
            | Self::NoGrh(endpoint)
            | Self::Prefetched(endpoint, ..)
            | Self::PrefetchFailed(endpoint, ..)
            | Self::ServiceIds(endpoint, _)
            | Self::GroupUnsuitable(endpoint, _)
            | Self::NoSharedGroup(endpoint, _)
            | Self::PeerChanged(endpoint, _)
            | Self::ClaimChecked(endpoint, ..)
            | Self::ClaimRefuted(endpoint, ..)
            | Self::AddressConflict(endpoint, ..)
            | Self::RequestSent(endpoint, ..)
            | Self::Refused(endpoint, ..)
            | Self::Located(endpoint, ..)
            | Self::RouteRequested(endpoint, _)
            | Self::RouteFound(endpoint, _)
            | Self::Preloaded(endpoint, _)
            | Self::PreloadRefuted(endpoint, _)
            | Self::RouteRemoved(endpoint, _) => *endpoint,
        }
    }
}

impl From<ResolverEvent> for super::Event {
    fn from(event: ResolverEvent) -> Self {
        Self::Ibacmp(event)
    }
}

impl DisplayWith for ResolverEvent {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.endpoint();
        let id = endpoint.named(names);
        match self {
            Self::Joined(_, mgid, mlid, mtu, rate) => {
                write!(f, "join successful: {id} group {mgid} MLID {:#x} mtu {mtu} rate {rate}", mlid.get())
            }
            Self::JoinFailed(_, mgid, error, again_ms) => {
                write!(f, "ERROR - join failed: {id} group {mgid}: {error}; again in {again_ms} ms")
            }
            Self::LookupFailed(_, address, Attempt { failure, details }, waiting) => {
                write!(f, "{id}: no path to {address}: {failure}{details}; {waiting} waited")
            }
            Self::BadDatagram(_, error) => write!(f, "notice - {id}: datagram dropped: {error}"),
            Self::LongDatagram(_, length) => write!(f, "notice - {id}: datagram of {length} bytes dropped"),
            Self::NoGrh(_) => write!(f, "notice - {id}: datagram without a GRH dropped"),
            Self::NoSharedGroup(_, address) => write!(f, "notice - {id}: no shared multicast group with {address}"),
            Self::PeerChanged(_, address) => write!(f, "notice - {id}: {address} has moved, resetting"),
            Self::ClaimChecked(_, address, gid) => {
                write!(f, "notice - {id}: {gid} claims {address}, which is in use elsewhere: asking its owner")
            }
            Self::ClaimRefuted(_, address, gid) => write!(f, "notice - {id}: {address} is still at {gid}"),
            Self::AddressConflict(_, address, gid, other) => {
                write!(f, "ERROR - address conflict: {id}: {gid} and {other} both have {address}; using {gid}")
            }
            Self::RequestSent(_, address, times) => {
                write!(f, "{id}: requesting the location of {address}, time {times}")
            }
            Self::Refused(_, address, failure) => write!(f, "{id}: {address}: {failure}; waiting for others"),
            Self::Located(_, address, gid, lid) => write!(f, "{id}: {address} is at {gid}, LID {lid}"),
            Self::RouteRequested(_, address) => write!(f, "{id}: asking the SA for the path to {address}"),
            Self::RouteFound(_, address) => write!(f, "{id}: path to {address} found"),
            Self::Preloaded(_, address) => write!(f, "{id}: path to {address} preloaded"),
            Self::PreloadRefuted(_, address) => {
                write!(f, "notice - {id}: {address} is not as it was preloaded; the file is old")
            }
            Self::Prefetched(_, paths, left_out) => {
                write!(f, "{id}: prefetch: {paths} paths, {left_out} records not used")
            }
            Self::PrefetchFailed(_, error, again_s) => {
                write!(f, "notice - {id}: prefetch failed: {error}; again in {again_s} s")
            }
            Self::ServiceIds(_, finding) => write!(
                f,
                "{id}: service ids: {}",
                match finding {
                    IdFinding::Ignored => "the SA has no QoS: paths do not depend on them",
                    IdFinding::Supported => "the SA has QoS: paths may depend on them",
                    IdFinding::PortsAlike => "the SA does not distinguish dynamic ports: they share paths",
                    IdFinding::PortsDiffer => "the SA distinguishes dynamic ports: each has its own paths",
                }
            ),
            Self::GroupUnsuitable(_, gid) => write!(
                f,
                "ERROR - route_prot acm: {id}: the SA gives another path to {gid} than the group: use route_prot sa"
            ),
            Self::RouteRemoved(_, address) => write!(f, "notice - {id}: the SA has no path to {address} any more"),
        }
    }
}
