//! The cache: destinations with their states and indexes, eviction, expiry, cached failures.
pub(crate) mod by_gid;
pub(crate) mod dest;
mod destinations;
pub(crate) mod evict;
pub(crate) mod expire;
pub(crate) mod negative;
pub(crate) mod remote;

pub(crate) use destinations::Cache;
