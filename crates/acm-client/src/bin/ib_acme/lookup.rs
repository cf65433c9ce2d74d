//! What the system knows of a host, and which error number that left.
use core::net::IpAddr;
use dns_lookup::{AddrInfoHints, getaddrinfo};
use nix::{errno::Errno, libc::IPPROTO_TCP};

/// The addresses of a host.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// In the system's order, or the number of what went wrong.
    pub(crate) found: Result<Vec<IpAddr>, i32>,
    /// `errno` behind it, if it left any.
    pub(crate) errno: Option<i32>,
}

/// Looks a host up.
pub(crate) fn host(name: &str) -> Lookup {
    let hints = AddrInfoHints { protocol: IPPROTO_TCP, ..AddrInfoHints::default() };
    Errno::clear();
    let found = getaddrinfo(Some(name), None, Some(hints));
    let errno = Some(Errno::last_raw()).filter(|errno| *errno != 0);
    let found = match found {
        Ok(addresses) => Ok(addresses.filter_map(Result::ok).map(|address| address.sockaddr.ip()).collect()),
        Err(error) => Err(error.error_num()),
    };
    Lookup { found, errno }
}
