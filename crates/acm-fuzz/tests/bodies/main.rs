//! The functions behind the fuzz targets, on stable Rust.
mod corpus;
mod operations;
