//! Return values of C functions.
#![expect(unsafe_code, reason = "errno")]
use core::{ffi::c_int, ptr};

/// Sets errno.
pub(crate) fn set_errno(number: c_int) {
    // SAFETY: the variable belongs to the calling thread.
    unsafe { *libc::__errno_location() = number };
}

/// Returns 0, or the errno of a failure.
pub(crate) fn number(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(0)
}

/// Returns 0, or -1 and sets errno.
pub(crate) fn minus_one(result: Result<(), c_int>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(errno) => {
            set_errno(errno);
            -1
        }
    }
}

/// Returns the address of a new object, or null and sets errno.
pub(crate) fn object<T, P>(result: Result<Box<T>, c_int>) -> *mut P {
    match result {
        Ok(object) => Box::into_raw(object).cast(),
        Err(errno) => {
            set_errno(errno);
            ptr::null_mut()
        }
    }
}
