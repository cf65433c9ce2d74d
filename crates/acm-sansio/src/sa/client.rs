//! Queries to the subnet administrator (SA): sending, responses, BUSY, retries, cancellation.
use super::{
    query::SaQuery,
    queue::{Pending, Progress, Purpose, SaQueues},
    subscriptions::Notices,
};
use crate::{
    accounts::fair::Urgency,
    api::{
        Event, Output, SaError, SaSend,
        account::AccountId,
        config::Depth,
        histogram::Phase,
        id::{PortId, SaQueryId, SaRequestId, Token},
    },
    ports::Ports,
    retry::{self, SA_BUSY, SENDER_MARGIN},
    shared::{Running, Shared, timers::TimerKey},
};
use alloc::vec::Vec;
use ib_mad::{
    AttributeId, MadRef, TransactionId,
    sa::{PathRecord, SaMad},
};

/// A query that is complete, with the response or the error.
pub(crate) type Complete<'a> = (SaQueryId, Result<MadRef<'a>, SaError>);

/// The client of the subnet administrator: the queries and the subscriptions of all ports.
#[derive(Debug)]
pub(crate) struct SaClient {
    pub(super) queues: SaQueues,
    pub(super) notices: Notices,
}

impl SaClient {
    pub(crate) const fn new(depth: Depth) -> Self {
        Self { queues: SaQueues::new(depth), notices: Notices::new() }
    }

    /// Starts a query of a port. It is completed once, unless it is cancelled or discarded.
    ///
    /// # Errors
    /// [`SaError::PortDown`] if the port is down; nothing follows then.
    pub(crate) fn request(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        port: PortId,
        purpose: Purpose,
        query: SaQuery,
        account: AccountId,
    ) -> Result<SaQueryId, SaError> {
        ports.attributes(port).ok_or(SaError::PortDown)?;
        let id = self.queues.push(port, purpose, query, account);
        if let Some(pending) = self.queues.queries.get_mut(id) {
            pending.since = shared.now;
        }
        shared.timers.set(TimerKey::SaQuery(id), shared.now + shared.config.queue_deadline);
        self.pump(shared, ports, port);
        Ok(id)
    }

    /// Records that another account needs the response: the query also gets that account's turns. The urgency of an
    /// account that needs it already changes.
    pub(crate) fn join(&mut self, shared: &mut Shared, id: SaQueryId, account: AccountId, urgency: Urgency) {
        if let Some(id) = self.existing(shared, id) {
            self.queues.join(id, account, urgency);
        }
    }

    /// Records that an account no longer needs the response.
    pub(crate) fn leave(&mut self, shared: &mut Shared, id: SaQueryId, account: AccountId) {
        if let Some(id) = self.existing(shared, id) {
            self.queues.leave(id, account);
        }
    }

    /// Completes a provider's query with another token.
    pub(crate) fn hand_over(&mut self, id: SaQueryId, to: Token) {
        if let Some(Purpose::Provider(_, token)) = self.queues.queries.get_mut(id).map(|pending| &mut pending.purpose) {
            *token = to;
        }
    }

    /// Cancels a query that is not in flight. Returns `true` if it was cancelled; no result follows then.
    pub(crate) fn cancel(&mut self, shared: &mut Shared, id: SaQueryId) -> bool {
        let is_cancelled = self.existing(shared, id).is_some() && !self.queues.is_in_flight(id);
        if is_cancelled {
            shared.timers.clear(TimerKey::SaQuery(id));
            self.queues.remove(id);
        }
        is_cancelled
    }

    /// Cancels a query, or ignores its response if it is in flight: no result follows.
    pub(crate) fn discard(&mut self, shared: &mut Shared, id: SaQueryId) {
        if !self.cancel(shared, id)
            && let Some(pending) = self.queues.queries.get_mut(id)
        {
            pending.purpose = Purpose::Discard;
        }
    }

    /// Sends queries as long as the port has credits.
    pub(crate) fn pump(&mut self, shared: &mut Shared, ports: &Ports, port: PortId) {
        while ports.attributes(port).is_some() && shared.running != Running::Stopped {
            // The upper half of a transaction id belongs to the kernel.
            let tid = u32::try_from(shared.transaction_id().get() >> 32).unwrap_or_default();
            let Some((send, id)) = self.queues.next(port, shared.now, tid) else { return };
            if let Some(waited) = self.queues.queries.get(id).and_then(|pending| pending.waited(shared.now)) {
                shared.record_latency(Phase::SaTurn, waited);
            }
            self.send(shared, ports, port, send, id, tid);
        }
    }

