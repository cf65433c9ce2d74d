//! Converts the daemon's address from C.
use crate::errno::{self, Result};
use acm_client::Service;
use dns_lookup::{AddrInfoHints, getaddrinfo};
use nix::{errno::Errno, libc::IPPROTO_TCP};
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

/// Maximum length of a socket's path in bytes.
const MAX_PATH: usize = 107;
/// The file to which a daemon in a TCP mode writes its port.
const PORT_FILE: &str = "/run/ibacm-tcp.port";
/// Default of [`port`].
const DEFAULT_PORT: u16 = 6125;

/// Failure to connect: the return value of [`ib_acm_connect`](crate::ib_acm_connect), and the error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectFailure {
    pub(crate) code: i32,
    pub(crate) errno: Errno,
}

/// Returns the address of the socket with this path.
pub(crate) fn socket(path: &[u8]) -> Result<Service> {
    if path.len() > MAX_PATH {
        return Err(Errno::ENAMETOOLONG);
    }
    Ok(Service::Unix(OsStr::from_bytes(path).into()))
}

/// Returns the possible addresses of a host's daemon: one for each IP address of the host.
pub(crate) fn host(name: &str, port: u16) -> core::result::Result<Vec<Service>, ConnectFailure> {
    let hints = AddrInfoHints { protocol: IPPROTO_TCP, ..AddrInfoHints::default() };
    Errno::clear();
    let found = getaddrinfo(Some(name), None, Some(hints));
    let errno = Some(Errno::last()).filter(|errno| *errno != Errno::UnknownErrno);
    match found {
        Ok(addresses) => Ok(addresses
            .filter_map(core::result::Result::ok)
            .map(|address| Service::Tcp { host: address.sockaddr.ip().to_string(), port })
            .collect()),
        // An error of getaddrinfo has no error number. ENOENT is the nearest.
        Err(error) => Err(ConnectFailure { code: error.error_num(), errno: errno.unwrap_or(Errno::ENOENT) }),
    }
}

/// Returns the TCP port in the port file of the local daemon, or the default. The same port is used for other hosts.
pub(crate) fn port() -> u16 {
    port_in(Path::new(PORT_FILE))
}

fn port_in(file: &Path) -> u16 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let digits = text.trim_start().split(|letter: char| !letter.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).filter(|port| *port != 0).unwrap_or(DEFAULT_PORT)
}

/// Parses an address by the rules of [`Service`]. Without a text, returns the address that librdmacm uses.
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
    fn invalid_port_file_gives_the_default_port() {
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
    fn address_is_a_socket_or_a_host() {
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
