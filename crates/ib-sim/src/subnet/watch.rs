//! Who watches hears of every packet.
use super::{Subnet, pending::Arrival};
use crate::{AgentId, Crossing, MadSend, PortId};
use alloc::sync::Arc;
use core::time::Duration;
use ib_mad::{Lid, Qkey, Qpn, as_bytes, sa::SaMad};

impl Subnet {
    /// Keeps every packet from now on for [`poll_crossing`](Self::poll_crossing), which is to be called to `None` as
    /// [`poll_event`](Self::poll_event) is.
    pub fn watch(&mut self) {
        self.crossings.get_or_insert_default();
    }

    /// The next packet that crossed a link; `None` when all were told, and if nobody watches.
    pub fn poll_crossing(&mut self) -> Option<Crossing> {
        self.crossings.as_mut()?.pop_front()
    }

    fn crossed(&mut self, crossing: Crossing) {
        if let Some(crossings) = &mut self.crossings {
            crossings.push_back(crossing);
        }
    }

    /// A datagram: sent, or received.
    pub(super) fn datagram_crossed(&mut self, port: PortId, arrival: &Arrival, delivered: bool) {
        if self.crossings.is_none() {
            return;
        }
        let Arrival { to, dlid, slid, sl, source, qkey, pkey, grh, ref payload, .. } = *arrival;
        let dest = if dlid.is_multicast() { Qpn::MULTICAST } else { to.qpn };
        let payload = Arc::clone(payload);
        let at = self.now;
        self.crossed(Crossing { at, delivered, port, slid, dlid, sl, pkey, source, dest, qkey, grh, payload });
    }

    /// A management datagram that a port sends.
    pub(super) fn mad_sent(&mut self, port: PortId, send: &MadSend, mad: &SaMad) {
        // One without a destination goes nowhere.
        if send.dlid != Lid::default() {
            self.mad_crossed(port, send, mad, false);
        }
    }

    /// The answer to it, which the port receives.
    pub(super) fn mad_delivered(&mut self, port: PortId, send: &MadSend, mad: &SaMad) {
        self.mad_crossed(port, send, mad, true);
    }

    /// A report of the administrator, which the port receives.
    pub(crate) fn report_delivered(&mut self, port: PortId, slid: Lid, mad: &SaMad) {
        let Some(own) = self.port(port) else { return };
        let send = MadSend { dlid: slid, ..MadSend::to_administration(own, AgentId(0), Duration::ZERO) };
        self.mad_crossed(port, &send, mad, true);
    }

    fn mad_crossed(&mut self, id: PortId, send: &MadSend, mad: &SaMad, delivered: bool) {
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
