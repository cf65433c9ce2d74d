//! The C interface of providers, and a provider written in Rust.
mod layout;
mod plugin;

acm_provider::test_daemon!();
