//! Where the daemon is, as C says it.
use crate::errno::{self, Result};
use acm_client::Service;
use dns_lookup::{AddrInfoHints, getaddrinfo};
use nix::{errno::Errno, libc::IPPROTO_TCP};
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

/// Bytes that the path of a socket may have.
const LONGEST_PATH: usize = 107;
/// Where a daemon in a TCP mode leaves its port.
const PORT_FILE: &str = "/run/ibacm-tcp.port";
/// Without that file.
const DEFAULT_PORT: u16 = 6125;

/// Why there is no connection: what [`ib_acm_connect`](crate::ib_acm_connect) returns, and the error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotFound {
    pub(crate) code: i32,
    pub(crate) errno: Errno,
}

/// The socket with this path.
pub(crate) fn socket(path: &[u8]) -> Result<Service> {
    if path.len() > LONGEST_PATH {
        return Err(Errno::ENAMETOOLONG);
    }
    Ok(Service::Unix(OsStr::from_bytes(path).into()))
}

/// Where a host's daemon may be, at each of its addresses.
pub(crate) fn host(name: &str, port: u16) -> core::result::Result<Vec<Service>, NotFound> {
    let hints = AddrInfoHints { protocol: IPPROTO_TCP, ..AddrInfoHints::default() };
    Errno::clear();
    let found = getaddrinfo(Some(name), None, Some(hints));
    let errno = Some(Errno::last()).filter(|errno| *errno != Errno::UnknownErrno);
    match found {
        Ok(addresses) => Ok(addresses
            .filter_map(core::result::Result::ok)
            .map(|address| Service::Tcp { host: address.sockaddr.ip().to_string(), port })
            .collect()),
        // What getaddrinfo says is no error number; the nearest is that there is no such thing.
        Err(error) => Err(NotFound { code: error.error_num(), errno: errno.unwrap_or(Errno::ENOENT) }),
    }
}

/// The port that the daemon of this machine listens at, if it says so; it counts for other hosts, too.
pub(crate) fn port() -> u16 {
    port_in(Path::new(PORT_FILE))
}

fn port_in(file: &Path) -> u16 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let digits = text.trim_start().split(|letter: char| !letter.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).filter(|port| *port != 0).unwrap_or(DEFAULT_PORT)
}

/// The place that a text names, by [`Service`]'s rules; without a text where librdmacm looks.
pub(crate) fn service(text: Option<&[u8]>) -> Result<Service> {
    let Some(text) = text else {
        return Service::find().map_err(|error| match error {
            acm_client::ServiceError::Io { source, .. } => errno::of_io(&source),
            _ => Errno::EINVAL,
        });
    };
    if text.contains(&b'/') {
        return socket(text);
    }
    core::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_file_names_the_port() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("port");
        assert_eq!(port_in(&file), 6125);
        for (text, port) in
            [("7\n", 7), (" 65535", 65535), ("8 9", 8), ("", 6125), ("x", 6125), ("65536", 6125), ("0", 6125)]
        {
            fs::write(&file, text).unwrap();
            assert_eq!(port_in(&file), port, "{text:?}");
        }
    }

    #[test]
    fn a_place_is_a_socket_or_a_host() {
        let tcp = |host: &str, port| Ok(Service::Tcp { host: host.into(), port });
        assert_eq!(service(Some(b"/run/s")), Ok(Service::Unix("/run/s".into())));
        assert_eq!(service(Some(b"./\xff")), socket(b"./\xff"));
        assert_eq!(service(Some(b"node1:7")), tcp("node1", 7));
        assert_eq!(host("127.0.0.1", 7), Ok(vec![tcp("127.0.0.1", 7).unwrap()]));
        for (text, errno) in [(&b""[..], Errno::EINVAL), (b"\xff", Errno::EINVAL), (&[b'/'; 108], Errno::ENAMETOOLONG)]
        {
            assert_eq!(service(Some(text)), Err(errno), "{text:?}");
        }
        assert!(service(Some(&[b'/'; 107])).is_ok());
        assert_ne!(host("no such host", 7).unwrap_err().code, 0);
    }
}
