//! Facts about the cache, for administrators.
use crate::api::{
    Time,
    account::Account,
    failure::Attempt,
    id::{DestId, EndpointId},
};
use acm_wire::Address;
use ib_mad::{Gid, sa::PathRecord};

/// The facts about one destination in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// The destination's id until it is removed.
    pub id: DestId,
    /// The endpoint at which it is cached.
    pub endpoint: EndpointId,
    /// The address, GID or LID to which the path leads.
    pub dest: Address,
    /// The name of its state, as in the gauge `destinations`.
    pub state: &'static str,
    /// The party that caused the entry: `local address`, `user`, or `remote host`.
    pub cause: &'static str,
    /// The GID of the peer, if it is known.
    pub gid: Option<Gid>,
    /// The origin of the address's location; `None` for a LID or a GID, or if the location is not known.
    pub address_source: Option<AddressOrigin>,
    /// The time at which the address expires, if it does.
    pub address_until: Option<Time>,
    /// The cached path.
    pub path: Option<CachedPath>,
    /// The cached failure, and the time at which it expires.
    pub failure: Option<(Attempt, Time)>,
    /// The last time at which two hosts had the address; `None` if there was none since the entry exists.
    pub conflict: Option<Conflict>,
}

/// Another host that had the address of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The time at which the other host responded.
    pub at: Time,
    /// The GID of the host whose path was served.
    pub used: Gid,
    /// The GID of the other host.
    pub other: Gid,
}

/// A path in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedPath {
    /// The path.
    pub record: PathRecord,
    /// The source of the path.
    pub source: PathOrigin,
    /// The time when the path was found.
    pub found: Time,
    /// The time when it was last confirmed or renewed; the time when it was found, if it was not.
    pub confirmed: Time,
    /// The time at which it expires, if it does.
    pub until: Option<Time>,
    /// True if an event may have made it wrong. It is renewed soon, or when it is used.
    pub is_stale: bool,
    /// Number of requests that it has answered, up to the maximum of the type.
    pub uses: u32,
    /// The last request that it has answered.
    pub last_use: Option<PathUse>,
}

/// The use of a cached path by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// The time of the request.
    pub at: Time,
    /// The account of the request.
    pub account: Account,
}

/// The origin of the location of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOrigin {
    /// The address is one of this node.
    Local,
    /// A datagram of a multicast group's member: a response, or a request from the address.
    Group,
    /// A preload file has the address at this location.
    File,
}

impl AddressOrigin {
    /// Returns the name in listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Group => "group",
            Self::File => "file",
        }
    }
}

/// The source of a cached path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathOrigin {
    /// The address is one of this node.
    Local,
    /// A response of the subnet administrator.
    Sa,
    /// The parameters of a multicast group that both ends share.
    Group,
    /// The path of another destination at the same GID.
    Copy,
    /// The table of all paths.
    Table,
    /// A preload file.
    File,
}

impl PathOrigin {
    /// Returns the name in listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Sa => "sa",
            Self::Group => "group",
            Self::Copy => "copy",
            Self::Table => "table",
            Self::File => "file",
        }
    }
}
