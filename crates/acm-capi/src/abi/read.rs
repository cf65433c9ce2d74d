//! Reads values from C pointers.
use super::types::PathRecord as RawPath;
use crate::errno::Result;
use acm_client::{Address, Name};
use core::{
    ffi::{CStr, c_char},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};
use ib_mad::{Wire, sa::PathRecord};
use nix::{
    errno::Errno,
    libc::{AF_INET, AF_INET6, sa_family_t, sockaddr, sockaddr_in, sockaddr_in6},
};

/// Maximum length of a name in bytes, including the terminating 0.
const NAME: usize = 64;

/// Returns a string without its terminating 0; `None` for NULL.
///
/// # Safety
/// `text` is NULL, or ends with a 0 and is valid for `'a`.
pub(super) unsafe fn text<'a>(text: *const c_char) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by contract of this function, `text` ends with a 0 and is valid for `'a`.
    Some(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Returns a name; `None` for NULL.
///
/// # Errors
/// ENAMETOOLONG for a name that does not fit into a request. The rest of the name is not read.
///
/// # Safety
/// `text` is NULL, or ends with a 0.
pub(super) unsafe fn name(text: *const c_char) -> Result<Option<Address>> {
    if text.is_null() {
        return Ok(None);
    }
    let mut bytes = [0_u8; NAME];
    for (index, byte) in bytes.iter_mut().enumerate() {
        // SAFETY: no previous byte was the terminating 0.
        *byte = unsafe { text.add(index).cast::<u8>().read() };
        if *byte == 0 {
            return Ok(Some(Address::Name(Name::new(&bytes))));
        }
    }
    Err(Errno::ENAMETOOLONG)
}

/// Returns an IP address; `None` for NULL.
///
/// # Errors
/// EAFNOSUPPORT for families other than AF_INET and AF_INET6.
///
/// # Safety
/// `address` is NULL, or a whole structure of its family.
pub(super) unsafe fn ip(address: *const sockaddr) -> Result<Option<IpAddr>> {
    if address.is_null() {
        return Ok(None);
    }
    // SAFETY: every address begins with its family. The address may be unaligned, because callers also pass bytes.
    let family = unsafe { address.cast::<sa_family_t>().read_unaligned() };
    match i32::from(family) {
        // SAFETY: by contract of this function, it is a whole address of this family.
        AF_INET => Ok(Some(ipv4(unsafe { address.cast::<sockaddr_in>().read_unaligned() }).into())),
        // SAFETY: as above.
        AF_INET6 => Ok(Some(ipv6(unsafe { address.cast::<sockaddr_in6>().read_unaligned() }).into())),
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

/// Returns the IP address of `ib_acm_query_perf_ep_addr`; `None` for NULL. The structure's own family field is ignored.
///
/// # Safety
/// `address` is NULL, or a whole structure of `family`.
pub(super) unsafe fn ip_of(family: i32, address: *const u8) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    Some(match family {
        // SAFETY: by contract of this function, it is a whole address of this family.
        AF_INET => ipv4(unsafe { address.cast::<sockaddr_in>().read_unaligned() }).into(),
        // SAFETY: as above.
        _ => ipv6(unsafe { address.cast::<sockaddr_in6>().read_unaligned() }).into(),
    })
}

fn ipv4(address: sockaddr_in) -> Ipv4Addr {
    Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes())
}

fn ipv6(address: sockaddr_in6) -> Ipv6Addr {
    Ipv6Addr::from(address.sin6_addr.s6_addr)
}

/// Returns a path record; `None` for NULL.
///
/// # Safety
/// `path` is NULL, or can be read.
pub(super) unsafe fn path(path: *const RawPath) -> Result<Option<PathRecord>> {
    if path.is_null() {
        return Ok(None);
    }
    // SAFETY: by contract of this function, it can be read.
    let RawPath(bytes) = unsafe { path.read_unaligned() };
    PathRecord::parse(&bytes).map(|path| Some(*path)).map_err(|_| Errno::EINVAL)
}
