//! Outcomes of functions as C has them, and locks.
use crate::next::set_errno;
use core::{ffi::c_int, ptr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. Nothing here panics while it holds a lock, and if something did, the device should go on.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The outcome of a function that gives 0 or an errno.
pub(super) fn number(outcome: Result<(), c_int>) -> c_int {
    outcome.err().unwrap_or(0)
}

/// The outcome of a function that gives 0, or -1 and errno.
pub(super) fn minus_one(outcome: Result<(), c_int>) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(errno) => {
            set_errno(errno);
            -1
        }
    }
}

/// The outcome of a function that gives a new object, or null and errno.
pub(super) fn object<T, P>(outcome: Result<Box<T>, c_int>) -> *mut P {
    match outcome {
        Ok(object) => Box::into_raw(object).cast(),
        Err(errno) => {
            set_errno(errno);
            ptr::null_mut()
        }
    }
}
