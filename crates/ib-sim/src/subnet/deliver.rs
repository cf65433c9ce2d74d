//! UD datagrams: from a queue pair over the links to queue pairs.
use super::{
    Subnet,
    pending::{Arrival, Packet, Timer},
};
use crate::{
    datagram::{Datagram, Source},
    error::Error,
    event::Event,
    id::{PortId, QpId},
    port::Port,
    settings::Faults,
};
use alloc::{sync::Arc, vec::Vec};
use core::time::Duration;
use ib_mad::{
    GlobalRoute, Lid, Pkey,
    packet::{Grh, GrhFlow},
    wire::Be16,
};

/// Bytes in the payload length of a global route header in addition to the payload: transport headers (12 and 8) and
/// invariant CRC (4).
const HEADERS: usize = 24;

impl Subnet {
    /// Sends a UD datagram. The loss of the datagram on its way, or at the receiver, is not an error.
    ///
    /// # Errors
    /// [`Error::NoSuchQp`], [`Error::NoSuchGid`], [`Error::NoGroup`], [`Error::NoRoute`],
    /// [`Error::TooLong`].
    pub fn send_datagram(&mut self, now: Duration, from: QpId, datagram: &Datagram<'_>) -> Result<(), Error> {
        self.advance(now);
        let queue = self.queue(from).ok_or(Error::NoSuchQp(from))?;
        let port = self.port(from.port).ok_or(Error::NoSuchPort(from.port))?;
        let got = datagram.payload.len();
        if let Some(mtu) = port.mtu.bytes().filter(|mtu| got > usize::from(*mtu)) {
            return Err(Error::TooLong { got, mtu });
        }
        if port.grh_required && datagram.to.grh.is_none() {
            return Err(Error::NoRoute(from.port));
        }
        let grh = datagram.to.grh.map(|route| grh(from.port, port, route, got)).transpose()?;
        if datagram.to.dlid.is_multicast() && !datagram.to.grh.is_some_and(|route| route.dgid.is_multicast()) {
            return Err(Error::NoGroup);
        }
        let pkey = port.pkeys.get(usize::from(queue.pkey_index)).copied().unwrap_or_default();
        let slid = Lid::new(port.lid.get() | u16::from(datagram.to.path_bits) & port.lmc.mask());
        if !port.carries() {
            self.counters.ud_port_down += 1;
            return Ok(());
        }
        // A Q_Key with the top bit is replaced by the Q_Key of the sending queue pair, which only a privileged program
        // can set (IBTA 10.2.5).
        let qkey = if datagram.qkey.get() >> 31 == 1 { queue.qkey } else { datagram.qkey };
        let packet = Arc::new(Packet {
            from: from.port,
            dlid: datagram.to.dlid,
            slid,
            sl: datagram.to.sl,
            source: from.qpn,
            qkey,
            pkey,
            grh,
            payload: datagram.payload.into(),
        });
        self.watch_datagram(from.port, datagram.qpn, &packet, false);
        let sent = self.send_time(from.port, got);
        if datagram.to.dlid.is_multicast() {
            self.counters.ud_multicast += 1;
            for to in self.receivers(from, pkey, datagram) {
                self.carry(sent, Arrival { to, path_bits: 0, packet: Arc::clone(&packet) });
            }
            return Ok(());
        }
        self.counters.ud_unicast += 1;
        let Some(to) = self.port_by_lid(datagram.to.dlid) else {
            self.counters.ud_no_destination += 1;
            return Ok(());
        };
        let path_bits = self.port(to).map(|port| datagram.to.dlid.path_bits(port.lmc)).unwrap_or_default();
        self.carry(sent, Arrival { to: QpId { port: to, qpn: datagram.qpn }, path_bits, packet });
        Ok(())
    }

    /// Returns the attached queue pairs that a multicast datagram reaches.
    fn receivers(&mut self, from: QpId, pkey: Pkey, datagram: &Datagram<'_>) -> Vec<QpId> {
        let mgid = datagram.to.grh.unwrap_or_default().dgid;
        let strict = self.settings.strict_multicast;
        let group = self.sa.groups.get(&mgid).filter(|group| group.mlid == datagram.to.dlid);
        if strict && !group.is_some_and(|group| group.may_send(from.port)) {
            self.counters.ud_not_member += 1;
            return Vec::new();
        }
        // Switches drop multicast datagrams whose partition is not that of the group.
        if group.is_some_and(|group| !group.pkey.same_partition(pkey)) {
            self.counters.ud_pkey_mismatch += 1;
            return Vec::new();
        }
        let attached = self.attached.get(&mgid).into_iter().flatten().copied();
        let attached = attached.filter(|to| *to != from || self.settings.multicast_to_sender);
        let (receivers, others): (Vec<QpId>, Vec<QpId>) =
            attached.partition(|to| !strict || group.is_some_and(|group| group.receives(to.port)));
        self.counters.ud_not_member += u64::try_from(others.len()).unwrap_or(u64::MAX);
        receivers
    }

