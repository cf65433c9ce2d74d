//! libibacm: the library of rdma-core's `libacm.h` for C, and an interface that never waits beside it.
//!
//! C's side of it is in `include/libacm.h`, which is made of this crate; README.md says how to use it.
//!
//! | to | see |
//! |---|---|
//! | add or change a function | `abi`, and `UPDATE_HEADER=1 cargo test -p acm-capi --test header` |
//! | see what a connection that never waits does | `conn` |
//! | see which error number means what | `errno` |
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

#[expect(unsafe_code, reason = "what C calls: pointers, and names that are nobody else's")]
mod abi;
mod blocking;
mod clock;
mod conn;
mod errno;
mod place;

pub use abi::*;
