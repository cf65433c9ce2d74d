//! What began and ended in a trace.
use crate::{
    Crossing, Told,
    fact::{Dated, Entry, Fact},
    line,
};
use acm_sansio::{ClientId, KernelRequestId, Output, SaRequestId, Time};
use acm_wire::client::{ClientStatus, Header};
use core::{fmt, time::Duration};
use ib_mad::{MadHeader, Method, MgmtClass, TransactionId, Wire as _, acm::AcmMad, sa::SaMad};
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

/// Something that began and ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub phase: Phase,
    /// When it began.
    pub since: Time,
    /// When it ended.
    pub until: Time,
    /// What was asked, in words.
    pub what: String,
    /// Whether it ended with what was asked for.
    pub success: bool,
}

impl Span {
    /// How long it took.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.until.since(self.since)
    }
}

/// Where something began.
#[derive(Clone, Debug)]
struct Begun {
    at: Time,
    what: Fact,
}

/// A request is not sent again after so long.
const REPEATED: Duration = Duration::from_secs(60);

/// Finds what began and ended. What has not ended takes room until its core ends.
#[derive(Debug, Default)]
pub struct Spans {
    clients: BTreeMap<ClientId, VecDeque<([u8; 8], Begun)>>,
    kernel: BTreeMap<KernelRequestId, Begun>,
    group: BTreeMap<TransactionId, Begun>,
    peers: BTreeMap<TransactionId, Begun>,
    sa: BTreeMap<SaRequestId, Begun>,
    /// In a trace of a fabric: what a node's port asked of subnet administration or of its group.
    ports: BTreeMap<(u32, u8, Phase, TransactionId), Begun>,
}

fn tid(message: &[u8]) -> [u8; 8] {
    Header::parse_prefix(message).map(|(header, _)| header.tid.0).unwrap_or_default()
}

fn is_success(reply: &[u8]) -> bool {
    Header::parse_prefix(reply).is_ok_and(|(header, _)| header.status == ClientStatus::SUCCESS)
}

impl Spans {
    /// Hears one entry more; what ends with it.
    pub fn add(&mut self, entry: &Entry) -> Option<Span> {
        match entry {
            // What the core before waited for, nobody answers.
            Entry::Start(_) => *self = Self::default(),
            Entry::Note(_) => {}
            Entry::Fact(dated) => return self.fact(dated),
        }
        None
    }

    fn fact(&mut self, dated: &Dated) -> Option<Span> {
        let (phase, begun, success) = match &dated.fact {
            Fact::Input(told) => self.input(dated, told),
            Fact::Output(output) => self.output(dated, output),
            Fact::Crossing(crossing) => self.crossing(dated, crossing),
            Fact::Timeout(_) | Fact::Lost(_) | Fact::End => None,
        }?;
        Some(Span { phase, since: begun.at, until: dated.time, what: line::of_fact(&begun.what), success })
    }

    fn input(&mut self, dated: &Dated, told: &Told) -> Option<(Phase, Begun, bool)> {
        let begun = || Begun { at: dated.time, what: dated.fact.clone() };
        match told {
            Told::ClientMessage { client, message } => {
                self.clients.entry(*client).or_default().push_back((tid(message), begun()));
            }
            Told::ClientGone(client) => {
                self.clients.remove(client);
            }
            Told::KernelRequest { id, .. } | Told::KernelAddressRequest { id, .. } => {
                self.kernel.insert(*id, begun());
            }
            Told::SaAnswer { id, mad } => {
                let success = SaMad::parse(mad).is_ok_and(|mad| mad.header.status.is_ok());
                return Some((Phase::Sa, self.sa.remove(id)?, success));
            }
            Told::SaFailed { id, .. } => return Some((Phase::Sa, self.sa.remove(id)?, false)),
            Told::Datagram { payload, .. } => {
                let mad = AcmMad::parse(payload).ok().filter(|mad| mad.mgmt_class == MgmtClass::ACM)?;
                if mad.method == Method::GET_RESP {
                    let success = mad.status.is_ok();
                    return Some((Phase::Group, self.group.remove(&mad.transaction_id)?, success));
                } else if mad.method == Method::GET {
                    self.peers.entry(mad.transaction_id).or_insert_with(begun);
                }
            }
            _ => {}
        }
        None
    }

    fn output(&mut self, dated: &Dated, output: &Output) -> Option<(Phase, Begun, bool)> {
        let begun = || Begun { at: dated.time, what: dated.fact.clone() };
        match output {
            Output::Reply { client, reply } => return self.replied(*client, reply),
            Output::LongReply { client, bytes } => return self.replied(*client, bytes),
            Output::KernelReply { id, path } => return Some((Phase::Kernel, self.kernel.remove(id)?, path.is_ok())),
            Output::Send { mad, .. } if mad.method == Method::GET => {
                self.group.entry(mad.transaction_id).or_insert_with(begun);
            }
            Output::Send { mad, .. } => {
                let success = mad.status.is_ok();
                return Some((Phase::Peer, self.peers.remove(&mad.transaction_id)?, success));
            }
            Output::SaSend(send) => {
                self.sa.insert(send.id, begun());
            }
            Output::CloseClient(client) => {
                self.clients.remove(client);
            }
            _ => {}
        }
        None
    }

    /// A request that a node sent for the first time, or the answer that came to it.
    fn crossing(&mut self, dated: &Dated, crossing: &Crossing) -> Option<(Phase, Begun, bool)> {
        let (header, _) = MadHeader::parse_prefix(&crossing.payload).ok()?;
        let phase = match header.mgmt_class {
            MgmtClass::ACM => Phase::Group,
            MgmtClass::SUBN_ADM => Phase::Sa,
            _ => return None,
        };
        let key = (crossing.node, crossing.port, phase, header.transaction_id);
        match (crossing.delivered, header.method.is_response()) {
            (false, false) => {
                let begun = || Begun { at: dated.time, what: dated.fact.clone() };
                let first = self.ports.entry(key).or_insert_with(begun);
                // A program that begins its transaction ids anew asks something else.
                if dated.time.since(first.at) > REPEATED {
                    *first = begun();
                }
                None
            }
            (true, true) => Some((phase, self.ports.remove(&key)?, header.status.is_ok())),
            _ => None,
        }
    }

    /// Replies may come in another order than requests: the oldest with the same transaction id.
    fn replied(&mut self, client: ClientId, reply: &[u8]) -> Option<(Phase, Begun, bool)> {
        let asked = self.clients.get_mut(&client)?;
        let own = tid(reply);
        let place = asked.iter().position(|(other, _)| *other == own)?;
        Some((Phase::Client, asked.remove(place)?.1, is_success(reply)))
    }
}
