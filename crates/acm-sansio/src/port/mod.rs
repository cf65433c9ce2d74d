//! Ports, local addresses, and the endpoints that follow from them: one per port and partition that has an address.
mod addresses;
mod attributes;
mod events;
mod interfaces;
mod plan;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use addresses::{Added, LocalAddress};
pub use attributes::{PortAttributes, SaAddress};
pub use interfaces::InterfaceAddress;
pub use table::Endpoint;
pub(crate) use table::Ports;
