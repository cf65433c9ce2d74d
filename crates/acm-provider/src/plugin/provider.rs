//! What a provider does.
use super::{Address, Endpoint, Port, Request};

/// A provider: a way to find paths. Everything but opening and resolving may be left as it is.
pub trait Provider: Sized + Send + Sync + 'static {
    /// What it keeps for a port that is open.
    type Port: Send + Sync;
    /// What it keeps for an endpoint that is open: a partition of a port, with at least one address.
    type Endpoint: Send + Sync;

    /// The daemon has loaded the library and wants to know whether it can serve.
    ///
    /// # Errors
    /// It cannot: the daemon says so and goes on without it.
    fn load() -> Result<Self, Refused>;

    /// A port is active that the provider is to serve.
    ///
    /// # Errors
    /// The daemon leaves the port unserved until it comes up again.
    fn open_port(&self, port: &Port) -> Result<Self::Port, Refused>;

    /// A partition of an open port gets its first address.
    ///
    /// # Errors
    /// The daemon asks again when the partition gets its next address.
    fn open_endpoint(&self, port: &Self::Port, endpoint: &Endpoint) -> Result<Self::Endpoint, Refused>;

    /// An open endpoint has an address: a name or an IP address.
    ///
    /// # Errors
    /// The daemon does not serve this address.
    fn add_address(&self, endpoint: &Self::Endpoint, address: &Address) -> Result<(), Refused> {
        let _ = (endpoint, address);
        Ok(())
    }

    /// An open endpoint has an address no more. Addresses that it still has when it is closed may not be named.
    fn remove_address(&self, endpoint: &Self::Endpoint, address: &Address) {
        let _ = (endpoint, address);
    }

    /// Somebody asks for a path from this endpoint.
    fn resolve(&self, endpoint: &Self::Endpoint, request: Request);

    /// Somebody asks what subnet administration says of a path, and not what is known.
    fn query(&self, endpoint: &Self::Endpoint, request: Request) {
        let _ = endpoint;
        drop(request);
    }

    /// The subnet manager of the port's subnet has forgotten who is in which group.
    fn reregister(&self, port: &Self::Port) {
        let _ = port;
    }

    /// The endpoint's counters, in the order of `ib_acme -P` (errors, resolves, no data, address queries, address cache,
    /// route queries, route cache); at most 16 are told.
    fn counters(&self, endpoint: &Self::Endpoint) -> Vec<u64> {
        let _ = endpoint;
        Vec::new()
    }
}

/// Why a provider refuses something, as the daemon's log says it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    /// For this reason.
    #[must_use]
    pub fn new(why: impl core::fmt::Display) -> Self {
        Self(why.to_string())
    }
}
