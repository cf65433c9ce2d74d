//! The blocking functions, with the signatures of rdma-core's library. All blocking functions of a process share one
//! connection.
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

/// Flag of ib_acm_resolve_name and ib_acm_resolve_ip: return the alternate paths, too. It is not sent to the daemon.
const ACM_FLAGS_ALTERNATES: u32 = 1 << 29;

/// Connects the process to a daemon and closes the previous connection. `dest_svc` is the path of a socket if it has a
/// `/`, otherwise the name or address of a host. The port of a host is the number in the local file
/// /run/ibacm-tcp.port, or 6125. NULL stands for the daemon that librdmacm uses.
///
/// Returns 0 on success. On failure sets `errno` and returns the error number for a socket, or for a host -1 or the
/// error code of getaddrinfo (see gai_strerror). Blocks for at most 30 s for each address.
///
/// Several threads may call the blocking functions. This function waits until the request in flight has its response.
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

/// Closes the connection of the process. Waits until the request in flight has its response.
#[unsafe(no_mangle)]
pub extern "C" fn ib_acm_disconnect() {
    guard((), || {
        blocking::disconnect();
        Ok(())
    });
}

/// Resolves the path from one name to another. If `src` is NULL, `dest` must be an IP address, and the daemon selects
/// the source. If `print` is not 0, prints the selected source to standard output.
///
/// On success, returns 0 and sets `paths` and `count`. The caller releases `paths` with ib_acm_free_paths. On failure,
/// returns -1, sets `errno`, and writes nothing. The flags in `flags` are ACM_FLAGS_NODELAY and ACM_FLAGS_ALTERNATES;
/// others are ignored.
///
/// `count` is 1. With ACM_FLAGS_ALTERNATES, it is 1 more than the number of alternate paths: those between the other
/// LIDs of both ports (LMC). The first path has the flag IBV_PATH_FLAG_PRIMARY, the others IBV_PATH_FLAG_ALTERNATE.
///
/// If the connection is lost, the library reconnects and sends the request again. The time-out for the whole call is 30
/// s.
///
/// # Safety
/// `src` is NULL or a string, `dest` is a string; `paths` and `count` are writable. If `dest`, `paths` or `count` is
/// NULL, `errno` is EINVAL.
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

/// Resolves the path from one IP address to another, AF_INET or AF_INET6. TCP and UDP ports in the addresses are
/// ignored. Otherwise the function is like ib_acm_resolve_name. `errno` is EINVAL for addresses of different families,
/// and EAFNOSUPPORT for other families.
///
/// # Safety
/// `src` is NULL or an address, `dest` is an address; `paths` and `count` are writable. If `dest`, `paths` or `count`
/// is NULL, `errno` is EINVAL.
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

/// Resolves the path that matches all fields of `path` that are not zero: LIDs or GIDs, and others. With
/// ACM_FLAGS_QUERY_SA in `flags`, the daemon queries the subnet administrator (SA) and ignores its cache.
///
/// On success, returns 0 and writes the path to `path`. On failure, returns -1 and sets `errno`.
///
/// # Safety
/// `path` is readable and writable. NULL is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_resolve_path(path: *mut PathRecord, flags: u32) -> c_int {
    guard(-1, || {
        // SAFETY: `path` is NULL, or a record of the caller that can be read through this call (libacm.h).
        let known = unsafe { read::path(path) }?.ok_or(Errno::EINVAL)?;
        let Response::Path(found) = blocking::ask(&path_request(known, EntryFlags::from_bits_retain(flags)))? else {
            return Err(Errno::EPROTO);
        };
        // SAFETY: `path` is not NULL, and writable through this call (libacm.h). It may be unaligned.
        unsafe { path.write_unaligned(write::path(&found.path)) };
        Ok(0)
    })
}

/// Queries the counters of the endpoint `index`, counted from 1, or of the whole daemon if `index` is 0.
///
/// On success, returns 0 and sets `counters` and `count`. The caller releases `counters` with ib_acm_free_perf. On
/// failure, returns -1, sets `errno`, and writes nothing. ib_acm_cntr_name returns the names of the counters. The
/// maximum of `index` is 255.
///
/// # Safety
/// `counters` and `count` are writable. NULL is EINVAL.
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

