//! The daemon's clients, byte by byte: requests that no well-behaved client sends.
//!
//! Written from the protocol's description and not with this project's own codec, so that both check each other.
use crate::LIMIT;
use acm_wire::client::ClientStatus;
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
};

/// Bytes of a header.
const HEADER: usize = 16;
/// Opcode of RESOLVE; its length is in the machine's order, that of others in network order.
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
    /// Opcode: 1 RESOLVE, 2 PERF, 3 EP; 0x80 more in some answers.
    pub opcode: u8,
    /// Bytes of the message.
    pub length: u16,
    /// Comes back in the answer.
    pub tid: u64,
}

/// What came from the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// An answer: its opcode, status, transaction id, and what follows the header.
    Answer {
        /// Opcode.
        opcode: u8,
        /// Status.
        status: ClientStatus,
        /// Transaction id of the request that it answers.
        tid: u64,
        /// What follows the header.
        body: Vec<u8>,
    },
    /// The daemon closed the connection.
    Closed,
}

impl Entry {
    /// The entry is the source.
    pub const SOURCE: u32 = 1;
    /// The entry is the destination.
    pub const DEST: u32 = 1 << 1;
    /// Answer from the cache only.
    pub const NO_DELAY: u32 = 1 << 30;

    /// An entry of any type.
    #[must_use]
    pub fn new(flags: u32, kind: u16, start: &[u8]) -> Self {
        let mut info = [0; 64];
        info[..start.len()].copy_from_slice(start);
        Self { flags, kind, info }
    }

    /// A name.
    #[must_use]
    pub fn name(flags: u32, name: &str) -> Self {
        Self::new(flags, 1, name.as_bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        [&self.flags.to_ne_bytes()[..], &self.kind.to_ne_bytes(), &[0; 2], &self.info].concat()
    }
}

impl Header {
    /// The header of a message of so many bytes.
    #[must_use]
    pub const fn new(opcode: u8, length: u16, tid: u64) -> Self {
        Self { version: 1, opcode, length, tid }
    }

    /// The header and `body`, whatever the length in the header is.
    #[must_use]
    pub fn with(&self, body: &[u8]) -> Vec<u8> {
        let length = if self.opcode == RESOLVE { self.length.to_ne_bytes() } else { self.length.to_be_bytes() };
        [&[self.version, self.opcode, 0, 0, 0, 0][..], &length, &self.tid.to_be_bytes(), body].concat()
    }
}

/// A RESOLVE with these entries.
#[must_use]
pub fn request(tid: u64, entries: &[Entry]) -> Vec<u8> {
    let body: Vec<u8> = entries.iter().flat_map(Entry::bytes).collect();
    Header::new(RESOLVE, (HEADER + body.len()).try_into().unwrap(), tid).with(&body)
}

trait Stream: Read + Write + core::fmt::Debug {
    fn end(&self) -> io::Result<()>;
}
impl Stream for UnixStream {
    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}
impl Stream for TcpStream {
    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
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

    /// Connects to a unix socket, if somebody serves there.
    ///
    /// # Errors
    /// What the system says.
    pub fn try_open(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        Ok(Self(Box::new(stream)))
    }

    /// Connects to a TCP port.
    ///
    /// # Errors
    /// What the system says.
    pub fn tcp(address: &str, port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((address, port))?;
        stream.set_read_timeout(Some(LIMIT))?;
        Ok(Self(Box::new(stream)))
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).unwrap();
    }

    /// Sends bytes, if the daemon has not closed the connection.
    ///
    /// # Errors
    /// What the system says.
    pub fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Says that no more requests come.
    pub fn end(&self) {
        self.0.end().unwrap();
    }

    /// Waits for an answer, or for the end.
    pub fn receive(&mut self) -> Received {
        let mut header = [0; HEADER];
        match self.0.read_exact(&mut header) {
            Ok(()) => {}
            // What was sent and not read makes a close a reset.
            Err(error) if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
                return Received::Closed;
            }
            Err(error) => panic!("no answer: {error}"),
        }
        let [version, opcode, status, .., low, high] = header[..8] else { unreachable!() };
        assert_eq!(version, 1);
        let length =
            if opcode & 0x7f == RESOLVE { u16::from_ne_bytes([low, high]) } else { u16::from_be_bytes([low, high]) };
        let mut body = vec![0; usize::from(length) - HEADER];
        self.0.read_exact(&mut body).expect("the rest of the answer");
        let tid = u64::from_be_bytes(header[8..].try_into().unwrap());
        Received::Answer { opcode, status: ClientStatus::new(status), tid, body }
    }

    /// Sends a request and waits for its status.
    pub fn ask(&mut self, tid: u64, entries: &[Entry]) -> ClientStatus {
        self.send(&request(tid, entries));
        self.receive().status(tid)
    }
}

impl Received {
    /// The status of the answer to the request `tid`.
    #[must_use]
    pub fn status(&self, tid: u64) -> ClientStatus {
        match self {
            Self::Answer { status, tid: of, .. } if *of == tid => *status,
            other => panic!("not the answer to request {tid}: {other:?}"),
        }
    }
}
