//! Why a request fails, and the status that a client is told.
use crate::sa::SaError;
use acm_wire::client::ClientStatus;

/// Why a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Failure {
    /// The message does not say what is asked, or how.
    #[error("request refused: {0}")]
    BadRequest(ClientStatus),
    /// No endpoint of an active port is the source of the path.
    #[error("no endpoint of an active port has the source")]
    NoSource,
    /// The routing table gives no source for the destination.
    #[error("no source address: the routing table has no way there")]
    NoRoute,
    /// A GID or LID was asked for as an address; those are asked for as paths.
    #[error("not an address that a peer owns")]
    NotAnAddress,
    /// The endpoint is in no multicast group yet: joining has not succeeded.
    #[error("no multicast group joined yet")]
    NoGroup,
    /// It waited for its turn for too long.
    #[error("no turn to ask within the deadline")]
    NoTurn,
    /// Nobody has the address, or nobody who hears us.
    #[error("no response from the group")]
    NoResponse,
    /// A peer responded that it cannot be resolved; nobody else responded in time.
    #[error("a peer refused: {0}")]
    PeerRefused(ClientStatus),
    /// The peer that has the address is in none of our groups.
    #[error("the peer shares no multicast group with us")]
    NoSharedGroup,
    /// Subnet administration gave no path.
    #[error("path query: {0}")]
    Sa(#[from] SaError),
    /// The port went down, or its partition or address went away.
    #[error("port down or endpoint closed")]
    EndpointClosed,
    /// A bound is reached.
    #[error("too many {0}")]
    TooMany(Bound),
    /// It goes on, and whoever asked does not wait for it.
    #[error("not known yet, and the asker does not wait")]
    NotYet,
    /// The provider outside of the core says no.
    #[error("the provider says: {0}")]
    ProviderRefused(ClientStatus),
    /// It says nothing.
    #[error("no answer from the provider")]
    ProviderSilent,
    /// It hangs, or has not opened the endpoint or the address.
    #[error("the provider hangs, or has not opened the endpoint")]
    ProviderDown,
    /// What it says is no answer.
    #[error("malformed answer of the provider")]
    ProviderGarbage,
    /// The kernel's time is over; the lookup goes on.
    #[error("no answer within the kernel's deadline")]
    KernelDeadline,
}

/// Which bound refused a request, by the option that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Bound {
    /// Of the account, or of all: [`Limits::requests`](crate::config::Limits::requests).
    #[error("requests wait (requests, request_share, requests_per_client)")]
    Requests,
    /// Of the account, or of all: [`Limits::lookups`](crate::config::Limits::lookups).
    #[error("lookups under way (lookups, lookup_share)")]
    Lookups,
    /// Every destination is being looked up: [`Limits::destinations`](crate::config::Limits::destinations).
    #[error("destinations")]
    Destinations,
}

impl Failure {
    /// What a client is told.
    #[must_use]
    pub const fn status(self) -> ClientStatus {
        match self {
            Self::BadRequest(status) | Self::PeerRefused(status) | Self::ProviderRefused(status) => status,
            Self::NoSource | Self::NoRoute => ClientStatus::ESRCADDR,
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
