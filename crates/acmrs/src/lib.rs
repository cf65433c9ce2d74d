//! The project's protocol engine as a provider of C `ibacm`, which calls it `acmrs`.
//!
//! One core ([`acm_sansio::Acm`]) serves all ports, in a thread of its own (`engine`): it has the queue pairs, the timers,
//! and the answers. ibacm's server thread only leaves messages for it (`command`), so that it never waits; ibacm's thread
//! for subnet administration leaves answers there, too. What ibacm calls ports, endpoints and addresses are facts for the
//! core, and a request is a message of a client of the core's (`clients`), whose answer goes back by the request's number.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod clients;
mod clock;
mod command;
mod counters;
mod devices;
mod endpoint;
mod engine;
mod host;
mod log;
mod options;
mod ports;
mod provider;

acm_provider::export!(provider::Acmrs, "acmrs");
