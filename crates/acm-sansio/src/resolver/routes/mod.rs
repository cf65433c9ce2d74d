//! Paths: queried, loaded from files, or fetched as a table.
mod find;
mod load;
mod prefetch;
mod preload;
mod route;
mod service_ids;
