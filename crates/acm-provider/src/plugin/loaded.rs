//! A provider's library in the daemon: kept loaded, and its panics kept out.
#![allow(unsafe_code, reason = "dlopen")]
use crate::daemon::{self, Level};
use core::{any::Any, ffi::c_void, panic::AssertUnwindSafe};
use nix::libc;
use std::panic::catch_unwind;

/// Runs what the daemon called. A panic becomes a line of the log, and `None`.
pub(super) fn no_panic<R>(what: &str, run: impl FnOnce() -> R) -> Option<R> {
    let panicked = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => return Some(result),
        Err(panicked) => panicked,
    };
    daemon::log(Level::Always, format_args!("ERROR - panic in {what}: {}", text(&*panicked)));
    // Its value may have a destructor that panics, too.
    core::mem::forget(panicked);
    None
}

fn text(panicked: &(dyn Any + Send)) -> &str {
    let text = panicked.downcast_ref::<&str>().copied();
    text.or_else(|| panicked.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

/// Keeps the library that has this function for good: ibacm lets its providers go while their threads run. They leave the
/// daemon alone when the process ends.
pub(super) fn keep(function: *const c_void) {
    // SAFETY: a function without arguments, in a library that stays. A system without room for it goes without.
    unsafe { libc::atexit(daemon::end) };
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be looked up, and zeros are a value of the structure.
    let found = unsafe {
        if libc::dladdr(function, found.as_mut_ptr()) == 0 {
            return;
        }
        found.assume_init()
    };
    if !found.dli_fname.is_null() {
        // SAFETY: a path that ends with a zero byte. The library is there already, so that nothing of it runs.
        unsafe { libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    }
}
