//! What calls of libibverbs give back.
use crate::{Error, Result};
use nix::errno::Errno;

/// What a call of libibverbs gave back: 0, an error number, or -1 with the number in `errno`.
pub(super) fn check(call: &'static str, result: i32) -> Result<()> {
    match result {
        0 => Ok(()),
        -1 => Err(Error::call(call)(Errno::last())),
        errno => Err(Error::call(call)(Errno::from_raw(errno.saturating_abs()))),
    }
}

/// What a call of libibverbs gave back: an object, or null with the number in `errno`.
pub(super) fn non_null<T>(call: &'static str, pointer: *mut T) -> Result<core::ptr::NonNull<T>> {
    core::ptr::NonNull::new(pointer).ok_or_else(|| Error::call(call)(Errno::last()))
}
