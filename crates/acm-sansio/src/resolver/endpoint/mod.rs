//! State of an endpoint: groups, round-trip times, announcements, service ids, the table of all paths.
mod all;
pub(crate) mod announced;
pub(crate) mod answered;
pub(crate) mod fetched;
pub(crate) mod group;
pub(crate) mod group_plan;
pub(crate) mod group_share;
pub(crate) mod hosts;
pub(crate) mod id_rules;
pub(crate) mod path_table;
pub(crate) mod round_trip;
mod state;

pub(crate) use all::Endpoints;
pub(crate) use state::EndpointState;
