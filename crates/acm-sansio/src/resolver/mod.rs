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
//! | `endpoint/` | an endpoint: groups, credits, round-trip times, announcements, service ids, the table of all paths |
//! | `preloaded.rs` | tables of routes and hosts from files |
//! | `paths.rs` | paths from other sources than the SA, queries, receivers of datagrams |
//! | `confirmations.rs` | the progress of the confirmation of paths in use |
//! | `state.rs` | the state of the provider, the renewal queue |
//! | `facts.rs` | what follows from the cache and an endpoint: the key of a path, its query, what was tried |
//! | `doubts.rs` | asks the owner of an address that an event may have moved |
//! | `operations.rs` | credits, timers, datagrams, queries and answers of lookups |
//!
//! Events. A file knows those above it, and calls no method of a file that calls one of its own:
//!
//! | file | contents |
//! |---|---|
//! | `protocol.rs` | implementation of the `Provider` trait |
//! | `changes.rs`, `groups.rs` | changes of endpoints, addresses and ports; joining and leaving groups |
//! | `multicast/` | requests for an address: of local users, and from remote hosts; `operations.rs` sends them |
//! | `carry_out.rs` | carries out the action that follows an event of a destination |
//! | `acquire.rs` | finds or creates the destination of a request |
//! | `routes/` | paths: queried, loaded from files, or fetched as a table |
//! | `refresh/` | expiry, cached failures, renewals, confirmations and other checks of cached paths, announcements, witnesses, notices |
//! | `publish.rs` | paths that clients read without a request |
//! | `inspect.rs` | the cache for administrators: facts about its entries, their removal on request |
//! | `check.rs` | invariants |
mod acquire;
pub(crate) mod cache;
mod carry_out;
mod changes;
mod check;
mod confirmations;
pub(crate) mod dest;
mod doubts;
mod endpoint;
mod facts;
mod groups;
mod inspect;
mod multicast;
mod operations;
mod paths;
mod preloaded;
mod protocol;
mod publish;
mod refresh;
mod routes;
mod state;
mod stats;
mod token;

pub use state::Ibacmp;
pub use stats::IbacmpStats;
pub use token::DestId;
