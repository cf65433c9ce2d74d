//! How four kinds of programs use the crate, each with one of under 40 lines.
//!
//! The programs are examples that compile; tests hold what they print against what other software prints about the same:
//! infiniband-diags' perfquery and saquery on a simulated fabric, and tshark.

#[doc = include_str!("../docs/perfquery.md")]
pub mod perfquery {}

#[doc = include_str!("../docs/administrator.md")]
pub mod administrator {}

#[doc = include_str!("../docs/analyser.md")]
pub mod analyser {}

#[doc = include_str!("../docs/fuzzer.md")]
pub mod fuzzer {}
