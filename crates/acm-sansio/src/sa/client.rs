//! Queries to the subnet administrator (SA): sending, responses, BUSY, retries, cancellation.
use super::{
    query::SaQuery,
    queue::{Pending, PortQueue, Progress, Purpose},
    subscriptions::PortNotices,
};
use crate::{
    Time,
    accounts::fair::Urgency,
    api::{
        Event, Output, SaError, SaSend,
        account::{AccountId, DAEMON},
        config::MOST_QUERIES,
        failure::SaAttempt,
        histogram::Phase,
        id::{EndpointId, PortId, SaQueryId, SaRequestId, Token},
    },
    cx::Running,
    cx::timers::TimerKey,
    provider::Context,
    retry::{self, SA_BUSY, SENDER_MARGIN},
};
use alloc::vec::Vec;
use ib_mad::{
    AttributeId, MadRef, TransactionId,
    sa::{PathRecord, SaMad},
};

/// The effect of a received response.
pub(crate) enum Outcome<'a> {
    /// The query is complete.
    Done(SaQueryId, Result<MadRef<'a>, SaError>),
    /// The query continues, or the response matches no query.
    Nothing,
}

impl Context {
    /// Starts a query to the SA for the provider. [`Provider::sa_done`](crate::provider::Provider::sa_done) follows
    /// with `token`, exactly once, unless [`Context::sa_cancel`] returns `true` or [`Context::sa_discard`] is called.
    ///
    /// # Errors
    /// [`SaError::PortDown`] if the port is down; nothing follows then.
    pub fn sa_query(
        &mut self,
        endpoint: EndpointId,
        token: Token,
        query: SaQuery,
        account: AccountId,
    ) -> Result<SaQueryId, SaError> {
        let port = self.port_id(endpoint).ok_or(SaError::PortDown)?;
        self.sa_push(port, Purpose::Provider(endpoint, token), query, account)
    }

    /// Leaves a group. No result follows.
    pub fn sa_leave_group(&mut self, endpoint: EndpointId, query: SaQuery) {
        // A port that is down is no longer in any group.
        if let Some(port) = self.port_id(endpoint) {
            let _ = self.sa_push(port, Purpose::Discard, query, DAEMON);
        }
    }

    pub(crate) fn sa_push(
        &mut self,
        port: PortId,
        purpose: Purpose,
        query: SaQuery,
        account: AccountId,
    ) -> Result<SaQueryId, SaError> {
        self.ports.attributes(port).ok_or(SaError::PortDown)?;
        let id = self.sa.push(port, purpose, query, account);
        if let Some(pending) = self.sa.queries.get_mut(id) {
            pending.since = self.now;
        }
        self.timers.set(TimerKey::SaQuery(id), self.now + self.config.queue_deadline);
        self.sa_pump(port);
        Ok(id)
    }

    /// Delays the renewals of a port after a change that every node learns of.
    pub(crate) fn renewals_storm(&mut self, port: PortId) {
        let (now, size, random) = (self.now, self.fabric_size(), self.jitter.next());
        self.sa.port_mut(port).pacer.storm(now, size, random);
    }

    /// Returns the time before which no renewal of a port starts.
    pub(crate) fn next_renewal(&self, port: PortId) -> Time {
        self.sa.ports.get(&port).map_or(Time::ZERO, |port_queue| port_queue.pacer.next())
    }

    /// Reports whether a renewal of a port may start: its subscriptions are complete or have failed, no query waits, and
    /// no join or renewal is in flight. If not, the renewal has to wait for its next turn.
    pub(crate) fn may_renew(&self, port: PortId) -> bool {
        let is_subscribing = self.notices.get(&port).is_some_and(PortNotices::is_first_round);
        !is_subscribing && self.sa.ports.get(&port).is_none_or(PortQueue::may_renew)
    }

    /// Records that a renewal of a port starts, or has to wait for its next turn.
    pub(crate) fn renewal_started(&mut self, port: PortId) {
        let (now, size, random) = (self.now, self.fabric_size(), self.jitter.next());
        self.sa.port_mut(port).pacer.started(now, size, random);
    }

    /// Records that the SA was busy or did not respond to a renewal.
    pub(crate) fn renewal_failed(&mut self, port: PortId) {
        let (now, size, random) = (self.now, self.fabric_size(), self.jitter.next());
        self.sa.port_mut(port).pacer.failed(now, size, random);
    }

    /// Records that another account needs the response: the query also gets that account's turns. The urgency of an
    /// account that needs it already changes.
    pub fn sa_join(&mut self, id: SaQueryId, account: AccountId, urgency: Urgency) {
        self.sa.join(id, account, urgency);
    }

    /// Records that an account no longer needs the response.
    pub fn sa_leave(&mut self, id: SaQueryId, account: AccountId) {
        self.sa.leave(id, account);
    }

    /// Makes the result of a provider's query follow with another token.
    pub(crate) fn sa_hand_over(&mut self, id: SaQueryId, to: Token) {
        if let Some(Purpose::Provider(_, token)) = self.sa.queries.get_mut(id).map(|pending| &mut pending.purpose) {
            *token = to;
        }
    }

