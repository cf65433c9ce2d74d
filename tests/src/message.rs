//! Messages of clients, byte by byte, including malformed requests.
//!
//! Written from the protocol's description and not with this project's codec, so that both check each other.
use crate::LIMIT;
use acm_wire::client::ClientStatus;
use core::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use socket2::{Domain, Socket, Type};
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
};

/// Bytes of a header.
const HEADER: usize = 16;
/// Opcode of RESOLVE. Its length is in host byte order, the length of other messages in network byte order.
const RESOLVE: u8 = 1;

/// An entry of a RESOLVE, 72 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    flags: u32,
    kind: u16,
    info: [u8; 64],
}

/// Header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version: 1.
    pub version: u8,
    /// Opcode: 1 RESOLVE, 2 PERF, 3 EP; some responses add 0x80.
    pub opcode: u8,
    /// Length of the message in bytes.
    pub length: u16,
    /// Transaction id, which the response repeats.
    pub tid: u64,
}

/// A message of the daemon, or the end of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A response.
    Response {
        /// Opcode.
        opcode: u8,
        /// Status.
        status: ClientStatus,
        /// Transaction id of the request.
        tid: u64,
        /// Bytes after the header.
        body: Vec<u8>,
    },
    /// The daemon closed the connection.
    Closed,
}

impl Entry {
    /// Flag of the source entry.
    pub const SOURCE: u32 = 1;
    /// Flag of the destination entry.
    pub const DEST: u32 = 1 << 1;
    /// Flag NODELAY: respond from the cache only.
    pub const NO_DELAY: u32 = 1 << 30;

    /// Creates an entry of any type.
    #[must_use]
    pub fn new(flags: u32, kind: u16, start: &[u8]) -> Self {
        let mut info = [0; 64];
        info[..start.len()].copy_from_slice(start);
        Self { flags, kind, info }
    }

    /// Creates an entry with a name.
    #[must_use]
    pub fn name(flags: u32, name: &str) -> Self {
        Self::new(flags, 1, name.as_bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        [&self.flags.to_ne_bytes()[..], &self.kind.to_ne_bytes(), &[0; 2], &self.info].concat()
    }
}

impl Header {
    /// Creates the header of a message with `length` bytes.
    #[must_use]
    pub const fn new(opcode: u8, length: u16, tid: u64) -> Self {
        Self { version: 1, opcode, length, tid }
    }

    /// Returns the header and `body`. The length in the header need not match.
    #[must_use]
    pub fn with(&self, body: &[u8]) -> Vec<u8> {
        let length = if self.opcode == RESOLVE { self.length.to_ne_bytes() } else { self.length.to_be_bytes() };
        [&[self.version, self.opcode, 0, 0, 0, 0][..], &length, &self.tid.to_be_bytes(), body].concat()
    }
}

/// Returns a RESOLVE request with these entries.
#[must_use]
pub fn request(tid: u64, entries: &[Entry]) -> Vec<u8> {
    let body: Vec<u8> = entries.iter().flat_map(Entry::bytes).collect();
    Header::new(RESOLVE, (HEADER + body.len()).try_into().unwrap(), tid).with(&body)
}

/// The header of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    opcode: u8,
    pub(crate) status: ClientStatus,
    /// Length of the response in bytes.
    pub(crate) length: usize,
    tid: u64,
}

impl Frame {
    fn of(header: &[u8; HEADER]) -> Self {
        let [version, opcode, status, .., low, high] = header[..8] else { unreachable!() };
        assert_eq!(version, 1);
        let length =
            if opcode & 0x7f == RESOLVE { u16::from_ne_bytes([low, high]) } else { u16::from_be_bytes([low, high]) };
        let tid = u64::from_be_bytes(header[8..].try_into().unwrap());
        Self { opcode, status: ClientStatus::new(status), length: length.into(), tid }
    }

    /// Returns the header of the first response in these bytes, if they have all of it.
    pub(crate) fn first(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(Self::of).filter(|frame| frame.length <= bytes.len())
    }
}

trait Stream: Read + Write + core::fmt::Debug {
    fn end(&self) -> io::Result<()>;
    fn set_limit(&self, limit: Duration) -> io::Result<()>;
}
impl Stream for UnixStream {
    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))?;
        self.set_write_timeout(Some(limit))
    }
}
impl Stream for TcpStream {
    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))?;
        self.set_write_timeout(Some(limit))
    }
}

/// A client's connection.
#[derive(Debug)]
pub struct Connection(Box<dyn Stream>);

impl Connection {
    /// Connects to a unix socket.
    #[must_use]
    pub fn open(path: &Path) -> Self {
        Self::try_open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Connects to a unix socket.
    ///
    /// # Errors
    /// The system's error.
    pub fn try_open(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        Ok(Self(Box::new(stream)))
    }

    /// Connects to a TCP port.
    ///
    /// # Errors
    /// The system's error.
    pub fn tcp(address: &str, port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((address, port))?;
        stream.set_read_timeout(Some(LIMIT))?;
        Ok(Self(Box::new(stream)))
    }

    /// Connects to a TCP port from a local address.
    ///
    /// # Errors
    /// The system's error.
    pub fn tcp_from(to: SocketAddr, from: IpAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
        socket.bind(&SocketAddr::new(from, 0).into())?;
        socket.connect(&to.into())?;
        let connection = Self(Box::new(TcpStream::from(socket)));
        connection.set_limit(LIMIT)?;
        Ok(connection)
    }

    /// Sets the time limit of sending and of receiving.
    ///
    /// # Errors
    /// The system's error.
    pub fn set_limit(&self, limit: Duration) -> io::Result<()> {
        self.0.set_limit(limit)
    }

    /// Sends as many of the bytes as the socket accepts, and returns their number.
    ///
    /// # Errors
    /// The system's error.
    pub fn send_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).unwrap();
    }

    /// Sends bytes, if the daemon has not closed the connection.
    ///
    /// # Errors
    /// The system's error.
    pub fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Shuts down the connection for writing.
    pub fn end(&self) {
        self.0.end().unwrap();
    }

    /// Waits for a response or for the end of the connection.
    pub fn receive(&mut self) -> Received {
        self.try_receive().unwrap_or_else(|error| panic!("no response: {error}"))
    }

    /// Waits for a response or for the end of the connection.
    ///
    /// # Errors
    /// The system's error, also if there is no response in time.
    pub fn try_receive(&mut self) -> io::Result<Received> {
        let mut header = [0; HEADER];
        match self.0.read_exact(&mut header) {
            Ok(()) => {}
            // A close with unread data is a reset.
            Err(error) if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
                return Ok(Received::Closed);
            }
            Err(error) => return Err(error),
        }
        let frame = Frame::of(&header);
        let mut body = vec![0; frame.length - HEADER];
        self.0.read_exact(&mut body)?;
        let Frame { opcode, status, tid, .. } = frame;
        Ok(Received::Response { opcode, status, tid, body })
    }

    /// Sends a request and returns the status of the response.
    pub fn request(&mut self, tid: u64, entries: &[Entry]) -> ClientStatus {
        self.send(&request(tid, entries));
        self.receive().status(tid)
    }
}

impl Received {
    /// Returns the status of the response to the request `tid`.
    #[must_use]
    pub fn status(&self, tid: u64) -> ClientStatus {
        match self {
            Self::Response { status, tid: of, .. } if *of == tid => *status,
            other => panic!("not the response to request {tid}: {other:?}"),
        }
    }
}
