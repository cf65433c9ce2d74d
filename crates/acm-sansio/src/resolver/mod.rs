//! The built-in provider, `ibacmp`: addresses by multicast, paths from the subnet administrator (SA) or from the shared
//! group, and a cache.
//!
//! | file | contents |
//! |---|---|
//! | `protocol.rs` | implementation of the `Provider` trait |
//! | `state.rs` | state of the provider, renewal queue |
//! | `dest.rs`, `remote.rs` | a destination and its states, the location of a peer |
//! | `lookup.rs` | the accounts that need a lookup |
//! | `resolve.rs` | requests for an address, and shared lookups |
//! | `multicast_request.rs` | multicast requests: send, retry, responses, failure |
//! | `incoming_request.rs` | multicast requests from remote hosts |
//! | `route.rs` | paths to located addresses and to ports |
//! | `cache.rs`, `evict.rs`, `expire.rs` | all destinations, creation and eviction, expiry |
//! | `by_gid.rs` | index of destinations by GID |
//! | `negative.rs` | cached failures |
//! | `renew.rs` | renewal of paths in the background |
//! | `claim.rs`, `verify.rs` | verification of claims of remote hosts |
//! | `notices.rs` | notices of the SA about ports and groups |
//! | `announce.rs` | announcements after this port moved |
//! | `endpoint.rs`, `membership.rs`, `round_trip.rs` | state of an endpoint: groups, credits, round-trip times |
//! | `group.rs`, `group_plan.rs` | multicast groups: join, rejoin, leave; their choice by rate and MTU |
//! | `preload.rs`, `preloaded.rs` | routes and hosts loaded from files |
//! | `prefetch.rs`, `path_table.rs` | all paths from a port at once, as one table of the SA |
//! | `token.rs`, `event.rs`, `stats.rs` | operations, log events, counters |
//! | `check.rs` | invariants |
pub(crate) mod cache;
mod changes;
mod check;
mod endpoint;
mod groups;
mod multicast;
mod protocol;
mod refresh;
mod routes;
mod state;
mod stats;
mod token;

pub use state::Ibacmp;
pub use stats::IbacmpStats;
pub use token::DestId;
