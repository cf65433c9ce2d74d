//! Options of the core, with their units and defaults.
use crate::api::Level;
use acm_wire::files::{
    self,
    opts::{LoopbackProt, Options, Percent, Sharing},
};
use alloc::{string::String, vec::Vec};
use core::{num::NonZeroU32, ops::RangeInclusive, time::Duration};
use ib_mad::{Mtu, Rate, ServiceId, ServiceLevel};

mod subnets;
pub use acm_wire::files::opts::{Prefetch, RouteProt};
pub use subnets::Subnets;

/// The maximum of `sa_depth auto`.
pub(crate) const MOST_QUERIES: u32 = 64;
/// The maximum of `resolve_depth auto`.
pub(crate) const MOST_MULTICASTS: u32 = 32;

/// The number of requests in flight (`sa_depth`, `resolve_depth`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Depth {
    /// Grows while responses arrive in time, and halves after congestion.
    #[default]
    Auto,
    /// A fixed number; at least 1.
    Fixed(u32),
}

impl From<Option<NonZeroU32>> for Depth {
    fn from(fixed: Option<NonZeroU32>) -> Self {
        fixed.map_or(Self::Auto, |depth| Self::Fixed(depth.get()))
    }
}

impl Depth {
    /// Returns the fixed number, or that of `auto`.
    pub(crate) fn or(self, auto: u32) -> u32 {
        match self {
            Self::Auto => auto,
            Self::Fixed(depth) => depth.max(1),
        }
    }

    /// Raises the depth to that of `other`, if the maximum of `auto` is this.
    fn widen(&mut self, other: Self, auto: u32) {
        if other.or(auto) > self.or(auto) {
            *self = other;
        }
    }

    /// Reads a depth, or the number that traces before version 1.3 have for `resolve_depth`.
    #[cfg(feature = "serde")]
    fn deserialize_or_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u32),
            Depth(Depth),
        }
        Ok(match <Written as serde::Deserialize>::deserialize(deserializer)? {
            Written::Number(number) => Self::Fixed(number),
            Written::Depth(depth) => depth,
        })
    }
}

/// The service ids that path queries name (`path_service_ids`). rdma_cm has one for each TCP port, and a query for each
/// of them would be too many.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ServiceIds {
    /// Queries name the requested service id, unless responses of the subnet administrator showed that the path does
    /// not depend on it.
    #[default]
    Auto,
    /// Queries name no service id.
    None,
    /// Queries name the requested service id.
    All,
    /// Queries name only service ids in these ranges, which are sorted and do not overlap. The query names the first id
    /// of the range, so that one query serves the whole range, whichever id is requested first.
    Ranges(Vec<RangeInclusive<ServiceId>>),
}

impl ServiceIds {
    /// Creates [`ServiceIds::Ranges`] from ranges in any order.
    #[must_use]
    pub fn ranges(ranges: impl IntoIterator<Item = RangeInclusive<ServiceId>>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_unstable_by_key(|range| range.start().get());
        Self::Ranges(ranges)
    }

    /// Returns the service id to query instead of `id`, or zero for none. With [`ServiceIds::Auto`], responses may
    /// change it.
    #[must_use]
    pub fn canonical(&self, id: ServiceId) -> ServiceId {
        match self {
            Self::None => ServiceId::default(),
            Self::Auto | Self::All => id,
            Self::Ranges(ranges) => {
                let before = ranges.partition_point(|range| range.start().get() <= id.get());
                let range = before.checked_sub(1).and_then(|index| ranges.get(index));
                let range = range.filter(|range| id.get() <= range.end().get());
                range.map(|range| *range.start()).unwrap_or_default()
            }
        }
    }
}

impl From<files::ServiceIds<'_>> for ServiceIds {
    fn from(ids: files::ServiceIds<'_>) -> Self {
        match ids {
            files::ServiceIds::Auto => Self::Auto,
            files::ServiceIds::None => Self::None,
            files::ServiceIds::All => Self::All,
            files::ServiceIds::List(list) => Self::ranges(list.ranges()),
        }
    }
}

