//! The bodies that acm-wire keeps beside its parsers for its own tests, built once more: a published crate has no
//! feature for them.
pub(crate) use acm_wire::files::*;
#[path = "../../acm-wire/src/files/fuzz.rs"]
pub(crate) mod fuzz;
