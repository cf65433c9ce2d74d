//! Requests and completions, without I/O and clock. Each request completes exactly once.
use crate::errno::Result;
use acm_client::{ProtocolError, Request, RequestId, Response, Session, SharedCache};
use nix::errno::Errno;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Instant,
};

/// Number of lost connections after which a request that was the only one in flight is not sent again, because the
/// request may crash the daemon.
const MAX_LOSSES: u8 = 2;

/// A request of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    pub(crate) request: Request,
    /// The caller's value for the completion.
    pub(crate) cookie: u64,
    /// The caller's kind for the completion.
    pub(crate) kind: u32,
}

/// A completed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompletedRequest {
    pub(crate) id: u64,
    pub(crate) cookie: u64,
    pub(crate) kind: u32,
    pub(crate) outcome: Result<Response>,
}

#[derive(Debug)]
struct PendingRequest {
    submission: Submission,
    deadline: Instant,
    /// Number of lost connections on which this request was the only request in flight.
    losses: u8,
    /// Id in the session; `None` if the request is not sent.
    sent: Option<RequestId>,
}

/// Requests and completions of a connection.
#[derive(Debug)]
pub(crate) struct Requests {
    depth: usize,
    last: u64,
    session: Session,
    pending: BTreeMap<u64, PendingRequest>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// The pending requests that are in the session.
    sent: BTreeMap<RequestId, u64>,
    /// Number of requests that are still sent one at a time, because C ibacm closes a connection with two requests at
    /// once.
    one_at_a_time: usize,
    completed: VecDeque<CompletedRequest>,
}

impl Requests {
    pub(crate) const fn new(depth: usize, session: Session) -> Self {
        Self {
            depth,
            last: 0,
            session,
            pending: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            sent: BTreeMap::new(),
            one_at_a_time: 0,
            completed: VecDeque::new(),
        }
    }

    /// Queues a request and returns its id. If `shared` has the path, the request completes and is not sent.
    ///
    /// # Errors
    /// EAGAIN if `depth` requests are pending or completed, including completions that the caller has not polled.
    pub(crate) fn submit(
        &mut self,
        submission: Submission,
        deadline: Instant,
        shared: &mut SharedCache,
    ) -> Result<u64> {
        if self.pending.len() + self.completed.len() >= self.depth {
            return Err(Errno::EAGAIN);
        }
        self.last += 1;
        if let Some(found) = shared.find(&submission.request) {
            self.push_completed(self.last, &submission, Ok(Response::Path(found)));
            return Ok(self.last);
        }
        self.pending.insert(self.last, PendingRequest { submission, deadline, losses: 0, sent: None });
        self.deadlines.insert((deadline, self.last));
        Ok(self.last)
    }

    /// Passes unsent requests to the session, after a report of the lookups in `shared`. Call this function only while
    /// the connection is established.
    pub(crate) fn send(&mut self, shared: &mut SharedCache) {
        let limit = match self.one_at_a_time {
            0 => self.pending.len(),
            _ => 1,
        };
        let count = limit.saturating_sub(self.sent.len());
        if count == 0 {
            return;
        }
        let unsent = self.pending.iter_mut().filter(|(_, pending)| pending.sent.is_none());
        for (id, pending) in unsent.take(count) {
            self.session.report_lookups(shared);
            let sent = self.session.ask(&pending.submission.request);
            pending.sent = Some(sent);
            self.sent.insert(sent, *id);
        }
    }

    /// Reports whether `depth` or more responses to cancelled requests are outstanding.
    pub(crate) fn has_too_many_cancelled(&self) -> bool {
        self.session.in_flight() >= self.sent.len() + self.depth
    }

    /// Completes a request with ECANCELED.
    ///
    /// # Errors
    /// ENOENT if the request is complete or does not exist.
    pub(crate) fn cancel(&mut self, id: u64) -> Result<()> {
        if self.complete(id, Err(Errno::ECANCELED)) { Ok(()) } else { Err(Errno::ENOENT) }
    }

    /// Completes all requests with ECANCELED.
    pub(crate) fn cancel_all(&mut self) {
        self.complete_all(Errno::ECANCELED);
    }

