//! The extended headers of connections: of RDMA, and of acknowledgements.
use crate::{
    bits, code, wire,
    wire::{Be32, Be64, InBytes},
};

wire! {
    /// RDMA extended transport header (IBTA 9.3.3; `struct rxe_reth` in Linux), 16 bytes: which memory of the receiver.
    ///
    /// ```text
    ///  0  virtual address (8)
    ///  8  R_Key (4)
    /// 12  length (4)
    /// ```
    pub struct Reth [16] {
        /// Where it starts.
        pub virtual_address: Be64,
        /// Key of the memory.
        pub remote_key: Be32,
        /// Bytes of the whole message.
        pub dma_length: Be32,
    }
}

code! {
    /// What an acknowledgement says (IBTA 9.7.5.2.1).
    pub struct AckKind(u8) {
        /// All is well up to this packet; the value is a code for how many more the receiver takes.
        ACK = 0 "ACK",
        /// The receiver is not ready; the value is a code for how long to wait.
        RNR_NAK = 1 "RNR NAK",
        /// Something is wrong; the value is a [`NakCode`].
        NAK = 3 "NAK",
    }
}
code! {
    /// What is wrong (IBTA 9.7.5.2.3).
    pub struct NakCode(u8) {
        /// A packet is missing.
        PSN_SEQUENCE_ERROR = 0 "PSN sequence error",
        /// The operation or its length is not supported.
        INVALID_REQUEST = 1 "invalid request",
        /// The memory is not the sender's to use.
        REMOTE_ACCESS_ERROR = 2 "remote access error",
        /// The receiver could not finish.
        REMOTE_OPERATIONAL_ERROR = 3 "remote operational error",
        /// The reliable datagram request is not valid.
        INVALID_RD_REQUEST = 4 "invalid RD request",
    }
}
bits! {
    /// What is acknowledged, or what is wrong.
    pub struct AethSyndrome [1] {
        _: 1,
        /// What the acknowledgement says.
        kind / with_kind: AckKind = 2,
        /// Credits, time or reason, as the kind says.
        value / with_value: u8 = 5,
    }
}
impl AethSyndrome {
    /// What is wrong, if anything is.
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
        /// What is acknowledged, or what is wrong.
        pub syndrome: AethSyndrome,
        /// How many messages the receiver has finished.
        pub msn: InBytes<u32, 3>,
    }
}
