//! An endpoint's queue pair, and the datagrams that wait for room in its send queue.
use super::counters::Counters;
use crate::log::{Lines, limited};
use acm_sansio::{EndpointId, PortId};
use ib_device::verbs::{Outbox, Outcome, UdQueuePair};
use ib_mad::{AddressVector, Qkey, Qpn, acm::AcmMad};

/// An endpoint's queue pair.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) id: EndpointId,
    pub(super) port: PortId,
    pub(super) pair: UdQueuePair,
    pub(super) outbox: Outbox<OutgoingDatagram>,
}

/// A datagram with its destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutgoingDatagram {
    pub(super) way: AddressVector,
    pub(super) qpn: Qpn,
    pub(super) qkey: Qkey,
    pub(super) mad: AcmMad,
}

impl Endpoint {
    pub(super) fn new(id: EndpointId, port: PortId, pair: UdQueuePair) -> Self {
        Self { id, port, pair, outbox: Outbox::default() }
    }

    /// Sends a datagram now, or when there is room in the send queue.
    pub(super) fn send(&mut self, datagram: OutgoingDatagram, counters: &Counters, lines: &Lines) {
        let Self { id, pair, outbox, .. } = self;
        let outcome = outbox.send(datagram, |datagram| post(*id, pair, datagram, counters, lines));
        counters.count(outcome);
        if outcome == Outcome::Refused {
            limited!(
                lines,
                DEBUG,
                "devices",
                "{}: datagram to LID {} lost: too many wait",
                lines.endpoint(*id),
                datagram.way.dlid
            );
        }
    }

    /// Sends waiting datagrams after completions of sends.
    pub(super) fn send_waiting(&mut self, counters: &Counters, lines: &Lines) {
        let Self { id, pair, outbox, .. } = self;
        outbox.send_waiting(|datagram| post(*id, pair, datagram, counters, lines));
    }
}

fn post(
    id: EndpointId,
    pair: &mut UdQueuePair,
    datagram: &OutgoingDatagram,
    counters: &Counters,
    lines: &Lines,
) -> Result<(), ib_device::Error> {
    let sent = pair.send(&datagram.way, datagram.qpn, datagram.qkey, ib_mad::as_bytes(&datagram.mad));
    if let Err(error) = &sent
        && !matches!(error, ib_device::Error::SendQueueFull { .. })
    {
        counters.sends_failed.increment();
        limited!(
            lines,
            DEBUG,
            "devices",
            "{}: datagram to LID {} lost: {error}",
            lines.endpoint(id),
            datagram.way.dlid
        );
    }
    sent.map(drop)
}
