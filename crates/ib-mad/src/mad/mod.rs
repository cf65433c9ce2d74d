//! The common header of management datagrams, its codes, and owned datagrams.
mod attribute;
mod class;
mod datagram;
mod header;
mod method;
mod owned;
mod request;
mod status;

pub use attribute::{AttributeId, AttributeOf};
pub use class::MgmtClass;
pub(crate) use class::{
    ATTRIBUTE_OFFSET, DIRECTED_DATA_END, OPA_BASE_VERSION, OPA_CLASS_VERSION, OPA_MAD_SIZE, OUI, RMPP_HEADER,
    SA_HEADER, words,
};
pub use datagram::Datagram;
pub use header::MadHeader;
pub use method::Method;
pub use owned::Mad;
pub(crate) use request::requests;
pub use status::{Status, StatusOf};

/// Size of an InfiniBand management datagram, in bytes. Omni-Path datagrams have up to
/// [`OPA_MAD_SIZE`](crate::opa::OPA_MAD_SIZE) bytes; a message of several RMPP segments has any number.
pub const MAD_SIZE: usize = 256;

#[cfg(test)]
mod tests;
