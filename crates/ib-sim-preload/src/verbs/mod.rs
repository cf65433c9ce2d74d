//! libibverbs: the devices of a host with unreliable datagrams, over the subnet's server.
//!
//! Every object starts with the structure that libibverbs shows for it, so that one pointer is both. Like the real
//! library, these functions trust their callers to hand over living objects, and each may be called from any thread.
//!
//! | file | what |
//! |---|---|
//! | `device` | the list of devices |
//! | `context` | an open device: asynchronous events, the thread that receives |
//! | `attributes` | what a device says of itself |
//! | `memory` | protection domains, memory regions, address handles |
//! | `completion` | completion channels and queues |
//! | `queue_pair` | making, changing, destroying queue pairs, multicast |
//! | `work` | sends and receives |
//! | `stalled` | sends that wait for room |
//! | `outcome` | what a function gives back to C |
//! | `events` | queues with a descriptor that can be polled |
mod attributes;
mod completion;
mod context;
mod device;
mod events;
mod memory;
mod outcome;
mod queue_pair;
mod stalled;
mod text;
mod work;

use outcome::{lock, minus_one, number, object};