    fn send(&mut self, shared: &mut Shared, ports: &Ports, port: PortId, send: SaRequestId, id: SaQueryId, tid: u32) {
        let found = ports.attributes(port).zip(self.queues.queries.get_mut(id));
        let Some((attributes, pending)) = shared.existing(found) else { return };
        let mad = pending.query.mad(attributes, TransactionId::new(tid.into()));
        // The device repeats requests of all nodes in step. The core repeats its own by a policy with jitter.
        pending.is_sent_once = pending.is_own();
        let retries = if pending.is_sent_once { 0 } else { shared.config.retries };
        // A table is complete when its last segment has arrived.
        let mut timeout = if pending.query.is_table() { shared.config.sa_time() } else { shared.config.timeout };
        if retries > 0 {
            timeout += retry::spread(timeout / 4, shared.random());
        }
        let send = SaSend { port, id: send, to: attributes.sa_address(), mad, timeout, retries };
        shared.output(Output::SaSend(send));
        // The sender repeats the request and reports a time-out. This timer covers a sender that does not.
        let time = timeout.saturating_mul(retries.saturating_add(1));
        shared.timers.set(TimerKey::SaQuery(id), shared.now + time + SENDER_MARGIN);
    }

    /// Returns the id of a query that a provider or a client's request needs. It exists until its result is handled.
    fn existing(&self, shared: &mut Shared, id: SaQueryId) -> Option<SaQueryId> {
        shared.existing(self.queues.queries.get(id))?;
        Some(id)
    }

    /// Returns the query of a request that an input names. A request that was answered or sent again is stale.
    fn of_request(&self, shared: &mut Shared, send: SaRequestId) -> Option<SaQueryId> {
        shared.named(self.queues.sends.get(send).copied())
    }

