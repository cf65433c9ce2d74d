//! The kernel's local service: requests for paths that the kernel sends to user space over `NETLINK_RDMA`.
//!
//! `service` parses requests and creates responses without I/O; `socket` receives and sends; `channel` combines both.
mod channel;
mod service;
mod socket;

pub(crate) use channel::Kernel;
pub(crate) use service::{AddressRequest, SourcePort};
pub(crate) use socket::SocketError;
