//! The header, and the one place where the byte order is chosen.
use byteorder::{ByteOrder, NativeEndian, NetworkEndian};
use ib_mad::{code, wire, wire::Octets};

use super::ClientStatus;

/// Version of the protocol.
pub const VERSION: u8 = 1;
/// Bytes of the header.
pub const HEADER_SIZE: usize = 16;

code! {
    /// What is asked. The top bit marks some answers: ibacm sets it in some of its answers and not in others, and
    /// clients do not look.
    pub struct Opcode(u8) {
        /// A path to a destination.
        RESOLVE = 0x01 "RESOLVE",
        /// Counters of the daemon or of one endpoint.
        PERF = 0x02 "PERF",
        /// A local endpoint.
        EP = 0x03 "EP",
    }
}

impl Opcode {
    /// The bit that marks an answer.
    pub const ACK: u8 = 0x80;

    /// This opcode with the answer bit.
    #[must_use]
    pub const fn ack(self) -> Self {
        Self::new(self.get() | Self::ACK)
    }

    /// This opcode without the answer bit.
    #[must_use]
    pub const fn base(self) -> Self {
        Self::new(self.get() & !Self::ACK)
    }

    /// Whether the length of a message is in network order: every opcode's but RESOLVE's.
    const fn length_in_network_order(self) -> bool {
        !matches!(self.base(), Self::RESOLVE)
    }
}

/// The operations of the protocol: there is one for every [`Opcode`] with a name, and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Asks for the path to a destination: [`Opcode::RESOLVE`].
    Resolve,
    /// Asks for counters: [`Opcode::PERF`].
    Perf,
    /// Asks about an endpoint: [`Opcode::EP`].
    Endpoint,
}

impl Operation {
    /// The operation of an opcode without the answer bit; `None` if the protocol has no such opcode.
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

wire! {
    /// Header of every message, 16 bytes.
    ///
    /// ```text
    /// 0  version | opcode | status | data[0]
    /// 4  data[1] | data[2] | length
    /// 8  transaction id (8 bytes, the client's own, echoed)
    /// ```
    pub struct Header [16] {
        /// Version of the protocol, [`VERSION`].
        pub version: u8,
        /// What is asked, or answered.
        pub opcode: Opcode,
        /// How it went; 0 in requests.
        pub status: ClientStatus,
        /// PERF: asked 0 / answered number of counters. EP: index of the endpoint.
        pub data0: u8,
        /// PERF: index of the endpoint, 0 for none. EP: number of the port, 0 for all.
        pub data1: u8,
        /// Unused.
        pub data2: u8,
        /// Length of the message with its header, in the order that the opcode says: see [`Header::length`].
        pub length_bytes: Octets<2>,
        /// Chosen by the client, and in the answer as it was in the request.
        pub tid: Octets<8>,
    }
}

impl Header {
    /// A header; the length is written in the order that the opcode says.
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

    /// Bytes of the message with its header.
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
    fn the_answer_to_an_answer_is_one() {
        for opcode in [Opcode::RESOLVE, Opcode::PERF, Opcode::EP] {
            assert_ne!(opcode.ack(), opcode);
            assert_eq!((opcode.ack().ack(), opcode.ack().base()), (opcode.ack(), opcode));
        }
    }

    #[test]
    fn every_opcode_has_its_operation_and_no_other_number_has() {
        let mut operations = Opcode::KNOWN.iter().map(|(opcode, name)| (Operation::of(*opcode), name));
        assert!(operations.all(|(operation, name)| operation.is_some() && !name.is_empty()));
        let found = (0..=u8::MAX).filter(|number| Operation::of(Opcode::new(*number)).is_some()).count();
        assert_eq!(found, Opcode::KNOWN.len());
    }
}
