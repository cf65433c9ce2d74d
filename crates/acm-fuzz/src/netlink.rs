//! The bodies that acm-wire keeps beside its parsers for its own tests, built once more: a published crate has no
//! feature for them.
pub(crate) use acm_wire::netlink::*;
#[path = "../../acm-wire/src/netlink/fuzz.rs"]
pub(crate) mod fuzz;
