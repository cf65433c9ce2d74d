//! Copies of all packets for a watcher.
use super::{Subnet, pending::Packet};
use crate::{
    crossing::Crossing,
    datagram::MadSend,
    id::{AgentId, PortId},
};
use alloc::sync::Arc;
use core::time::Duration;
use ib_mad::{Lid, Qkey, Qpn, as_bytes, sa::SaMad};

impl Subnet {
    /// Keeps a copy of every packet from now on. After each call of [`poll_event`](Self::poll_event), call
    /// [`poll_crossing`](Self::poll_crossing) until it returns `None`.
    pub fn watch(&mut self) {
        self.crossings.get_or_insert_default();
    }

    /// Returns the next packet on a link; `None` if there is no packet, or if packets are not watched.
    pub fn poll_crossing(&mut self) -> Option<Crossing> {
        self.crossings.as_mut()?.pop_front()
    }

    fn crossed(&mut self, crossing: Crossing) {
        if let Some(crossings) = &mut self.crossings {
            crossings.push_back(crossing);
        }
    }

    /// Keeps a datagram to queue pair `to` that was sent or received.
    pub(super) fn watch_datagram(&mut self, port: PortId, to: Qpn, packet: &Packet, delivered: bool) {
        if self.crossings.is_none() {
            return;
        }
        let Packet { dlid, slid, sl, source, qkey, pkey, grh, ref payload, .. } = *packet;
        let dest = if dlid.is_multicast() { Qpn::MULTICAST } else { to };
        let payload = Arc::clone(payload);
        let at = self.now;
        self.crossed(Crossing { at, delivered, port, slid, dlid, sl, pkey, source, dest, qkey, grh, payload });
    }

    /// Keeps a management datagram that a port sends.
    pub(super) fn watch_mad_sent(&mut self, port: PortId, send: &MadSend, mad: &SaMad) {
        // A request without a destination is not sent.
        if send.dlid != Lid::default() {
            self.watch_mad(port, send, mad, false);
        }
    }

    /// Keeps a response that a port receives.
    pub(super) fn watch_mad_delivered(&mut self, port: PortId, send: &MadSend, mad: &SaMad) {
        self.watch_mad(port, send, mad, true);
    }

    /// Keeps a report of the administrator that a port receives.
    pub(crate) fn watch_report(&mut self, id: PortId, slid: Lid, mad: &SaMad) {
        let Some(port) = self.port(id) else { return };
        let send = MadSend { dlid: slid, ..MadSend::to_administration(port, AgentId(0), Duration::ZERO) };
        self.watch_mad(id, &send, mad, true);
    }

    fn watch_mad(&mut self, id: PortId, send: &MadSend, mad: &SaMad, delivered: bool) {
        let (Some(_), Some(port)) = (&self.crossings, self.port(id)) else { return };
        let pkey = port.pkeys.get(usize::from(send.pkey_index)).copied().unwrap_or_default();
        let (slid, dlid) = if delivered { (send.dlid, port.lid) } else { (port.lid, send.dlid) };
        let (source, dest) = if delivered { (send.qpn, Qpn::GSI) } else { (Qpn::GSI, send.qpn) };
        self.crossed(Crossing {
            at: self.now,
            delivered,
            port: id,
            slid,
            dlid,
            sl: send.sl,
            pkey,
            source,
            dest,
            qkey: Qkey::GSI,
            grh: None,
            payload: as_bytes(mad).into(),
        });
    }
}
