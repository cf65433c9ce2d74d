//! Paths: queried, loaded from files, or fetched as a table.
pub(crate) mod fetched;
pub(crate) mod path_table;
pub(crate) mod prefetch;
pub(crate) mod preload;
pub(crate) mod preloaded;
pub(crate) mod route;
