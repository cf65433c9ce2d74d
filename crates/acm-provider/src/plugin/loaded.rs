//! Keeps a provider's library loaded, and catches panics of the provider.
#![allow(unsafe_code, reason = "dlopen")]
use crate::daemon::{self, Level};
use core::{any::Any, ffi::c_void, panic::AssertUnwindSafe};
use nix::libc;
use std::panic::catch_unwind;

/// Runs a function that the daemon called. Logs a panic and returns `None`.
pub(super) fn catch_panic<R>(what: &str, run: impl FnOnce() -> R) -> Option<R> {
    let panicked = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => return Some(result),
        Err(panicked) => panicked,
    };
    daemon::log(Level::Always, format_args!("ERROR - panic in {what}: {}", text(&*panicked)));
    // The destructor of the value may panic as well.
    core::mem::forget(panicked);
    None
}

fn text(panicked: &(dyn Any + Send)) -> &str {
    let text = panicked.downcast_ref::<&str>().copied();
    text.or_else(|| panicked.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

/// Keeps the library that contains this function loaded, because ibacm may unload providers while their threads run.
/// When the process exits, the threads stop calling the daemon.
pub(super) fn keep(function: *const c_void) {
    // SAFETY: the function takes no arguments, and its library stays loaded. A failure is ignored.
    unsafe { libc::atexit(daemon::end) };
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` accepts any address, and zeros are a valid value of the structure.
    let found = unsafe {
        if libc::dladdr(function, found.as_mut_ptr()) == 0 {
            return;
        }
        found.assume_init()
    };
    if !found.dli_fname.is_null() {
        // SAFETY: the path is zero-terminated. The library is loaded already, so that none of its code runs.
        unsafe { libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    }
}
