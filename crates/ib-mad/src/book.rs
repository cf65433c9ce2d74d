//! Four kinds of programs that use the crate, each with an example of under 40 lines.
//!
//! The programs are examples that compile. Tests compare their output with that of other software: perfquery and
//! saquery of infiniband-diags on a simulated fabric, and tshark.

#[doc = include_str!("../docs/perfquery.md")]
pub mod perfquery {}

#[doc = include_str!("../docs/administrator.md")]
pub mod administrator {}

#[doc = include_str!("../docs/analyser.md")]
pub mod analyser {}

#[doc = include_str!("../docs/fuzzer.md")]
pub mod fuzzer {}
