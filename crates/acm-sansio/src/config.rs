//! Options of the core, with their units and defaults.
use core::time::Duration;
use ib_mad::{Mtu, Rate};

/// Where a route to a known address comes from (`route_prot`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RouteProtocol {
    /// From subnet administration.
    #[default]
    Sa,
    /// From the parameters of the multicast group that both ends share.
    Acm,
}

/// Options of the core. Names and defaults are those of `ibacm_opts.cfg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `addr_timeout`: how long an address stays known; `None` for ever.
    pub addr_timeout: Option<Duration>,
    /// `route_prot`.
    pub route_protocol: RouteProtocol,
    /// `route_timeout`: how long a route stays known; `None` for ever.
    pub route_timeout: Option<Duration>,
    /// `loopback_prot local`: own addresses are known without asking anybody.
    pub loopback: bool,
    /// `timeout`: how long to wait for an answer before asking again.
    pub timeout: Duration,
    /// `retries`: how often to ask again.
    pub retries: u32,
    /// `resolve_depth`: multicast requests of an endpoint that wait for their first answer at a time.
    pub resolve_depth: u32,
    /// `sa_depth`: requests of a port to subnet administration in flight at a time.
    pub sa_depth: u32,
    /// `min_mtu`: MTU of the base group.
    pub min_mtu: Mtu,
    /// `min_rate`: rate of the base group.
    pub min_rate: Rate,
    /// How long a request of the kernel may wait for its answer; then it is told that there is none, and the lookup
    /// goes on for the next one. The kernel itself waits 2 s, unless told otherwise, before it looks elsewhere.
    pub kernel_deadline: Duration,
    /// Bounds.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            addr_timeout: Some(Duration::from_secs(1440 * 60)),
            route_protocol: RouteProtocol::Sa,
            route_timeout: None,
            loopback: true,
            timeout: Duration::from_millis(2000),
            retries: 2,
            resolve_depth: 1,
            sa_depth: 1,
            min_mtu: Mtu::B2048,
            min_rate: Rate::GBPS_10,
            kernel_deadline: Duration::from_millis(1800),
            limits: Limits::default(),
        }
    }
}

impl Config {
    /// How long a request to subnet administration may take with all its repetitions.
    #[must_use]
    pub fn sa_time(&self) -> Duration {
        self.timeout.saturating_mul(self.retries.saturating_add(1))
    }
}

/// Bounds of what the core keeps. What goes beyond one is refused or thrown out, and counted in
/// [`Stats`](crate::output::Stats).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Clients at a time.
    pub clients: usize,
    /// Requests of one client that are not answered yet; the owner of its connection stops reading then.
    pub requests_per_client: u32,
    /// Requests of the kernel whose lookups are under way, late ones too.
    pub kernel_requests: u32,
    /// Requests of all clients and of the kernel that are not answered yet.
    pub requests: usize,
    /// Destinations in the cache; the one not used for longest (nearly) makes room.
    pub destinations: usize,
    /// Destinations of those that nobody here has asked for.
    pub unsolicited: usize,
    /// Requests to subnet administration that wait, of one port.
    pub sa_queue: usize,
    /// Multicast requests that wait, of one endpoint.
    pub resolve_queue: usize,
    /// Askers that wait for one route so that they can be answered.
    pub responders: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 4096,
            requests_per_client: 64,
            kernel_requests: 16_384,
            requests: 65_536,
            destinations: 131_072,
            unsolicited: 65_536,
            sa_queue: 65_536,
            resolve_queue: 65_536,
            responders: 16,
        }
    }
}
