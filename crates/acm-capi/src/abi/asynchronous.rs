//! Non-blocking connections.
use super::{
    blocking::path_request,
    guard::guard,
    read,
    types::{
        Completion, Conn, IB_ACM_ALL, IB_ACM_ENUM_EP, IB_ACM_QUERY_PERF, IB_ACM_RESOLVE_IP, IB_ACM_RESOLVE_NAME,
        IB_ACM_RESOLVE_PATH, SubmittedRequest,
    },
    write,
};
use crate::{
    address, blocking,
    conn::{self, Engine, Submission},
    errno::Result,
};
use acm_client::{Address, PerfTarget, Request};
use acm_wire::client::EntryFlags;
use core::{
    ffi::{c_char, c_int, c_uint},
    ptr,
    time::Duration,
};
use nix::errno::Errno;
use std::sync::MutexGuard;

/// Default depth: the number of open requests at which acm-mio stops reading from a client.
const DEFAULT_DEPTH: usize = 64;
/// The maximum depth.
const MAX_DEPTH: usize = 1 << 16;
/// The default of `timeout_ms`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens a non-blocking connection, which is independent of all other connections and of the blocking functions.
/// `service` is the path of a socket if it contains a `/`, otherwise `host` or `host:port`. NULL stands for the daemon
/// that librdmacm uses. `depth` is the maximum number of open requests, up to 65536; 0 stands for 64. A request is open
/// until ib_acm_poll returns its completion.
///
/// Returns NULL and sets `errno` on failure: ENOENT or ECONNREFUSED if there is no daemon, EINVAL for an invalid depth.
/// Of the functions for connections, only this function may block: to resolve a host name, and up to 30 s for each
/// address of the host. A connection uses four file descriptors, up to 16 more while
/// requests that wait take all places at the daemon, and one while it gets the memory of the daemon.
/// After a fork, only one of the two processes may use the connection.
///
/// # Safety
/// `service` is NULL, or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_open(service: *const c_char, depth: c_uint) -> *mut Conn {
    guard(ptr::null_mut(), || {
        // SAFETY: `service` is NULL, or a NUL-terminated string that the caller keeps through this call (libacm.h).
        let service = address::service(unsafe { read::text(service) })?;
        let depth = match usize::try_from(depth) {
            Ok(0) => DEFAULT_DEPTH,
            Ok(depth @ 1..=MAX_DEPTH) => depth,
            _ => return Err(Errno::EINVAL),
        };
        let number = conn::open(Engine::open(&service, depth, DEFAULT_TIMEOUT)?)?;
        Ok(ptr::without_provenance_mut(number))
    })
}

/// Returns the descriptor for poll, select or epoll. The descriptor is readable while ib_acm_poll has work: a response,
/// a time-out, or a reconnection. It does not change while the connection is open. The caller must not read or close
/// the descriptor. With EPOLLET, call ib_acm_poll until it returns 0.
///
/// Returns -1 and sets `errno` to EBADF if `conn` is no open connection.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_fd(conn: *mut Conn) -> c_int {
    guard(-1, || with(conn, |engine| engine.fd()))
}

/// Submits requests, and sends as many as the socket accepts. After the call, the library does not use the requests and
/// the addresses to which they point.
///
/// Returns the number of submitted requests, from the start of the array. The function sets the `id` of each submitted
/// request. Each submitted request gets exactly one completion, unless the connection is closed first. If the first
/// request cannot be submitted, returns -1 and sets `errno`: EAGAIN if `depth` requests are open; EINVAL, ENAMETOOLONG
/// or EAFNOSUPPORT for an invalid request.
///
/// A request whose path is in the memory of the daemon (`shared_cache on`) is not sent. Then ib_acm_poll has its
/// completion at once.
///
/// If the connection is lost, the library reconnects and sends the requests again, until their time-out, because
/// requests have no side effects in the daemon. C ibacm gets one request at a time on each socket.
///
/// # Safety
/// `requests` has `count` requests, whose pointers are NULL or valid for the kind of the request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_submit(conn: *mut Conn, requests: *mut SubmittedRequest, count: c_int) -> c_int {
    guard(-1, || {
        let length = length(requests.is_null(), count)?;
        with(conn, |engine| {
            let mut submitted = 0;
            for index in 0..length {
                // SAFETY: the caller's array has `count` requests.
                let (request, pointer) = unsafe { (requests.add(index).read(), requests.add(index)) };
                // SAFETY: its pointers are NULL or valid for its kind, through this call (libacm.h).
                let submission = unsafe { submission(&request) };
                match submission.and_then(|submission| engine.submit(&submission)) {
                    // SAFETY: the request was read from this pointer, and the caller's array is writable.
                    Ok(id) => unsafe { (&raw mut (*pointer).id).write(id) },
                    Err(errno) if index == 0 => return Err(errno),
                    Err(_) => break,
                }
                submitted += 1;
            }
            engine.flush();
            Ok(submitted)
        })
    })
}

/// Sends, receives, reconnects and expires requests, without blocking. Returns up to `count` completions, oldest first.
/// `count` may be 0.
///
/// Returns the number of written completions; the rest of `completions` is unchanged. Returns -1 and sets `errno` only
/// if an argument is invalid or there is no memory. Errors of requests are in their completions.
///
/// # Safety
/// `completions` has room for `count` completions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_poll(conn: *mut Conn, completions: *mut Completion, count: c_int) -> c_int {
    guard(-1, || {
        let length = length(completions.is_null(), count)?;
        with(conn, |engine| {
            engine.drive();
            let mut written = 0;
            for index in 0..length {
                let Some(request) = engine.next_completed() else { break };
                // SAFETY: the caller's array has room for `count` completions.
                unsafe { completions.add(index).write(write::completion(&request)) };
                written += 1;
            }
            // The descriptor is readable as long as there are more.
            engine.flush();
            Ok(written)
        })
    })
}

