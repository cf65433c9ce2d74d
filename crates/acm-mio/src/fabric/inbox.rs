//! Queues for messages and datagrams from the socket of a simulated fabric, like the separate queues of a device.
//!
//! The server sends all data in order, so that responses and events follow earlier datagrams. The inbox reads the
//! socket ahead of the core. In the inbox, responses and events overtake datagrams, and a full queue drops new
//! datagrams, like a queue pair without receive buffers. Data that is still in the server or in the socket is not
//! overtaken.
use acm_sansio::{
    EndpointId, SaRequestId,
    api::DatagramSource,
    turns::{Lane, Turns},
};
use core::num::NonZeroU32;
use ib_mad::{Gid, Lid, Qpn, sa::SaMad};
use ib_sim::PortChange;
use std::collections::{BTreeMap, VecDeque};

/// Anything but a datagram.
#[derive(Debug)]
pub(super) enum Message {
    Port(u8, PortChange),
    Response(SaRequestId, Vec<u8>),
    TimedOut(SaRequestId),
    Attached(EndpointId, Gid, Lid),
    Report { port: u8, lid: Lid, qpn: Qpn, mad: Box<SaMad> },
}

/// The next item of the inbox.
#[derive(Debug)]
pub(super) enum Arrival {
    Message(Message),
    Datagram(EndpointId, DatagramSource, Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Messages,
    Datagrams(EndpointId),
}

/// Items that the core has not handled: one queue for messages, one for the datagrams of each endpoint.
#[derive(Debug)]
pub(super) struct Inbox {
    /// Maximum number of waiting datagrams of an endpoint.
    receive_depth: usize,
    turns: Turns<Source>,
    messages: VecDeque<Message>,
    datagrams: BTreeMap<EndpointId, VecDeque<(DatagramSource, Vec<u8>)>>,
    /// Buffers of handled datagrams, for reuse.
    spare: Vec<Vec<u8>>,
    lost: u64,
}

impl Inbox {
    /// Makes an inbox that holds `receive_depth` datagrams for each endpoint.
    pub(super) fn new(receive_depth: NonZeroU32) -> Self {
        Self {
            receive_depth: usize::try_from(receive_depth.get()).unwrap_or(usize::MAX),
            turns: Turns::default(),
            messages: VecDeque::new(),
            datagrams: BTreeMap::new(),
            spare: Vec::new(),
            lost: 0,
        }
    }

    pub(super) fn message(&mut self, message: Message) {
        self.messages.push_back(message);
        self.turns.ready(Source::Messages, Lane::Urgent);
    }

    pub(super) fn datagram(&mut self, endpoint: EndpointId, source: DatagramSource, payload: &[u8]) {
        let queue = self.datagrams.entry(endpoint).or_default();
        if queue.len() >= self.receive_depth {
            self.lost += 1;
            return;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(payload);
        queue.push_back((source, bytes));
        self.turns.ready(Source::Datagrams(endpoint), Lane::Bulk);
    }

    /// Removes a closed endpoint and its datagrams.
    pub(super) fn remove(&mut self, endpoint: EndpointId) {
        self.datagrams.remove(&endpoint);
        self.turns.dry(Source::Datagrams(endpoint));
    }

    pub(super) fn next(&mut self) -> Option<Arrival> {
        while let Some(source) = self.turns.next() {
            let arrival = match source {
                Source::Messages => self.messages.pop_front().map(Arrival::Message),
                Source::Datagrams(endpoint) => {
                    let first = self.datagrams.get_mut(&endpoint).and_then(VecDeque::pop_front);
                    first.map(|(source, payload)| Arrival::Datagram(endpoint, source, payload))
                }
            };
            if arrival.is_some() {
                return arrival;
            }
            self.turns.dry(source);
        }
        None
    }

    /// Stores the buffer of a handled datagram for reuse.
    pub(super) fn recycle(&mut self, mut payload: Vec<u8>) {
        payload.clear();
        self.spare.truncate(self.receive_depth);
        self.spare.push(payload);
    }

    /// Returns the number of datagrams dropped because their queue was full.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: DatagramSource =
        DatagramSource { lid: Lid::new(9), path_bits: 0, qpn: Qpn::of::<9>(), gid: None, group: None };

    // docs/deadlines.md: received
    #[test]
    fn responses_overtake_datagrams_and_endpoints_take_turns() {
        let mut inbox = Inbox::new(NonZeroU32::new(1000).unwrap());
        let (flooded, quiet) = (EndpointId::new(0, 0), EndpointId::new(1, 0));
        for _ in 0..2024 {
            inbox.datagram(flooded, SOURCE, b"flood");
        }
        assert_eq!(inbox.lost(), 1024);
        inbox.datagram(quiet, SOURCE, b"quiet");
        inbox.message(Message::TimedOut(SaRequestId::new(0, 0)));
        assert!(matches!(inbox.next(), Some(Arrival::Message(Message::TimedOut(_)))));
        let mut before = 0;
        while let Some(Arrival::Datagram(endpoint, _, payload)) = inbox.next() {
            if endpoint == quiet {
                assert_eq!(payload, b"quiet");
                break;
            }
            before += 1;
            inbox.recycle(payload);
        }
        assert!((1..=16).contains(&before), "{before}");
        inbox.message(Message::Port(1, PortChange::Lid));
        let waits = (0..).take_while(|_| matches!(inbox.next(), Some(Arrival::Datagram(..)))).count();
        assert!(waits <= 16, "{waits}");
        inbox.remove(flooded);
        assert!(inbox.next().is_none());
    }
}