/// Options of the core. Names and defaults are those of `ibacm_opts.cfg`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Config {
    /// `addr_timeout`: lifetime of a cached address; `None`: it does not expire.
    pub addr_timeout: Option<Duration>,
    /// `route_prot`: the source of the path to a located destination.
    #[cfg_attr(feature = "serde", serde(rename = "route_protocol"))]
    pub route_prot: RouteProt,
    /// `route_timeout`: lifetime of a cached path; `None`: it does not expire.
    pub route_timeout: Option<Duration>,
    /// `negative_timeout`: time until a failed destination (no peer responded, or the SA has no record) is tried again;
    /// `None`: each request tries again.
    pub negative_timeout: Option<Duration>,
    /// `path_service_ids`: the service ids that path queries name.
    pub path_service_ids: ServiceIds,
    /// `loopback_prot local`: local addresses are resolved without a request.
    pub loopback: bool,
    /// `timeout`: time to wait for a response before each retry. A multicast request also waits for the time that its
    /// port needs to cross the subnet ([`PortAttributes::subnet_time`](crate::api::port::PortAttributes::subnet_time)).
    pub timeout: Duration,
    /// `retries`: number of retries.
    pub retries: u32,
    /// `resolve_depth`: multicast requests of an endpoint in flight, as long as a response to each is likely.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "Depth::deserialize_or_number"))]
    pub resolve_depth: Depth,
    /// `sa_depth`: queries of a port in flight at the subnet administrator.
    pub sa_depth: Depth,
    /// `prefetch`: when an endpoint requests all paths from its port at once.
    pub prefetch: Prefetch,
    /// `shared_cache`: emit [`Output::Publish`](crate::Output::Publish). What was published is withdrawn when it is
    /// switched off.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub shared_cache: bool,
    /// `sa_notices`: subscribe to notices about ports and groups that appear and disappear.
    pub sa_notices: bool,
    /// `witness`: show the addresses of this node to all others at regular intervals.
    #[cfg_attr(feature = "serde", serde(default))]
    pub witness: bool,
    /// `groups`: number of multicast groups of an endpoint with `route_prot acm`, including the base group.
    pub groups: u8,
    /// `group_sl`: service level of the multicast groups that this node creates.
    pub group_sl: ServiceLevel,
    /// `min_mtu`: MTU of the base group.
    pub min_mtu: Mtu,
    /// `min_rate`: rate of the base group.
    pub min_rate: Rate,
    /// Time until a kernel request is answered at the latest. A late request fails, and its lookup continues for the
    /// next request. The kernel waits 2 s by default before it queries the SA itself.
    pub kernel_deadline: Duration,
    /// Time that a lookup may wait for its turn before it fails.
    pub queue_deadline: Duration,
    /// The least important level that is logged. Events below it cost nothing.
    pub log_level: Level,
    /// Names of the providers outside of the core, in the order of their ids.
    /// [`Acm::add_provider`](crate::Acm::add_provider) adds one. [`Input::Configure`](crate::api::Input::Configure)
    /// does not change the list.
    pub providers: Vec<String>,
    /// `provider`: the provider of each subnet. A port of an unassigned subnet has no endpoints.
    pub subnets: Subnets,
    /// Limits of the state that is kept.
    pub limits: Limits,
}

impl Default for Config {
    /// The defaults of the options, except that messages of level 1 are logged.
    fn default() -> Self {
        Self { log_level: Level::Verbose, ..Self::from(&Options::default()) }
    }
}

impl From<&Options<'_>> for Config {
    /// All options are listed by name, so that the compiler reports an unused one.
    fn from(options: &Options<'_>) -> Self {
        let &Options {
            addr_timeout,
            route_prot,
            route_timeout,
            negative_timeout,
            path_service_ids,
            loopback_prot,
            timeout,
            retries,
            resolve_depth,
            sa_depth,
            sa_notices,
            witness,
            prefetch,
            shared_cache,
            groups,
            group_sl,
            min_mtu,
            min_rate,
            log_level,
            // Limits.
            connections: _,
            connection_share: _,
            requests: _,
            request_share: _,
            requests_per_client: _,
            lookups: _,
            lookup_share: _,
            stranger_queue: _,
            // Files and sockets of the daemon.
            log_file: _,
            lock_file: _,
            server_port: _,
            server_mode: _,
            acme_plus_kernel_only: _,
            client_timeout: _,
            metrics_listen: _,
            shared_cache_entries: _,
            route_preload: _,
            route_data_file: _,
            addr_preload: _,
            addr_data_file: _,
            support_ips_in_addr_cfg: _,
            interface_addresses: _,
            provider_lib_path: _,
            // Devices.
            send_depth: _,
            recv_depth: _,
            // Options without an effect.
            umad_debug_level: _,
            addr_prot: _,
        } = options;
        Self {
            addr_timeout,
            route_prot,
            route_timeout,
            negative_timeout,
            path_service_ids: path_service_ids.into(),
            loopback: loopback_prot == LoopbackProt::Local,
            timeout,
            retries,
            resolve_depth: resolve_depth.into(),
            sa_depth: sa_depth.into(),
            prefetch,
            // A daemon determines what `auto` is.
            shared_cache: shared_cache == Sharing::On,
            sa_notices,
            witness,
            groups: groups.get(),
            group_sl,
            min_mtu,
            min_rate,
            kernel_deadline: Duration::from_millis(1800),
            queue_deadline: Duration::from_secs(60),
            log_level: log_level.into(),
            providers: Vec::new(),
            subnets: Subnets::default(),
            limits: Limits::from(options),
        }
    }
}

