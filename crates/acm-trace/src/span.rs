//! Spans of a trace: requests and the time until their responses.
use crate::{
    Crossing, OwnedInput,
    fact::{Dated, Entry, Fact},
    line,
};
use acm_sansio::{ClientId, Input, KernelRequestId, Output, SaRequestId, Time};
use acm_wire::client::{ClientStatus, Header};
use core::{fmt, time::Duration};
use ib_mad::{MadHeader, Method, MgmtClass, TransactionId, Wire as _, acm::AcmMad, sa::SaMad};
use std::collections::{BTreeMap, VecDeque};

/// The kind of a span: its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// From a client's message to the reply.
    Client,
    /// From a request of the kernel to the reply.
    Kernel,
    /// From the first send of a multicast request to a peer's response.
    Group,
    /// From a peer's multicast request to the response.
    Peer,
    /// From a request to the subnet administrator (SA) to its response or failure.
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

/// A request and the time until its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The kind of the span.
    pub phase: Phase,
    /// Time of the request.
    pub since: Time,
    /// Time of the response or failure.
    pub until: Time,
    /// The request, as text.
    pub what: String,
    /// True if the request succeeded.
    pub success: bool,
}

impl Span {
    /// Returns the duration.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.until.since(self.since)
    }
}

/// An open request.
#[derive(Clone, Debug)]
struct Open {
    since: Time,
    request: Fact,
}

/// The longest time between the first send of a request and a retry.
const RETRY_PERIOD: Duration = Duration::from_secs(60);

/// Finds the spans of a trace. A request without a response is kept until the end of its core.
#[derive(Debug, Default)]
pub struct Spans {
    clients: BTreeMap<ClientId, VecDeque<([u8; 8], Open)>>,
    kernel: BTreeMap<KernelRequestId, Open>,
    group: BTreeMap<TransactionId, Open>,
    peers: BTreeMap<TransactionId, Open>,
    sa: BTreeMap<SaRequestId, Open>,
    /// Open requests of ports to the SA or to a group, in a trace of a fabric.
    ports: BTreeMap<(u32, u8, Phase, TransactionId), Open>,
}

fn tid(message: &[u8]) -> [u8; 8] {
    Header::parse_prefix(message).map(|(header, _)| header.tid.0).unwrap_or_default()
}

fn is_success(reply: &[u8]) -> bool {
    Header::parse_prefix(reply).is_ok_and(|(header, _)| header.status == ClientStatus::SUCCESS)
}

impl Spans {
    /// Adds an entry. Returns the span that ends with this entry.
    pub fn add(&mut self, entry: &Entry) -> Option<Span> {
        match entry {
            // Open requests of the previous core get no response.
            Entry::Start(_) => *self = Self::default(),
            Entry::Note(_) => {}
            Entry::Fact(dated) => return self.fact(dated),
        }
        None
    }

    fn fact(&mut self, dated: &Dated) -> Option<Span> {
        let (phase, open, success) = match &dated.fact {
            Fact::Input(input) => self.input(dated, input),
            Fact::Output(output) => self.output(dated, output),
            Fact::Crossing(crossing) => self.crossing(dated, crossing),
            Fact::Timeout(_) | Fact::Lost(_) | Fact::End => None,
        }?;
        Some(Span { phase, since: open.since, until: dated.time, what: line::of_fact(&open.request), success })
    }

    fn input(&mut self, dated: &Dated, input: &OwnedInput) -> Option<(Phase, Open, bool)> {
        let open = || Open { since: dated.time, request: dated.fact.clone() };
        match input {
            OwnedInput::ClientMessage { client, message } => {
                self.clients.entry(*client).or_default().push_back((tid(message), open()));
            }
            OwnedInput::Other(Input::ClientClosed(client)) => {
                self.clients.remove(client);
            }
            OwnedInput::Other(Input::KernelRequest { id, .. } | Input::KernelAddressRequest { id, .. }) => {
                self.kernel.insert(*id, open());
            }
            OwnedInput::SaResponse { id, mad } => {
                let success = SaMad::parse(mad).is_ok_and(|mad| mad.header.status.is_ok());
                return Some((Phase::Sa, self.sa.remove(id)?, success));
            }
            OwnedInput::Other(Input::SaFailed { id, .. }) => return Some((Phase::Sa, self.sa.remove(id)?, false)),
            OwnedInput::Datagram { payload, .. } => {
                let mad = AcmMad::parse(payload).ok()?;
                if mad.method == Method::GET_RESP {
                    let success = mad.status.is_ok();
                    return Some((Phase::Group, self.group.remove(&mad.transaction_id)?, success));
                } else if mad.method == Method::GET {
                    self.peers.entry(mad.transaction_id).or_insert_with(open);
                }
            }
            _ => {}
        }
        None
    }

    fn output(&mut self, dated: &Dated, output: &Output) -> Option<(Phase, Open, bool)> {
        let open = || Open { since: dated.time, request: dated.fact.clone() };
        match output {
            Output::Reply { client, reply } => return self.replied(*client, reply),
            Output::LongReply { client, bytes } => return self.replied(*client, bytes),
            Output::KernelReply { id, path } => return Some((Phase::Kernel, self.kernel.remove(id)?, path.is_ok())),
            Output::Send { mad, .. } if mad.method == Method::GET => {
                self.group.entry(mad.transaction_id).or_insert_with(open);
            }
            Output::Send { mad, .. } => {
                let success = mad.status.is_ok();
                return Some((Phase::Peer, self.peers.remove(&mad.transaction_id)?, success));
            }
            Output::SaSend(send) => {
                self.sa.insert(send.id, open());
            }
            Output::CloseClient(client) => {
                self.clients.remove(client);
            }
            _ => {}
        }
        None
    }

    /// Handles a packet of a fabric: the first send of a request, or its response.
    fn crossing(&mut self, dated: &Dated, crossing: &Crossing) -> Option<(Phase, Open, bool)> {
        let (header, _) = MadHeader::parse_prefix(&crossing.payload).ok()?;
        let phase = match header.mgmt_class {
            MgmtClass::ACM => Phase::Group,
            MgmtClass::SUBN_ADM => Phase::Sa,
            _ => return None,
        };
        let key = (crossing.node, crossing.port, phase, header.transaction_id);
        match (crossing.delivered, header.method.is_response()) {
            (false, false) => {
                let open = || Open { since: dated.time, request: dated.fact.clone() };
                let first = self.ports.entry(key).or_insert_with(open);
                // A restarted program may reuse the transaction id for another request.
                if dated.time.since(first.since) > RETRY_PERIOD {
                    *first = open();
                }
                None
            }
            (true, true) => Some((phase, self.ports.remove(&key)?, header.status.is_ok())),
            _ => None,
        }
    }

    /// Returns the oldest request with the transaction id of the reply. Replies need not be in the order of requests.
    fn replied(&mut self, client: ClientId, reply: &[u8]) -> Option<(Phase, Open, bool)> {
        let open = self.clients.get_mut(&client)?;
        let reply_tid = tid(reply);
        let index = open.iter().position(|(tid, _)| *tid == reply_tid)?;
        Some((Phase::Client, open.remove(index)?.1, is_success(reply)))
    }
}