    /// Completes requests after their deadline with an error.
    pub(crate) fn expire(&mut self, now: Instant, errno: Errno) {
        while let Some((_, id)) = self.deadlines.first().copied().filter(|(deadline, _)| *deadline <= now) {
            self.complete(id, Err(errno));
        }
    }

    /// Completes all requests with an error.
    pub(crate) fn complete_all(&mut self, errno: Errno) {
        while let Some((id, _)) = self.pending.first_key_value() {
            let id = *id;
            self.complete(id, Err(errno));
        }
    }

    /// Requeues the requests in flight after the daemon closed the connection. If several requests were in flight, one
    /// of them may be the cause, or the daemon may not accept several at once. These requests are then sent one at a
    /// time. A request that was alone on [`MAX_LOSSES`] lost connections completes with ECONNRESET.
    pub(crate) fn connection_lost(&mut self) {
        let lost = self.sent.len();
        if self.session.in_flight() > 1 {
            self.one_at_a_time = lost;
        } else if let Some(pending) = self.sent.values().next().and_then(|id| self.pending.get_mut(id)) {
            pending.losses += 1;
        }
        for id in self.requeue() {
            if self.pending.get(&id).is_some_and(|pending| pending.losses >= MAX_LOSSES) {
                self.complete(id, Err(Errno::ECONNRESET));
            }
        }
    }

    /// Resets the session and requeues the requests in flight for another connection. Returns their ids.
    pub(crate) fn requeue(&mut self) -> Vec<u64> {
        self.session.reset();
        let requeued: Vec<u64> = core::mem::take(&mut self.sent).into_values().collect();
        for id in &requeued {
            if let Some(pending) = self.pending.get_mut(id) {
                pending.sent = None;
            }
        }
        requeued
    }

    /// Completes the requests in flight with EPROTO after a malformed response.
    pub(crate) fn malformed_response(&mut self) {
        for id in core::mem::take(&mut self.sent).into_values() {
            self.complete(id, Err(Errno::EPROTO));
        }
        self.session.reset();
    }

    /// Queues a report of the lookups in `shared`.
    pub(crate) fn report(&mut self, shared: &mut SharedCache) {
        self.session.report_lookups(shared);
    }

    /// Reports whether the last response came from a daemon that shares its cache.
    pub(crate) const fn has_shared_cache(&self) -> bool {
        self.session.has_shared_cache()
    }

    /// Returns the bytes to send.
    pub(crate) fn to_send(&self) -> &[u8] {
        self.session.to_send()
    }

    /// Removes bytes that were sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.session.sent(count);
    }

    /// Handles bytes from the daemon.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> core::result::Result<(), ProtocolError> {
        self.session.receive(bytes);
        while let Some((sent, response)) = self.session.poll()? {
            if let Some(id) = self.sent.get(&sent) {
                self.complete(*id, Ok(response));
            }
        }
        Ok(())
    }

    /// Returns the oldest completed request and removes it.
    pub(crate) fn next_completed(&mut self) -> Option<CompletedRequest> {
        self.completed.pop_front()
    }

    pub(crate) fn has_completed(&self) -> bool {
        !self.completed.is_empty()
    }

    /// Reports whether a request is pending.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns the earliest deadline of a pending request.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    fn complete(&mut self, id: u64, outcome: Result<Response>) -> bool {
        let Some(pending) = self.pending.remove(&id) else { return false };
        self.deadlines.remove(&(pending.deadline, id));
        if let Some(sent) = pending.sent {
            self.sent.remove(&sent);
            self.one_at_a_time = self.one_at_a_time.saturating_sub(1);
            // The daemon still processes the request and responds.
            self.session.cancel(sent);
        }
        self.push_completed(id, &pending.submission, outcome);
        true
    }

    fn push_completed(&mut self, id: u64, submission: &Submission, outcome: Result<Response>) {
        let Submission { cookie, kind, .. } = *submission;
        self.completed.push_back(CompletedRequest { id, cookie, kind, outcome });
    }
}

impl CompletedRequest {
    /// Returns the error number; 0 on success.
    pub(crate) const fn errno(&self) -> i32 {
        match self.outcome {
            Err(errno) => errno as i32,
            Ok(Response::Refused(status)) => acm_client::errno::of_status(status),
            Ok(_) => 0,
        }
    }
}
