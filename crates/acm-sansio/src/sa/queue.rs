//! Queues of queries to the subnet administrator, and the progress of each query.
use super::{pace::Pacer, query::SaQuery};
use crate::{
    accounts::{
        credit::{Credit, CreditQueue, QueuePositions},
        fair::{FairQueue, Position, Urgency},
        window::Window,
    },
    api::{
        Time,
        account::{AccountId, DAEMON},
        config::Depth,
        id::{EndpointId, PortId, RequestId, SaQueryId, SaRequestId, Token},
    },
    collections::arena::Arena,
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

/// Joins and leaves are not served by account: they share one lane.
const MEMBERSHIP_LANE: u32 = 0;

/// The recipient of a query's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The provider, which identifies the query by a token.
    Provider(EndpointId, Token),
    /// A client's QUERY_SA request.
    Client(EndpointId, RequestId),
    /// The port's subscriptions to notices.
    Notices,
    /// None, the result is discarded: a group is being left, or the client disconnected.
    Discard,
}

/// The progress of a query.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Waiting for a credit.
    Waiting,
    /// Sent, without a response so far.
    InFlight {
        send: SaRequestId,
        /// Lower half of the transaction id; the upper half belongs to the kernel.
        tid: u32,
        /// `None` for a table, a join or a leave.
        credit: Option<Credit>,
        sent: Time,
    },
    /// The SA was busy; the query waits for the next attempt without a credit.
    Pausing,
}

/// An open query.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) port: PortId,
    pub(crate) purpose: Purpose,
    pub(crate) query: SaQuery,
    /// The accounts that need the response.
    pub(crate) accounts: Vec<AccountId>,
    pub(crate) positions: QueuePositions,
    /// The queue position of a join or leave that waits.
    position: Option<Position>,
    pub(crate) progress: Progress,
    /// Number of BUSY responses.
    pub(crate) busy: u32,
    /// Number of time-outs.
    pub(crate) silent: u32,
    /// `true` if its sender does not repeat it.
    pub(crate) is_sent_once: bool,
    /// The time of its creation.
    pub(crate) since: Time,
    /// The time when it was first sent. The time limit for all retries counts from here.
    pub(crate) first_sent: Option<Time>,
}

impl Pending {
    /// Returns the time that it waited for its turn, if it is being sent for the first time.
    pub(crate) fn waited(&self, now: Time) -> Option<core::time::Duration> {
        matches!(self.progress, Progress::InFlight { .. } if self.busy == 0 && self.first_sent == Some(now))
            .then(|| now.since(self.since))
    }

    /// Reports whether the daemon sends it on its own account: a join, a subscription, a renewal, a table, or the end
    /// of one.
    pub(crate) fn is_own(&self) -> bool {
        let is_own = self.accounts.iter().all(|account| *account == DAEMON);
        self.query.releases() || is_own && !matches!(self.query, SaQuery::Datagram(_))
    }

    /// Reports whether it is a path query of the daemon itself.
    pub(crate) fn is_renewal(&self) -> bool {
        matches!(self.query, SaQuery::Path { .. }) && self.is_own()
    }

    /// Reports whether the query is worth sending again. Queries that release something always are.
    pub(crate) fn is_needed(&self) -> bool {
        match self.purpose {
            Purpose::Provider(..) | Purpose::Client(..) | Purpose::Notices => !self.accounts.is_empty(),
            Purpose::Discard => self.query.releases(),
        }
    }
}

/// The queries of one port.
#[derive(Debug)]
pub(crate) struct PortQueue {
    pub(crate) queue: CreditQueue<SaQueryId>,
    /// Joins and leaves that wait.
    memberships: FairQueue<SaQueryId>,
    /// The join or leave that is in flight or pausing.
    membership_under_way: Option<SaQueryId>,
    /// Queries for tables that wait. They need no credit, because a slow table must not delay other queries. An
    /// endpoint has at most one.
    tables: Vec<SaQueryId>,
    pub(crate) window: Window<true>,
    /// The time before which no query is sent that needs a credit.
    pub(super) resume: Time,
    pub(crate) pacer: Pacer,
    /// All queries of the port, with any progress.
    pub(crate) all: BTreeSet<SaQueryId>,
}

