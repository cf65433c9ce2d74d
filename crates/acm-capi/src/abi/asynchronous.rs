//! Connections that never wait.
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
    clock,
    conn::{self, Asked, Engine},
    errno::Result,
    place,
};
use acm_client::{Address, PerfTarget, Request};
use acm_wire::client::EntryFlags;
use core::{
    ffi::{c_char, c_int, c_uint},
    ptr,
    time::Duration,
};
use nix::errno::Errno;
use std::{sync::MutexGuard, time::Instant};

/// How many requests may be under way: acm-mio reads no more of a client then.
const DEPTH: usize = 64;
/// The most that can be asked for.
const DEEPEST: usize = 1 << 16;
/// Without `timeout_ms`.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Opens a connection that never waits, beside the process's one and any others. `service` is the path of a socket if
/// there is a `/` in it, else `host` or `host:port`; NULL stands for the daemon that librdmacm asks. At most `depth`
/// requests have no completion that ib_acm_poll gave out; 0 stands for 64, and more than 65536 is EINVAL.
///
/// Returns NULL and sets `errno` if there is no daemon: ENOENT, ECONNREFUSED. This is the one function that may wait,
/// for a host's name and at most 30 seconds for each of its addresses. It takes four file descriptors. Whoever forks
/// leaves the connection to one of both processes.
///
/// # Safety
/// `service` is NULL, or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_open(service: *const c_char, depth: c_uint) -> *mut Conn {
    guard(ptr::null_mut(), || {
        // SAFETY: `service` is NULL, or a NUL-terminated string that the caller keeps through this call (libacm.h).
        let service = place::service(unsafe { read::text(service) })?;
        let depth = match usize::try_from(depth) {
            Ok(0) => DEPTH,
            Ok(depth @ 1..=DEEPEST) => depth,
            _ => return Err(Errno::EINVAL),
        };
        let number = conn::open(Engine::open(&service, depth, TIMEOUT)?)?;
        Ok(ptr::without_provenance_mut(number))
    })
}

/// The descriptor for poll, select or epoll: readable while ib_acm_poll has something to do, be it an answer, a time that
/// is over, or a daemon to be found again. It stays the same for as long as the connection is open, and it is not yours
/// to read or close. With EPOLLET call ib_acm_poll until it returns 0.
///
/// Returns -1 and sets `errno` to EBADF if `conn` is none.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_fd(conn: *mut Conn) -> c_int {
    guard(-1, || with(conn, |engine| Ok(engine.fd())))
}

/// Takes requests, and sends what the socket has room for. Nothing of a request is looked at after it returns: the
/// addresses that it points at are yours again.
///
/// Returns how many of `requests` were taken, the first ones; each has its `id` then, and will have exactly one
/// completion, unless the connection is closed before. If not even the first was taken, returns -1 and sets `errno`:
/// EAGAIN while as many are under way as may be, EINVAL, ENAMETOOLONG or EAFNOSUPPORT for a request that makes no sense.
///
/// If the connection breaks, the daemon is looked for again and asked once more. No request changes anything there.
///
/// # Safety
/// `requests` has `count` requests, whose pointers are NULL or what their kind asks for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_submit(conn: *mut Conn, requests: *mut SubmittedRequest, count: c_int) -> c_int {
    guard(-1, || {
        let length = length(requests.is_null(), count)?;
        with(conn, |engine| {
            let (now, mut taken) = (clock::now(), 0);
            for index in 0..length {
                // SAFETY: the caller says that there are so many.
                let (request, place) = unsafe { (requests.add(index).read(), requests.add(index)) };
                // SAFETY: its pointers are NULL or what its kind asks for, valid through this call (libacm.h).
                let asked = unsafe { asked(&request, now) };
                match asked.and_then(|(asked, deadline)| engine.submit(asked, deadline)) {
                    // SAFETY: as it was read.
                    Ok(id) => unsafe { (&raw mut (*place).id).write(id) },
                    Err(errno) if index == 0 => return Err(errno),
                    Err(_) => break,
                }
                taken += 1;
            }
            // What was taken is taken: it goes, or ends, with the next call.
            let _ = engine.flush(now);
            Ok(taken)
        })
    })
}

