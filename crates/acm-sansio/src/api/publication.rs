//! Changes of the paths that clients may read without a request (`shared_cache`).
use crate::api::id::EndpointId;
use acm_wire::Address;
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// A change of what clients may read without a request. Names are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Publication {
    /// The endpoint at which the paths of some requests begin; `None`: none does.
    ///
    /// The requests are those from this local address. Requests that have nothing but a destination GID, or nothing but
    /// a destination LID, have no source. For them `address` is the GID's prefix followed by zeros, or LID 0.
    Source {
        /// The local address, the prefix, or LID 0.
        address: Address,
        /// The endpoint.
        endpoint: Option<EndpointId>,
    },
    /// The response to a request for this destination. It replaces an earlier path.
    Path {
        /// The endpoint at which the path begins.
        endpoint: EndpointId,
        /// The destination of the request. A GID or LID stands for a request that has nothing else.
        dest: Address,
        /// The path in the response.
        #[cfg_attr(feature = "serde", serde(with = "crate::api::hex::path"))]
        path: PathRecord,
        /// The time for which clients may use the path. Then they must send a request.
        lifetime: Duration,
    },
    /// The path to a destination is not valid any more.
    Withdrawn {
        /// The endpoint at which the path begins.
        endpoint: EndpointId,
        /// The destination.
        dest: Address,
    },
    /// No path from this endpoint is valid any more.
    AllWithdrawn(EndpointId),
}
