//! The built-in provider, `ibacmp`: addresses by multicast, routes from subnet administration or the shared group, and
//! a cache.
//!
//! | file | what is in it |
//! |---|---|
//! | `protocol.rs` | the provider's verbs, and where each goes |
//! | `state.rs` | all that it keeps |
//! | `dest.rs`, `asking.rs`, `remote.rs` | a destination, its states, a multicast request, where a peer is |
//! | `lookup.rs` | who needs a lookup, and who pays for it |
//! | `cache.rs` | all destinations: look-up, bounds, the one place that changes a state |
//! | `remember.rs` | the destination with a key, made if there is room |
//! | `expire.rs` | what counts no more is forgotten: when it is asked for, and a slice at a time |
//! | `by_gid.rs` | destinations by the GID that they lead to |
//! | `notices.rs` | what subnet administration noticed: ports and groups that come and go |
//! | `renew.rs`, `renewals.rs` | what is used is asked for anew, in the background |
//! | `announce.rs`, `announcement.rs` | telling the group that this port is elsewhere |
//! | `negative.rs` | what failed just now is not tried again so soon |
//! | `endpoint.rs`, `membership.rs` | an endpoint's groups, credits, round trips |
//! | `group.rs` | the multicast groups of an endpoint: join, rejoin, leave |
//! | `group_plan.rs` | which groups: rates and MTUs |
//! | `ask.rs` | asking the group: send, repeat, give up |
//! | `answer.rs` | being asked: learning from requests, responding |
//! | `claim.rs` | checking what strangers claim before it replaces what is used |
//! | `tried.rs` | what was tried so far, for an administrator |
//! | `route.rs` | the path to a known address, or to a port |
//! | `preload.rs`, `preloaded.rs` | what was loaded from files, before anybody is asked |
//! | `round_trip.rs` | how long an answer is likely to take |
//! | `token.rs`, `event.rs`, `stats.rs`, `gauge.rs` | names, what is told, what is counted, how much there is |
mod announce;
mod by_gid;
mod cache;
mod check;
mod dest;
mod endpoint;
mod event;
mod evict;
mod expire;
mod group;
mod group_plan;
mod incoming_request;
mod lookup;
mod membership;
mod multicast_request;
mod negative;
mod notices;
mod preload;
mod preloaded;
mod protocol;
mod remote;
mod renew;
mod resolve;
mod round_trip;
mod route;
mod state;
mod stats;
mod token;
mod verify;

pub use event::Event;
pub use state::Ibacmp;
pub use stats::IbacmpStats;
pub use token::DestId;
