//! The daemon's log, options and counters. All functions may be called from any thread.
#![allow(unsafe_code, reason = "functions of the daemon")]
use crate::abi::imports;
use core::{
    ffi::{CStr, c_int},
    fmt,
    sync::atomic::{AtomicBool, AtomicPtr, Ordering},
};
use std::{ffi::CString, ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf};

/// The level of a log line. The daemon writes lines up to its `log_level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Written at every `log_level`.
    Always = 0,
    /// Written at `log_level 1`.
    Info = 1,
    /// Written at `log_level 2`.
    Debug = 2,
}

/// A counter of the daemon (`ACM_CNTR_*`), for [`count`]. The daemon counts requests, failures and responses without
/// data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Address lookups.
    AddressQuery = 3,
    /// Address lookups with a result from the cache.
    AddressCache = 4,
    /// Route lookups.
    RouteQuery = 5,
    /// Route lookups with a result from the cache.
    RouteCache = 6,
}

/// The provider's name, which precedes its log lines.
static NAME: AtomicPtr<core::ffi::c_char> = AtomicPtr::new(core::ptr::null_mut());

/// True when the process is exiting. From then on, the daemon's functions must not be called.
static OVER: AtomicBool = AtomicBool::new(false);

pub(crate) extern "C" fn end() {
    OVER.store(true, Ordering::Release);
}

pub(crate) fn is_over() -> bool {
    OVER.load(Ordering::Acquire)
}

pub(crate) fn set_name(name: &'static CStr) {
    NAME.store(name.as_ptr().cast_mut(), Ordering::Release);
}

/// Writes a line into the daemon's log: the provider's name and the text. Line ends and other control characters in the
/// text are escaped.
pub fn log(level: Level, text: fmt::Arguments<'_>) {
    if is_over() {
        return;
    }
    let mut line = String::new();
    for character in text.to_string().chars() {
        if character.is_control() { line.extend(character.escape_default()) } else { line.push(character) }
    }
    let Ok(line) = CString::new(line) else { return };
    let name = NAME.load(Ordering::Acquire);
    let name = if name.is_null() { c"provider".as_ptr() } else { name.cast_const() };
    // SAFETY: the format takes two strings, and both are zero-terminated.
    unsafe { imports::acm_write(level as c_int, c"%s: %s\n".as_ptr(), name, line.as_ptr()) };
}

/// Returns the path of the daemon's option file (`ibacm_opts.cfg`). A provider must ignore unknown lines, which belong
/// to the daemon or to other providers.
#[must_use]
pub fn options_file() -> PathBuf {
    // SAFETY: the daemon returns a string that stays valid.
    let path = unsafe { imports::acm_get_opts_file() };
    if path.is_null() {
        return PathBuf::new();
    }
    // SAFETY: it is not null, and zero-terminated.
    let path = unsafe { CStr::from_ptr(path) };
    PathBuf::from(OsStr::from_bytes(path.to_bytes()))
}

/// Increments a counter of the daemon.
pub fn count(counter: Counter) {
    // SAFETY: the argument is a number, which the daemon checks.
    unsafe { imports::acm_increment_counter(counter as c_int) };
}
