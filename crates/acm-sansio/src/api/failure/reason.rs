//! Reasons why requests fail, and the client's status for each.
use crate::api::SaError;
use acm_wire::client::ClientStatus;
use ib_mad::Pkey;

/// The reason why a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Failure {
    /// The message is invalid; the status tells in which way.
    #[error("request refused: {0}")]
    BadRequest(ClientStatus),
    /// No endpoint of an active port has the source of the path.
    #[error("no endpoint of an active port has the source")]
    NoSource,
    /// No port that could begin the path is in the requested partition.
    #[error("P_Key {0} is not in the port's table")]
    NoPartition(Pkey),
    /// The port is in the requested partition, but has no address in it.
    #[error("the port has no address in the partition of P_Key {0}")]
    NoAddress(Pkey),
    /// The routing table has no source address for the destination.
    #[error("no source address: the routing table has no way there")]
    NoRoute,
    /// A GID or LID was requested as an address. GIDs and LIDs must be requested as paths.
    #[error("not an address that a peer owns")]
    NotAnAddress,
    /// The endpoint is in no multicast group yet.
    #[error("no multicast group joined yet")]
    NoGroup,
    /// The request waited too long for its turn.
    #[error("no turn to ask within the deadline")]
    NoTurn,
    /// No peer has the address, or the peer does not receive our requests.
    #[error("no response from the group")]
    NoResponse,
    /// A peer responded that it cannot resolve the address, and no other peer responded in time.
    #[error("a peer refused: {0}")]
    PeerRefused(ClientStatus),
    /// The peer that has the address is in none of our multicast groups.
    #[error("the peer shares no multicast group with us")]
    NoSharedGroup,
    /// The query to the subnet administrator failed.
    #[error("path query: {0}")]
    Sa(#[from] SaError),
    /// The port went down, or its partition or address was removed.
    #[error("port down or endpoint closed")]
    EndpointClosed,
    /// A limit is reached.
    #[error("too many {0}")]
    TooMany(Bound),
    /// The lookup continues, but the requester does not wait for it.
    #[error("not known yet, and the asker does not wait")]
    NotYet,
    /// A provider outside of the core refused.
    #[error("the provider says: {0}")]
    ProviderRefused(ClientStatus),
    /// A provider outside of the core did not respond.
    #[error("no answer from the provider")]
    ProviderSilent,
    /// A provider outside of the core hangs, or has not opened the endpoint or the address.
    #[error("the provider hangs, or has not opened the endpoint")]
    ProviderDown,
    /// The response of a provider outside of the core is malformed.
    #[error("malformed answer of the provider")]
    ProviderGarbage,
    /// The kernel's deadline passed. The lookup continues.
    #[error("no answer within the kernel's deadline")]
    KernelDeadline,
}

/// A limit that refused a request. The text names the options that set it, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Bound {
    /// Open requests, of the account or of all: [`Limits::requests`](crate::api::config::Limits::requests).
    #[error("requests wait (requests, request_share, requests_per_client)")]
    Requests,
    /// Lookups, of the account or of all: [`Limits::lookups`](crate::api::config::Limits::lookups).
    #[error("lookups under way (lookups, lookup_share)")]
    Lookups,
    /// Destinations, if those examined are local or being looked up:
    /// [`Limits::destinations`](crate::api::config::Limits::destinations).
    #[error("destinations")]
    Destinations,
}

impl Failure {
    /// Returns the status for a client.
    #[must_use]
    pub const fn status(self) -> ClientStatus {
        match self {
            Self::BadRequest(status) | Self::PeerRefused(status) | Self::ProviderRefused(status) => status,
            Self::NoSource | Self::NoPartition(_) | Self::NoAddress(_) | Self::NoRoute => ClientStatus::ESRCADDR,
            Self::NotAnAddress
            | Self::NoGroup
            | Self::NoSharedGroup
            | Self::EndpointClosed
            | Self::ProviderDown
            | Self::ProviderGarbage
            | Self::NotYet => ClientStatus::ENODATA,
            Self::NoTurn | Self::NoResponse | Self::ProviderSilent | Self::KernelDeadline => ClientStatus::ETIMEDOUT,
            Self::Sa(error) => error.client_status(),
            Self::TooMany(_) => ClientStatus::ENOMEM,
        }
    }
}
