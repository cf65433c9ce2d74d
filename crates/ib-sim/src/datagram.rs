//! Datagrams and MADs that a caller sends.
use core::time::Duration;
use ib_mad::{AddressVector, Gid, GlobalRoute, Lid, Qkey, Qpn, ServiceLevel};

/// A UD datagram to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The path to the destination. For a group, the global route contains the group's GID. A static rate has no
    /// effect.
    pub to: AddressVector,
    /// Queue pair of the destination; [`Qpn::MULTICAST`] for a group.
    pub qpn: Qpn,
    /// Queue key. If its top bit is set, the packet gets the queue key of the sending queue pair instead (IBTA 10.2.5).
    pub qkey: Qkey,
    /// The payload, up to the MTU.
    pub payload: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Creates a datagram to one queue pair, without a global route.
    #[must_use]
    pub fn unicast(dlid: Lid, qpn: Qpn, qkey: Qkey, payload: &'a [u8]) -> Self {
        Self { to: AddressVector::local(dlid, ServiceLevel::default()), qpn, qkey, payload }
    }

    /// Creates a datagram to a group.
    #[must_use]
    pub fn multicast(mlid: Lid, mgid: Gid, qkey: Qkey, payload: &'a [u8]) -> Self {
        let grh = GlobalRoute { dgid: mgid, ..GlobalRoute::default() };
        let to = AddressVector::local(mlid, ServiceLevel::default()).with_grh(grh);
        Self { to, qpn: Qpn::MULTICAST, qkey, payload }
    }
}

/// The sender of a received datagram, with the values of a work completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// LID of the sender, with its path bits.
    pub slid: Lid,
    /// Queue pair of the sender.
    pub qpn: Qpn,
    /// Service level of the packet.
    pub sl: ServiceLevel,
    /// Path bits of the destination LID.
    pub path_bits: u8,
    /// Index in the receiving port's P_Key table of the key that matched.
    pub pkey_index: u16,
}

/// The address and the time-out of a management datagram, as in Linux's umad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadSend {
    /// The agent that sends the datagram. The response has the same number.
    pub agent: crate::id::AgentId,
    /// LID of the destination. Only the port's subnet manager responds.
    pub dlid: Lid,
    /// Queue pair of the destination: 1.
    pub qpn: Qpn,
    /// Service level of the packet, 0..=15.
    pub sl: ServiceLevel,
    /// Index of a P_Key in the sending port's table.
    pub pkey_index: u16,
    /// Time to wait for a response to each transmission. With zero, no response is expected, and a response is dropped.
    pub timeout: Duration,
    /// Number of retransmissions after time-outs.
    pub retries: u32,
}

impl MadSend {
    /// Returns the address of the port's administrator, with the first P_Key of the port's table and without
    /// retransmissions.
    #[must_use]
    pub fn to_administration(port: &crate::port::Port, agent: crate::id::AgentId, timeout: Duration) -> Self {
        Self { agent, dlid: port.sm_lid, qpn: Qpn::GSI, sl: port.sm_sl, pkey_index: 0, timeout, retries: 0 }
    }
}
