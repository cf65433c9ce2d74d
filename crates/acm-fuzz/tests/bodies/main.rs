//! The fuzz targets on stable Rust.
mod corpus;
mod operations;
