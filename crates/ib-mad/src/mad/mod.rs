//! What every management datagram starts with, and the codes in it.
mod attribute;
mod class;
mod datagram;
mod header;
mod layout;
mod method;
mod names;
mod owned;
mod place;
mod request;
mod status;

pub use attribute::{AttributeId, AttributeOf};
pub use class::MgmtClass;
pub use datagram::Datagram;
pub use header::MadHeader;
pub use method::Method;
pub use owned::Mad;
pub(crate) use place::{OUI, words};
pub(crate) use request::requests;
pub use status::{Status, StatusOf};

/// Bytes of every management datagram without RMPP reassembly.
pub const MAD_SIZE: usize = 256;

#[cfg(test)]
mod tests;
