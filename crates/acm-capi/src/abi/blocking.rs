//! The functions of 2009, with rdma-core's signatures: one connection for the whole process.
use super::{
    guard::guard,
    read,
    types::{EpConfigData, PathData, PathRecord},
    write,
};
use crate::{blocking, errno::Result};
use acm_client::{Address, Counters, PerfTarget, Request, Response};
use acm_wire::client::EntryFlags;
use core::ffi::{CStr, c_char, c_int};
use ib_mad::acm::AcmAddressType;
use nix::{
    errno::Errno,
    libc::{AF_INET, AF_INET6, sockaddr},
};

/// Connects the process to a daemon; the connection that there was is closed. `dest_svc` is the path of a socket if it
/// begins with `/`, else a name or address of a host, whose port is the one of /run/ibacm-tcp.port or 6125. NULL stands
/// for the daemon that librdmacm asks.
///
/// Returns 0; for a socket that cannot be reached the error number, for a host -1, or what getaddrinfo said of it, which
/// gai_strerror has words for. `errno` is set. Waits at most 30 seconds for each address.
///
/// May be called by several threads, as all functions here. It waits until a request that is under way has its answer.
///
/// # Safety
/// `dest_svc` is NULL, or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_connect(dest_svc: *const c_char) -> c_int {
    guard(-1, || {
        // SAFETY: `dest_svc` is NULL, or a NUL-terminated string that the caller keeps through this call (libacm.h).
        let dest = unsafe { read::text(dest_svc) };
        Ok(match blocking::connect(dest) {
            Ok(()) => 0,
            Err(failed) => {
                failed.errno.set();
                failed.code
            }
        })
    })
}

/// Closes the process's connection. It waits until a request that is under way has its answer.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_disconnect() {
    guard((), || {
        blocking::disconnect();
        Ok(())
    });
}

/// Asks for the path from one name to another. `src` may be NULL if the daemon can choose the source, which it can for IP
/// addresses only; with `print` it is said on standard output which it chose.
///
/// Returns 0 and writes to `paths` and `count`; `paths` is yours, by ib_acm_free_paths. Returns -1 and sets `errno`
/// otherwise, and writes nothing. Of `flags` ACM_FLAGS_NODELAY counts.
///
/// If the connection breaks, the daemon is looked for again, and asked once more; 30 seconds for all of it.
///
/// # Safety
/// `src` is NULL or a string, `dest` a string; `paths` and `count` can be written to. NULL in their place is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_resolve_name(
    src: *const c_char,
    dest: *const c_char,
    paths: *mut *mut PathData,
    count: *mut c_int,
    flags: u32,
    print: c_int,
) -> c_int {
    guard(-1, || {
        // SAFETY: both names are NULL or NUL-terminated, and `paths` and `count` NULL or writable, through this call.
        unsafe { resolve(|| Ok((read::name(src)?, read::name(dest)?)), paths, count, flags, print) }
    })
}

/// Asks for the path from one IP address to another, AF_INET or AF_INET6; their ports are not looked at. All else is as
/// for ib_acm_resolve_name. Addresses of two families are EINVAL, of another one EAFNOSUPPORT.
///
/// # Safety
/// `src` is NULL or an address, `dest` an address; `paths` and `count` can be written to. NULL in their place is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_resolve_ip(
    src: *const sockaddr,
    dest: *const sockaddr,
    paths: *mut *mut PathData,
    count: *mut c_int,
    flags: u32,
    print: c_int,
) -> c_int {
    let addresses = || {
        // SAFETY: each is NULL or a whole address of its family, which the caller keeps through this call (libacm.h).
        let (src, dest) = unsafe { (read::ip(src)?, read::ip(dest)?) };
        if src.zip(dest).is_some_and(|(src, dest)| src.is_ipv4() != dest.is_ipv4()) {
            return Err(Errno::EINVAL);
        }
        Ok((src.map(Address::from), dest.map(Address::from)))
    };
    // SAFETY: `paths` and `count` are NULL, or the caller's variables, writable through this call (libacm.h).
    guard(-1, || unsafe { resolve(addresses, paths, count, flags, print) })
}

