//! What a caller sends.
use core::time::Duration;
use ib_mad::{AddressVector, Gid, GlobalRoute, Lid, Qkey, Qpn, ServiceLevel};

/// A UD datagram to send: whom it is for and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The way there; a group's GID is in its global route. A static rate changes nothing here.
    pub to: AddressVector,
    /// Queue pair of the destination; [`Qpn::MULTICAST`] for a group.
    pub qpn: Qpn,
    /// Queue key. With its top bit set, the sending queue pair's own key is used in its place (IBTA 10.2.5).
    pub qkey: Qkey,
    /// The bytes, up to the MTU.
    pub payload: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// To one queue pair, without a global route.
    #[must_use]
    pub fn unicast(dlid: Lid, qpn: Qpn, qkey: Qkey, payload: &'a [u8]) -> Self {
        Self { to: AddressVector::local(dlid, ServiceLevel::default()), qpn, qkey, payload }
    }

    /// To a group.
    #[must_use]
    pub fn multicast(mlid: Lid, mgid: Gid, qkey: Qkey, payload: &'a [u8]) -> Self {
        let grh = GlobalRoute { dgid: mgid, ..GlobalRoute::default() };
        let to = AddressVector::local(mlid, ServiceLevel::default()).with_grh(grh);
        Self { to, qpn: Qpn::MULTICAST, qkey, payload }
    }
}

/// Where a received datagram came from, as a work completion says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// LID of the sender, with the path bits that it chose.
    pub slid: Lid,
    /// Queue pair of the sender.
    pub qpn: Qpn,
    /// Service level of the packet.
    pub sl: ServiceLevel,
    /// Path bits of the LID that it was sent to.
    pub path_bits: u8,
    /// Index in the receiving port's table of the P_Key that admitted it.
    pub pkey_index: u16,
}

/// How to send a management datagram, as Linux's umad takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadSend {
    /// Who sends; comes back with the answer.
    pub agent: crate::AgentId,
    /// LID of the destination: answers come only from the port's subnet manager's LID.
    pub dlid: Lid,
    /// Queue pair of the destination: 1.
    pub qpn: Qpn,
    /// Service level of the packet, 0..=15.
    pub sl: ServiceLevel,
    /// Which of the sending port's P_Keys.
    pub pkey_index: u16,
    /// Time to wait for an answer to each transmission. Zero: none is expected, and one that comes is dropped.
    pub timeout: Duration,
    /// How often to send again after a time-out.
    pub retries: u32,
}

impl MadSend {
    /// To the administrator of a port's subnet, as this port knows it, in the first partition of its table; once.
    #[must_use]
    pub fn to_administration(port: &crate::Port, agent: crate::AgentId, timeout: Duration) -> Self {
        Self { agent, dlid: port.sm_lid, qpn: Qpn::GSI, sl: port.sm_sl, pkey_index: 0, timeout, retries: 0 }
    }
}