    /// Handles a response. Returns `None` if the query continues, or if the response matches no query.
    pub(crate) fn handle_response<'a>(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        send: SaRequestId,
        bytes: &'a [u8],
    ) -> Option<Complete<'a>> {
        let id = self.of_request(shared, send)?;
        let pending = shared.existing(self.queues.queries.get(id))?;
        let Pending { port, query, progress: Progress::InFlight { tid, sent, .. }, .. } = pending else {
            return None;
        };
        let (is_datagram, is_table) = (matches!(query, SaQuery::Datagram(_)), query.is_table());
        let is_renewal = pending.is_renewal();
        let (port, tid, sent, attribute) = (*port, u64::from(*tid), *sent, query.attribute());
        let is_whole = is_table || bytes.len() >= size_of::<SaMad>();
        let mad = match MadRef::new(bytes) {
            // A response to something else; the right one may still arrive.
            Ok(mad) if mad.header().transaction_id.get() & 0xffff_ffff != tid => {
                shared.stats.sa_bad_answers += 1;
                return None;
            }
            Ok(mad) if is_whole && mad.method().is_response() && mad.header().attribute_id == attribute => mad,
            _ => {
                shared.stats.sa_bad_answers += 1;
                shared.log(Event::BadSaResponse(port));
                return Some((id, Err(SaError::BadResponse)));
            }
        };
        let status = mad.header().status;
        shared.stats.sa_busy += u64::from(status.is_busy());
        if let (Ok(paths), Some(attributes)) = (mad.records::<PathRecord>(), ports.attributes(port)) {
            paths.for_each(|path| shared.saw_lid(path.dlid, attributes.lmc));
        }
        // The time of a table depends on its length. After BUSY, the provider pauses for longer than a query can wait.
        if is_table {
            return Some((id, if status.is_ok() { Ok(mad) } else { Err(SaError::Status(status)) }));
        }
        let latency = shared.now.since(sent);
        shared.record_latency(Phase::SaRoundTrip, latency);
        if status.is_busy() {
            if let Some(port_queue) = self.queues.ports.get_mut(&port) {
                port_queue.window.congested(shared.now, sent);
            }
            // All renewals of the port pause.
            if is_renewal {
                return Some((id, Err(SaError::Status(status))));
            }
            return match self.pause(shared, ports, id) {
                true => None,
                false if is_datagram => Some((id, Ok(mad))),
                false => Some((id, Err(SaError::Status(status)))),
            };
        }
        self.adapt(shared, port, sent, latency);
        if attribute == AttributeId::PATH_RECORD {
            let size = shared.fabric_size();
            // A refusal of a renewal is a failure, as BUSY is.
            let is_answer = status.is_ok() || SaError::Status(status).is_no_path();
            self.queues.port_mut(port).pacer.response(latency, is_renewal && is_answer, size);
        }
        Some((id, if status.is_ok() || is_datagram { Ok(mad) } else { Err(SaError::Status(status)) }))
    }

    /// Pauses a query after BUSY. Returns `false` if there is no time left for another attempt.
    fn pause(&mut self, shared: &mut Shared, ports: &Ports, id: SaQueryId) -> bool {
        let random = shared.random();
        let Some(pending) = shared.existing(self.queues.queries.get_mut(id)) else { return false };
        pending.busy += 1;
        let again = shared.now + retry::jitter(SA_BUSY.pause(pending.busy), random);
        let (port, begun) = (pending.port, pending.first_sent.unwrap_or(shared.now));
        if again > begun + shared.config.sa_time() || !pending.is_needed() {
            return false;
        }
        self.queues.pause(id);
        shared.timers.set(TimerKey::SaQuery(id), again);
        self.pump(shared, ports, port);
        true
    }

    /// Handles the timer of a query. Returns the error with which it ends, or `None` if it continues.
    pub(crate) fn handle_timeout(&mut self, shared: &mut Shared, ports: &Ports, id: SaQueryId) -> Option<SaError> {
        let pending = shared.existing(self.queues.queries.get(id))?;
        let port = pending.port;
        match pending.progress {
            Progress::Waiting => {
                shared.stats.sa_no_turn += 1;
                Some(SaError::NoTurn)
            }
            Progress::InFlight { .. } => self.timed_out(shared, ports, id).then_some(SaError::TimedOut),
            Progress::Pausing => {
                self.queues.requeue(id);
                shared.timers.set(TimerKey::SaQuery(id), shared.now + shared.config.queue_deadline);
                self.pump(shared, ports, port);
                None
            }
        }
    }

    /// Handles the time-out of a query. Returns `true` if the query ends.
    ///
    /// A query that releases something (a leave, the end of a subscription) is retried here and not by the sender. The
    /// sender does not know what is requested next: its retry could arrive after a new join and undo it.
    fn timed_out(&mut self, shared: &mut Shared, ports: &Ports, id: SaQueryId) -> bool {
        let now = shared.now;
        let Some(pending) = shared.existing(self.queues.queries.get_mut(id)) else { return true };
        let Progress::InFlight { sent, .. } = pending.progress else { return true };
        let port = pending.port;
        shared.stats.sa_timed_out += 1;
        if let (false, Some(port_queue)) = (pending.query.is_table(), self.queues.ports.get_mut(&port)) {
            port_queue.window.congested(now, sent);
        }
        pending.silent = pending.silent.saturating_add(1);
        // An account joined a query of the daemon itself, which the sender did not repeat.
        let was_joined = pending.is_sent_once && !pending.is_own();
        let may_repeat = pending.query.releases() || was_joined;
        if !may_repeat || pending.silent > shared.config.retries {
            return true;
        }
        self.queues.requeue(id);
        shared.timers.set(TimerKey::SaQuery(id), now + shared.config.queue_deadline);
        self.pump(shared, ports, port);
        false
    }

    /// Handles a request that gets no response. Returns the query if it ends.
    pub(crate) fn handle_failure(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        send: SaRequestId,
        error: SaError,
    ) -> Option<Complete<'static>> {
        let id = self.of_request(shared, send)?;
        (error != SaError::TimedOut || self.timed_out(shared, ports, id)).then_some((id, Err(error)))
    }

    /// Removes a query and its timer. Returns `None` if it was cancelled while the end of another query of its port was
    /// handled.
    pub(crate) fn take(&mut self, shared: &mut Shared, id: SaQueryId) -> Option<Pending> {
        shared.timers.clear(TimerKey::SaQuery(id));
        self.queues.remove(id)
    }

    /// Requeues the queries of a port that moved, or whose subnet manager moved. [`SaClient::pump`] then sends them
    /// to the new address. Returns the queries that no account needs any more; the caller ends them.
    ///
    /// If the manager did not move, a query in flight that releases something continues: it may have arrived, and no
    /// new join is sent before it is answered or has timed out.
    #[must_use]
    pub(crate) fn requeue_all(&mut self, shared: &mut Shared, port: PortId, other_manager: bool) -> Vec<SaQueryId> {
        let all = self.of_port(port);
        let (mut again, mut unneeded) = (0, Vec::new());
        // In reverse, so that the oldest query ends up at the front.
        for id in all.into_iter().rev() {
            let Some(pending) = shared.existing(self.queues.queries.get_mut(id)) else { continue };
            let under_way = matches!(pending.progress, Progress::InFlight { .. });
            if !pending.is_needed() {
                unneeded.push(id);
            } else if under_way && !other_manager && pending.query.releases() {
                continue;
            } else if !matches!(pending.progress, Progress::Waiting) {
                // The new subnet administrator gets the full time and all retries.
                (pending.busy, pending.silent, pending.first_sent) = (0, 0, None);
                self.queues.requeue(id);
                shared.timers.set(TimerKey::SaQuery(id), shared.now + shared.config.queue_deadline);
                again += 1;
            }
        }
        if again > 0 {
            shared.stats.sa_reposted += u64::try_from(again).unwrap_or(u64::MAX);
            shared.log(Event::SaMoved(port, again));
        }
        unneeded
    }

    /// Returns the queries of a port, oldest first.
    pub(crate) fn of_port(&self, port: PortId) -> Vec<SaQueryId> {
        self.queues.ports.get(&port).map(|port_queue| port_queue.all.iter().copied().collect()).unwrap_or_default()
    }

    /// Returns the ports that ever had a query.
    pub(crate) fn ports(&self) -> Vec<PortId> {
        self.queues.ports.keys().copied().collect()
    }

    /// Reports whether no query is left.
    pub(crate) fn is_idle(&self) -> bool {
        self.queues.queries.len() == 0
    }

    /// Sets the number of queries of a port that may be in flight.
    pub(crate) fn set_depth(&mut self, depth: Depth) {
        self.queues.set_depth(depth);
    }

    /// Returns the purpose of the query that is last in an account's queues.
    pub(crate) fn last(&self, account: AccountId, urgency: Urgency) -> Option<Purpose> {
        self.queues.last(account, urgency)
    }
}

#[cfg(test)]
mod tests;
