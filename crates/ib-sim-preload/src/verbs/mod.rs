//! libibverbs: the devices of a host with unreliable datagrams, over the subnet's server.
//!
//! Every object starts with the structure that libibverbs shows for it, so that one pointer is both. Like the real
//! library, these functions trust their callers to pass living objects. Each may be called from any thread.
//!
//! Each file needs only files above it in this table.
//!
//! | file | contents |
//! |---|---|
//! | `text` | names of events, states and codes |
//! | `device` | the list of devices |
//! | `events` | queues with a descriptor that can be polled; `lock` |
//! | `regions` | the table of memory regions |
//! | `stalled` | sends that wait for room at the server |
//! | `context` | an open device: tables of its objects, asynchronous events, the thread that receives |
//! | `attributes` | limits, ports and tables of a device |
//! | `memory` | protection domains, memory regions, address handles |
//! | `completion` | completion channels and queues |
//! | `queue_pair` | a queue pair and its posted receives |
//! | `work` | sends and receives |
//! | `lifecycle` | creating, changing, querying and destroying queue pairs |
//! | `multicast` | attaching queue pairs to groups |
//! | `open` | opening and closing a device |
mod attributes;
mod completion;
mod context;
mod device;
mod events;
mod lifecycle;
mod memory;
mod multicast;
mod open;
mod queue_pair;
mod regions;
mod stalled;
mod text;
mod work;

use crate::errno::{minus_one, number, object};
use events::lock;