/// Does what there is to do without waiting - send, receive, look for the daemon, see whose time is over - and gives out
/// at most `count` completions, in the order in which they came to be. `count` may be 0.
///
/// Returns how many were written; the rest of `completions` is as it was. Returns -1 and sets `errno` only if an argument
/// is wrong or memory is short: what becomes of requests is in their completions.
///
/// # Safety
/// `completions` has room for `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_poll(conn: *mut Conn, completions: *mut Completion, count: c_int) -> c_int {
    guard(-1, || {
        let length = length(completions.is_null(), count)?;
        with(conn, |engine| {
            let now = clock::now();
            engine.drive(now);
            let mut given = 0;
            for index in 0..length {
                let Some(done) = engine.take() else { break };
                // SAFETY: the caller says that there is room.
                unsafe { completions.add(index).write(write::completion(&done)) };
                given += 1;
            }
            // What was given out is given out: the descriptor is right again next time.
            let _ = engine.settle(now);
            Ok(given)
        })
    })
}

/// Ends the request `id` with ECANCELED, or all with IB_ACM_ALL. Its completion comes by ib_acm_poll, as any other.
///
/// Returns 0, or -1 and sets `errno`: ENOENT if it has its completion already, or never was.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_cancel(conn: *mut Conn, id: u64) -> c_int {
    guard(-1, || {
        with(conn, |engine| {
            if id == IB_ACM_ALL {
                engine.cancel_all();
            } else {
                engine.cancel(id)?;
            }
            // What is cancelled is cancelled: the descriptor is right again with the next call.
            let _ = engine.settle(clock::now());
            Ok(0)
        })
    })
}

/// Closes a connection, when the calls of other threads on it have returned. Requests without a completion get none: who
/// needs their cookies cancels all and polls before. After it `conn` is EBADF for every function, for ever.
///
/// Returns 0, or -1 and sets `errno` to EBADF.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_close(conn: *mut Conn) -> c_int {
    guard(-1, || conn::close(conn.addr()).map(|()| 0))
}

fn with<T>(conn: *mut Conn, work: impl FnOnce(&mut MutexGuard<'_, Engine>) -> Result<T>) -> Result<T> {
    let found = conn::find(conn.addr())?;
    let mut engine = found.lock().map_err(|_| Errno::ENOTRECOVERABLE)?;
    work(&mut engine)
}

/// How long an array is.
fn length(is_null: bool, count: c_int) -> Result<usize> {
    let length = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
    if is_null && length > 0 { Err(Errno::EINVAL) } else { Ok(length) }
}

/// What a request asks, and until when.
///
/// # Safety
/// Its pointers are NULL, or what their names say.
unsafe fn asked(from: &SubmittedRequest, now: Instant) -> Result<(Asked, Instant)> {
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
        (IB_ACM_RESOLVE_NAME, 0, 0, (source, Some(dest)), (None, None), None) => {
            Request::Resolve { source, dest, no_delay }
        }
        (IB_ACM_RESOLVE_IP, 0, 0, (None, None), (source, Some(dest)), None)
            if source.is_none_or(|source| source.is_ipv4() == dest.is_ipv4()) =>
        {
            Request::Resolve { source: source.map(Address::from), dest: dest.into(), no_delay }
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
    let timeout = if from.timeout_ms == 0 { TIMEOUT } else { Duration::from_millis(from.timeout_ms.into()) };
    let deadline = now.checked_add(timeout).ok_or(Errno::EINVAL)?;
    Ok((Asked { request, cookie: from.cookie, kind: from.kind }, deadline))
}
