//! Options of the core, with their units and defaults.
use crate::door::Level;
use alloc::{string::String, vec::Vec};
use core::{ops::RangeInclusive, time::Duration};
use ib_mad::{Mtu, Rate, ServiceId};

mod subnets;
pub use subnets::Subnets;

/// Where a route to a known address comes from (`route_prot`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RouteProtocol {
    /// From subnet administration.
    #[default]
    Sa,
    /// From the parameters of the multicast group that both ends share.
    Acm,
}

/// How many requests of a port to subnet administration are in flight at a time (`sa_depth`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SaDepth {
    /// From 4 up to 64 while answers come; half as many after each time-out and each BUSY.
    #[default]
    Auto,
    /// So many; at least 1.
    Fixed(u32),
}

impl SaDepth {
    /// What [`SaDepth::Auto`] grows to.
    pub(crate) const MOST_AUTO: u32 = 64;

    /// How many there may ever be.
    pub(crate) fn most(self) -> u32 {
        match self {
            Self::Auto => Self::MOST_AUTO,
            Self::Fixed(depth) => depth.max(1),
        }
    }
}

/// Which service ids of requests path queries name (`path_service_ids`). The others are left out: rdma_cm has one for
/// each TCP port, and a query for each would be too many.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ServiceIds {
    /// Queries name no service id.
    #[default]
    None,
    /// Each as it is.
    All,
    /// Those of these ranges, which do not overlap and are in order. An id is asked for by the first one of its range,
    /// so that one query is enough for all of them, and who asks first makes no difference.
    Ranges(Vec<RangeInclusive<ServiceId>>),
}

impl ServiceIds {
    /// From ranges in any order.
    #[must_use]
    pub fn ranges(ranges: impl IntoIterator<Item = RangeInclusive<ServiceId>>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_unstable_by_key(|range| range.start().get());
        Self::Ranges(ranges)
    }

    /// The service id that is asked for instead of this one; zero if none is.
    #[must_use]
    pub fn asked(&self, id: ServiceId) -> ServiceId {
        match self {
            Self::None => ServiceId::default(),
            Self::All => id,
            Self::Ranges(ranges) => {
                let before = ranges.partition_point(|range| range.start().get() <= id.get());
                let range = before.checked_sub(1).and_then(|index| ranges.get(index));
                let range = range.filter(|range| id.get() <= range.end().get());
                range.map(|range| *range.start()).unwrap_or_default()
            }
        }
    }
}

/// Options of the core. Names and defaults are those of `ibacm_opts.cfg`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Config {
    /// `addr_timeout`: how long an address stays known; `None` for ever.
    pub addr_timeout: Option<Duration>,
    /// `route_prot`: where a route to a known address comes from.
    pub route_protocol: RouteProtocol,
    /// `route_timeout`: how long a route stays known; `None` for ever.
    pub route_timeout: Option<Duration>,
    /// `negative_timeout`: how long a destination that failed (nobody answered, or subnet administration has no record)
    /// is not tried again; `None`: it is tried each time.
    pub negative_timeout: Option<Duration>,
    /// `path_service_ids`: which service ids path queries name.
    pub path_service_ids: ServiceIds,
    /// `loopback_prot local`: own addresses are known without asking anybody.
    pub loopback: bool,
    /// `timeout`: how long to wait for an answer before asking again.
    pub timeout: Duration,
    /// `retries`: how often to ask again.
    pub retries: u32,
    /// `resolve_depth`: multicast requests of an endpoint whose answers are likely still to come, at a time.
    pub resolve_depth: u32,
    /// `sa_depth`: requests of a port in flight at subnet administration.
    pub sa_depth: SaDepth,
    /// `sa_notices`: ask subnet administration to tell which ports and groups come and go.
    pub sa_notices: bool,
    /// `groups`: groups of an endpoint with `route_prot acm`, the base group among them; at least that.
    pub groups: u8,
    /// `min_mtu`: MTU of the base group.
    pub min_mtu: Mtu,
    /// `min_rate`: rate of the base group.
    pub min_rate: Rate,
    /// How long a request of the kernel may wait for its answer; then it is told that there is none, and the lookup
    /// goes on for the next one. The kernel itself waits 2 s, unless told otherwise, before it looks elsewhere.
    pub kernel_deadline: Duration,
    /// How long a lookup may wait for its turn before it fails.
    pub queue_deadline: Duration,
    /// The least important events that are told; others cost nothing.
    pub log_level: Level,
    /// The providers that are not built in, by name, in the order of their numbers:
    /// [`Acm::add_provider`](crate::Acm::add_provider). The core has those that it began with.
    pub providers: Vec<String>,
    /// `provider`: which provider serves which subnet. A port of another subnet has no endpoints.
    pub subnets: Subnets,
    /// Bounds of what is kept.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            addr_timeout: Some(Duration::from_secs(1440 * 60)),
            route_protocol: RouteProtocol::Sa,
            route_timeout: None,
            negative_timeout: Some(Duration::from_millis(1000)),
            path_service_ids: ServiceIds::None,
            loopback: true,
            timeout: Duration::from_millis(2000),
            retries: 2,
            resolve_depth: 1,
            sa_depth: SaDepth::Auto,
            sa_notices: true,
            groups: 2,
            min_mtu: Mtu::B2048,
            min_rate: Rate::GBPS_10,
            kernel_deadline: Duration::from_millis(1800),
            queue_deadline: Duration::from_secs(60),
            log_level: Level::Verbose,
            providers: Vec::new(),
            subnets: Subnets::default(),
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

    /// Raises each bound to that of `other`: what was allowed once may be there still.
    pub(crate) fn widen(&mut self, other: &Self) {
        self.resolve_depth = self.resolve_depth.max(other.resolve_depth);
        if other.sa_depth.most() > self.sa_depth.most() {
            self.sa_depth = other.sa_depth;
        }
        let (ours, theirs) = (&mut self.limits, &other.limits);
        ours.connections.widen(theirs.connections);
        ours.requests.widen(theirs.requests);
        ours.lookups.widen(theirs.lookups);
        ours.requests_per_client = ours.requests_per_client.max(theirs.requests_per_client);
        ours.destinations = ours.destinations.max(theirs.destinations);
    }
}

