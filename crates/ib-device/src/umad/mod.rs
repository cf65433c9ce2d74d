//! Management datagrams over `/dev/infiniband/umadN`, without libibumad.
//!
//! 1. [`UmadPort::open`] the file that [`crate::sysfs`] names.
//! 2. [`UmadPort::register`] an agent per management class: it may send, and gets the answers to its requests; with
//!    [`Methods`] it also gets requests that others send to this port, and answers [`Received::sender`].
//! 3. [`UmadPort::send`], and [`UmadPort::receive`] into a [`ReceiveBuffer`] until there is nothing.
//!
//! The kernel keeps the upper 32 bits of a request's transaction id for itself: it writes the agent there. Match
//! answers by the lower 32.
mod address;
mod agent;
mod errno;
mod ioctl;
mod port;
mod receive;

pub use address::MadAddress;
pub use agent::{Agent, AgentId, Methods, Rmpp};
pub use port::{Expect, UmadPort};
pub use receive::{ReceiveBuffer, Received};