/// The queries of all ports.
#[derive(Debug)]
pub(crate) struct SaQueues {
    pub(crate) depth: Depth,
    pub(crate) queries: Arena<SaQueryId, Pending>,
    /// Requests in flight. A query that is sent again gets another id.
    pub(crate) sends: Arena<SaRequestId, SaQueryId>,
    pub(crate) ports: BTreeMap<PortId, PortQueue>,
}

impl PortQueue {
    fn new() -> Self {
        Self {
            queue: CreditQueue::default(),
            memberships: FairQueue::new(),
            membership_under_way: None,
            tables: Vec::new(),
            window: Window::default(),
            resume: Time::ZERO,
            pacer: Pacer::default(),
            all: BTreeSet::new(),
        }
    }

    /// Returns the next query with its credit. A table, a join and a leave have none.
    fn next(&mut self, depth: Depth, now: Time) -> Option<(SaQueryId, Option<Credit>)> {
        if let Some(id) = self.tables.pop() {
            return Some((id, None));
        }
        if self.membership_under_way.is_none()
            && let Some(id) = self.memberships.pop()
        {
            self.membership_under_way = Some(id);
            return Some((id, None));
        }
        if now < self.resume {
            return None;
        }
        let depth = depth.or(self.window.depth());
        self.queue.next(depth).map(|(id, credit)| (id, Some(credit)))
    }

    /// Reports whether a join or leave waits, or is under way.
    pub(super) fn has_memberships(&self) -> bool {
        self.membership_under_way.is_some() || self.memberships() > 0
    }

    /// Returns the number of queries in flight that hold a credit, and of joins and leaves.
    pub(crate) fn in_flight(&self) -> u32 {
        self.queue.held() + u32::from(self.membership_under_way.is_some())
    }

    /// Reports whether a renewal may start: no query waits, and neither a join nor another query of the daemon is in
    /// flight.
    pub(super) fn may_renew(&self) -> bool {
        !self.has_memberships() && self.queue.waiting() == (0, 0) && self.queue.background() == 0
    }

    /// Returns the number of joins and leaves that wait.
    pub(crate) fn memberships(&self) -> usize {
        self.memberships.len()
    }
}

impl SaQueues {
    pub(crate) const fn new(depth: Depth) -> Self {
        Self { depth, queries: Arena::new(), sends: Arena::new(), ports: BTreeMap::new() }
    }

    /// Sets the number of queries that may be in flight.
    pub(crate) fn set_depth(&mut self, depth: Depth) {
        self.depth = depth;
        for port_queue in self.ports.values_mut() {
            port_queue.window = Window::default();
        }
    }

    /// Returns the queries of a port.
    pub(super) fn port_mut(&mut self, port: PortId) -> &mut PortQueue {
        self.ports.entry(port).or_insert_with(PortQueue::new)
    }

    /// Appends a query to its queue.
    pub(crate) fn push(&mut self, port: PortId, purpose: Purpose, query: SaQuery, account: AccountId) -> SaQueryId {
        let (is_membership, is_table) = (query.is_membership(), query.is_table());
        let id = self.queries.insert(Pending {
            port,
            purpose,
            query,
            accounts: Vec::from([account]),
            positions: QueuePositions::default(),
            position: None,
            progress: Progress::Waiting,
            busy: 0,
            silent: 0,
            is_sent_once: false,
            since: Time::ZERO,
            first_sent: None,
        });
        self.port_mut(port).all.insert(id);
        let Self { queries, ports, .. } = self;
        if let (Some(pending), Some(port_queue)) = (queries.get_mut(id), ports.get_mut(&port)) {
            if is_membership {
                pending.position = Some(port_queue.memberships.push(MEMBERSHIP_LANE, Urgency::Waited, id));
            } else if is_table {
                port_queue.tables.push(id);
            } else {
                port_queue.queue.join(&mut pending.positions, account, Urgency::Waited, id);
            }
        }
        id
    }

