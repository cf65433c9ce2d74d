//! What comes out of a queue pair.
use ib_mad::{Gid, Lid, Qpn, ServiceLevel, code, packet::Grh};

/// Bytes in front of every received payload.
pub(super) const GRH_LEN: u32 = 40;

code! {
    /// How a send or a receive ended (`enum ibv_wc_status`).
    pub struct CompletionStatus(u8) {
        /// It ended without an error.
        SUCCESS = 0 "success",
        /// A packet longer than the buffer, or a message longer than the port's MTU.
        LOCAL_LENGTH = 1 "local length error",
        /// The queue pair cannot do what was asked.
        LOCAL_QP_OPERATION = 2 "local queue pair operation error",
        /// Memory that is not registered.
        LOCAL_PROTECTION = 4 "local protection error",
        /// Never started: the queue pair had failed, or was reset.
        FLUSHED = 5 "flushed",
        /// Memory access refused.
        LOCAL_ACCESS = 8 "local access error",
        /// The device failed.
        FATAL = 19 "fatal error",
        /// Something else, in the transport.
        GENERAL = 21 "general error",
    }
}

/// A send of one queue pair; numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SendId(pub(super) u64);

impl SendId {
    /// The number, counted from 0 in each queue pair.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Something that ended.
#[derive(Clone, Copy, Debug)]
pub enum Completion<'a> {
    /// A datagram came in. Its memory is the queue pair's until the next call.
    Received(Datagram<'a>),
    /// A datagram came in that is longer than [`super::UdConfig::max_payload`]; it is not handed over.
    TooLong {
        /// Its length in bytes.
        len: u32,
        /// LID that it came from; 0 on Ethernet.
        slid: Lid,
        /// Queue pair that it came from.
        src_qpn: Qpn,
    },
    /// A datagram went out. That is not to say that it arrived.
    Sent(SendId),
    /// A datagram did not go out. The queue pair goes on by itself: send again.
    SendFailed {
        /// The send that failed.
        id: SendId,
        /// How it ended; not [`CompletionStatus::SUCCESS`].
        status: CompletionStatus,
    },
    /// Receiving failed. The queue pair goes on by itself, with the same number and in
    /// the same groups; datagrams of the last moments are lost.
    ReceiveFailed(CompletionStatus),
}

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// LID that it came from; 0 on Ethernet.
    pub slid: Lid,
    /// Queue pair that it came from.
    pub src_qpn: Qpn,
    /// Service level that it came with.
    pub sl: ServiceLevel,
    /// Path bits of our LID that it came to.
    pub path_bits: u8,
    /// The global route header, if it had one: all multicast, and everything on RoCE.
    pub grh: Option<&'a Grh>,
    /// The bytes that were sent.
    pub payload: &'a [u8],
}

impl Datagram<'_> {
    /// GID that it came from, as [`Grh::source_gid`] finds it.
    #[must_use]
    pub fn source_gid(&self) -> Option<Gid> {
        self.grh?.source_gid()
    }

    /// GID that it came to, ours or a group's, as [`Grh::destination_gid`] finds it.
    #[must_use]
    pub fn destination_gid(&self) -> Option<Gid> {
        self.grh?.destination_gid()
    }
}
