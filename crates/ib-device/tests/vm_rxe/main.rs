//! Two Soft-RoCE devices on a real kernel. Built and run by `cargo xtask vm-test` only, on one thread.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]
mod devices;
mod lab;
mod removal;
mod ud;
mod umad;
