//! A connection to a daemon. Errors are error numbers of the C library, as in rdma-core's library.
use crate::{
    number::atoi,
    output::{Output, note},
};
use acm_client::{
    ClientError, Connection, Counters, Endpoint, Options, PerfTarget, Request, Resolved, Response, Service, alternates,
    errno, ib_mad::sa::PathRecord,
};
use core::net::IpAddr;
use dns_lookup::{AddrInfoHints, getaddrinfo};
use nix::{
    errno::Errno,
    libc::{ENAMETOOLONG, EPROTO, IPPROTO_TCP},
};
use std::{fs, io};

/// The file in which a daemon with a TCP port stores its port.
const PORT_FILE: &str = "/run/ibacm-tcp.port";

/// Longest path of a socket, in bytes.
const LONGEST_PATH: usize = 107;

/// A connection to a daemon.
#[derive(Debug)]
pub(crate) struct Server {
    /// The name that the user gave.
    pub(crate) name: String,
    connection: Connection,
}

/// The reason why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotConnected {
    /// The exit status.
    pub(crate) status: i32,
    /// The error number.
    pub(crate) errno: i32,
}

impl Server {
    /// Connects to a socket if the name starts with `/`, otherwise to a host. `errno` is the last error number.
    pub(crate) fn connect(name: &str, errno: i32, out: &mut Output) -> io::Result<Result<Self, NotConnected>> {
        let connected = if name.starts_with('/') { unix(name) } else { tcp(name, errno, out)? };
        if connected.is_err() && name.contains('/') && !name.starts_with('/') {
            note(format_args!("{name} is taken for a host; the path of a socket begins with /"));
        }
        Ok(connected.map(|connection| Self { name: name.to_owned(), connection }))
    }

    fn respond(&mut self, request: &Request) -> Result<Response, ClientError> {
        let id = self.connection.ask(request)?;
        self.connection.response_to(id)
    }

    /// Sends a request and waits for the response without a time limit. An error status is an error, too.
    ///
    /// # Errors
    /// An error number.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Response, i32> {
        self.respond(request).map_err(|error| errno::of_client(&error))
    }

    /// Requests the alternate paths of a path, at most `most`.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) fn alternates(
        &mut self,
        path: &PathRecord,
        conditions: &PathRecord,
        most: usize,
    ) -> Result<Vec<PathRecord>, i32> {
        alternates(path, conditions, most, |request| match self.respond(request) {
            Ok(Response::Path(found)) => Ok(Some(found.path)),
            Err(error) if error.status().is_none() => Err(errno::of_client(&error)),
            Ok(_) | Err(_) => Ok(None),
        })
    }

    /// Requests a path.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) fn path(&mut self, request: &Request) -> Result<Resolved, i32> {
        match self.ask(request)? {
            Response::Path(found) => Ok(found),
            _ => Err(EPROTO),
        }
    }

    /// Requests counters.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) fn counters(&mut self, target: PerfTarget) -> Result<Counters, i32> {
        match self.ask(&Request::Counters(target))? {
            Response::Counters(counters) => Ok(counters),
            _ => Err(EPROTO),
        }
    }

    /// Requests an endpoint: `index` counts from 1 among the endpoints of `port`; port 0 stands for all ports.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) fn endpoint(&mut self, index: u8, port: u8) -> Result<Endpoint, i32> {
        match self.ask(&Request::Endpoint { index, port })? {
            Response::Endpoint(endpoint) => Ok(*endpoint),
            _ => Err(EPROTO),
        }
    }

    /// Requests all endpoints that the protocol can number.
    pub(crate) fn endpoints(&mut self) -> Vec<Endpoint> {
        (1..=u8::MAX).map_while(|index| self.endpoint(index, 0).ok()).collect()
    }
}

fn open(service: &Service) -> Result<Connection, ClientError> {
    // Without a time limit here: the daemon limits the time of a request.
    Connection::open(service, Options::default().with_timeout(None).with_reconnect(false))
}

fn unix(path: &str) -> Result<Connection, NotConnected> {
    let refused = |errno| NotConnected { status: errno, errno };
    if path.len() > LONGEST_PATH {
        return Err(refused(ENAMETOOLONG));
    }
    open(&Service::Unix(path.into())).map_err(|error| refused(errno::of_client(&error)))
}

fn tcp(host: &str, mut last_errno: i32, out: &mut Output) -> io::Result<Result<Connection, NotConnected>> {
    let port = port(&mut last_errno, out)?;
    let found = look_up(host);
    let addresses = match found.found {
        Ok(addresses) => addresses,
        Err(status) => return Ok(Err(NotConnected { status, errno: found.errno.unwrap_or(last_errno) })),
    };
    let mut first = None;
    for address in addresses {
        match open(&Service::Tcp { host: address.to_string(), port }) {
            Ok(connection) => return Ok(Ok(connection)),
            Err(error) => first = first.or(Some(errno::of_client(&error))),
        }
    }
    Ok(Err(NotConnected { status: -1, errno: first.unwrap_or(last_errno) }))
}

/// Returns the TCP port of the local daemon. ib_acme uses the same port for other hosts. If the port file does not
/// exist, `errno` changes, as in rdma-core's ib_acme.
fn port(errno: &mut i32, out: &mut Output) -> io::Result<u16> {
    const DEFAULT: u16 = 6125;
    let text = match fs::read_to_string(PORT_FILE) {
        Ok(text) => text,
        Err(error) => {
            *errno = error.raw_os_error().unwrap_or(*errno);
            return Ok(DEFAULT);
        }
    };
    if let Ok(port @ 1..) = u16::try_from(atoi(&text)) {
        return Ok(port);
    }
    out.line(format_args!("Failed to read server port"))?;
    Ok(DEFAULT)
}

/// The addresses of a host, or the error.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// The addresses in the resolver's order, or the resolver's error number.
    pub(crate) found: Result<Vec<IpAddr>, i32>,
    /// The `errno` that the resolver left, if any.
    pub(crate) errno: Option<i32>,
}

/// Resolves a host name.
pub(crate) fn look_up(name: &str) -> Lookup {
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
