//! Options of a client.
use core::time::Duration;

/// Options of a client.
///
/// ```
/// # use core::time::Duration;
/// assert_eq!(acm_client::Options::default().timeout, Some(Duration::from_secs(30)));
/// let options = acm_client::Options::default().with_timeout(Duration::from_secs(2)).with_depth(16);
/// assert_eq!((options.timeout, options.depth), (Some(Duration::from_secs(2)), 16));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Time limit for a connection attempt or a response; `None` for no limit. The default is 30 s: a daemon with
    /// default options always responds within this time. A request waits so long for a daemon that restarts.
    pub timeout: Option<Duration>,
    /// If true, the client reads paths from the memory of a daemon that shares its cache. The default is
    /// true.
    pub shared_cache: bool,
    /// Maximum number of open requests, at least 1. The default is 1,024.
    pub depth: usize,
    /// If true, the client connects again after the connection was lost, and sends its requests again, which is
    /// possible because no request changes the daemon's state. The default is true.
    pub reconnect: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: Some(Duration::from_secs(30)), shared_cache: true, depth: 1024, reconnect: true }
    }
}

impl Options {
    /// Returns the options with this time limit; `None` for no limit.
    #[must_use]
    pub fn with_timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        Self { timeout: timeout.into(), ..self }
    }

    /// Returns the options with or without the use of a shared cache.
    #[must_use]
    pub const fn with_shared_cache(self, shared_cache: bool) -> Self {
        Self { shared_cache, ..self }
    }

    /// Returns the options with or without reconnection.
    #[must_use]
    pub const fn with_reconnect(self, reconnect: bool) -> Self {
        Self { reconnect, ..self }
    }

    /// Returns the options with this number of open requests.
    #[must_use]
    pub const fn with_depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }
}
