//! The daemon of the InfiniBand communication management assistant, a drop-in for ibacm, and its control program.
//!
//! This library is no API: the programs `acm-mio` and `acmctl` are its two functions.
//!
//! One thread runs one loop: `server/daemon/` waits for events, passes each to the core as an
//! [`Input`](acm_sansio::Input), and carries out the core's [`Output`](acm_sansio::Output)s.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod addresses;
mod check;
mod cli;
mod clock;
mod closing;
mod control;
mod ctl;
mod descriptors;
mod detach;
mod fabric;
mod host_name;
mod kernel;
mod lock;
mod log;
mod loop_times;
mod metrics;
mod names;
mod netlink;
mod output;
mod owners;
mod peer;
mod preload;
mod programs;
mod providers;
mod record;
mod regular;
mod server;
mod settings;
mod shared;
mod starter;
mod stream;
#[cfg(test)]
mod testing;

pub use programs::{acmctl, daemon};
