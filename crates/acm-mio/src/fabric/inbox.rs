//! What came over a simulated fabric's one socket, in the queues that a device would have.
//!
//! The server sends everything in one order, so that answers and events stand behind the datagrams that came before
//! them. What is here is read ahead of what the core is told: answers and events overtake, and a queue of datagrams that
//! is full loses what comes, as a queue pair without receive buffers does. What still waits in the server, or in the
//! socket behind more than was read ahead, is not overtaken.
use acm_sansio::{
    EndpointId, SaRequestId,
    api::DatagramSource,
    turns::{Lane, Turns},
};
use ib_mad::{Lid, Qpn, sa::SaMad};
use ib_sim::PortChange;
use std::collections::{BTreeMap, VecDeque};

/// Datagrams that wait at an endpoint: `recv_depth` of a device, by its default.
const DATAGRAMS: usize = 1024;

/// Something that came, and is no datagram.
#[derive(Debug)]
pub(super) enum Notice {
    Port(u8, PortChange),
    Answer(SaRequestId, Box<SaMad>),
    TimedOut(SaRequestId),
    Report { port: u8, lid: Lid, qpn: Qpn, mad: Box<SaMad> },
}

/// What is next.
#[derive(Debug)]
pub(super) enum Arrival {
    Notice(Notice),
    Datagram(EndpointId, DatagramSource, Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Notices,
    Datagrams(EndpointId),
}

/// What came for the core and it was not told yet: one queue for notices, one for each endpoint.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    turns: Turns<Source>,
    notices: VecDeque<Notice>,
    datagrams: BTreeMap<EndpointId, VecDeque<(DatagramSource, Vec<u8>)>>,
    /// Memory of datagrams that were told.
    spare: Vec<Vec<u8>>,
    lost: u64,
}

impl Inbox {
    pub(super) fn notice(&mut self, notice: Notice) {
        self.notices.push_back(notice);
        self.turns.ready(Source::Notices, Lane::Urgent);
    }

    pub(super) fn datagram(&mut self, endpoint: EndpointId, source: DatagramSource, payload: &[u8]) {
        let queue = self.datagrams.entry(endpoint).or_default();
        if queue.len() >= DATAGRAMS {
            self.lost += 1;
            return;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(payload);
        queue.push_back((source, bytes));
        self.turns.ready(Source::Datagrams(endpoint), Lane::Bulk);
    }

    /// The endpoint is gone, and what came for it.
    pub(super) fn forget(&mut self, endpoint: EndpointId) {
        self.datagrams.remove(&endpoint);
        self.turns.dry(Source::Datagrams(endpoint));
    }

    pub(super) fn next(&mut self) -> Option<Arrival> {
        while let Some(source) = self.turns.next() {
            let arrival = match source {
                Source::Notices => self.notices.pop_front().map(Arrival::Notice),
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

    /// Gives the memory of a datagram back.
    pub(super) fn recycle(&mut self, mut payload: Vec<u8>) {
        payload.clear();
        self.spare.truncate(DATAGRAMS);
        self.spare.push(payload);
    }

    /// Datagrams that were lost because their queue was full.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: DatagramSource = DatagramSource { lid: Lid::new(9), path_bits: 0, qpn: Qpn::of::<9>(), gid: None };

    #[test]
    fn answers_overtake_datagrams_and_endpoints_take_turns() {
        let mut inbox = Inbox::default();
        let (flooded, quiet) = (EndpointId::new(0, 0), EndpointId::new(1, 0));
        for _ in 0..2 * DATAGRAMS {
            inbox.datagram(flooded, SOURCE, b"flood");
        }
        assert_eq!(inbox.lost(), 1024);
        inbox.datagram(quiet, SOURCE, b"quiet");
        inbox.notice(Notice::TimedOut(SaRequestId::new(0, 0)));
        assert!(matches!(inbox.next(), Some(Arrival::Notice(Notice::TimedOut(_)))));
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
        inbox.notice(Notice::Port(1, PortChange::Lid));
        let waits = (0..).take_while(|_| matches!(inbox.next(), Some(Arrival::Datagram(..)))).count();
        assert!(waits <= 16, "{waits}");
        inbox.forget(flooded);
        assert!(inbox.next().is_none());
    }
}
