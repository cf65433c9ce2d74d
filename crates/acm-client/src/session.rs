//! Requests and responses of one connection, without I/O.
use crate::{error::ProtocolError, request::Request, response::Response, shared::SharedCache};
use acm_wire::{
    Address,
    client::{ClientStatus, Operation, next_response},
};
use core::fmt;
use ib_mad::sa::PathRecord;
use std::collections::BTreeMap;

/// A request of a [`Session`] or a [`Connection`](crate::Connection). The id is unique there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u64);

impl RequestId {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number, from 1 in the order of the requests.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {}", self.0)
    }
}

/// The id of a request, with its response or the error status of the daemon.
pub type Answer = (RequestId, Result<Response, ClientStatus>);

/// A request that waits for its response.
#[derive(Debug)]
struct Pending {
    operation: Operation,
    active: bool,
    /// Conditions that the daemon must apply, and whether it must respond at once.
    conditions: Option<(PathRecord, bool)>,
    /// The source that the daemon chose in its response without conditions.
    source: Option<Address>,
}

/// Matches responses with requests, in any order. The caller does the I/O: it sends the bytes of [`Session::to_send`],
/// passes the number of sent bytes to [`Session::sent`], passes received bytes to [`Session::receive`], and takes
/// responses from [`Session::poll`].
///
/// ```
/// use acm_client::{Address, ClientStatus, Request, Session};
/// # use acm_wire::client::{Reply, next_frame};
/// let mut session = Session::default();
/// let dest = Address::from_text("10.0.0.2");
/// let id = session.ask(&Request::resolve(None, &dest));
/// let sent = session.to_send().to_vec();
/// session.sent(sent.len());
/// // The daemon's part.
/// let tid = next_frame(&sent)?.expect("a whole request").tid();
/// session.receive(&Reply::unresolved(tid, ClientStatus::ENODATA));
///
/// assert_eq!(session.poll()?, Some((id, Err(ClientStatus::ENODATA))));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Session {
    last: u64,
    pending: BTreeMap<u64, Pending>,
    output: Vec<u8>,
    sent: usize,
    input: Vec<u8>,
    taken: usize,
    has_shared_cache: bool,
}

impl Session {
    /// Queues a request.
    pub fn ask(&mut self, request: &Request) -> RequestId {
        self.last += 1;
        let conditions = match request {
            Request::Resolve { conditions: Some(conditions), no_delay, .. } => Some((*conditions, *no_delay)),
            _ => None,
        };
        let pending = Pending { operation: request.operation(), active: true, conditions, source: None };
        self.pending.insert(self.last, pending);
        self.output.extend_from_slice(&request.encode(self.last.to_be_bytes()));
        RequestId(self.last)
    }

    /// Queues a report of lookups in the shared cache of the daemon, unless no response shows that it has one.
    pub(crate) fn report_lookups(&mut self, shared: &mut SharedCache) {
        if let Some(report) = self.has_shared_cache.then(|| shared.take_report()).flatten() {
            self.output.extend_from_slice(ib_mad::as_bytes(&report));
        }
    }

