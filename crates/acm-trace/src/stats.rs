//! Counts of a trace, and how long things took in it.
use crate::{
    Kind, Told, encode,
    fact::{Dated, Entry, Fact},
};
use acm_sansio::{ClientId, KernelRequestId, Output, SaRequestId, Time};
use acm_wire::client::Header;
use core::{fmt, time::Duration};
use ib_mad::{Method, MgmtClass, TransactionId, Wire as _, acm::AcmMad};
use std::collections::{BTreeMap, VecDeque};

/// What is measured: from the first of both to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// A client's message, until the reply to it.
    Client,
    /// A request of the kernel, until the reply to it.
    Kernel,
    /// A multicast request, sent for the first time, until a peer's response.
    Group,
    /// A peer's multicast request, until the response to it.
    Peer,
    /// A request to subnet administration, until its answer or its failure.
    Sa,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Client => "client to reply",
            Self::Kernel => "kernel to reply",
            Self::Group => "group to response",
            Self::Peer => "peer to response",
            Self::Sa => "sa_send to answer",
        })
    }
}

/// Counts of a trace, and how long things took in it.
#[derive(Debug, Default)]
pub struct Stats {
    counts: BTreeMap<Kind, u64>,
    took: BTreeMap<Phase, Vec<Duration>>,
    clients: BTreeMap<ClientId, VecDeque<([u8; 8], Time)>>,
    kernel: BTreeMap<KernelRequestId, Time>,
    group: BTreeMap<TransactionId, Time>,
    peers: BTreeMap<TransactionId, Time>,
    sa: BTreeMap<SaRequestId, Time>,
}

fn tid(message: &[u8]) -> [u8; 8] {
    Header::parse_prefix(message).map(|(header, _)| header.tid.0).unwrap_or_default()
}

impl Stats {
    /// Counts one entry more.
    pub fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Start(_) => {
                self.count(Kind::Start);
                // What the core before waited for, nobody answers.
                self.clients.clear();
                self.kernel.clear();
                self.group.clear();
                self.peers.clear();
                self.sa.clear();
            }
            Entry::Note(_) => {}
            Entry::Fact(Dated { time, fact, .. }) => self.fact(*time, fact),
        }
    }

    fn count(&mut self, kind: Kind) {
        *self.counts.entry(kind).or_default() += 1;
    }

    fn took(&mut self, phase: Phase, now: Time, since: Option<Time>) {
        if let Some(since) = since {
            self.took.entry(phase).or_default().push(now.since(since));
        }
    }

    fn fact(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Input(told) => {
                self.count(encode::kind_of_input(&told.as_input()));
                self.input(now, told);
            }
            Fact::Timeout(_) => self.count(Kind::Timeout),
            Fact::Output(output) => {
                self.count(encode::kind_of_output(output));
                self.output(now, output);
            }
            Fact::Lost(count) => *self.counts.entry(Kind::Lost).or_default() += count,
            Fact::End => self.count(Kind::End),
        }
    }

    fn input(&mut self, now: Time, told: &Told) {
        match told {
            Told::ClientMessage { client, message } => {
                self.clients.entry(*client).or_default().push_back((tid(message), now));
            }
            Told::ClientGone(client) => {
                self.clients.remove(client);
            }
            Told::KernelRequest { id, .. } | Told::KernelAddressRequest { id, .. } => {
                self.kernel.insert(*id, now);
            }
            Told::SaAnswer { id, .. } | Told::SaFailed { id, .. } => {
                let since = self.sa.remove(id);
                self.took(Phase::Sa, now, since);
            }
            Told::Datagram { payload, .. } => {
                let Some(mad) = AcmMad::parse(payload).ok().filter(|mad| mad.mgmt_class == MgmtClass::ACM) else {
                    return;
                };
                if mad.method == Method::GET_RESP {
                    let since = self.group.remove(&mad.transaction_id);
                    self.took(Phase::Group, now, since);
                } else if mad.method == Method::GET {
                    self.peers.entry(mad.transaction_id).or_insert(now);
                }
            }
            _ => {}
        }
    }

    fn output(&mut self, now: Time, output: &Output) {
        match output {
            Output::Reply { client, reply } => self.replied(now, *client, tid(reply)),
            Output::LongReply { client, bytes } => self.replied(now, *client, tid(bytes)),
            Output::KernelReply { id, .. } => {
                let since = self.kernel.remove(id);
                self.took(Phase::Kernel, now, since);
            }
            Output::Send { mad, .. } if mad.method == Method::GET => {
                self.group.entry(mad.transaction_id).or_insert(now);
            }
            Output::Send { mad, .. } => {
                let since = self.peers.remove(&mad.transaction_id);
                self.took(Phase::Peer, now, since);
            }
            Output::SaSend(send) => {
                self.sa.insert(send.id, now);
            }
            Output::CloseClient(client) => {
                self.clients.remove(client);
            }
            _ => {}
        }
    }

    /// Replies may come in another order than requests: the oldest with the same transaction id.
    fn replied(&mut self, now: Time, client: ClientId, tid: [u8; 8]) {
        let Some(asked) = self.clients.get_mut(&client) else { return };
        let place = asked.iter().position(|(other, _)| *other == tid);
        let since = place.and_then(|place| asked.remove(place)).map(|(_, since)| since);
        self.took(Phase::Client, now, since);
    }

    /// How many there are of each kind.
    pub fn counts(&self) -> impl Iterator<Item = (Kind, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// How many times a phase was measured.
    #[must_use]
    pub fn measured(&self, phase: Phase) -> usize {
        self.took.get(&phase).map_or(0, Vec::len)
    }

    /// The time within which so many of a hundred were done; `None` if none was.
    #[must_use]
    pub fn percentile(&self, phase: Phase, percent: u8) -> Option<Duration> {
        let mut all = self.took.get(&phase)?.clone();
        all.sort_unstable();
        let place = (all.len() * usize::from(percent.min(100))).div_ceil(100).saturating_sub(1);
        all.get(place).copied()
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:26} {:>8}", "what", "count")?;
        for (kind, count) in self.counts() {
            writeln!(f, "{kind:26} {count:>8}")?;
        }
        writeln!(f, "\n{:26} {:>8} {:>12} {:>12} {:>12} {:>12}", "phase", "count", "50 %", "90 %", "99 %", "longest")?;
        for (phase, all) in &self.took {
            write!(f, "{phase:26} {:>8}", all.len())?;
            for percent in [50, 90, 99, 100] {
                let time = self.percentile(*phase, percent).unwrap_or_default();
                write!(f, " {:>12}", format!("{time:?}"))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
