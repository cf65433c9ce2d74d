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
pub(crate) use place::{
    ATTRIBUTE_OFFSET, DIRECTED_DATA_END, OPA_BASE_VERSION, OPA_CLASS_VERSION, OPA_MAD_SIZE, OUI, RMPP_HEADER,
    SA_HEADER, words,
};
pub(crate) use request::requests;
pub use status::{Status, StatusOf};

/// Bytes of every management datagram of InfiniBand. Omni-Path's have up to [`OPA_MAD_SIZE`](crate::opa::OPA_MAD_SIZE),
/// and a message that was put together from several (RMPP) any number.
pub const MAD_SIZE: usize = 256;

#[cfg(test)]
mod tests;
