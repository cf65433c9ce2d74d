//! The requests of a client over all its connections, without I/O and clock. Each request completes exactly once.
//!
//! A client has one connection as long as the daemon responds. It opens a second one to find out whether the daemon
//! accepts several requests at once ([`Lane::probing`]), and further ones if all places of its connections are taken by
//! requests that wait.
use crate::{
    error::{Failure, ProtocolError},
    lane::{Lane, Places},
    request::Request,
    response::Response,
    session::RequestId,
    shared::SharedCache,
};
use core::time::Duration;
use nix::errno::Errno;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Instant,
};

/// Maximum number of connections: 1,024 unknown names may wait, and a cached name still has a response.
const MOST_LANES: usize = 16;
/// Time without a free place after which another connection is opened. A daemon responds to a cached name in less.
const PATIENCE: Duration = Duration::from_millis(10);
/// Pause before an attempt to connect again: the first and the longest. The listener of a daemon that ends may still
/// take connections in the first moment.
const RETRY: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));
/// Number of lost connections after which a request is sent alone, because it may be the cause. A request that is lost
/// once more fails.
const MAX_LOSSES: u8 = 2;

/// The reason if all connections were lost and the client has not tried to connect again.
const REFUSED: i32 = Errno::ECONNREFUSED as i32;

/// A number of a connection, which is not used again.
pub(crate) type LaneId = u64;

/// An attempt to open or close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Open(LaneId),
    Close(LaneId),
}

#[derive(Debug)]
struct Pending {
    request: Request,
    deadline: Option<Instant>,
    limit: Duration,
    /// Number of lost connections on which this request was in flight.
    losses: u8,
    /// The connection, and the request's id there; `None` if it waits for a place.
    sent: Option<(LaneId, RequestId)>,
}

/// A completed request.
pub(crate) type Completed = (RequestId, Result<Response, Failure>);

/// All requests of a client.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    repeats: bool,
    last: u64,
    pending: BTreeMap<RequestId, Pending>,
    /// The requests that wait for a place.
    queue: BTreeSet<RequestId>,
    /// The requests that were in flight on connections that are lost, while others were open.
    lost: BTreeSet<RequestId>,
    /// Number of pending requests that may be the cause of lost connections.
    doubtful: usize,
    deadlines: BTreeSet<(Instant, RequestId)>,
    completed: VecDeque<Completed>,
    lanes: BTreeMap<LaneId, Lane>,
    last_lane: LaneId,
    /// Connections to close.
    closing: Vec<LaneId>,
    places: Places,
    /// Time of the next attempt to connect, and the pause after it.
    retry: (Option<Instant>, Duration),
    /// Error number of the last attempt to connect; `None` if it succeeded.
    connect_error: Option<i32>,
    /// Time since which no waiting request has got a place.
    waiting_since: Option<Instant>,
    reconnects: u64,
}

impl Requests {
    /// Returns a client without requests. If it does not repeat requests, they fail with their connection.
    pub(crate) fn new(repeats: bool) -> Self {
        Self { repeats, retry: (None, RETRY.0), ..Self::default() }
    }

    /// Adds the connection that is open already.
    pub(crate) fn first_lane(&mut self) -> LaneId {
        self.add_lane(Lane::default())
    }

    /// Queues a request with a time limit. If `shared` has the path, the request completes and is not sent.
    pub(crate) fn submit(
        &mut self,
        request: &Request,
        limit: Option<Duration>,
        now: Instant,
        shared: &mut SharedCache,
    ) -> RequestId {
        self.last += 1;
        let id = RequestId::new(self.last);
        if let Some(found) = shared.find(request) {
            self.completed.push_back((id, Ok(Response::Path(found))));
            return id;
        }
        let deadline = limit.and_then(|limit| now.checked_add(limit));
        let limit = limit.unwrap_or_default();
        self.pending.insert(id, Pending { request: *request, deadline, limit, losses: 0, sent: None });
        self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
        self.queue.insert(id);
        id
    }

    /// Completes a request with [`Failure::Cancelled`]. Returns `false` if it is not pending.
    pub(crate) fn cancel(&mut self, id: RequestId) -> bool {
        self.complete(id, Err(Failure::Cancelled))
    }

    /// Returns the number of pending and completed requests.
    pub(crate) fn open(&self) -> usize {
        self.pending.len() + self.completed.len()
    }

    pub(crate) fn is_pending(&self, id: RequestId) -> bool {
        self.pending.contains_key(&id)
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn has_completed(&self) -> bool {
        !self.completed.is_empty()
    }

    /// Returns the oldest completed request and removes it.
    pub(crate) fn next_completed(&mut self) -> Option<Completed> {
        self.completed.pop_front()
    }

    /// Removes a completed request.
    pub(crate) fn take(&mut self, id: RequestId) -> Option<Completed> {
        let index = self.completed.iter().position(|(other, _)| *other == id)?;
        self.completed.remove(index)
    }

    /// Returns the number of times that the client connected again after it had lost all connections.
    pub(crate) const fn reconnects(&self) -> u64 {
        self.reconnects
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout) or [`poll_action`](Self::poll_action).
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
        deadline.into_iter().chain(self.next_lane_at()).min()
    }