/// Asks for the path that begins and ends as `path` says: by LIDs, or by GIDs. What is zero in it is open. With
/// ACM_FLAGS_QUERY_SA in `flags` subnet administration itself is asked, whatever the daemon knows.
///
/// Returns 0 and writes the path to `path`, or -1 and sets `errno`.
///
/// # Safety
/// `path` can be read and written to. NULL is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_resolve_path(path: *mut PathRecord, flags: u32) -> c_int {
    guard(-1, || {
        // SAFETY: `path` is NULL, or a record of the caller's that can be read through this call (libacm.h).
        let asked = unsafe { read::path(path) }?.ok_or(Errno::EINVAL)?;
        let Response::Path(found) = blocking::ask(&path_request(asked, EntryFlags::from_bits_retain(flags)))? else {
            return Err(Errno::EPROTO);
        };
        // SAFETY: it is not NULL, and the caller says that it can be written to. It need not be aligned.
        unsafe { path.write_unaligned(write::path(&found.path)) };
        Ok(0)
    })
}

/// Asks for counters of the endpoint `index`, counted from 1, or with 0 for those of the whole daemon.
///
/// Returns 0 and writes to `counters`, which is yours by ib_acm_free_perf, and to `count`; or returns -1, sets `errno`,
/// and writes nothing. Their names are those of ib_acm_cntr_name. No endpoint has a number over 255.
///
/// # Safety
/// `counters` and `count` can be written to. NULL in their place is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_query_perf(index: c_int, counters: *mut *mut u64, count: *mut c_int) -> c_int {
    guard(-1, || {
        let target = match u8::try_from(index).map_err(|_| Errno::EINVAL)? {
            0 => PerfTarget::Total,
            index => PerfTarget::Endpoint(index),
        };
        // SAFETY: `counters` and `count` are NULL, or the caller's variables, writable through this call (libacm.h).
        unsafe { perf(target, counters, count) }
    })
}

/// Asks for counters of the endpoint with the address `src`: a string for ACM_EP_INFO_NAME, a struct sockaddr_in for
/// ACM_EP_INFO_ADDRESS_IP, a struct sockaddr_in6 for ACM_EP_INFO_ADDRESS_IP6. All else is as for ib_acm_query_perf.
///
/// # Safety
/// `src` is what `type` says, `counters` and `count` can be written to. NULL in their place is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_query_perf_ep_addr(
    src: *const u8,
    r#type: u8,
    counters: *mut *mut u64,
    count: *mut c_int,
) -> c_int {
    guard(-1, || {
        // SAFETY: `src` is NULL or what `type` says, a NUL-terminated string or a whole address, through this call.
        let address = unsafe {
            match AcmAddressType::new(r#type) {
                AcmAddressType::NAME => read::name(src.cast())?,
                AcmAddressType::IP => read::ip_of(AF_INET, src).map(Address::from),
                AcmAddressType::IP6 => read::ip_of(AF_INET6, src).map(Address::from),
                _ => None,
            }
        };
        let target = PerfTarget::Address(Some(address.ok_or(Errno::EINVAL)?));
        // SAFETY: `counters` and `count` are NULL, or the caller's variables, writable through this call (libacm.h).
        unsafe { perf(target, counters, count) }
    })
}

/// Asks for the endpoint `index`, counted from 1, of those of `port`, or of all for port 0.
///
/// Returns 0 and writes to `data`, which is yours by ib_acm_free_ep_data; or returns -1, sets `errno`, EINVAL if there
/// is none, and writes nothing. No endpoint has a number over 255.
///
/// # Safety
/// `data` can be written to. NULL in its place is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_enum_ep(index: c_int, data: *mut *mut EpConfigData, port: u8) -> c_int {
    guard(-1, || {
        let index = u8::try_from(index).map_err(|_| Errno::EINVAL)?;
        if data.is_null() {
            return Err(Errno::EINVAL);
        }
        let Response::Endpoint(endpoint) = blocking::ask(&Request::Endpoint { index, port })? else {
            return Err(Errno::EPROTO);
        };
        let endpoint = write::new_endpoint(&endpoint)?;
        // SAFETY: it is not NULL, and the caller says that it can be written to.
        unsafe { data.write(endpoint) };
        Ok(0)
    })
}