    /// Returns the next query to send and marks it as in flight.
    pub(crate) fn next(&mut self, port: PortId, now: Time, tid: u32) -> Option<(SaRequestId, SaQueryId)> {
        let port_queue = self.ports.get_mut(&port)?;
        let (id, credit) = port_queue.next(self.depth, now)?;
        let send = self.sends.insert(id);
        let pending = self.queries.get_mut(id)?;
        port_queue.queue.leave_all(&mut pending.positions);
        if credit.is_some() {
            port_queue.window.request_sent(now);
        }
        pending.position = None;
        pending.progress = Progress::InFlight { send, tid, credit, sent: now };
        pending.first_sent.get_or_insert(now);
        Some((send, id))
    }

    /// Returns the credit of a query in flight. A response to the earlier request is stale from now on.
    fn recall(&mut self, id: SaQueryId) {
        let Some(pending) = self.queries.get_mut(id) else { return };
        let progress = core::mem::replace(&mut pending.progress, Progress::Waiting);
        if let (Progress::InFlight { send, credit, .. }, Some(port_queue)) =
            (progress, self.ports.get_mut(&pending.port))
        {
            self.sends.remove(send);
            credit.into_iter().for_each(|credit| port_queue.queue.give_back(credit));
        }
    }

    /// Removes a query, whatever its progress.
    pub(crate) fn remove(&mut self, id: SaQueryId) -> Option<Pending> {
        self.recall(id);
        let mut pending = self.queries.remove(id)?;
        if let Some(port_queue) = self.ports.get_mut(&pending.port) {
            port_queue.queue.leave_all(&mut pending.positions);
            port_queue.all.remove(&id);
            port_queue.tables.retain(|table| *table != id);
            if port_queue.membership_under_way == Some(id) {
                port_queue.membership_under_way = None;
            } else if let Some(position) = pending.position {
                port_queue.memberships.remove(position);
            }
        }
        Some(pending)
    }

    /// Pauses a query after BUSY. Its credit is free until it is queued again.
    pub(crate) fn pause(&mut self, id: SaQueryId) {
        self.recall(id);
        if let Some(pending) = self.queries.get_mut(id) {
            pending.progress = Progress::Pausing;
        }
    }

    /// Puts a query that was sent before at the front of its queue.
    pub(crate) fn requeue(&mut self, id: SaQueryId) {
        self.recall(id);
        let Some(pending) = self.queries.get_mut(id) else { return };
        pending.progress = Progress::Waiting;
        let Some(port_queue) = self.ports.get_mut(&pending.port) else { return };
        if pending.query.is_membership() {
            if port_queue.membership_under_way == Some(id) {
                port_queue.membership_under_way = None;
                pending.position = Some(port_queue.memberships.push_first(MEMBERSHIP_LANE, id));
            }
        } else if pending.query.is_table() {
            port_queue.tables.push(id);
        } else {
            port_queue.queue.rejoin(&mut pending.positions, pending.accounts.iter().copied(), id);
        }
    }

    /// Returns the purpose of the query that is last in an account's queues.
    pub(crate) fn last(&self, account: AccountId, urgency: Urgency) -> Option<Purpose> {
        let id = self.ports.values().find_map(|port_queue| port_queue.queue.last(account, urgency))?;
        self.queries.get(id).map(|pending| pending.purpose)
    }

    /// Adds an account that needs the response, or changes the urgency of its need.
    pub(crate) fn join(&mut self, id: SaQueryId, account: AccountId, urgency: Urgency) {
        let Some(pending) = self.queries.get_mut(id) else { return };
        if !pending.accounts.contains(&account) {
            pending.accounts.push(account);
        }
        if let (Progress::Waiting, false, Some(port_queue)) =
            (&pending.progress, pending.query.is_membership(), self.ports.get_mut(&pending.port))
        {
            port_queue.queue.join(&mut pending.positions, account, urgency, id);
        }
    }

    /// Removes an account that no longer needs the response.
    pub(crate) fn leave(&mut self, id: SaQueryId, account: AccountId) {
        let Some(pending) = self.queries.get_mut(id) else { return };
        pending.accounts.retain(|other| *other != account);
        if let Some(port_queue) = self.ports.get_mut(&pending.port) {
            port_queue.queue.leave(&mut pending.positions, account);
        }
    }

