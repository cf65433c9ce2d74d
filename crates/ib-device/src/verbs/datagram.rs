//! What comes out of a queue pair.
use core::net::Ipv4Addr;
use ib_mad::{Gid, Lid, Qpn, ServiceLevel, code};

/// Bytes in front of every received payload.
pub(super) const GRH_LEN: u32 = 40;
pub(super) const GRH: usize = GRH_LEN as usize;

code! {
    /// How a send or a receive ended (`enum ibv_wc_status`).
    pub struct CompletionStatus(u8) {
        /// Well.
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
        /// Which one.
        id: SendId,
        /// Why.
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
    pub grh: Option<&'a [u8; GRH]>,
    /// The bytes that were sent.
    pub payload: &'a [u8],
}

impl Datagram<'_> {
    /// GID that it came from: of the global route header, or of the IPv4 header that RoCE v2 has in its place.
    #[must_use]
    pub fn source_gid(&self) -> Option<Gid> {
        self.gid(8, 32)
    }

    /// GID that it came to: ours, or a group's.
    #[must_use]
    pub fn destination_gid(&self) -> Option<Gid> {
        self.gid(24, 36)
    }

    /// The GID at `at`, or the IPv4 address at `at_v4` as a mapped one.
    fn gid(&self, at: usize, at_v4: usize) -> Option<Gid> {
        let grh = self.grh?;
        // An IPv4 header fills the last 20 of the 40 bytes; a GRH has IP version 6 in the first.
        if grh[0] >> 4 == 6 {
            return grh.get(at..)?.first_chunk().copied().map(Gid::new);
        }
        let address: [u8; 4] = *grh.get(at_v4..)?.first_chunk()?;
        (grh[20] >> 4 == 4).then(|| Ipv4Addr::from(address).to_ipv6_mapped().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(grh: Option<&[u8; GRH]>) -> Datagram<'_> {
        let (slid, src_qpn, sl) = (Lid::NONE, Qpn::GSI, ServiceLevel::default());
        Datagram { slid, src_qpn, sl, path_bits: 0, grh, payload: &[] }
    }

    #[test]
    fn gids_of_both_kinds_of_headers() {
        let mut grh = [0; GRH];
        (grh[0], grh[8], grh[23], grh[24], grh[39]) = (0x60, 0xfe, 1, 0xff, 2);
        let gids = |grh| (datagram(grh).source_gid(), datagram(grh).destination_gid());
        assert_eq!(gids(Some(&grh)), ("fe00::1".parse().ok(), "ff00::2".parse().ok()));
        // Linux rxe, 10.0.0.1 to 10.0.0.2: the first 20 bytes are not written.
        let mut v4 = [0; GRH];
        v4[20] = 0x45;
        v4[32..].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(gids(Some(&v4)), ("::ffff:10.0.0.1".parse().ok(), "::ffff:10.0.0.2".parse().ok()));
        assert_eq!(gids(Some(&[0; GRH])), (None, None));
        assert_eq!(gids(None), (None, None));
    }
}
