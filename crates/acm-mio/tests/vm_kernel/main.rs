//! The daemon on a real kernel's RDMA stack: its local service, and librdmacm as a client. Built and run by
//! `cargo xtask vm-test` only, on one thread.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]
mod check;
mod lab;
mod librdmacm;
mod netlink;
