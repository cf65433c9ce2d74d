//! Ports, local addresses, and endpoints: one for each port and partition with an address.
mod addresses;
mod choice;
mod endpoint;
mod interfaces;
mod plan;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use addresses::{Added, LocalAddress};
pub use endpoint::Endpoint;
pub(crate) use table::Ports;