impl Config {
    /// Returns the longest time of a query to the subnet administrator, including all retries.
    #[must_use]
    pub fn sa_time(&self) -> Duration {
        self.timeout.saturating_mul(self.retries.saturating_add(1))
    }

    /// Raises each limit to that of `other`, because state from before a reconfiguration may remain.
    pub(crate) fn widen(&mut self, other: &Self) {
        self.resolve_depth.widen(other.resolve_depth, MOST_MULTICASTS);
        self.sa_depth.widen(other.sa_depth, MOST_QUERIES);
        let (ours, theirs) = (&mut self.limits, &other.limits);
        ours.connections.widen(theirs.connections);
        ours.requests.widen(theirs.requests);
        ours.lookups.widen(theirs.lookups);
        ours.requests_per_client = ours.requests_per_client.max(theirs.requests_per_client);
        ours.destinations = ours.destinations.max(theirs.destinations);
    }
}

/// A limit that accounts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Share {
    /// The limit for all accounts together.
    pub total: usize,
    /// The limit for one account: this percentage, 1 to 100, of the sum of what it holds and what is free. A single
    /// account may hold nearly everything. Of requests and lookups, an account may hold 64 in any case.
    pub percent: u8,
}

impl Share {
    /// Returns the part of `free` that one account may hold, rounded up.
    #[must_use]
    pub fn of(self, free: usize) -> usize {
        let percent = usize::from(self.percent.clamp(1, 100));
        // Split to avoid overflow: an unlimited total is `usize::MAX`.
        free / 100 * percent + (free % 100 * percent).div_ceil(100)
    }

    fn widen(&mut self, other: Self) {
        self.total = self.total.max(other.total);
        self.percent = self.percent.max(other.percent);
    }
}

/// Limits of the state that the core keeps. Whatever exceeds a limit is refused or evicted, and counted in
/// [`Stats`](crate::api::Stats).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Limits {
    /// `connections`, `connection_share`: open client connections. An account beyond its share loses the connection
    /// that has been idle for longest.
    pub connections: Share,
    /// `requests`, `request_share`: open requests of clients and of the kernel. An eighth is for the kernel only.
    pub requests: Share,
    /// `lookups`, `lookup_share`: lookups of local accounts, and QUERY_SA requests. If two accounts need the same
    /// lookup, both are charged. An eighth is for the kernel only.
    pub lookups: Share,
    /// `requests_per_client`: open requests of one client. One more that would wait is refused.
    pub requests_per_client: u32,
    /// `stranger_queue`: lookups for remote hosts: paths for responses to them, and verifications of their claims.
    #[cfg_attr(feature = "serde", serde(rename = "strangers"))]
    pub remote_lookups: usize,
    /// Destinations in the cache that were found. A full cache evicts one that was not used recently.
    pub destinations: usize,
    /// Destinations in the cache that no local user requested.
    pub unsolicited: usize,
    /// Failed destinations that are cached. Beyond the limit, the oldest is dropped.
    pub negatives: usize,
    /// Destinations that wait for a renewal in the background, in each of three queues: used ones, claims of remote
    /// hosts, and those that the sweep found. If the third is full, the sweep waits.
    pub renewals: usize,
    /// Remote hosts that wait for one path so that they get a response.
    pub responders: usize,
    /// Reports of the subnet administrator to a port in one burst; the burst refills within four seconds.
    pub reports: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self::from(&Options::default())
    }
}

impl From<&Options<'_>> for Limits {
    fn from(options: &Options<'_>) -> Self {
        let size = |number: NonZeroU32| usize::try_from(number.get()).unwrap_or(usize::MAX);
        let share = |total, percent: Percent| Share { total, percent: percent.get() };
        Self {
            connections: share(options.connections.map_or(4096, size), options.connection_share),
            requests: share(size(options.requests), options.request_share),
            lookups: share(size(options.lookups), options.lookup_share),
            requests_per_client: options.requests_per_client.get(),
            remote_lookups: size(options.stranger_queue),
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
    fn service_id_is_queried_by_the_first_of_its_range() {
        let id = ServiceId::new;
        let ranges = ServiceIds::ranges([id(100)..=id(109), id(5)..=id(5), id(110)..=id(200)]);
        let canonical =
            |ids: &ServiceIds| [0, 4, 5, 6, 99, 100, 109, 110, 200, 201].map(|number| ids.canonical(id(number)).get());
        assert_eq!(canonical(&ranges), [0, 0, 5, 0, 0, 100, 100, 110, 110, 0]);
        assert_eq!(canonical(&ServiceIds::None), [0; 10]);
        assert_eq!(canonical(&ServiceIds::All), [0, 4, 5, 6, 99, 100, 109, 110, 200, 201]);
    }
}
