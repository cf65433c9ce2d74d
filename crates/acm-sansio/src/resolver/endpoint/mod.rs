//! Endpoints: their groups, credits, round-trip times, announcements, witnesses, service ids, and tables of all paths.
//! Nothing here knows a destination; what concerns one is returned.
mod all;
mod announce;
pub(crate) mod announced;
pub(crate) mod answered;
pub(crate) mod fetched;
pub(crate) mod group;
pub(crate) mod group_plan;
pub(crate) mod group_share;
pub(crate) mod hosts;
pub(crate) mod id_rules;
mod joins;
pub(crate) mod path_table;
mod prefetch;
pub(crate) mod round_trip;
mod state;
pub(crate) mod topology;
mod witness;

pub(crate) use all::Endpoints;
pub(crate) use joins::JoinEnd;
pub(crate) use state::EndpointState;
