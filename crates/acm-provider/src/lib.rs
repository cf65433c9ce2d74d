#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
pub mod abi;
pub mod daemon;
pub mod plugin;
pub mod testing;

pub use acm_wire;
pub use ib_mad;
