//! The project's protocol engine as a provider of C `ibacm`, with the name `acmrs`.
//!
//! One core ([`acm_sansio::Acm`]) serves all ports. The core runs in a separate thread (`engine`), which owns the queue
//! pairs, the timers and the replies. ibacm's server thread only sends commands to the engine (`command`), so that the
//! server thread never blocks. ibacm's SA thread sends SA responses as commands, too. Ports, endpoints and addresses of
//! ibacm become inputs of the core. A request becomes a message of one of the core's clients (`clients`).
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod attributes;
mod clients;
mod command;
mod devices;
mod engine;
mod fabric;
mod host;
mod log;
mod options;
mod ports;
mod provider;

acm_provider::export!(provider::Acmrs, "acmrs");
// The functions that it calls are in the daemon.
#[cfg(test)]
acm_provider::test_daemon!();
