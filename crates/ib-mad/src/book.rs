//! Four example programs of under 45 lines each: a query tool, a subnet administrator, an analyser of captures, a
//! fuzzer.
//!
//! Tests compare the output of three programs with that of other software: perfquery and saquery of infiniband-diags on
//! a simulated fabric, and tshark.

#[doc = include_str!("../docs/perfquery.md")]
pub mod perfquery {}

#[doc = include_str!("../docs/administrator.md")]
pub mod administrator {}

#[doc = include_str!("../docs/analyser.md")]
pub mod analyser {}

#[doc = include_str!("../docs/fuzzer.md")]
pub mod fuzzer {}
