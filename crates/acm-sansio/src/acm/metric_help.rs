//! HELP texts of the core's metrics.
use crate::{api::Stats, resolver::IbacmpStats};

/// Returns the HELP text of each metric of the core with its name, without a full stop at its end.
pub fn metric_help() -> impl Iterator<Item = (&'static str, &'static str)> {
    let texts = [OTHERS, Stats::HELP, IbacmpStats::HELP].into_iter().flatten();
    texts.map(|(name, text)| (*name, text.trim_start().trim_end_matches('.')))
}

/// The counters of the client protocol, the gauges, and other metrics that are no field of a `stats!`.
const OTHERS: &[(&str, &str)] = &[
    ("error", "Requests that failed with a status other than ENODATA"),
    ("resolve", "Requests to resolve"),
    ("no_data", "Requests answered with ENODATA: not cached, or not available"),
    ("addr_query", "Addresses requested from the multicast group"),
    ("addr_cache", "Addresses answered from the cache"),
    ("route_query", "Paths requested from the SA"),
    ("route_cache", "Paths answered from the cache"),
    ("missing_destinations", "Ids that name no object of the built-in protocol"),
    ("accounts", "Accounts that hold something, by kind"),
    ("clients", "Connections, by kind of account"),
    ("requests_waiting", "Requests without a response yet, by kind"),
    ("lookups", "Lookups that accounts need, by kind"),
    ("destinations", "The cache entries by state"),
    (
        "port_active",
        "1 while an InfiniBand port is active; 0 also for a port that was never active or cannot be opened",
    ),
    ("addresses_served", "Names and IP addresses of this node at active ports"),
    ("endpoint_open", "1 while an endpoint has its queue pair, or its provider has opened it"),
    ("groups_wanted", "Groups that an endpoint should be a member of"),
    (
        "groups_joined",
        "Groups that an endpoint is a member of; the group of requests counts when the queue pair is attached to it",
    ),
    ("sa_waiting", "Requests to the SA that wait for a turn, of local accounts and of `strangers`"),
    ("sa_in_flight", "Requests to the SA in flight"),
    ("sa_depth", "Requests to the SA that may be in flight"),
    ("joins_waiting", "Joins and leaves that wait"),
    ("prefetched", "Paths that an endpoint has as a table from the SA (`prefetch`)"),
    ("multicast_waiting", "Lookups that wait for a turn to send a multicast request"),
    ("multicast_in_flight", "Multicast requests that hold a credit"),
    ("multicast_depth", "Multicast requests that may hold a credit"),
    ("provider_hangs_now", "1 while a provider library has not returned from a call for 10 s"),
    ("provider_calls", "Calls of a provider library that have not returned"),
    ("provider_waiting", "Requests that wait for a turn at a provider library"),
    ("provider_unanswered", "Requests that a provider library has not answered"),
    ("provider_sa_requests", "Requests of a provider library to the SA that are not answered"),
];