/// Queries the counters of the endpoint with the address `src`: a string for ACM_EP_INFO_NAME, a struct sockaddr_in for
/// ACM_EP_INFO_ADDRESS_IP, a struct sockaddr_in6 for ACM_EP_INFO_ADDRESS_IP6. Otherwise the function is like
/// ib_acm_query_perf.
///
/// # Safety
/// `src` matches `type`; `counters` and `count` are writable. NULL is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_query_perf_ep_addr(
    src: *const u8,
    r#type: u8,
    counters: *mut *mut u64,
    count: *mut c_int,
) -> c_int {
    guard(-1, || {
        // SAFETY: `src` is NULL or matches `type`: a NUL-terminated string or a whole address, through this call.
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

/// Queries an endpoint. `index` counts from 1 among the endpoints of `port`; `port` 0 stands for all ports.
///
/// On success, returns 0 and sets `data`, which the caller releases with ib_acm_free_ep_data. On failure, returns -1,
/// sets `errno` (EINVAL if there is no such endpoint), and writes nothing. The maximum of `index` is 255.
///
/// # Safety
/// `data` is writable. NULL is EINVAL.
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
        // SAFETY: `data` is not NULL, and writable through this call (libacm.h).
        unsafe { data.write(endpoint) };
        Ok(0)
    })
}

/// Returns the name of a counter, counted from 0; `Unknown` if there is no such counter. The string is static.
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

/// Releases the paths of ib_acm_resolve_name and ib_acm_resolve_ip, as `free` does. NULL is ignored.
///
/// # Safety
/// `paths` is NULL or from these functions, and is not used after the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_free_paths(paths: *mut PathData) {
    // SAFETY: `paths` is NULL, or from `ib_acm_resolve_name` or `ib_acm_resolve_ip`, and not used any more (libacm.h).
    unsafe { write::free_memory(paths) };
}

/// Releases the counters of ib_acm_query_perf and ib_acm_query_perf_ep_addr, as `free` does. NULL is ignored.
///
/// # Safety
/// `counters` is NULL or from these functions, and is not used after the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_free_perf(counters: *mut u64) {
    // SAFETY: `counters` is NULL, or from an `ib_acm_query_perf` function, and not used any more (libacm.h).
    unsafe { write::free_memory(counters) };
}

/// Releases the endpoint of ib_acm_enum_ep or of a completion, as `free` does. NULL is ignored.
///
/// # Safety
/// `data` is NULL, from ib_acm_enum_ep or from a completion, and is not used after the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_free_ep_data(data: *mut EpConfigData) {
    // SAFETY: `data` is NULL, or from `ib_acm_enum_ep` or a completion, and not used any more (libacm.h).
    unsafe { write::free_memory(data) };
}

/// Returns the request for a path record.
pub(super) fn path_request(path: ib_mad::sa::PathRecord, flags: EntryFlags) -> Request {
    if flags.contains(EntryFlags::QUERY_SA) {
        Request::QuerySa { path }
    } else {
        Request::Route { path, no_delay: flags.contains(EntryFlags::NO_DELAY) }
    }
}

/// Resolves the path between two addresses, and writes it to the caller's variables.
///
/// # Safety
/// `paths` and `count` are NULL, or writable.
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
    let has_alternates = flags & ACM_FLAGS_ALTERNATES != 0;
    let Response::Path(found) = blocking::ask(&Request::Resolve { source, dest, conditions: None, no_delay })? else {
        return Err(Errno::EPROTO);
    };
    let alternates = if has_alternates { blocking::alternates(&found.path)? } else { Vec::new() };
    let number = c_int::try_from(1 + alternates.len()).map_err(|_| Errno::EPROTO)?;
    let path = write::new_paths(&found.path, &alternates)?;
    if let (Some(source), true) = (&found.source, print != 0) {
        write::print_source(source);
    }
    // SAFETY: both pointers are not NULL, and writable by contract of this function.
    unsafe {
        paths.write(path);
        count.write(number);
    }
    Ok(0)
}

/// Queries counters, and writes them to the caller's variables.
///
/// # Safety
/// `counters` and `count` are NULL, or writable.
unsafe fn perf(target: PerfTarget, counters: *mut *mut u64, count: *mut c_int) -> Result<c_int> {
    if counters.is_null() || count.is_null() {
        return Err(Errno::EINVAL);
    }
    let Response::Counters(values) = blocking::ask(&Request::Counters(target))? else { return Err(Errno::EPROTO) };
    let memory = write::new_counters(&values)?;
    // SAFETY: both pointers are not NULL, and writable by contract of this function.
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
    fn counter_names_equal_those_of_acm_client() {
        // SAFETY: the function returns a static string.
        let name = |index| unsafe { CStr::from_ptr(ib_acm_cntr_name(index)) }.to_str().unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(name), Counters::NAMES);
        assert_eq!([-1, 7, c_int::MAX, c_int::MIN].map(name), ["Unknown"; 4]);
    }
}
