//! What a provider may ask of the daemon that loaded it, from any thread.
#![allow(unsafe_code, reason = "functions of the daemon")]
use crate::abi::imports;
use core::{
    ffi::{CStr, c_int},
    fmt,
    sync::atomic::{AtomicBool, AtomicPtr, Ordering},
};
use std::{ffi::CString, ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf};

/// How much a line of the log matters: the daemon writes what is at most its `log_level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Always written.
    Always = 0,
    /// Written at `log_level 1`.
    Info = 1,
    /// Written at `log_level 2`.
    Debug = 2,
}

/// Counters of the daemon itself (`ACM_CNTR_*`), for [`count`]. The daemon counts requests, failures and answers without
/// data by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// An address was asked for.
    AddressQuery = 3,
    /// An address was known.
    AddressCache = 4,
    /// A route was asked for.
    RouteQuery = 5,
    /// A route was known.
    RouteCache = 6,
}

/// The provider's name, which stands before its lines.
static NAME: AtomicPtr<core::ffi::c_char> = AtomicPtr::new(core::ptr::null_mut());

/// The process ends, and with it what the functions of the daemon need: they are not called any more.
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

/// Writes a line into the daemon's log: the provider's name, and the text. Line ends and other control characters of the
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
    // SAFETY: the format takes two texts, and both end with a zero byte.
    unsafe { imports::acm_write(level as c_int, c"%s: %s\n".as_ptr(), name, line.as_ptr()) };
}

/// Path of the daemon's file of options (`ibacm_opts.cfg`). Lines that a provider does not know are somebody else's.
#[must_use]
pub fn options_file() -> PathBuf {
    // SAFETY: the daemon gives a text of its own, which stays.
    let path = unsafe { imports::acm_get_opts_file() };
    if path.is_null() {
        return PathBuf::new();
    }
    // SAFETY: it is not null, and ends with a zero byte.
    let path = unsafe { CStr::from_ptr(path) };
    PathBuf::from(OsStr::from_bytes(path.to_bytes()))
}

/// Adds one to a counter of the daemon.
pub fn count(counter: Counter) {
    // SAFETY: a number, which the daemon checks.
    unsafe { imports::acm_increment_counter(counter as c_int) };
}
