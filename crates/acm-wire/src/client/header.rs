//! The header of a message, its codes, and the byte order of its length.
use byteorder::{ByteOrder, NativeEndian, NetworkEndian};
use ib_mad::{code, wire, wire::Octets};

/// Version of the protocol.
pub const VERSION: u8 = 1;
/// Mark of a RESOLVE response in [`Header::data2`]: the path has the conditions of the request. C ibacm uses the byte
/// internally for numbers below 8, and librdmacm ignores it.
pub const CONDITIONAL: u8 = 0x80;
/// Mark of a RESOLVE or EP response in [`Header::data2`]: the daemon has a cache that clients read without a request. A
/// client that wants it sends [`SHARED_CACHE`] on another connection.
pub const SHARED: u8 = 0x40;
/// The opcode of a request for the descriptor of the shared cache: a header and nothing else. The response is a header
/// with the response bit, and the descriptor as ancillary data. The daemon then closes the connection, which serves no
/// other request. C ibacm, and a daemon without such a cache, closes the connection at once. It is no [`Operation`].
pub const SHARED_CACHE: u8 = 0x04;
/// The opcode of a report: a header and nothing else, whose transaction id is the number of requests that the client
/// has not sent since its last report, because it read the path from the shared cache. It has no response, and the
/// connection goes on. A client sends it only after a response with the mark [`SHARED`]. It is no [`Operation`].
pub const SHARED_CACHE_USE: u8 = 0x05;
/// Size of the header in bytes.
pub const HEADER_SIZE: usize = 16;

code! {
    /// Operation of a message. The top bit marks a response. The C ibacm sets this bit only in some responses, and
    /// clients do not check it.
    pub struct Opcode(u8) {
        /// Path to a destination.
        RESOLVE = 0x01 "RESOLVE",
        /// Counters of the daemon or of one endpoint.
        PERF = 0x02 "PERF",
        /// A local endpoint.
        EP = 0x03 "EP",
    }
}

impl Opcode {
    /// The bit that marks a response.
    pub const ACK: u8 = 0x80;

    /// Returns this opcode with the response bit.
    #[must_use]
    pub const fn ack(self) -> Self {
        Self::new(self.get() | Self::ACK)
    }

    /// Returns this opcode without the response bit.
    #[must_use]
    pub const fn base(self) -> Self {
        Self::new(self.get() & !Self::ACK)
    }

    /// True if the length of a message is in network byte order: for every opcode except RESOLVE.
    const fn length_in_network_order(self) -> bool {
        !matches!(self.base(), Self::RESOLVE)
    }
}

/// An operation of the protocol. Each named [`Opcode`] has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Path to a destination: [`Opcode::RESOLVE`].
    Resolve,
    /// Counters: [`Opcode::PERF`].
    Perf,
    /// Local endpoint: [`Opcode::EP`].
    Endpoint,
}

impl Operation {
    /// Returns the operation of an opcode without the response bit; `None` for an unknown opcode.
    #[must_use]
    pub const fn of(opcode: Opcode) -> Option<Self> {
        match opcode {
            Opcode::RESOLVE => Some(Self::Resolve),
            Opcode::PERF => Some(Self::Perf),
            Opcode::EP => Some(Self::Endpoint),
            _ => None,
        }
    }
}

code! {
    /// Result of a request, in the header of its response.
    pub struct ClientStatus(u8) {
        /// The response has the requested data.
        SUCCESS = 0 "success",
        /// The daemon has no memory for the request.
        ENOMEM = 1 "out of memory",
        /// The request is invalid.
        EINVAL = 2 "invalid request",
        /// The daemon has no data for the request, or the lookup has not finished.
        ENODATA = 3 "no data",
        /// The daemon has no connection.
        ENOTCONN = 5 "not connected",
        /// A response did not arrive in time.
        ETIMEDOUT = 6 "timed out",
        /// The source is not a local address.
        ESRCADDR = 7 "source address",
        /// The type of the source address is not supported.
        ESRCTYPE = 8 "source type",
        /// The destination address is missing or given twice.
        EDESTADDR = 9 "destination address",
        /// The type of the destination address is missing or not supported.
        EDESTTYPE = 10 "destination type",
    }
}

