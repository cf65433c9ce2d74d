//! UD queue pairs, port attributes and asynchronous events, through libibverbs.
//!
//! A [`Context`] is an open device. It has a protection domain, one completion channel, and the file of asynchronous
//! events. A [`UdQueuePair`] sends and receives datagrams of one port and P_Key. To wait for events:
//!
//! 1. Poll [`Context::completion_fd`] and [`Context::async_fd`], also edge-triggered.
//! 2. When `completion_fd` is readable, call [`Context::next_completion`] until it returns `None`. Each result is the
//!    [`QueueKey`] of a queue pair: call [`UdQueuePair::poll`] of this queue pair until it returns `None`. Then the
//!    next completion causes an event again. For a new queue pair, the first completion causes an event.
//! 3. When `async_fd` is readable, call [`Context::next_event`] until it returns `None`.
//!
//! After a device was removed (`EIO`), libibverbs frees nothing. Queue pairs, completion queues, memory and the
//! completion channel with its file stay until the process ends, because the device might still write to them.
//! [`Context::leaked`] returns the number of these objects.
//!
//! Privileges: read and write access to `/dev/infiniband/uverbsN`, and lockable memory (`ulimit -l`) for the buffers.
//! From Linux 6.4 on, a [`Qkey`](ib_mad::Qkey) with its upper bit set, such as that of general services, requires
//! CAP_NET_RAW.
mod address_handle;
mod completion_queue;
mod config;
mod context;
mod datagram;
mod event;
mod outbox;
mod queues;
mod region;
mod sends;
mod ud;
mod work;

use crate::error::{check, non_null};
pub use config::UdConfig;
pub use context::{Context, PortAttributes};
pub use datagram::{Completion, CompletionStatus, Datagram, SendId};
pub use event::{Event, PortEvent, QueueKey};
pub use outbox::{Outbox, Outcome};
pub use ud::UdQueuePair;
