//! A daemon that is asked, with errors as rdma-core's library has them: a number of the C library.
use crate::{lookup, number::atoi, output::Output};
use acm_client::{
    Answer, AskError, ClientError, ClientStatus, Connection, Counters, Endpoint, Options, PerfTarget, Request,
    Resolved, Service,
};
use nix::libc::{EADDRNOTAVAIL, ECONNRESET, EINVAL, EIO, ENAMETOOLONG, ENODATA, ENOMEM, ENOTCONN, EPROTO, ETIMEDOUT};
use std::{fs, io};

/// Where a daemon in a TCP mode leaves its port.
const PORT_FILE: &str = "/run/ibacm-tcp.port";

/// Bytes that the path of a socket may have.
const LONGEST_PATH: usize = 107;

/// A connection to a daemon.
#[derive(Debug)]
pub(crate) struct Server {
    /// What the user calls it.
    pub(crate) name: String,
    connection: Connection,
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotConnected {
    /// What becomes the exit status.
    pub(crate) status: i32,
    /// Why.
    pub(crate) errno: i32,
}

impl Server {
    /// Connects to a socket, if the name begins with `/`, else to a host. `errno` is what is left of earlier errors.
    pub(crate) fn connect(name: &str, errno: i32, out: &mut Output) -> io::Result<Result<Self, NotConnected>> {
        let connected = if name.starts_with('/') { unix(name) } else { tcp(name, errno, out)? };
        Ok(connected.map(|connection| Self { name: name.to_owned(), connection }))
    }

    /// Asks and waits, for as long as it takes.
    ///
    /// # Errors
    /// The number of the error.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Answer, i32> {
        let answer = match self.connection.ask(request) {
            Ok(id) => self.connection.answer_to(id),
            Err(AskError::Connection(error)) => Err(error),
            Err(AskError::Full(_)) => return Err(EIO),
        };
        match answer {
            Ok(Answer::Refused(status)) => Err(errno_of(status)),
            Ok(answer) => Ok(answer),
            Err(error) => Err(errno(&error)),
        }
    }

    /// Asks for a path.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) fn path(&mut self, request: &Request) -> Result<Resolved, i32> {
        match self.ask(request)? {
            Answer::Path(found) => Ok(found),
            _ => Err(EPROTO),
        }
    }

    /// Asks for counters.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) fn counters(&mut self, target: PerfTarget) -> Result<Counters, i32> {
        match self.ask(&Request::Counters(target))? {
            Answer::Counters(counters) => Ok(counters),
            _ => Err(EPROTO),
        }
    }

    /// Asks for an endpoint, counted from 1, of a port or, for 0, of all.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) fn endpoint(&mut self, index: u8, port: u8) -> Result<Endpoint, i32> {
        match self.ask(&Request::Endpoint { index, port })? {
            Answer::Endpoint(endpoint) => Ok(*endpoint),
            _ => Err(EPROTO),
        }
    }

    /// Asks for all endpoints, as far as there are numbers for them.
    pub(crate) fn endpoints(&mut self) -> Vec<Endpoint> {
        (1..=u8::MAX).map_while(|index| self.endpoint(index, 0).ok()).collect()
    }
}

fn open(service: &Service) -> Result<Connection, ClientError> {
    let mut options = Options::default();
    // Whatever the daemon is told to wait for.
    options.timeout = None;
    Connection::open(service, options)
}

fn unix(path: &str) -> Result<Connection, NotConnected> {
    let refused = |errno| NotConnected { status: errno, errno };
    if path.len() > LONGEST_PATH {
        return Err(refused(ENAMETOOLONG));
    }
    open(&Service::Unix(path.into())).map_err(|error| refused(errno(&error)))
}

fn tcp(host: &str, mut before: i32, out: &mut Output) -> io::Result<Result<Connection, NotConnected>> {
    let port = port(&mut before, out)?;
    let found = lookup::host(host);
    let addresses = match found.found {
        Ok(addresses) => addresses,
        Err(status) => return Ok(Err(NotConnected { status, errno: found.errno.unwrap_or(before) })),
    };
    let mut first = None;
    for address in addresses {
        match open(&Service::Tcp { host: address.to_string(), port }) {
            Ok(connection) => return Ok(Ok(connection)),
            Err(error) => first = first.or(Some(errno(&error))),
        }
    }
    Ok(Err(NotConnected { status: -1, errno: first.unwrap_or(before) }))
}

/// The port that the daemon of this machine listens at, if it says so; it counts for other hosts, too. That there is
/// no such file is an error like any other for what comes after.
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

/// The number of what broke.
fn errno(error: &ClientError) -> i32 {
    match error {
        ClientError::Connect { source, .. } | ClientError::Io { source, .. } => source.raw_os_error().unwrap_or(EIO),
        ClientError::Closed { .. } => ECONNRESET,
        ClientError::TimedOut { .. } => ETIMEDOUT,
        ClientError::Refused { status, .. } => errno_of(*status),
        _ => EPROTO,
    }
}

/// The number that a daemon's status stands for. Several have the same.
fn errno_of(status: ClientStatus) -> i32 {
    match status {
        ClientStatus::ENOMEM => ENOMEM,
        ClientStatus::ENODATA => ENODATA,
        ClientStatus::ENOTCONN => ENOTCONN,
        ClientStatus::ETIMEDOUT => ETIMEDOUT,
        ClientStatus::ESRCADDR | ClientStatus::EDESTADDR => EADDRNOTAVAIL,
        _ => EINVAL,
    }
}
