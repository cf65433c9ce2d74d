//! The kernel's local service: paths that the kernel asks user space for, over `NETLINK_RDMA`.
//!
//! `service` understands and answers messages and does no I/O; `socket` carries them; `channel` is both.
mod channel;
mod choice;
mod service;
mod socket;

pub(crate) use channel::Kernel;
pub(crate) use choice::KernelChoice;
pub(crate) use service::{AddressRequest, Place};
