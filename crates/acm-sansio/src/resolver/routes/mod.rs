//! Tables of paths: from files, or fetched from the subnet administrator; service ids in path queries.
mod compare;
mod prefetch;
mod preload;
mod service_ids;
