//! The replaced functions of the C library.
//!
//! A function calls the C library's function with the caller's arguments, unless the memory has the response. Nothing
//! that this library does between the call and the return of the C library's function changes `errno` of a failure. A
//! thread may be cancelled in that function (`pthread_cancel`): then its stack is unwound, and no value is dropped.
#![expect(unsafe_code, reason = "replaces functions of the C library")]
use crate::{
    connection::{LONGEST, Way},
    next::next,
    watched,
};
use acm_client::Service;
use acm_wire::client::Header;
use core::{
    ffi::{CStr, c_int, c_uint, c_void},
    panic::AssertUnwindSafe,
    ptr, slice,
};
use libc::{Dl_info, sa_family_t, size_t, sockaddr, sockaddr_un, socklen_t, ssize_t};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt, panic::catch_unwind};

/// Start of the file name of the library whose connection is watched.
const LIBRDMACM: &[u8] = b"librdmacm.so";

/// Calls `work`. A panic is a defect of this library. It does not unwind through C, and gives `None`.
fn guard<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => value,
        Err(panic) => {
            // Dropping the payload may panic again.
            core::mem::forget(panic);
            None
        }
    }
}

/// Replaces `connect`: calls [`connect_from`] with the caller's return address as a fourth argument.
///
/// # Safety
/// The requirements of `connect(2)`.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C-unwind" fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    core::arch::naked_asm!("mov rcx, [rsp]", "jmp {}", sym connect_from)
}

/// Replaces `connect`: calls [`connect_from`] with the caller's return address as a fourth argument.
///
/// # Safety
/// The requirements of `connect(2)`.
#[cfg(target_arch = "aarch64")]
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C-unwind" fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    core::arch::naked_asm!("mov x3, x30", "b {}", sym connect_from)
}

/// Connects, and watches the descriptor if `caller` is an address in librdmacm.
///
/// # Safety
/// The requirements of `connect(2)`.
unsafe extern "C-unwind" fn connect_from(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
    caller: *const c_void,
) -> c_int {
    watched::unwatch(fd);
    // SAFETY: the caller meets the requirements of `connect`.
    let result =
        unsafe { next!(c"connect", fn(fd => c_int, address => *const sockaddr, length => socklen_t) -> c_int) };
    if result == 0 {
        guard(|| {
            // SAFETY: `connect` has accepted the address, so it is readable for `length` bytes.
            let service = unsafe { unix_socket(address, length) }?;
            is_librdmacm(caller).then(|| watched::watch(fd, service))
        });
    }
    result
}

/// Returns the path of a Unix socket.
///
/// # Safety
/// `address` is readable for `length` bytes.
unsafe fn unix_socket(address: *const sockaddr, length: socklen_t) -> Option<Service> {
    let length = usize::try_from(length).ok()?.min(size_of::<sockaddr_un>());
    // SAFETY: by contract of this function the bytes are readable; the caller keeps them through its call.
    let bytes = unsafe { slice::from_raw_parts(address.cast::<u8>(), length) };
    let (family, path) = bytes.split_at_checked(size_of::<sa_family_t>())?;
    let family = sa_family_t::from_ne_bytes(family.try_into().ok()?);
    let path = path.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
    (c_int::from(family) == libc::AF_UNIX).then(|| Service::Unix(OsStr::from_bytes(path).into()))
}

/// Reports whether an address is in the code of librdmacm.
fn is_librdmacm(address: *const c_void) -> bool {
    let mut found = Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: any address is valid, and the structure is writable.
    let is_found = unsafe { libc::dladdr(address, &raw mut found) } != 0;
    if !is_found || found.dli_fname.is_null() {
        return false;
    }
    // SAFETY: the name ends with a zero byte. The library stays loaded while its code is calling.
    let name = unsafe { CStr::from_ptr(found.dli_fname) }.to_bytes();
    name.rsplit(|byte| *byte == b'/').next().is_some_and(|name| name.starts_with(LIBRDMACM))
}

/// Replaces `send`.
///
/// # Safety
/// The requirements of `send(2)`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    if watched::is_watched(fd) {
        let way = guard(|| {
            let is_plain = flags & !libc::MSG_NOSIGNAL == 0 && length <= LONGEST && !buffer.is_null();
            let length = if is_plain { length } else { 0 };
            let buffer = if is_plain { buffer.cast::<u8>() } else { ptr::dangling() };
            // SAFETY: the caller's buffer is readable for `length` bytes. An empty slice may have any address.
            Some(watched::send(fd, unsafe { slice::from_raw_parts(buffer, length) }))
        });
        match way {
            // At most `LONGEST`.
            Some(Way::Memory) => return ssize_t::try_from(length).unwrap_or(ssize_t::MAX),
            Some(Way::Socket(Some(report))) => send_report(fd, &report),
            Some(Way::Socket(None)) | None => {}
        }
    }
    // SAFETY: the caller meets the requirements of `send`.
    unsafe { send_on(fd, buffer, length, flags) }
}

/// # Safety
/// The requirements of `send(2)`.
unsafe fn send_on(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the caller meets the requirements of `send`.
    unsafe { next!(c"send", fn(fd => c_int, buffer => *const c_void, length => size_t, flags => c_int) -> ssize_t) }
}

