//! The C interface of providers, and a provider written in Rust.
mod layout;
mod plugin;