/// A bound that accounts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Share {
    /// What all accounts together may have.
    pub total: usize,
    /// What one account may have: so many percent, 1 to 100, of what it has and what nobody has. With less than 100
    /// there is always something left for the next account, and one that is alone has nearly all.
    pub percent: u8,
}

impl Share {
    /// The account's part of what is free to it, rounded up.
    #[must_use]
    pub fn of(self, free: usize) -> usize {
        let percent = usize::from(self.percent.clamp(1, 100));
        // In two parts: who has no bound says the largest number.
        free / 100 * percent + (free % 100 * percent).div_ceil(100)
    }

    fn widen(&mut self, other: Self) {
        self.total = self.total.max(other.total);
        self.percent = self.percent.max(other.percent);
    }
}

/// Bounds of what the core keeps. What goes beyond one is refused or thrown out, and counted in
/// [`Stats`](crate::Stats).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Limits {
    /// `connections`, `connection_share`: clients at a time. An account beyond its share loses the connection that has
    /// been idle for longest.
    pub connections: Share,
    /// `requests`, `request_share`: requests of clients and of the kernel that are not answered yet.
    pub requests: Share,
    /// `lookups`, `lookup_share`: lookups that accounts here need. Two accounts that need the same are both charged.
    pub lookups: Share,
    /// `requests_per_client`: requests of one client that are not answered yet; the owner of its connection stops
    /// reading then.
    pub requests_per_client: u32,
    /// `stranger_queue`: lookups for strangers: routes back to peers that ask, and what they claim that is checked.
    pub strangers: usize,
    /// Destinations in the cache; the one not used for longest (nearly) makes room.
    pub destinations: usize,
    /// Destinations of those that nobody here has asked for.
    pub unsolicited: usize,
    /// Destinations that failed just now and are not tried again so soon; beyond it the oldest may be.
    pub negatives: usize,
    /// Destinations that wait for being asked for anew in the background, in each of three lines: what was used, what
    /// strangers claim, and what the sweep found, which waits in its place until there is room.
    pub renewals: usize,
    /// Askers that wait for one route so that they can be answered.
    pub responders: usize,
    /// Reports of subnet administration to a port at once; room for more comes back within four seconds.
    pub reports: u32,
}

/// What one account may have of a bound, in percent.
const DEFAULT_PERCENT: u8 = 90;

impl Default for Limits {
    fn default() -> Self {
        let share = |total| Share { total, percent: DEFAULT_PERCENT };
        Self {
            connections: share(4096),
            requests: share(65_536),
            lookups: share(65_536),
            requests_per_client: 64,
            strangers: 4096,
            destinations: 131_072,
            unsolicited: 65_536,
            negatives: 4096,
            renewals: 1024,
            responders: 16,
            reports: 16_384,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_asked_for_by_the_first_of_its_range() {
        let id = ServiceId::new;
        let ranges = ServiceIds::ranges([id(100)..=id(109), id(5)..=id(5), id(110)..=id(200)]);
        let asked =
            |ids: &ServiceIds| [0, 4, 5, 6, 99, 100, 109, 110, 200, 201].map(|number| ids.asked(id(number)).get());
        assert_eq!(asked(&ranges), [0, 0, 5, 0, 0, 100, 100, 110, 110, 0]);
        assert_eq!(asked(&ServiceIds::None), [0; 10]);
        assert_eq!(asked(&ServiceIds::All), [0, 4, 5, 6, 99, 100, 109, 110, 200, 201]);
    }
}
