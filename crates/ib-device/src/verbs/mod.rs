//! UD queue pairs, port attributes and async events, by libibverbs.
//!
//! A [`Context`] is one device, open: a protection domain, one completion channel, the file of async events. An
//! [`UdQueuePair`] sends and receives datagrams of one port and P_Key. How to wait:
//!
//! 1. Poll [`Context::completion_fd`] and [`Context::async_fd`] (edge-triggered works).
//! 2. When the first is readable, call [`Context::next_completion`] until `None`. Each gives the [`QueueKey`] of a
//!    queue pair: call its [`UdQueuePair::poll`] until `None`, which arms it for the next time. A queue pair that was
//!    made after the file was polled is armed already.
//! 3. When the second is readable, call [`Context::next_event`] until `None`.
//!
//! When a device was taken away (`EIO`), libibverbs lets go of nothing: queue pairs, completion queues, memory and the
//! completion channel with its file stay until the process ends, because the device might still write to them.
//! [`Context::leaked`] counts them.
//!
//! Privileges: `/dev/infiniband/uverbsN` readable and writable, and memory that may be locked (`ulimit -l`) for the
//! buffers. From Linux 6.4 on a [`Qkey`](ib_mad::Qkey) with its upper bit set, as that of general services, takes
//! CAP_NET_RAW.
mod address_handle;
mod call;
mod completion_queue;
mod config;
mod context;
mod datagram;
mod event;
mod key;
mod queues;
mod region;
mod sends;
mod ud;
mod work;

use call::{check, non_null};
pub use config::UdConfig;
pub use context::{Context, PortAttributes};
pub use datagram::{Completion, CompletionStatus, Datagram, SendId};
pub use event::{Event, PortEvent};
pub use key::QueueKey;
pub use ud::UdQueuePair;
