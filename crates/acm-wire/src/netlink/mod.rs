//! Requests of the Linux kernel to user space over `NETLINK_RDMA`, and the responses: the local service (`RDMA_NL_LS`).
//!
//! A datagram has one or several messages. Each message has a 16-byte [`NlHeader`], a fixed part for some types, then
//! attributes. Numbers are in host byte order; GIDs and path records are in network byte order.
//!
//! - Daemon: [`messages`] splits a datagram, [`NlMessage::request`] reads a request. [`PathResponse`], [`IpResponse`]
//!   and [`error_response`] build responses from the header of the request.
//! - Simulated kernel, for tests: [`ResolveRequest::encode`] and [`IpResolveRequest::encode`] write requests,
//!   [`NlMessage::response`] reads responses.
//!
//! Responses go to the same multicast group as requests, so a daemon also receives the responses of other daemons. A
//! request of the kernel passes two checks: the port id of the sending socket is 0, and [`NlHeader::is_request`]
//! returns true.
mod attribute;
mod encode;
mod error;
#[cfg(test)]
mod fuzz;
mod header;
mod request;
mod response;

pub use attribute::{AttributeHeader, AttributeType};
pub use encode::{MAX_REQUEST, NoRoom};
pub use error::KernelMessageError;
pub use header::{FLAG_ERROR, FLAG_REQUEST, MessageType, Messages, NlHeader, NlMessage, messages};
pub use request::{IpResolveHeader, IpResolveRequest, KernelRequest, PathUse, ResolveHeader, ResolveRequest};
pub use response::{IpResponse, KernelResponse, PathData, PathFlags, PathResponse, SetTimeout, error_response};

/// Multicast group of the local service, for `NETLINK_ADD_MEMBERSHIP`.
pub const LOCAL_SERVICE_GROUP: u32 = 3;

#[cfg(test)]
mod tests;
