//! One connection of a client, without I/O: its requests in flight, and whether the daemon accepts several at once.
use crate::{
    error::ProtocolError,
    request::Request,
    session::{Answer, RequestId, Session},
    shared::SharedCache,
};
use acm_wire::client::PerfTarget;
use std::collections::BTreeMap;

/// Responses with the ids of their requests.
pub(crate) type Responses = Vec<Answer>;

/// The number of requests that the daemon accepts at once on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Places {
    /// Not known yet: one.
    #[default]
    Unknown,
    /// One, as C ibacm.
    One,
    /// 64: acm-mio refuses one more that waits (`requests_per_client`).
    Many,
}

impl Places {
    pub(crate) const fn number(self) -> usize {
        match self {
            Self::Unknown | Self::One => 1,
            Self::Many => 64,
        }
    }
}

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    session: Session,
    is_up: bool,
    /// The requests in flight that were not cancelled, by their ids on this connection.
    sent: BTreeMap<RequestId, RequestId>,
    /// The two requests of a probe that have no response yet.
    probe: Vec<RequestId>,
}

impl Lane {
    /// Returns a connection that begins with a probe: two requests in one message. C ibacm, which reads one request at
    /// a time, closes such a connection.
    pub(crate) fn probing() -> Self {
        let mut lane = Self::default();
        let counters = Request::Counters(PerfTarget::Total);
        lane.probe = [(); 2].map(|()| lane.session.ask(&counters)).to_vec();
        lane
    }

    pub(crate) const fn is_up(&self) -> bool {
        self.is_up
    }

    pub(crate) const fn set_up(&mut self) {
        self.is_up = true;
    }

    pub(crate) const fn is_probing(&self) -> bool {
        !self.probe.is_empty()
    }

    /// Reports whether another request may be sent, if `places` requests may be in flight.
    pub(crate) fn has_room(&self, places: usize) -> bool {
        self.is_up && self.session.in_flight() < places
    }

    /// Returns the number of requests in flight without the cancelled ones.
    pub(crate) fn live(&self) -> usize {
        self.sent.len()
    }

    /// Returns the number of cancelled requests in flight.
    pub(crate) fn cancelled(&self) -> usize {
        self.session.in_flight().saturating_sub(self.sent.len() + self.probe.len())
    }

    /// Returns the number of requests in flight, with the cancelled ones.
    pub(crate) fn in_flight(&self) -> usize {
        self.session.in_flight()
    }

    /// Reports whether only cancelled requests are in flight.
    pub(crate) fn is_unused(&self) -> bool {
        self.sent.is_empty() && self.probe.is_empty()
    }

    /// Queues a request of the client. Returns its id on this connection.
    pub(crate) fn send(&mut self, id: RequestId, request: &Request, shared: &mut SharedCache) -> RequestId {
        self.session.report_lookups(shared);
        let sent = self.session.ask(request);
        self.sent.insert(sent, id);
        sent
    }

    /// Queues a report of the lookups in `shared`.
    pub(crate) fn report(&mut self, shared: &mut SharedCache) {
        self.session.report_lookups(shared);
    }

    /// Cancels a request. It keeps its place until its response arrives, because the daemon still processes it.
    pub(crate) fn cancel(&mut self, sent: RequestId) {
        self.sent.remove(&sent);
        self.session.cancel(sent);
    }

    /// Handles bytes from the daemon. Returns responses with the ids of the client's requests.
    ///
    /// # Errors
    /// The bytes cannot be parsed. The responses before them are in `responses`.
    pub(crate) fn receive(&mut self, bytes: &[u8], responses: &mut Responses) -> Result<(), ProtocolError> {
        self.session.receive(bytes);
        while let Some((sent, response)) = self.session.poll()? {
            self.probe.retain(|probe| *probe != sent);
            if let Some(id) = self.sent.remove(&sent) {
                responses.push((id, response));
            }
        }
        Ok(())
    }

    /// Reports whether the last response came from a daemon that shares its cache.
    pub(crate) const fn has_shared_cache(&self) -> bool {
        self.session.has_shared_cache()
    }

    pub(crate) fn to_send(&self) -> &[u8] {
        if self.is_up { self.session.to_send() } else { &[] }
    }

    pub(crate) fn sent(&mut self, count: usize) {
        self.session.sent(count);
    }

    /// Returns the client's requests in flight.
    pub(crate) fn into_requests(self) -> impl Iterator<Item = RequestId> {
        self.sent.into_values()
    }
}
