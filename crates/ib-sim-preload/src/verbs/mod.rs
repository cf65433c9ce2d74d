//! libibverbs: one device with unreliable datagrams, over the subnet's server.
//!
//! Every object starts with the structure that libibverbs shows for it, so that one pointer is both. Like the real
//! library, these functions trust their callers to hand over living objects, and each may be called from any thread.
//!
//! | file | what |
//! |---|---|
//! | `device` | the list of devices |
//! | `context` | an open device: attributes, asynchronous events, the thread that receives |
//! | `memory` | protection domains, memory regions, address handles |
//! | `completion` | completion channels and queues |
//! | `queue_pair` | making, changing, destroying queue pairs, multicast |
//! | `work` | sends and receives |
//! | `stalled` | sends that wait for room |
//! | `events` | queues with a descriptor that can be polled |
mod completion;
mod context;
mod device;
mod events;
mod memory;
mod queue_pair;
mod stalled;
mod text;
mod work;

use crate::next::set_errno;
use core::{ffi::c_int, ptr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. Nothing here panics while it holds a lock, and if something did, the device should go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The outcome of a function that gives 0 or an errno.
fn number(outcome: Result<(), c_int>) -> c_int {
    outcome.err().unwrap_or(0)
}

/// The outcome of a function that gives 0, or -1 and errno.
fn minus_one(outcome: Result<(), c_int>) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(errno) => {
            set_errno(errno);
            -1
        }
    }
}

/// The outcome of a function that gives a new object, or null and errno.
fn object<T, P>(outcome: Result<Box<T>, c_int>) -> *mut P {
    match outcome {
        Ok(object) => Box::into_raw(object).cast(),
        Err(errno) => {
            set_errno(errno);
            ptr::null_mut()
        }
    }
}
