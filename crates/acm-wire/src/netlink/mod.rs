//! What the Linux kernel asks of user space over `NETLINK_RDMA`, and the answers: its local service (`RDMA_NL_LS`).
//!
//! A datagram holds one or several messages; each has a 16-byte [`NlHeader`], perhaps a fixed part, then attributes.
//! Everything but GIDs and path records is in the machine's own byte order.
//!
//! - the daemon: [`messages`] cuts a datagram, [`NlMessage::request`] says what is asked; [`PathAnswer`], [`IpAnswer`] and
//!   [`error_answer`] are the answers, and the header of the request is all that they need of it;
//! - a kernel that is not real, for tests: [`ResolveRequest::encode`], [`IpResolveRequest::encode`] ask,
//!   [`NlMessage::answer`] reads what comes back.
//!
//! The answers go to the multicast group of the requests, so a daemon hears those of others. The sender of a datagram
//! tells them apart: the kernel's port id is 0, which the caller checks; and [`NlHeader::is_request`] is false for an
//! answer.
mod answer;
mod attribute;
mod encode;
mod error;
#[cfg(test)]
mod fuzz;
mod header;
mod request;

pub use answer::{IpAnswer, KernelAnswer, PathAnswer, PathData, PathFlags, SetTimeout, error_answer};
pub use attribute::{AttributeHeader, AttributeType};
pub use encode::{MAX_REQUEST, NoRoom};
pub use error::KernelMessageError;
pub use header::{FLAG_ERROR, FLAG_REQUEST, MessageType, Messages, NlHeader, NlMessage, messages};
pub use request::{IpResolveHeader, IpResolveRequest, KernelRequest, PathUse, ResolveHeader, ResolveRequest};

/// The multicast group of the local service; `NETLINK_ADD_MEMBERSHIP` takes this number.
pub const LOCAL_SERVICE_GROUP: u32 = 3;

#[cfg(test)]
mod tests;