    /// Completes requests whose time is over with an error.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        while let Some((_, id)) = self.deadlines.first().copied().filter(|(deadline, _)| *deadline <= now) {
            let Some(pending) = self.pending.get(&id) else { return };
            let failure = match pending.sent {
                Some(_) => Failure::TimedOut(pending.limit),
                None if self.lanes.is_empty() => Failure::Connect(self.connect_error.unwrap_or(REFUSED)),
                None => Failure::Queued(pending.limit),
            };
            self.complete(id, Err(failure));
        }
    }

    /// Returns the next connection to open or close.
    pub(crate) fn poll_action(&mut self, now: Instant) -> Option<Action> {
        if let Some(id) = self.closing.pop().or_else(|| self.useless_lane(now)) {
            let requests = self.lanes.remove(&id).into_iter().flat_map(Lane::into_requests);
            requests.collect::<Vec<_>>().into_iter().for_each(|id| self.requeue(id, now));
            return Some(Action::Close(id));
        }
        self.next_lane_at().filter(|at| *at <= now)?;
        self.waiting_since = self.waiting_since.map(|_| now);
        let probes = self.places == Places::Unknown && !self.lanes.is_empty();
        Some(Action::Open(self.add_lane(if probes { Lane::probing() } else { Lane::default() })))
    }

    fn add_lane(&mut self, lane: Lane) -> LaneId {
        self.last_lane += 1;
        self.lanes.insert(self.last_lane, lane);
        self.last_lane
    }

    /// Returns the time when another connection should be opened: now is a time in the past.
    fn next_lane_at(&self) -> Option<Instant> {
        let since = self.waiting_since.filter(|_| !self.queue.is_empty())?;
        if self.lanes.values().any(|lane| !lane.is_up() || lane.is_probing() || lane.has_room(self.places.number())) {
            return None;
        }
        let due = match (self.lanes.len(), self.places) {
            (0, _) | (_, Places::Unknown) => since,
            (1..MOST_LANES, _) if self.doubtful == 0 => since + PATIENCE,
            _ => return None,
        };
        Some(self.retry.0.map_or(due, |retry| retry.max(due)))
    }

    /// Returns a connection that is not needed: a further one without requests, or one whose places are taken by
    /// cancelled requests, whose responses may never come.
    fn useless_lane(&self, now: Instant) -> Option<LaneId> {
        if self.queue.is_empty() {
            let best = self.lanes.iter().filter(|(_, lane)| lane.is_up()).min_by_key(|(_, lane)| lane.in_flight())?.0;
            let unused = |(id, lane): &(&LaneId, &Lane)| *id != best && lane.is_up() && lane.is_unused();
            return self.lanes.iter().find(unused).map(|(id, _)| *id);
        }
        let full = |lane: &Lane| lane.is_up() && !lane.has_room(self.places.number());
        if self.places == Places::Unknown || !self.lanes.values().all(full) {
            return None;
        }
        let (id, lane) = self.lanes.iter().max_by_key(|(_, lane)| lane.cancelled())?;
        let waits = self.lanes.len() >= MOST_LANES && self.waiting_since.is_some_and(|since| since + PATIENCE <= now);
        (lane.cancelled() > 0 && (lane.live() == 0 || waits)).then_some(*id)
    }

    /// Handles the end of an attempt to connect: `Ok` if there is a connection.
    pub(crate) fn connected(&mut self, id: LaneId, result: Result<(), i32>, now: Instant) {
        match result {
            Ok(()) => {
                self.connect_error = None;
                if self.lanes.len() == 1 && id > 1 {
                    self.reconnects += 1;
                }
                self.lanes.get_mut(&id).into_iter().for_each(Lane::set_up);
            }
            Err(errno) => {
                self.lanes.remove(&id);
                self.pause(now);
                self.connect_error = Some(errno);
                if !self.repeats {
                    self.fail(Failure::Connect(errno));
                }
            }
        }
    }

    /// Completes all requests with an error.
    pub(crate) fn fail(&mut self, failure: Failure) {
        while let Some(id) = self.pending.first_key_value().map(|(id, _)| *id) {
            self.complete(id, Err(failure));
        }
    }

    fn pause(&mut self, now: Instant) {
        let (_, pause) = self.retry;
        self.retry = (now.checked_add(pause), RETRY.1.min(pause * 2));
    }

    /// Sends waiting requests on connections that have room.
    pub(crate) fn send(&mut self, now: Instant, shared: &mut SharedCache) {
        let places = self.places.number();
        let mut alone = self.doubtful > 0;
        while let Some(id) = self.queue.first().copied() {
            if alone && self.lanes.values().any(|lane| lane.live() > 0) {
                break;
            }
            let with_room = self.lanes.iter_mut().filter(|(_, lane)| lane.has_room(places));
            let room = with_room.min_by_key(|(_, lane)| lane.cancelled());
            let (Some((lane_id, lane)), Some(pending)) = (room, self.pending.get_mut(&id)) else { break };
            pending.sent = Some((*lane_id, lane.send(id, &pending.request, shared)));
            alone |= pending.losses >= MAX_LOSSES;
            self.queue.remove(&id);
            self.waiting_since = None;
        }
        self.waiting_since = if self.queue.is_empty() { None } else { self.waiting_since.or(Some(now)) };
    }

    /// Returns the bytes to send on a connection.
    pub(crate) fn to_send(&self, lane: LaneId) -> &[u8] {
        self.lanes.get(&lane).map_or(&[], Lane::to_send)
    }

    /// Removes bytes that were sent.
    pub(crate) fn sent(&mut self, lane: LaneId, count: usize) {
        self.lanes.get_mut(&lane).into_iter().for_each(|lane| lane.sent(count));
    }

    /// Handles bytes from the daemon. If they cannot be parsed, the requests of the connection fail, and it is closed.
    pub(crate) fn receive(&mut self, id: LaneId, bytes: &[u8]) {
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        let (was_probing, mut responses) = (lane.is_probing(), Vec::new());
        let result = lane.receive(bytes, &mut responses);
        self.retry = (None, RETRY.0);
        if was_probing && !lane.is_probing() || lane.has_shared_cache() {
            self.places = Places::Many;
        }
        for (id, response) in responses {
            self.complete(id, response.map_err(Failure::Refused));
        }
        if let Err(error) = result {
            self.malformed(id, error);
        }
    }

    fn malformed(&mut self, id: LaneId, error: ProtocolError) {
        let requests: Vec<_> = self.lanes.remove(&id).into_iter().flat_map(Lane::into_requests).collect();
        for id in requests {
            self.complete(id, Err(Failure::Protocol(error)));
        }
        self.closing.push(id);
    }

    /// Handles the end of a connection. Its requests are sent again, except one that has lost too many.
    pub(crate) fn lost(&mut self, id: LaneId, now: Instant) {
        let Some(lane) = self.lanes.remove(&id) else { return };
        if lane.is_probing() {
            self.places = Places::One;
        } else {
            self.pause(now);
        }
        for id in lane.into_requests() {
            if self.repeats {
                self.requeue(id, now);
                self.lost.insert(id);
            } else {
                self.complete(id, Err(Failure::Closed));
            }
        }
        // As long as the daemon has another connection, it has not crashed.
        if self.lanes.is_empty() {
            self.places = Places::Unknown;
            core::mem::take(&mut self.lost).into_iter().for_each(|id| self.count_loss(id));
        }
    }

    fn count_loss(&mut self, id: RequestId) {
        let Some(pending) = self.pending.get_mut(&id) else { return };
        pending.losses += 1;
        self.doubtful += usize::from(pending.losses == MAX_LOSSES);
        if pending.losses > MAX_LOSSES {
            self.complete(id, Err(Failure::Closed));
        }
    }

    fn requeue(&mut self, id: RequestId, now: Instant) {
        if let Some(pending) = self.pending.get_mut(&id) {
            self.waiting_since.get_or_insert(now);
            pending.sent = None;
            self.queue.insert(id);
        }
    }

    /// Reports whether the last response came from a daemon that shares its cache.
    pub(crate) fn has_shared_cache(&self) -> bool {
        self.lanes.values().any(Lane::has_shared_cache)
    }

    /// Queues a report of the lookups in `shared`.
    pub(crate) fn report(&mut self, shared: &mut SharedCache) {
        self.lanes.values_mut().for_each(|lane| lane.report(shared));
    }

    fn complete(&mut self, id: RequestId, outcome: Result<Response, Failure>) -> bool {
        let was_pending = self.remove(id).is_some();
        if was_pending {
            self.completed.push_back((id, outcome));
        }
        was_pending
    }

    fn remove(&mut self, id: RequestId) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        self.queue.remove(&id);
        self.doubtful -= usize::from(pending.losses >= MAX_LOSSES);
        pending.deadline.map(|deadline| self.deadlines.remove(&(deadline, id)));
        if let Some((lane, sent)) = pending.sent
            && let Some(lane) = self.lanes.get_mut(&lane)
        {
            lane.cancel(sent);
        }
        Some(pending)
    }
}

#[cfg(test)]
mod tests;
