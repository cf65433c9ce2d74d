//! The cache: all destinations with their indexes, and eviction.
mod by_gid;
mod destinations;
mod evict;

pub(crate) use destinations::Cache;
pub(crate) use evict::Eviction;
