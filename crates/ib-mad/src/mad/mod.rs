//! What every management datagram starts with, and the codes in it.
mod attribute;
mod class;
mod header;
mod method;
mod names;
mod request;
mod status;

pub use attribute::{AttributeId, AttributeOf};
pub use class::MgmtClass;
pub use header::MadHeader;
pub use method::Method;
pub(crate) use request::requests;
pub use status::{Status, StatusOf};

/// Bytes of every management datagram without RMPP reassembly.
pub const MAD_SIZE: usize = 256;
