//! The extended headers of connections: RDMA operations and acknowledgements.
use crate::{
    bits, code, wire,
    wire::{Be32, Be64, InBytes},
};

wire! {
    /// RDMA extended transport header (IBTA 9.3.3; `struct rxe_reth` in Linux), 16 bytes: memory of the responder.
    ///
    /// ```text
    ///  0  virtual address (8)
    ///  8  R_Key (4)
    /// 12  length (4)
    /// ```
    pub struct Reth [16] {
        /// Start address of the memory.
        pub virtual_address: Be64,
        /// Remote key of the memory.
        pub remote_key: Be32,
        /// Length of the whole message, in bytes.
        pub dma_length: Be32,
    }
}

code! {
    /// Kind of an acknowledgement (IBTA 9.7.5.2.1).
    pub struct AckKind(u8) {
        /// Positive acknowledgement up to this packet; the value encodes the receiver's credits.
        ACK = 0 "ACK",
        /// The receiver is not ready; the value encodes the time to wait.
        RNR_NAK = 1 "RNR NAK",
        /// Negative acknowledgement; the value is a [`NakCode`].
        NAK = 3 "NAK",
    }
    /// Reason of a negative acknowledgement (IBTA 9.7.5.2.3).
    pub struct NakCode(u8) {
        /// A packet is missing.
        PSN_SEQUENCE_ERROR = 0 "PSN sequence error",
        /// The operation or its length is not supported.
        INVALID_REQUEST = 1 "invalid request",
        /// The requester has no access to the memory.
        REMOTE_ACCESS_ERROR = 2 "remote access error",
        /// The responder could not complete the request.
        REMOTE_OPERATIONAL_ERROR = 3 "remote operational error",
        /// The reliable datagram request is invalid.
        INVALID_RD_REQUEST = 4 "invalid RD request",
    }
}
bits! {
    /// Syndrome of an acknowledgement: kind and value.
    pub struct AethSyndrome [1] {
        _: 1,
        /// Kind of the acknowledgement.
        kind / with_kind: AckKind = 2,
        /// Credits, time or reason, by the kind.
        value / with_value: u8 = 5,
    }
}
impl AethSyndrome {
    /// Returns the reason of a negative acknowledgement; `None` for other kinds.
    #[must_use]
    pub fn nak(&self) -> Option<NakCode> {
        (self.kind() == AckKind::NAK).then(|| NakCode::new(self.value()))
    }
}

wire! {
    /// Acknowledge extended transport header (IBTA 9.3.5; `struct rxe_aeth` in Linux), 4 bytes.
    ///
    /// ```text
    ///  0  0, kind 2, value 5 | message sequence number (3)
    /// ```
    pub struct Aeth [4] {
        /// Syndrome: kind and value.
        pub syndrome: AethSyndrome,
        /// Message sequence number: messages that the responder has completed.
        pub msn: InBytes<u32, 3>,
    }
}