impl ClientStatus {
    /// True if the same request may succeed later: the daemon was out of resources ([`ENOMEM`](Self::ENOMEM)), not
    /// connected ([`ENOTCONN`](Self::ENOTCONN)), or got no response in time ([`ETIMEDOUT`](Self::ETIMEDOUT)). False for
    /// [`ENODATA`](Self::ENODATA), unless the request was not to wait: then the lookup may have finished later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::ENOMEM | Self::ENOTCONN | Self::ETIMEDOUT)
    }
}

/// A status is the error of [`ResolveResponse::parse`](super::ResolveResponse::parse) and other readers of responses.
impl core::error::Error for ClientStatus {}

wire! {
    /// Header of every message, 16 bytes.
    ///
    /// ```text
    /// 0  version | opcode | status | data[0]
    /// 4  data[1] | data[2] | length
    /// 8  transaction id (8 bytes; the client chooses it, the response repeats it)
    /// ```
    pub struct Header [16] {
        /// Version of the protocol, [`VERSION`].
        pub version: u8,
        /// Operation of the request or response.
        pub opcode: Opcode,
        /// Result of the request; 0 in requests.
        pub status: ClientStatus,
        /// Number of counters in a PERF response, 0 in a PERF request; index of the endpoint in EP.
        pub data0: u8,
        /// Index of the endpoint in PERF, 0 for the whole daemon; port number in EP, 0 for all ports.
        pub data1: u8,
        /// [`CONDITIONAL`] and [`SHARED`] in a RESOLVE response; 0 in every other message, and always from C ibacm.
        pub data2: u8,
        /// Size of the message with its header, in the byte order of the opcode: see [`Header::length`].
        pub length_bytes: Octets<2>,
        /// Transaction id, which the client chooses and the response repeats.
        pub tid: Octets<8>,
    }
}

impl Header {
    /// Returns a header; the length is written in the byte order of the opcode.
    #[must_use]
    pub fn new(opcode: Opcode, status: ClientStatus, length: u16, tid: [u8; 8]) -> Self {
        let mut length_bytes = Octets([0; 2]);
        if opcode.length_in_network_order() {
            NetworkEndian::write_u16(&mut length_bytes.0, length);
        } else {
            NativeEndian::write_u16(&mut length_bytes.0, length);
        }
        Self { version: VERSION, opcode, status, data0: 0, data1: 0, data2: 0, length_bytes, tid: Octets(tid) }
    }

    /// Returns the size of the message with its header, in bytes.
    #[must_use]
    pub fn length(&self) -> u16 {
        if self.opcode.length_in_network_order() {
            NetworkEndian::read_u16(&self.length_bytes.0)
        } else {
            NativeEndian::read_u16(&self.length_bytes.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_bit_is_set_once_and_removed_by_base() {
        for opcode in [Opcode::RESOLVE, Opcode::PERF, Opcode::EP] {
            assert_ne!(opcode.ack(), opcode);
            assert_eq!((opcode.ack().ack(), opcode.ack().base()), (opcode.ack(), opcode));
        }
    }

    #[test]
    fn lack_of_resources_connection_and_time_are_transient() {
        let transient = (0..=u8::MAX).map(ClientStatus::new).filter(|status| status.is_transient());
        let expected = [ClientStatus::ENOMEM, ClientStatus::ENOTCONN, ClientStatus::ETIMEDOUT];
        assert!(transient.eq(expected));
    }

    #[test]
    fn only_named_opcodes_have_an_operation() {
        let mut operations = Opcode::KNOWN.iter().map(|(opcode, name)| (Operation::of(*opcode), name));
        assert!(operations.all(|(operation, name)| operation.is_some() && !name.is_empty()));
        let found = (0..=u8::MAX).filter(|number| Operation::of(Opcode::new(*number)).is_some()).count();
        assert_eq!(found, Opcode::KNOWN.len());
    }
}
