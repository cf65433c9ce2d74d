//! Management datagrams over `/dev/infiniband/umadN`, without libibumad.
//!
//! A program that sends requests uses a [`Client`]. A server, or a program that handles the kernel's frames itself:
//!
//! 1. [`UmadPort::open`] the file that [`crate::sysfs`] names.
//! 2. [`UmadPort::register`] an agent for each management class. An agent sends MADs and receives the responses to its
//!    requests. With [`Methods`] it also receives requests of other ports and sends responses to [`Received::sender`].
//! 3. [`UmadPort::send`], and [`UmadPort::receive`] into a [`ReceiveBuffer`] until it returns `None`.
//!
//! The kernel writes the agent's number to the upper 32 bits of a request's transaction id. Match responses by the
//! lower 32 bits.
mod address;
mod agent;
mod client;
mod ioctl;
mod port;
mod receive;

pub use address::MadAddress;
pub use agent::{Agent, AgentId, Methods, Rmpp};
pub use client::{Answer, Client, QueryError, RequestId, Response};
pub use port::{Expect, UmadPort};
pub use receive::{ReceiveBuffer, Received};
