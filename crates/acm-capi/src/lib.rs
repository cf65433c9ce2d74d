//! libibacm: the blocking functions of rdma-core's `libacm.h` for C, and non-blocking connections.
//!
//! The C header is `include/libacm.h`, generated from this crate. README.md describes its use.
//!
//! | task | module |
//! |---|---|
//! | add or change a function | `abi`, and `UPDATE_HEADER=1 cargo test -p acm-capi --test header` |
//! | change non-blocking connections | `conn` |
//! | look up an error number | `errno` |
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

#[expect(unsafe_code, reason = "C functions: pointers, and unmangled names")]
mod abi;
mod address;
mod blocking;
mod conn;
mod errno;

pub use abi::*;