/// Cancels the request `id`, or all requests with IB_ACM_ALL. A cancelled request completes with ECANCELED, and
/// ib_acm_poll returns its completion.
///
/// Returns 0. On failure returns -1 and sets `errno`: ENOENT if the request is complete or does not exist.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_cancel(conn: *mut Conn, id: u64) -> c_int {
    guard(-1, || {
        with(conn, |engine| {
            if id == IB_ACM_ALL {
                engine.cancel_all();
            } else {
                engine.cancel(id)?;
            }
            engine.flush();
            Ok(0)
        })
    })
}

/// Counts the requests of a connection whose path was read from the memory of a daemon with `shared_cache on`. These
/// requests were not sent. NULL stands for the connection of the blocking functions.
///
/// Returns the number of requests. On failure returns -1 and sets `errno` to EBADF.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_shared_cache_hits(conn: *mut Conn) -> i64 {
    guard(-1, || {
        let hits = if conn.is_null() {
            blocking::shared_cache_hits()
        } else {
            with(conn, |conn| Ok(conn.shared_cache_hits()))
        };
        Ok(i64::try_from(hits?).unwrap_or(i64::MAX))
    })
}

/// Closes a connection after the calls of other threads on it have returned. Open requests get no completion. To get
/// their cookies, first cancel all requests and poll. Every later call with `conn` fails with EBADF.
///
/// Returns 0. On failure returns -1 and sets `errno` to EBADF.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_close(conn: *mut Conn) -> c_int {
    guard(-1, || conn::close(conn.addr()).map(|()| 0))
}

fn with<T>(conn: *mut Conn, work: impl FnOnce(&mut MutexGuard<'_, Engine>) -> Result<T>) -> Result<T> {
    let found = conn::find(conn.addr())?;
    let mut engine = found.lock().map_err(|_| Errno::ENOTRECOVERABLE)?;
    work(&mut engine)
}

/// Returns the length of an array.
fn length(is_null: bool, count: c_int) -> Result<usize> {
    let length = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
    if is_null && length > 0 { Err(Errno::EINVAL) } else { Ok(length) }
}

/// Converts a request.
///
/// # Safety
/// The pointers in `from` are NULL, or valid for their type.
unsafe fn submission(from: &SubmittedRequest) -> Result<Submission> {
    // SAFETY: each is NULL, or a NUL-terminated name, a whole address of its family or a readable path record.
    let (src_name, dest_name, src_ip, dest_ip, path) = unsafe {
        let (src_name, dest_name) = (read::name(from.src_name)?, read::name(from.dest_name)?);
        (src_name, dest_name, read::ip(from.src_ip)?, read::ip(from.dest_ip)?, read::path(from.path)?)
    };
    if from.reserved != [0; 2] || from.reserved2 != [0; 3] {
        return Err(Errno::EINVAL);
    }
    let flags = EntryFlags::from_bits_retain(from.flags);
    let (no_delay, no_flags) = (EntryFlags::NO_DELAY, EntryFlags::empty());
    let allowed = match from.kind {
        IB_ACM_RESOLVE_NAME | IB_ACM_RESOLVE_IP => no_delay,
        IB_ACM_RESOLVE_PATH => no_delay | EntryFlags::QUERY_SA,
        _ => no_flags,
    };
    if !allowed.contains(flags) {
        return Err(Errno::EINVAL);
    }
    let no_delay = flags.contains(no_delay);
    let request = match (from.kind, from.index, from.port, (src_name, dest_name), (src_ip, dest_ip), path) {
        (IB_ACM_RESOLVE_NAME, 0, 0, (source, Some(dest)), (None, None), conditions) => {
            Request::Resolve { source, dest, conditions, no_delay }
        }
        (IB_ACM_RESOLVE_IP, 0, 0, (None, None), (source, Some(dest)), conditions)
            if source.is_none_or(|source| source.is_ipv4() == dest.is_ipv4()) =>
        {
            Request::Resolve { source: source.map(Address::from), dest: dest.into(), conditions, no_delay }
        }
        (IB_ACM_RESOLVE_PATH, 0, 0, (None, None), (None, None), Some(path)) => path_request(path, flags),
        (IB_ACM_QUERY_PERF, 0, 0, (None, None), (None, None), None) => Request::Counters(PerfTarget::Total),
        (IB_ACM_QUERY_PERF, index, 0, (None, None), (None, None), None) => {
            Request::Counters(PerfTarget::Endpoint(index))
        }
        (IB_ACM_QUERY_PERF, 0, 0, (Some(address), None), (None, None), None) => {
            Request::Counters(PerfTarget::Address(Some(address)))
        }
        (IB_ACM_QUERY_PERF, 0, 0, (None, None), (Some(address), None), None) => {
            Request::Counters(PerfTarget::Address(Some(address.into())))
        }
        (IB_ACM_ENUM_EP, index, port, (None, None), (None, None), None) => Request::Endpoint { index, port },
        _ => return Err(Errno::EINVAL),
    };
    let timeout = if from.timeout_ms == 0 { DEFAULT_TIMEOUT } else { Duration::from_millis(from.timeout_ms.into()) };
    Ok(Submission { request, timeout, cookie: from.cookie, kind: from.kind })
}

#[cfg(test)]
mod tests;
