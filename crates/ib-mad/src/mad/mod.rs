//! The common header of management datagrams, and its codes.
mod attribute;
mod class;
mod header;
mod method;
mod status;

pub use attribute::AttributeId;
pub use class::MgmtClass;
pub(crate) use class::{
    ATTRIBUTE_OFFSET, DIRECTED_DATA_END, OPA_BASE_VERSION, OPA_CLASS_VERSION, OPA_MAD_SIZE, OUI, RMPP_HEADER,
    SA_HEADER, words,
};
pub use header::MadHeader;
pub use method::Method;
pub use status::Status;

/// Size of an InfiniBand management datagram, in bytes. Omni-Path datagrams have up to
/// [`OPA_MAD_SIZE`](crate::opa::OPA_MAD_SIZE) bytes; a message of several RMPP segments has any number.
pub const MAD_SIZE: usize = 256;