    /// Carries a packet that left its port at `sent` over a link with its faults.
    fn carry(&mut self, sent: Duration, arrival: Arrival) {
        let link = (arrival.packet.from, arrival.to.port);
        let faults = self.link(link.0, link.1);
        if faults.down || faults.loss.happens(&mut self.rng) {
            self.counters.ud_lost += 1;
            return;
        }
        if faults.duplicate.happens(&mut self.rng) {
            self.counters.ud_duplicated += 1;
            self.schedule_arrival(sent, faults, arrival.clone());
        }
        self.schedule_arrival(sent, faults, arrival);
    }

    fn schedule_arrival(&mut self, sent: Duration, faults: Faults, arrival: Arrival) {
        let link = (arrival.packet.from, arrival.to.port);
        let mut at = sent + faults.delay + self.settings.tree.delay(link.0.node, link.1.node);
        if !faults.jitter.is_zero() {
            at += self.up_to(faults.jitter);
            let last = self.last_arrival.entry(link).or_default();
            *last = at.max(*last);
            at = *last;
        }
        if faults.reorder.happens(&mut self.rng) {
            self.counters.ud_reordered += 1;
            let hold = if faults.reorder_hold.is_zero() { Duration::from_millis(1) } else { faults.reorder_hold };
            at += self.up_to(hold);
        }
        let at = self.receive_time(link.1, at, arrival.packet.payload.len());
        if at == self.now {
            self.arrive(arrival);
        } else {
            self.schedule.add(at, Timer::Arrival(arrival));
        }
    }

    /// Returns a random time from 1 ns to `most`.
    fn up_to(&mut self, most: Duration) -> Duration {
        let nanos = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(1 + self.rng.below(nanos))
    }

    /// Delivers a packet to its queue pair, or drops it.
    pub(super) fn arrive(&mut self, arrival: Arrival) {
        let Arrival { to, path_bits, packet } = arrival;
        let Packet { slid, sl, source, qkey, pkey, grh, ref payload, .. } = *packet;
        let refused = match (self.port(to.port), self.queue(to)) {
            (Some(port), _) if !port.carries() => &mut self.counters.ud_port_down,
            (Some(port), Some(queue)) => {
                let local = port.pkeys.get(usize::from(queue.pkey_index)).copied().unwrap_or_default();
                if queue.qkey != qkey {
                    &mut self.counters.ud_qkey_mismatch
                } else if !local.is_valid() || !pkey.matches(local) {
                    &mut self.counters.ud_pkey_mismatch
                } else if port.mtu.bytes().is_some_and(|mtu| payload.len() > usize::from(mtu)) {
                    &mut self.counters.ud_too_long
                } else {
                    self.counters.ud_delivered += 1;
                    let source = Source { slid, qpn: source, sl, path_bits, pkey_index: queue.pkey_index };
                    self.watch_datagram(to.port, to.qpn, &packet, true);
                    self.events.push_back(Event::Datagram { qp: to, source, grh, payload: Arc::clone(payload) });
                    return;
                }
            }
            _ => &mut self.counters.ud_no_destination,
        };
        *refused += 1;
    }
}

fn grh(id: PortId, port: &Port, route: GlobalRoute, payload: usize) -> Result<Grh, Error> {
    let GlobalRoute { dgid, sgid_index, hop_limit, traffic_class, flow_label } = route;
    let sgid = port.gids.get(usize::from(sgid_index)).filter(|gid| !gid.is_zero());
    let sgid = sgid.ok_or(Error::NoSuchGid { port: id, index: sgid_index })?;
    Ok(Grh {
        flow: GrhFlow::default().with_ip_version(6).with_traffic_class(traffic_class).with_flow_label(flow_label),
        payload_length: Be16::new(u16::try_from(payload + HEADERS).unwrap_or(u16::MAX)),
        next_header: Grh::NEXT_HEADER_IBA,
        hop_limit,
        sgid: *sgid,
        dgid,
    })
}
