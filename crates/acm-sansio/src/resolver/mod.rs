//! The built-in provider, `ibacmp`: addresses by multicast, paths from the subnet administrator (SA) or from the shared
//! group, and a cache.
//!
//! Data, which knows nothing of the files below it:
//!
//! | file | contents |
//! |---|---|
//! | `token.rs`, `stats.rs` | operations and their tokens, counters |
//! | `dest/` | a destination: its key, its states, who needs it, and its events, which return actions |
//! | `cache/` | all destinations, their index by GID, eviction |
//! | `endpoint/` | endpoints: groups, credits, round-trip times, announcements, witnesses, service ids, the table of all paths |
//! | `preloaded.rs` | tables of routes and hosts from files |
//! | `paths.rs` | paths and their sources, queries, receivers of datagrams |
//! | `confirmations.rs` | the progress of the confirmation of paths in use |
//! | `state.rs` | the state of the provider, the renewal queue |
//!
//! Read-only, all of this together:
//!
//! | file | contents |
//! |---|---|
//! | `sources.rs` | paths that need no query |
//! | `facts.rs` | the key of a path, its query, what was tried |
//! | `check.rs` | invariants |
//!
//! Actions on a destination. Of two files, at most one calls methods of the other:
//!
//! | file | contents |
//! |---|---|
//! | `acquire.rs` | destinations of requests: found, or created |
//! | `operations.rs` | credits, timers and datagrams of multicast requests; the end of what is in progress |
//! | `doubts.rs` | asks the owner of an address that an event may have moved |
//! | `perform.rs` | carries out an `Action` (`dest/`): paths found, queried, or not found |
//!
//! Events, which end in actions:
//!
//! | file | contents |
//! |---|---|
//! | `protocol.rs` | implementation of the `Provider` trait |
//! | `resolve.rs` | requests of local users |
//! | `multicast/` | responses, and requests of remote hosts |
//! | `changes.rs` | changes of endpoints, addresses, ports and memberships |
//! | `routes/` | tables of paths: from files, or fetched from the SA; service ids |
//! | `refresh/` | expiry, cached failures, renewals, confirmations and other checks of cached paths, silent hosts, notices |
//! | `publish.rs` | paths that clients read without a request |
//! | `inspect.rs` | the cache for administrators: facts about its entries, their removal on request |
mod acquire;
mod cache;
mod changes;
mod check;
mod confirmations;
pub(crate) mod dest;
mod doubts;
mod endpoint;
mod facts;
mod inspect;
mod multicast;
mod operations;
mod paths;
mod perform;
mod preloaded;
mod protocol;
mod publish;
mod refresh;
mod resolve;
mod routes;
mod sources;
mod state;
mod stats;
mod token;

pub use state::Ibacmp;
pub use stats::IbacmpStats;
pub use token::DestId;
