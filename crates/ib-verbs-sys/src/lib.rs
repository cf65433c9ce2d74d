//! The part of libibverbs' C interface that unreliable datagrams need.
//!
//! Names and meanings are those of `infiniband/verbs.h` of rdma-core and its manual pages. `layout` checks every size
//! and the place of every field that is used; `acm-tests` compares all of it with the crate rdma-sys, which generates the
//! same from the headers of the machine.
#![allow(non_camel_case_types, reason = "names of verbs.h")]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod constants;
mod functions;
#[cfg(target_arch = "x86_64")]
mod layout;
mod objects;
mod structures;

pub use constants::*;
pub use functions::*;
pub use objects::*;
pub use structures::*;