    pub(crate) fn is_in_flight(&self, id: SaQueryId) -> bool {
        self.queries.get(id).is_some_and(|pending| matches!(pending.progress, Progress::InFlight { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::sa::PathRecord;

    const PORT: PortId = PortId(0);
    const A: AccountId = AccountId::new(5, 0);
    const B: AccountId = AccountId::new(6, 0);

    fn path() -> SaQuery {
        SaQuery::Path { query: SaQuery::of_client(&PathRecord::default()), from_port: false }
    }

    fn push(queues: &mut SaQueues, account: AccountId) -> SaQueryId {
        queues.push(PORT, Purpose::Discard, path(), account)
    }

    #[test]
    fn query_comes_at_the_first_turn_of_its_accounts() {
        let mut queues = SaQueues::new(Depth::Fixed(9));
        let ids = [A; 3].map(|account| push(&mut queues, account));
        queues.join(ids[2], B, Urgency::Waited);
        queues.join(ids[2], B, Urgency::Waited);
        assert_eq!(queues.queries.get(ids[2]).unwrap().accounts, [A, B]);
        let mut next = || queues.next(PORT, Time::ZERO, 0).map(|(_, id)| id);
        assert_eq!([(); 4].map(|()| next()), [Some(ids[2]), Some(ids[0]), Some(ids[1]), None]);
        assert!(ids.iter().all(|id| queues.is_in_flight(*id)));
    }

    /// Joins and leaves go one at a time; cancelling one does not affect the others.
    #[test]
    fn joins_and_leaves_go_one_at_a_time() {
        use ib_mad::sa::Query;
        let mut queues = SaQueues::new(Depth::Fixed(9));
        let ids = [(); 4].map(|()| queues.push(PORT, Purpose::Discard, SaQuery::Leave(Query::new()), A));
        assert_eq!(queues.ports[&PORT].memberships(), 4);
        let next = |queues: &mut SaQueues| queues.next(PORT, Time::ZERO, 0).map(|(_, id)| id);
        assert_eq!((next(&mut queues), next(&mut queues)), (Some(ids[0]), None));
        queues.remove(ids[2]);
        assert_eq!(queues.ports[&PORT].memberships(), 2);
        queues.remove(ids[0]);
        assert_eq!((next(&mut queues), next(&mut queues)), (Some(ids[1]), None));
        queues.remove(ids[1]);
        assert_eq!(next(&mut queues), Some(ids[3]));
    }

    #[test]
    fn client_query_has_no_number_of_paths_and_no_preference() {
        use ib_mad::{
            TransactionId,
            sa::{PathMask, ReversiblePaths},
        };
        let path = PathRecord {
            dlid: ib_mad::Lid::new(9),
            reversible_paths: ReversiblePaths::default().with_num_path(5),
            preference: 3,
            ..PathRecord::default()
        };
        let query = SaQuery::of_client(&path);
        let mad = SaQuery::Path { query, from_port: false }
            .mad(&crate::api::port::PortAttributes::default(), TransactionId::new(1));
        assert_eq!(mad.sa.component_mask.get(), PathMask::DLID.bits());
    }

    #[test]
    fn query_is_sent_again_only_if_needed() {
        use ib_mad::sa::Query;
        let mut queues = SaQueues::new(Depth::Fixed(9));
        let token = Token { provider: crate::api::ProviderId::BUILT_IN, kind: 1, index: 0, generation: 0 };
        let provider = Purpose::Provider(EndpointId::new(0, 0), token);
        let queries = [
            (provider, path()),
            (Purpose::Client(EndpointId::new(0, 0), RequestId::new(0, 0)), path()),
            (Purpose::Discard, path()),
            (Purpose::Discard, SaQuery::Leave(Query::new())),
        ];
        let ids = queries.map(|(purpose, query)| queues.push(PORT, purpose, query, A));
        let needed = |queues: &SaQueues| ids.map(|id| queues.queries.get(id).unwrap().is_needed());
        assert_eq!(needed(&queues), [true, true, false, true]);
        for id in ids {
            queues.leave(id, A);
        }
        assert_eq!(needed(&queues), [false, false, false, true]);
    }
}