    /// Cancels a query that is not in flight. Returns `true` if it was cancelled; no result follows then.
    pub fn sa_cancel(&mut self, id: SaQueryId) -> bool {
        if self.sa.is_in_flight(id) {
            return false;
        }
        self.timers.clear(TimerKey::SaQuery(id));
        self.sa.remove(id).is_some()
    }

    /// Cancels a query, or ignores its response if it is in flight: no result follows.
    pub fn sa_discard(&mut self, id: SaQueryId) {
        if !self.sa_cancel(id)
            && let Some(pending) = self.sa.queries.get_mut(id)
        {
            pending.purpose = Purpose::Discard;
        }
    }

    /// Sends queries as long as the port has credits.
    pub(crate) fn sa_pump(&mut self, port: PortId) {
        while self.ports.attributes(port).is_some() && self.running != Running::Stopped {
            // The upper half of a transaction id belongs to the kernel.
            let Some(tid) = u32::try_from(self.transaction_ids.next() >> 32).ok() else { return };
            let Some((send, id)) = self.sa.next(port, self.now, tid) else { return };
            if let Some(waited) = self.sa.queries.get(id).and_then(|pending| pending.waited(self.now)) {
                self.record_latency(Phase::SaTurn, waited);
            }
            self.sa_send(port, send, id, tid);
        }
    }

    fn sa_send(&mut self, port: PortId, send: SaRequestId, id: SaQueryId, tid: u32) {
        let (Some(attributes), Some(pending)) = (self.ports.attributes(port), self.sa.queries.get_mut(id)) else {
            return;
        };
        let mad = pending.query.mad(attributes, TransactionId::new(tid.into()));
        // The device repeats requests of all nodes in step. The core repeats its own by a policy with jitter.
        pending.is_sent_once = pending.is_own();
        let retries = if pending.is_sent_once { 0 } else { self.config.retries };
        // A table is complete when its last segment has arrived.
        let timeout = if pending.query.is_table() { self.config.sa_time() } else { self.config.timeout };
        let send = SaSend { port, id: send, to: attributes.sa_address(), mad, timeout, retries };
        self.output(Output::SaSend(send));
        // The sender repeats the request and reports a time-out. This timer covers a sender that does not.
        let time = timeout.saturating_mul(retries.saturating_add(1));
        self.timers.set(TimerKey::SaQuery(id), self.now + time + SENDER_MARGIN);
    }