    /// Cancels a request: its response will be dropped. The request stays [in flight](Self::in_flight) until the
    /// response arrives, because the daemon still processes it. Returns `false` if the request was not waiting for a
    /// response.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        self.pending.get_mut(&id.0).is_some_and(|pending| core::mem::take(&mut pending.active))
    }

    /// Returns the bytes to send.
    #[must_use]
    pub fn to_send(&self) -> &[u8] {
        self.output.get(self.sent..).unwrap_or_default()
    }

    /// Removes `count` sent bytes from [`Self::to_send`].
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.output.len() {
            self.output.clear();
            self.sent = 0;
        }
    }

    /// Appends received bytes.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.input.drain(..self.taken.min(self.input.len()));
        self.taken = 0;
        self.input.extend_from_slice(bytes);
    }

    /// Returns the next complete response to a request that was not cancelled, or its error status.
    ///
    /// # Errors
    /// [`ProtocolError`]: the rest of the input cannot be parsed. Close the connection and [reset](Self::reset) the
    /// session.
    pub fn poll(&mut self) -> Result<Option<Answer>, ProtocolError> {
        loop {
            let rest = self.input.get(self.taken..).unwrap_or_default();
            let Some(frame) = next_response(rest)? else { return Ok(None) };
            let tid = u64::from_be_bytes(frame.tid());
            let pending = self.pending.get_mut(&tid).ok_or(ProtocolError::UnknownRequest(frame.tid()))?;
            if pending.operation != frame.operation {
                return Err(ProtocolError::WrongOperation { expected: pending.operation, received: frame.operation });
            }
            // The option may be switched at any time. Some refusals have no mark.
            let has_mark = matches!(frame.operation, Operation::Resolve | Operation::Endpoint);
            if has_mark && (frame.has_shared_cache() || frame.header.status == ClientStatus::SUCCESS) {
                self.has_shared_cache = frame.has_shared_cache();
            }
            let mut response = pending.active.then(|| Response::read(&frame)).transpose()?;
            self.taken += frame.length();
            if let Some(Ok(Response::Path(found))) = &mut response {
                match pending.conditions.take() {
                    Some((conditions, false)) if !frame.is_conditional() => {
                        pending.source = found.source;
                        self.output.extend_from_slice(&found.with_conditions(&conditions).encode(frame.tid()));
                        continue;
                    }
                    Some((_, true)) if !frame.is_conditional() => {
                        response = Some(Err(ClientStatus::ENODATA));
                    }
                    _ => found.source = found.source.or(pending.source),
                }
            }
            self.pending.remove(&tid);
            if let Some(response) = response {
                return Ok(Some((RequestId(tid), response)));
            }
        }
    }

    /// Reports whether the last response with a path or an endpoint came from a daemon that shares its cache with its
    /// clients.
    /// [`Client`](crate::Client) reads paths from that cache.
    #[must_use]
    pub const fn has_shared_cache(&self) -> bool {
        self.has_shared_cache
    }

    /// Returns the number of requests without a response, including cancelled and unsent requests.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// Reports whether a request waits for its response and was not cancelled.
    #[must_use]
    pub fn is_waiting(&self, id: RequestId) -> bool {
        self.pending.get(&id.0).is_some_and(|pending| pending.active)
    }

    /// Discards unsent and received bytes after the connection was lost. Returns the requests that were waiting, in the
    /// order of sending.
    pub fn reset(&mut self) -> Vec<RequestId> {
        self.output.clear();
        self.input.clear();
        (self.sent, self.taken, self.has_shared_cache) = (0, 0, false);
        let pending = core::mem::take(&mut self.pending).into_iter();
        pending.filter(|(_, pending)| pending.active).map(|(id, _)| RequestId(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Resolved;
    use acm_wire::client::{ClientRequest, Counters, FrameError, PerfTarget, Reply, Resolve, next_frame};
    use ib_mad::{Lid, Pkey, ServiceId};
    use proptest::prelude::*;

    const COUNTERS: Request = Request::Counters(PerfTarget::Total);

    fn route(lid: u16) -> Request {
        Request::Route { path: PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }, no_delay: false }
    }

    /// Removes the queued requests from the session, as if they were sent, and returns their transaction ids.
    fn tids(session: &mut Session) -> Vec<[u8; 8]> {
        let mut tids = Vec::new();
        while let Some(frame) = next_frame(session.to_send()).unwrap() {
            tids.push(frame.tid());
            let length = frame.length();
            session.sent(length);
        }
        tids
    }

    fn found(tid: [u8; 8], lid: u16) -> Reply {
        Reply::resolved(tid, &PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }, None)
    }

    /// C ibacm ignores conditions, and caches one path for each GID.
    #[test]
    fn response_without_the_conditions_leads_to_a_query() {
        let service_id = ServiceId::new(0x0106_03db);
        let (dest, source) = (Address::from_text("10.0.0.2"), Address::from_text("10.0.0.1"));
        let conditions = Some(PathRecord { service_id, dlid: Lid::new(99), ..PathRecord::default() });
        let ask = |no_delay| Request::Resolve { source: None, dest, conditions, no_delay };
        let [sgid, dgid] = ["fe80::1", "fe80::2"].map(|gid| gid.parse().unwrap());
        let plain = PathRecord { sgid, dgid, pkey: Pkey::new(0x8001), dlid: Lid::new(2), ..PathRecord::default() };
        let mut session = Session::default();

        let applied = session.ask(&ask(false));
        let tid = tids(&mut session)[0];
        let mut reply = Reply::resolved(tid, &plain, Some(&source));
        reply.mark_conditional();
        session.receive(&reply);
        assert_eq!(
            session.poll(),
            Ok(Some((applied, Ok(Response::Path(Resolved { path: plain, source: Some(source) })))))
        );

        let ignored = session.ask(&ask(false));
        let tid = tids(&mut session)[0];
        session.receive(&Reply::resolved(tid, &plain, Some(&source)));
        assert_eq!((session.poll(), session.is_waiting(ignored)), (Ok(None), true));
        let sent = session.to_send().to_vec();
        let frame = next_frame(&sent).unwrap().unwrap();
        let ClientRequest::Resolve(Ok(Resolve::QuerySa { path, entry })) = ClientRequest::parse(&frame) else {
            panic!("{sent:02x?}")
        };
        let query = (path.service_id, path.sgid, path.dgid, path.pkey, path.dlid);
        assert_eq!((query, frame.tid()), ((service_id, sgid, dgid, plain.pkey, Lid::NONE), tid));
        let path = PathRecord { service_id, ..plain };
        session.receive(&Reply::queried(tid, entry, Ok(&path)));
        assert_eq!(session.poll(), Ok(Some((ignored, Ok(Response::Path(Resolved { path, source: Some(source) }))))));

        session.sent(sent.len());
        let at_once = session.ask(&ask(true));
        let tid = tids(&mut session)[0];
        session.receive(&Reply::resolved(tid, &plain, None));
        assert_eq!(session.poll(), Ok(Some((at_once, Err(ClientStatus::ENODATA)))));
        let cancelled = session.ask(&ask(false));
        let tid = tids(&mut session)[0];
        assert!(session.cancel(cancelled));
        session.receive(&Reply::resolved(tid, &plain, None));
        assert_eq!((session.poll(), session.to_send().len(), session.in_flight()), (Ok(None), 0, 0));
    }

    #[test]
    fn cancelled_request_is_in_flight_until_its_response_arrives() {
        let mut session = Session::default();
        let (cancelled, kept) = (session.ask(&route(1)), session.ask(&COUNTERS));
        assert!(session.cancel(cancelled) && !session.cancel(cancelled));
        assert_eq!((session.is_waiting(cancelled), session.is_waiting(kept), session.in_flight()), (false, true, 2));
        let tids = tids(&mut session);
        session.receive(&found(tids[0], 1));
        assert_eq!((session.poll(), session.in_flight()), (Ok(None), 1));
        session.receive(&Reply::counters(tids[1], &Counters([7; 7])));
        assert_eq!(session.poll(), Ok(Some((kept, Ok(Response::Counters(Counters([7; 7])))))));
        assert_eq!((session.poll(), session.in_flight()), (Ok(None), 0));
    }

    #[test]
    fn buffers_do_not_grow_with_completed_requests() {
        let mut session = Session::default();
        for _ in 0..100 {
            session.ask(&COUNTERS);
            let tid = tids(&mut session)[0];
            session.receive(&Reply::counters(tid, &Counters::default()));
            assert!(session.poll().unwrap().is_some());
        }
        assert_eq!((session.output.len(), session.sent), (0, 0));
        assert!(session.input.len() <= 72 && session.pending.is_empty(), "{}", session.input.len());
    }

    #[test]
    fn unexpected_response_is_an_error() {
        let mut session = Session::default();
        session.ask(&COUNTERS);
        let tid = tids(&mut session)[0];
        session.receive(&found([9; 8], 1));
        assert_eq!(session.poll(), Err(ProtocolError::UnknownRequest([9; 8])));
        session.reset();
        session.ask(&COUNTERS);
        let next = tids(&mut session)[0];
        assert_ne!(tid, next, "transaction ids are not reused after a reset");
        session.receive(&found(next, 1));
        let other = ProtocolError::WrongOperation { expected: Operation::Perf, received: Operation::Resolve };
        assert_eq!(session.poll(), Err(other));
        session.reset();
        session.receive(&[7]);
        assert_eq!(session.poll(), Err(ProtocolError::Frame(FrameError::Version(7))));
    }

    #[test]
    fn success_without_content_is_an_error() {
        let mut session = Session::default();
        session.ask(&route(1));
        let tid = tids(&mut session)[0];
        session.receive(&Reply::unresolved(tid, ClientStatus::SUCCESS));
        assert_eq!(session.poll(), Err(ProtocolError::NoContent { operation: Operation::Resolve, length: 16 }));
    }

    #[test]
    fn reset_returns_pending_requests() {
        let mut session = Session::default();
        let ids = [route(1), COUNTERS, route(2)].map(|request| session.ask(&request));
        session.cancel(ids[1]);
        session.sent(3);
        session.receive(&[1]);
        assert_eq!(session.reset(), [ids[0], ids[2]]);
        assert!(session.to_send().is_empty());
        assert_eq!((session.in_flight(), session.poll()), (0, Ok(None)));
    }

    /// The next daemon may be C ibacm, which closes a connection with an unknown opcode.
    #[test]
    fn daemon_after_a_reconnect_gets_no_report_until_it_shows_that_it_shares_memory() {
        let (mut session, mut shared) = (Session::default(), SharedCache::with_hits(3));
        let respond = |session: &mut Session, is_marked: bool| {
            session.ask(&route(1));
            let mut reply = found(tids(session)[0], 1);
            if is_marked {
                reply.mark_shared();
            }
            session.receive(&reply);
            assert!(session.poll().unwrap().is_some());
            session.has_shared_cache()
        };
        assert!(!session.has_shared_cache() && respond(&mut session, true));
        session.reset();
        assert!(!session.has_shared_cache());
        session.report_lookups(&mut shared);
        assert!(session.to_send().is_empty() && !respond(&mut session, false));
        session.report_lookups(&mut shared);
        assert!(session.to_send().is_empty() && respond(&mut session, true));
        session.report_lookups(&mut shared);
        assert_eq!(session.to_send().len(), 16, "the lookups are not lost");
    }

    proptest! {
        #[test]
        fn each_request_gets_its_response_in_any_order_and_fragmentation(
            lids in proptest::collection::vec(any::<u16>(), 1..20),
            order in any::<prop::sample::Index>(),
            cuts in proptest::collection::vec(1_usize..200, 1..80),
        ) {
            let mut session = Session::default();
            let ids: Vec<_> = lids.iter().map(|lid| session.ask(&route(*lid))).collect();
            let tids = tids(&mut session);
            prop_assert!(session.to_send().is_empty());
            let mut responses: Vec<_> = tids.iter().zip(&lids).map(|(tid, lid)| found(*tid, *lid)).collect();
            let middle = order.index(responses.len());
            responses.rotate_left(middle);
            responses[..middle].reverse();
            let bytes: Vec<u8> = responses.iter().flat_map(|response| response.to_vec()).collect();
            let (mut rest, mut cuts, mut seen) = (bytes.as_slice(), cuts.into_iter().cycle(), BTreeMap::new());
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at(cuts.next().unwrap().min(rest.len()));
                session.receive(piece);
                rest = behind;
                while let Some((id, response)) = session.poll().unwrap() {
                    let Ok(Response::Path(Resolved { path, source: None })) = response else { panic!("{response:?}") };
                    prop_assert_eq!(seen.insert(id, path.dlid.get()), None);
                }
            }
            prop_assert!(ids.iter().map(|id| seen.get(id).copied()).eq(lids.iter().map(|lid| Some(*lid))));
            prop_assert_eq!(session.in_flight(), 0);
        }

        #[test]
        fn any_bytes_are_handled_without_panic(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 0..20)) {
            let mut session = Session::default();
            session.ask(&COUNTERS);
            for piece in pieces {
                session.receive(&piece);
                if session.poll().is_err() { session.reset(); }
            }
        }
    }
}