/// Sends a report to the daemon, if the socket has room. A Unix socket takes all of so few bytes, or none.
fn send_report(fd: c_int, report: &Header) {
    let bytes = ib_mad::as_bytes(report);
    // SAFETY: the bytes are readable.
    unsafe { send_on(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
}

/// Replaces `recv`.
///
/// # Safety
/// The requirements of `recv(2)`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    let is_watched = watched::is_watched(fd);
    if is_watched && flags & libc::MSG_OOB == 0 {
        let count = guard(|| {
            let length = if buffer.is_null() { 0 } else { length.min(LONGEST) };
            let buffer = if buffer.is_null() { ptr::dangling_mut() } else { buffer.cast::<u8>() };
            // SAFETY: the caller's buffer is writable for `length` bytes, which are only written.
            let buffer = unsafe { slice::from_raw_parts_mut(buffer, length) };
            watched::receive(buffer, flags & libc::MSG_PEEK != 0)
        });
        if let Some(count) = count {
            return ssize_t::try_from(count).unwrap_or(ssize_t::MAX);
        }
    }
    // SAFETY: the caller meets the requirements of `recv`.
    let received =
        unsafe { next!(c"recv", fn(fd => c_int, buffer => *mut c_void, length => size_t, flags => c_int) -> ssize_t) };
    if is_watched
        && flags & (libc::MSG_PEEK | libc::MSG_TRUNC) == 0
        && let Ok(count @ 1..) = usize::try_from(received)
    {
        // SAFETY: `recv` has written `count` bytes: no flag lets it count others.
        let bytes = unsafe { slice::from_raw_parts(buffer.cast::<u8>(), count) };
        guard(|| {
            watched::received(bytes);
            Some(())
        });
    }
    received
}

/// Sends the last report on the watched descriptor, and ends to watch it.
fn end(fd: c_int) {
    if watched::is_watched_here(fd) {
        if let Some(report) = guard(watched::last_report) {
            send_report(fd, &report);
        }
        watched::unwatch(fd);
    }
}

/// Replaces `shutdown`.
///
/// # Safety
/// The requirements of `shutdown(2)`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn shutdown(fd: c_int, how: c_int) -> c_int {
    end(fd);
    // SAFETY: the caller meets the requirements of `shutdown`.
    unsafe { next!(c"shutdown", fn(fd => c_int, how => c_int) -> c_int) }
}

/// Replaces `close`.
///
/// # Safety
/// The requirements of `close(2)`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
    end(fd);
    // SAFETY: the caller meets the requirements of `close`.
    unsafe { next!(c"close", fn(fd => c_int) -> c_int) }
}

/// Replaces `dup2`, which closes `to`.
///
/// # Safety
/// The requirements of `dup2(2)`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn dup2(from: c_int, to: c_int) -> c_int {
    end(to);
    // SAFETY: the caller meets the requirements of `dup2`.
    unsafe { next!(c"dup2", fn(from => c_int, to => c_int) -> c_int) }
}

/// Replaces `dup3`, which closes `to`.
///
/// # Safety
/// The requirements of `dup3(2)`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    end(to);
    // SAFETY: the caller meets the requirements of `dup3`.
    unsafe { next!(c"dup3", fn(from => c_int, to => c_int, flags => c_int) -> c_int) }
}

/// Replaces `close_range`.
///
/// # Safety
/// The requirements of `close_range(2)`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    watched::unwatch_range(first, last);
    // SAFETY: the caller meets the requirements of `close_range`.
    unsafe { next!(c"close_range", fn(first => c_uint, last => c_uint, flags => c_int) -> c_int) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_unix_socket_with_a_path_is_a_service() {
        let service = |family: c_int, path: &[u8]| {
            let family = sa_family_t::try_from(family).unwrap();
            let bytes = [&family.to_ne_bytes(), path].concat();
            // SAFETY: the bytes are readable.
            unsafe { unix_socket(bytes.as_ptr().cast(), socklen_t::try_from(bytes.len()).unwrap()) }
        };
        let found = Some(Service::Unix("/run/s".into()));
        assert_eq!(
            (service(libc::AF_UNIX, b"/run/s"), service(libc::AF_UNIX, b"/run/s\0rest")),
            (found.clone(), found)
        );
        // An abstract socket, an unnamed one, and TCP.
        for (family, path) in [(libc::AF_UNIX, &b"\0/run/s"[..]), (libc::AF_UNIX, b""), (libc::AF_INET, b"/run/s")] {
            assert_eq!(service(family, path), None);
        }
        // SAFETY: the byte is readable.
        assert_eq!(unsafe { unix_socket([1_u8].as_ptr().cast(), 1) }, None);
    }

    #[test]
    fn code_of_other_libraries_is_not_librdmacms() {
        assert!(!is_librdmacm(ptr::null()) && !is_librdmacm(libc::getpid as *const c_void));
    }

    #[test]
    fn panic_is_no_value() {
        assert_eq!((guard(|| Some(7)), guard(|| -> Option<u8> { panic!("expected by this test") })), (Some(7), None));
    }
}