    /// Handles a response.
    pub(crate) fn sa_received<'a>(&mut self, send: SaRequestId, bytes: &'a [u8]) -> Outcome<'a> {
        let Some(id) = self.sa.sends.get(send).copied() else {
            self.stats.stale_inputs += 1;
            return Outcome::Nothing;
        };
        let Some(pending) = self.sa.queries.get(id) else { return Outcome::Nothing };
        let Pending { port, query, progress: Progress::InFlight { tid, sent, .. }, .. } = pending else {
            return Outcome::Nothing;
        };
        let (is_datagram, is_table) = (matches!(query, SaQuery::Datagram(_)), query.is_table());
        let is_renewal = pending.is_renewal();
        let (port, tid, sent, attribute) = (*port, u64::from(*tid), *sent, query.attribute());
        let is_whole = is_table || bytes.len() >= size_of::<SaMad>();
        let mad = match MadRef::new(bytes) {
            // A response to something else; the right one may still arrive.
            Ok(mad) if mad.header().transaction_id.get() & 0xffff_ffff != tid => {
                self.stats.sa_bad_answers += 1;
                return Outcome::Nothing;
            }
            Ok(mad) if is_whole && mad.method().is_response() && mad.header().attribute_id == attribute => mad,
            _ => {
                self.stats.sa_bad_answers += 1;
                self.log(Event::BadSaResponse(port));
                return Outcome::Done(id, Err(SaError::BadResponse));
            }
        };
        let status = mad.header().status;
        self.stats.sa_busy += u64::from(status.is_busy());
        if let Ok(paths) = mad.records::<PathRecord>() {
            paths.for_each(|path| self.saw_lid(port, path.dlid));
        }
        // The time of a table depends on its length. After BUSY, the provider pauses for longer than a query can wait.
        if is_table {
            return Outcome::Done(id, if status.is_ok() { Ok(mad) } else { Err(SaError::Status(status)) });
        }
        let latency = self.now.since(sent);
        self.latencies.count(Phase::SaRoundTrip, latency);
        if status.is_busy() {
            if let Some(port_queue) = self.sa.ports.get_mut(&port) {
                port_queue.window.congested(self.now, sent);
            }
            // All renewals of the port pause.
            if is_renewal {
                return Outcome::Done(id, Err(SaError::Status(status)));
            }
            return match self.sa_pause(id) {
                true => Outcome::Nothing,
                false if is_datagram => Outcome::Done(id, Ok(mad)),
                false => Outcome::Done(id, Err(SaError::Status(status))),
            };
        }
        if let Some(port_queue) = self.sa.ports.get_mut(&port) {
            port_queue.window.response_received(MOST_QUERIES);
        }
        if attribute == AttributeId::PATH_RECORD {
            let size = self.fabric_size();
            self.sa.port_mut(port).pacer.response(latency, is_renewal, size);
        }
        Outcome::Done(id, if status.is_ok() || is_datagram { Ok(mad) } else { Err(SaError::Status(status)) })
    }

    /// Pauses a query after BUSY. Returns `false` if there is no time left for another attempt.
    fn sa_pause(&mut self, id: SaQueryId) -> bool {
        let random = self.jitter.next();
        let Some(pending) = self.sa.queries.get_mut(id) else { return false };
        pending.busy += 1;
        let again = self.now + retry::jitter(SA_BUSY.pause(pending.busy), random);
        let (port, begun) = (pending.port, pending.first_sent.unwrap_or(self.now));
        if again > begun + self.config.sa_time() || !pending.is_needed() {
            return false;
        }
        self.sa.pause(id);
        self.timers.set(TimerKey::SaQuery(id), again);
        self.sa_pump(port);
        true
    }

    /// Handles the timer of a query. Returns the error with which it ends, or `None` if it continues.
    pub(crate) fn sa_due(&mut self, id: SaQueryId) -> Option<SaError> {
        let pending = self.sa.queries.get(id)?;
        let port = pending.port;
        match pending.progress {
            Progress::Waiting => {
                self.stats.sa_no_turn += 1;
                Some(SaError::NoTurn)
            }
            Progress::InFlight { .. } => self.sa_timed_out(id).then_some(SaError::TimedOut),
            Progress::Pausing => {
                self.sa.requeue(id);
                self.timers.set(TimerKey::SaQuery(id), self.now + self.config.queue_deadline);
                self.sa_pump(port);
                None
            }
        }
    }

    /// Handles the time-out of a query. Returns `true` if the query ends.
    ///
    /// A query that releases something (a leave, the end of a subscription) is retried here and not by the sender. The
    /// sender does not know what is requested next: its retry could arrive after a new join and undo it.
    pub(crate) fn sa_timed_out(&mut self, id: SaQueryId) -> bool {
        let now = self.now;
        let Some(pending) = self.sa.queries.get_mut(id) else { return true };
        let Progress::InFlight { sent, .. } = pending.progress else { return true };
        let port = pending.port;
        if let (false, Some(port_queue)) = (pending.query.is_table(), self.sa.ports.get_mut(&port)) {
            port_queue.window.congested(now, sent);
        }
        pending.silent = pending.silent.saturating_add(1);
        // An account joined a query of the daemon itself, which the sender did not repeat.
        let was_joined = pending.is_sent_once && !pending.is_own();
        let may_repeat = pending.query.releases() || was_joined;
        if !may_repeat || pending.silent > self.config.retries {
            return true;
        }
        self.sa.requeue(id);
        self.timers.set(TimerKey::SaQuery(id), now + self.config.queue_deadline);
        self.sa_pump(port);
        false
    }

    /// Returns the duration of a query from an endpoint since `since`, or `None` if the port is down.
    #[must_use]
    pub fn sa_attempt(&self, endpoint: EndpointId, since: Time) -> Option<SaAttempt> {
        Some(SaAttempt { lid: self.port_of(endpoint)?.sm_lid, time: self.now.since(since) })
    }

    /// Removes a query and its timer.
    pub(crate) fn sa_remove(&mut self, id: SaQueryId) -> Option<Pending> {
        self.timers.clear(TimerKey::SaQuery(id));
        self.sa.remove(id)
    }

    /// Requeues the queries of a port that moved, or whose subnet manager moved. [`Context::sa_pump`] then sends them
    /// to the new address. Returns the queries that no account needs any more; the caller ends them.
    ///
    /// If the manager did not move, a query in flight that releases something continues: it may have arrived, and no
    /// new join is sent before it is answered or has timed out.
    #[must_use]
    pub(crate) fn sa_moved(&mut self, port: PortId, other_manager: bool) -> Vec<SaQueryId> {
        let all: Vec<SaQueryId> =
            self.sa.ports.get(&port).map(|port_queue| port_queue.all.iter().copied().collect()).unwrap_or_default();
        let (mut again, mut unneeded) = (0, Vec::new());
        // In reverse, so that the oldest query ends up at the front.
        for id in all.into_iter().rev() {
            let Some(pending) = self.sa.queries.get_mut(id) else { continue };
            let under_way = matches!(pending.progress, Progress::InFlight { .. });
            if !pending.is_needed() {
                unneeded.push(id);
            } else if under_way && !other_manager && pending.query.releases() {
                continue;
            } else if !matches!(pending.progress, Progress::Waiting) {
                // The new subnet administrator gets the full time and all retries.
                (pending.busy, pending.silent, pending.first_sent) = (0, 0, None);
                self.sa.requeue(id);
                self.timers.set(TimerKey::SaQuery(id), self.now + self.config.queue_deadline);
                again += 1;
            }
        }
        if again > 0 {
            self.stats.sa_reposted += u64::try_from(again).unwrap_or(u64::MAX);
            self.log(Event::SaMoved(port, again));
        }
        unneeded
    }
}
