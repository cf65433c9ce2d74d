//! Multicast groups of an endpoint.
pub(crate) mod group;
pub(crate) mod group_plan;
pub(crate) mod membership;