/// The name of a counter, counted from 0; `Unknown` if there is none. It is there for ever.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_cntr_name(index: c_int) -> *const c_char {
    const NAMES: [&CStr; Counters::NAMES.len()] = [
        c"Error Count",
        c"Resolve Count",
        c"No Data",
        c"Addr Query Count",
        c"Addr Cache Count",
        c"Route Query Count",
        c"Route Cache Count",
    ];
    usize::try_from(index).ok().and_then(|index| NAMES.get(index)).unwrap_or(&c"Unknown").as_ptr()
}

/// Gives back what ib_acm_resolve_name and ib_acm_resolve_ip gave; `free` does the same. NULL is nothing.
///
/// # Safety
/// `paths` is from there, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_free_paths(paths: *mut PathData) {
    // SAFETY: `paths` is NULL, or of `ib_acm_resolve_name` or `ib_acm_resolve_ip`, and used no more (libacm.h).
    unsafe { write::free_memory(paths) };
}

/// Gives back what ib_acm_query_perf and ib_acm_query_perf_ep_addr gave; `free` does the same. NULL is nothing.
///
/// # Safety
/// `counters` is from there, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_free_perf(counters: *mut u64) {
    // SAFETY: `counters` is NULL, or of one of the two `ib_acm_query_perf` functions, and used no more (libacm.h).
    unsafe { write::free_memory(counters) };
}

/// Gives back what ib_acm_enum_ep gave, or what is in a completion; `free` does the same. NULL is nothing.
///
/// # Safety
/// `data` is from there, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_free_ep_data(data: *mut EpConfigData) {
    // SAFETY: `data` is NULL, or of `ib_acm_enum_ep` or a completion, and used no more (libacm.h).
    unsafe { write::free_memory(data) };
}

/// The request for a path record.
pub(super) fn path_request(path: ib_mad::sa::PathRecord, flags: EntryFlags) -> Request {
    if flags.contains(EntryFlags::QUERY_SA) {
        Request::QuerySa { path }
    } else {
        Request::Route { path, no_delay: flags.contains(EntryFlags::NO_DELAY) }
    }
}

/// A path between addresses, into the caller's variables.
///
/// # Safety
/// `paths` and `count` are NULL, or can be written to.
unsafe fn resolve(
    addresses: impl FnOnce() -> Result<(Option<Address>, Option<Address>)>,
    paths: *mut *mut PathData,
    count: *mut c_int,
    flags: u32,
    print: c_int,
) -> Result<c_int> {
    let (source, dest) = addresses()?;
    let dest = dest.filter(|_| !paths.is_null() && !count.is_null()).ok_or(Errno::EINVAL)?;
    let no_delay = EntryFlags::from_bits_retain(flags).contains(EntryFlags::NO_DELAY);
    let Response::Path(found) = blocking::ask(&Request::Resolve { source, dest, no_delay })? else {
        return Err(Errno::EPROTO);
    };
    let path = write::new_path(&found.path)?;
    if let (Some(source), true) = (&found.source, print != 0) {
        write::print_source(source);
    }
    // SAFETY: they are not NULL, and the caller says that they can be written to.
    unsafe {
        paths.write(path);
        count.write(1);
    }
    Ok(0)
}

/// Counters, into the caller's variables.
///
/// # Safety
/// `counters` and `count` are NULL, or can be written to.
unsafe fn perf(target: PerfTarget, counters: *mut *mut u64, count: *mut c_int) -> Result<c_int> {
    if counters.is_null() || count.is_null() {
        return Err(Errno::EINVAL);
    }
    let Response::Counters(values) = blocking::ask(&Request::Counters(target))? else { return Err(Errno::EPROTO) };
    let memory = write::new_counters(&values)?;
    // SAFETY: they are not NULL, and the caller says that they can be written to.
    unsafe {
        counters.write(memory);
        count.write(c_int::try_from(values.0.len()).unwrap_or_default());
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_their_names() {
        // SAFETY: it is a string that is there for ever.
        let name = |index| unsafe { CStr::from_ptr(ib_acm_cntr_name(index)) }.to_str().unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(name), Counters::NAMES);
        assert_eq!([-1, 7, c_int::MAX, c_int::MIN].map(name), ["Unknown"; 4]);
    }
}
