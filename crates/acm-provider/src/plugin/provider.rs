//! The interface of a provider.
use super::{Address, Endpoint, Port, Request};

/// A provider, which resolves paths. All functions except opening and resolving have a default.
pub trait Provider: Sized + Send + Sync + 'static {
    /// State of an open port.
    type Port: Send + Sync;
    /// State of an open endpoint: a partition of a port with at least one address.
    type Endpoint: Send + Sync;

    /// Creates the provider. The daemon calls this function once, after it has loaded the library.
    ///
    /// # Errors
    /// The provider cannot serve. The daemon logs the error and continues without this provider.
    fn load() -> Result<Self, Refused>;

    /// Opens a port that has become active.
    ///
    /// # Errors
    /// The daemon does not serve the port until it becomes active again.
    fn open_port(&self, port: &Port) -> Result<Self::Port, Refused>;

    /// Opens an endpoint: a partition of an open port got its first address.
    ///
    /// # Errors
    /// The daemon tries again when the partition gets its next address.
    fn open_endpoint(&self, port: &Self::Port, endpoint: &Endpoint) -> Result<Self::Endpoint, Refused>;

    /// Adds an address to an open endpoint: a name or an IP address.
    ///
    /// # Errors
    /// The daemon does not serve this address.
    fn add_address(&self, endpoint: &Self::Endpoint, address: &Address) -> Result<(), Refused> {
        let _ = (endpoint, address);
        Ok(())
    }

    /// Removes an address from an open endpoint. The daemon may close an endpoint without calling this function for the
    /// remaining addresses.
    fn remove_address(&self, endpoint: &Self::Endpoint, address: &Address) {
        let _ = (endpoint, address);
    }

    /// Resolves a path from this endpoint.
    fn resolve(&self, endpoint: &Self::Endpoint, request: Request);

    /// Queries the subnet administrator (SA) for a path, regardless of the cache.
    fn query(&self, endpoint: &Self::Endpoint, request: Request) {
        let _ = endpoint;
        drop(request);
    }

    /// Handles a client reregistration: the subnet manager has lost all group memberships of the port's subnet.
    fn reregister(&self, port: &Self::Port) {
        let _ = port;
    }

    /// Returns the endpoint's counters, in the order of `ib_acme -P` (errors, resolves, no data, address queries,
    /// address cache, route queries, route cache). The daemon gets at most 16 counters.
    fn counters(&self, endpoint: &Self::Endpoint) -> Vec<u64> {
        let _ = endpoint;
        Vec::new()
    }
}

/// The reason why a provider rejects a call, for the daemon's log.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    /// Creates a refusal with a reason.
    #[must_use]
    pub fn new(why: impl core::fmt::Display) -> Self {
        Self(why.to_string())
    }
}
