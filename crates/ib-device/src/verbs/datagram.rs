//! Completions and datagrams of a queue pair.
use ib_mad::{Gid, Lid, Qpn, ServiceLevel, code, packet::Grh};

/// Bytes of the global route header in front of every received payload.
pub(super) const GRH_LEN: u32 = 40;

code! {
    /// The result of a send or a receive (`enum ibv_wc_status`).
    pub struct CompletionStatus(u8) {
        /// No error.
        SUCCESS = 0 "success",
        /// The packet is longer than the buffer, or the message is longer than the port's MTU.
        LOCAL_LENGTH = 1 "local length error",
        /// The queue pair does not support the operation.
        LOCAL_QP_OPERATION = 2 "local queue pair operation error",
        /// The memory is not registered.
        LOCAL_PROTECTION = 4 "local protection error",
        /// The operation was not started, because the queue pair had failed or was reset.
        FLUSHED = 5 "flushed",
        /// Access to the memory is not permitted.
        LOCAL_ACCESS = 8 "local access error",
        /// The device failed.
        FATAL = 19 "fatal error",
        /// Another error of the transport.
        GENERAL = 21 "general error",
    }
}

/// Identifies a send of one queue pair. No number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SendId(pub(super) u64);

impl SendId {
    /// Returns the number, counted from 0 in each queue pair.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// A result of [`super::UdQueuePair::poll`].
#[derive(Clone, Copy, Debug)]
pub enum Completion<'a> {
    /// A datagram was received. The datagram borrows memory of the queue pair until the next call.
    Received(Datagram<'a>),
    /// A datagram longer than [`super::UdConfig::max_payload`] was received. Its contents are lost.
    TooLong {
        /// Length of the payload in bytes.
        len: u32,
        /// LID of the sender; 0 on Ethernet.
        slid: Lid,
        /// Queue pair of the sender.
        src_qpn: Qpn,
    },
    /// A datagram was sent. The network may still lose the datagram.
    Sent(SendId),
    /// A datagram was not sent. The queue pair recovers automatically; the program may send the datagram again.
    SendFailed {
        /// The send that failed.
        id: SendId,
        /// The error; not [`CompletionStatus::SUCCESS`].
        status: CompletionStatus,
    },
    /// Receiving failed. The queue pair recovers automatically, and keeps its number and groups. Datagrams that arrived
    /// shortly before the failure may be lost.
    ReceiveFailed(CompletionStatus),
}

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// LID of the sender; 0 on Ethernet.
    pub slid: Lid,
    /// Queue pair of the sender.
    pub src_qpn: Qpn,
    /// Service level of the packet.
    pub sl: ServiceLevel,
    /// Path bits of the destination LID.
    pub path_bits: u8,
    /// The global route header, if the packet had one. Every multicast packet and every packet on RoCE has one.
    pub grh: Option<&'a Grh>,
    /// The payload.
    pub payload: &'a [u8],
}

impl Datagram<'_> {
    /// Returns the GID of the sender, as [`Grh::source_gid`] does.
    #[must_use]
    pub fn source_gid(&self) -> Option<Gid> {
        self.grh?.source_gid()
    }

    /// Returns the destination GID, of the local port or of a group, as [`Grh::destination_gid`] does.
    #[must_use]
    pub fn destination_gid(&self) -> Option<Gid> {
        self.grh?.destination_gid()
    }
}
