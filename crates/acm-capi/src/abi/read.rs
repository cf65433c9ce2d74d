//! C's pointers as values.
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

/// Bytes of a name, with the 0 at its end.
const NAME: usize = 64;

/// A string, without its end; `None` for NULL.
///
/// # Safety
/// It is NULL, or ends with a 0 and lives as long as the result.
pub(super) unsafe fn text<'a>(text: *const c_char) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller says that it ends with a 0, and how long it lives.
    Some(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A name.
///
/// # Errors
/// ENAMETOOLONG for one that no request has room for: no more of it is read.
///
/// # Safety
/// It is NULL, or ends with a 0.
pub(super) unsafe fn name(text: *const c_char) -> Result<Option<Address>> {
    if text.is_null() {
        return Ok(None);
    }
    let mut bytes = [0_u8; NAME];
    for (index, byte) in bytes.iter_mut().enumerate() {
        // SAFETY: no byte before this one was the 0 at its end.
        *byte = unsafe { text.add(index).cast::<u8>().read() };
        if *byte == 0 {
            return Ok(Some(Address::Name(Name::new(&bytes))));
        }
    }
    Err(Errno::ENAMETOOLONG)
}

/// An IP address.
///
/// # Errors
/// EAFNOSUPPORT for other families.
///
/// # Safety
/// It is NULL, or a structure of its family.
pub(super) unsafe fn ip(address: *const sockaddr) -> Result<Option<IpAddr>> {
    if address.is_null() {
        return Ok(None);
    }
    // SAFETY: every address begins with its family. It need not be aligned: callers have bytes, too.
    let family = unsafe { address.cast::<sa_family_t>().read_unaligned() };
    match i32::from(family) {
        // SAFETY: the caller says that it is a whole address of this family.
        AF_INET => Ok(Some(ipv4(unsafe { address.cast::<sockaddr_in>().read_unaligned() }).into())),
        // SAFETY: as above.
        AF_INET6 => Ok(Some(ipv6(unsafe { address.cast::<sockaddr_in6>().read_unaligned() }).into())),
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

/// What `ib_acm_query_perf_ep_addr` is given: an address of a family that the family in it need not name.
///
/// # Safety
/// It is NULL, or a structure of this family.
pub(super) unsafe fn ip_of(family: i32, address: *const u8) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    Some(match family {
        // SAFETY: the caller says that it is a whole address of this family.
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

/// A path record; `None` for NULL.
///
/// # Safety
/// It is NULL, or one that can be read.
pub(super) unsafe fn path(path: *const RawPath) -> Result<Option<PathRecord>> {
    if path.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller says that it can be read.
    let RawPath(bytes) = unsafe { path.read_unaligned() };
    PathRecord::parse(&bytes).map(|path| Some(*path)).map_err(|_| Errno::EINVAL)
}
