//! The operations of destinations: their lookups get credits, timers, datagrams and queries only here, and their requests
//! are answered here. The renewal of a path that is served is in `refresh/recheck.rs`.
use super::{
    dest::{Checks, DestState, History, Lookup, MulticastRequest, Ready, Remote, Routing, Stage},
    endpoint::{Endpoints, group_share::handling_time},
    paths::{self, PathSource},
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{
    accounts::fair::Urgency,
    api::{
        ResolverEvent, SendTo, Time,
        account::{AccountId, DAEMON},
        failure::{Attempt, Failure},
        id::EndpointId,
        port::PortAttributes,
    },
    provider::{Context, Resolution},
    retry::RequestRetry,
};
use acm_wire::{client::Counter, multicast};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::{Gid, id::Lmc, sa::PathRecord};

impl Ibacmp {
    /// Returns the policy of the open request of a destination. A host that is asked in order to check a claim about a
    /// path in use has less time than the group.
    pub(crate) fn retry(&self, cx: &Context, id: DestId) -> RequestRetry {
        let (dest, config) = (self.cache.at(id), cx.config());
        if dest.state.asks_host() {
            let round_trip = &self.endpoints.at(dest.endpoint).round_trip;
            RequestRetry::of_host(round_trip.likely(Duration::ZERO, config.timeout))
        } else {
            let subnet_time = cx.port_of(dest.endpoint).map(PortAttributes::subnet_time).unwrap_or_default();
            RequestRetry::of_group(config.timeout + subnet_time, config.retries)
        }
    }

    /// Queues a request. It is sent at once if a credit is free.
    pub(crate) fn queue_request(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at_mut(id);
        let endpoint = dest.endpoint;
        if let Some(MulticastRequest { stage: Stage::Queued(positions), lookup, tid, .. }) =
            dest.state.multicast_request_mut()
        {
            // A host was asked before.
            self.by_tid.remove(&tid.get());
            let queue = &mut self.endpoints.at_mut(endpoint).queue;
            for (account, urgency) in lookup.needs() {
                queue.join(positions, account, urgency, id);
            }
        }
        cx.count(endpoint, Counter::AddrQuery);
        let deadline = cx.now() + cx.config().queue_deadline;
        cx.set_timer(Task::Lookup(id).token(), deadline);
        self.pump(cx, endpoint);
    }

    /// Sends queued requests as long as the endpoint has credits, unless they wait for the endpoint's first join.
    pub(crate) fn pump(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if self.endpoints.awaits_base_group(cx, endpoint) {
            return;
        }
        let least_credit = handling_time(cx.fabric_size());
        loop {
            let state = self.endpoints.at_mut(endpoint);
            let Some((id, credit)) = state.queue.next(state.depth(cx)) else { break };
            state.window.request_sent(cx.now());
            let likely = state.round_trip.likely(least_credit, cx.config().timeout);
            let Some(request) = self.cache.at_mut(id).state.multicast_request_mut() else {
                state.queue.give_back(credit);
                continue;
            };
            if let Stage::Queued(positions) = &mut request.stage {
                state.queue.leave_all(positions);
            }
            request.stage = Stage::Sent(credit);
            self.by_tid.insert(request.tid.get(), id);
            let at = cx.now() + likely;
            cx.set_timer(Task::Credit(id).token(), at);
            self.send_request(cx, id);
        }
    }

    /// Sends a request to a host that claims to have the address, or has proven it before.
    pub(crate) fn ask_host(&mut self, cx: &mut Context, id: DestId, host: Remote, is_known: bool) {
        let dest = self.cache.at_mut(id);
        let endpoint = dest.endpoint;
        if let Some(request) = dest.state.multicast_request_mut() {
            request.turn_to(Some(host));
            request.is_known = is_known;
            if let Stage::Queued(mut positions) = core::mem::replace(&mut request.stage, Stage::Late) {
                self.endpoints.at_mut(endpoint).queue.leave_all(&mut positions);
            }
            self.by_tid.insert(request.tid.get(), id);
        }
        cx.count(endpoint, Counter::AddrQuery);
        self.send_request(cx, id);
    }

    pub(crate) fn send_request(&mut self, cx: &mut Context, id: DestId) {
        let retry = self.retry(cx, id);
        let endpoint = self.cache.at(id).endpoint;
        let groups: Vec<Gid> = self.endpoints.at(endpoint).joined().map(|member| member.mgid).collect();
        let dest = self.cache.at_mut(id);
        let name = dest.name();
        let Some(request) = dest.state.multicast_request_mut() else { return };
        request.sent(cx.now());
        let MulticastRequest { tid, times_sent, source, to: host, .. } = *request;
        self.stats.requests_repeated += u64::from(times_sent > 1);
        let deadline = cx.now() + retry.timeout(times_sent);
        cx.set_timer(Task::Lookup(id).token(), deadline);
        cx.log(ResolverEvent::RequestSent(endpoint, name, times_sent).into());
        if let Some(to) = self.receiver(cx, id, host) {
            self.endpoints.send(cx, endpoint, to, multicast::request(tid, &name, &source, &groups));
        }
    }

    /// Returns the receiver of a request: the base group, or a host. A host is reached by the cached path, if it leads
    /// there, else by the parameters of the group, which need no query.
    fn receiver(&self, cx: &Context, id: DestId, host: Option<Remote>) -> Option<SendTo> {
        let dest = self.cache.at(id);
        let port = cx.port_of(dest.endpoint)?;
        let by_group = || self.endpoints.at(dest.endpoint).base_group();
        match (host, &dest.state) {
            (None, _) => Some(paths::send_to_group(by_group()?, port)),
            (Some(host), DestState::Ready(Ready { path, .. }))
                if path.dgid == host.gid && host.is_at_end_of(path, port.lmc) =>
            {
                Some(paths::send_to(path, &host, port))
            }
            (Some(host), _) => Some(paths::send_to(&paths::from_group(by_group()?, &host, port.lid), &host, port)),
        }
    }

    /// Returns the credit of a request whose response is late.
    pub(crate) fn credit_due(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at_mut(id);
        let endpoint = dest.endpoint;
        let stage =
            dest.state.multicast_request_mut().map(|request| core::mem::replace(&mut request.stage, Stage::Late));
        if let Some(stage) = stage {
            self.release(cx, endpoint, stage);
        }
    }

    /// Frees the credit or the queue position of a request.
    fn release(&mut self, cx: &mut Context, endpoint: EndpointId, stage: Stage) {
        match stage {
            Stage::Queued(mut positions) => self.endpoints.at_mut(endpoint).queue.leave_all(&mut positions),
            Stage::Sent(credit) => {
                self.endpoints.at_mut(endpoint).queue.give_back(credit);
                self.pump(cx, endpoint);
            }
            Stage::Paused | Stage::Late => {}
        }
    }

    /// Ends a request: frees what it holds, and its timers. Returns its lookup.
    pub(crate) fn end_request(&mut self, cx: &mut Context, id: DestId, request: MulticastRequest) -> Lookup {
        cx.clear_timer(Task::Lookup(id).token());
        cx.clear_timer(Task::Credit(id).token());
        self.by_tid.remove(&request.tid.get());
        let endpoint = self.cache.at(id).endpoint;
        self.release(cx, endpoint, request.stage);
        request.lookup
    }

    /// Queries the subnet administrator for the path, if the lookup is needed. The query does not depend on earlier
    /// responses.
    pub(crate) fn query_route(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<Remote>,
        addr_until: Option<Time>,
        lookup: Lookup,
    ) -> Resolution {
        let Some(first) = lookup.accounts().next() else {
            lookup.end(cx);
            self.cache.remove_if_not_found(id);
            return Failure::EndpointClosed.into();
        };
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let Some(query) = self.path_query(cx, id, remote.as_ref()) else {
            return self.give_up(cx, id, lookup, Failure::EndpointClosed.into());
        };
        cx.count(endpoint, Counter::RouteQuery);
        cx.log(ResolverEvent::RouteRequested(endpoint, name).into());
        match cx.sa_query(endpoint, Task::Route(id).token(), query, first) {
            Err(error) => self.give_up(cx, id, lookup, Failure::Sa(error).into()),
            Ok(query) => {
                for (account, urgency) in lookup.needs() {
                    cx.sa_join(query, account, urgency);
                }
                let routing = Routing { remote, addr_until, query, since: cx.now(), lookup };
                self.cache.enter(id, DestState::Routing(routing));
                Resolution::Pending(Task::Lookup(id).token())
            }
        }
    }

    /// Continues the path query for a response to a host as the query of the host's address.
    pub(crate) fn take_over_query(
        &mut self,
        cx: &mut Context,
        id: DestId,
        by_gid: DestId,
        remote: Remote,
        mut lookup: Lookup,
    ) -> Resolution {
        let addr_until = cx.addr_end();
        if let DestState::Routing(routing) = self.cache.enter(by_gid, DestState::Unknown) {
            cx.sa.hand_over(routing.query, Task::Route(id).token());
            for (account, urgency) in lookup.needs() {
                cx.sa_join(routing.query, account, urgency);
            }
            lookup.absorb(cx, routing.lookup);
            let remote = Some(remote);
            self.cache.enter(id, DestState::Routing(Routing { remote, addr_until, lookup, ..routing }));
        }
        Resolution::Pending(Task::Lookup(id).token())
    }

    /// Adds a queue position for an account to the operation that waits for its turn, or moves the account's position
    /// to this urgency.
    pub(crate) fn join_queue(&mut self, cx: &mut Context, id: DestId, account: AccountId, urgency: Urgency) {
        let dest = self.cache.at_mut(id);
        match &mut dest.state {
            DestState::Routing(routing) => cx.sa_join(routing.query, account, urgency),
            other => {
                if let Some(MulticastRequest { stage: Stage::Queued(positions), .. }) = other.multicast_request_mut() {
                    self.endpoints.at_mut(dest.endpoint).queue.join(positions, account, urgency, id);
                }
            }
        }
    }

    /// Removes the queue position of an account that no longer needs a lookup, and ends the lookup if it is no longer
    /// needed.
    pub(crate) fn leave_queue(&mut self, cx: &mut Context, id: DestId, account: AccountId) {
        let dest = self.cache.at_mut(id);
        let needed = dest.state.lookup_mut().is_some_and(|lookup| lookup.is_needed());
        let queued = match &mut dest.state {
            DestState::Locating(request) => match &mut request.stage {
                Stage::Queued(positions) => {
                    self.endpoints.at_mut(dest.endpoint).queue.leave(positions, account);
                    true
                }
                // It ends at its first time-out.
                Stage::Paused | Stage::Sent(_) | Stage::Late => false,
            },
            DestState::Routing(routing) => {
                cx.sa_leave(routing.query, account);
                !needed && cx.sa_cancel(routing.query)
            }
            _ => false,
        };
        if !needed && queued {
            self.drop_unneeded(cx, id);
        }
    }

    /// Stores the path of a destination and answers all waiting requests, local and remote.
    pub(crate) fn make_ready(
        &mut self,
        cx: &mut Context,
        id: DestId,
        location: (Option<Remote>, Option<Time>),
        (path, source): (PathRecord, PathSource),
        lookup: Lookup,
    ) -> Resolution {
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let by_default = cx.route_end();
        let lmc = cx.lmc_of(endpoint);
        // The peer may have moved since its location was found.
        let (remote, addr_until) = location;
        let remote = remote.map(|remote| remote.at_end_of(&path, lmc));
        let route_until = match source {
            PathSource::Sa | PathSource::Group => by_default,
            PathSource::Known(until) | PathSource::Table(until) => until,
            PathSource::File => None,
        };
        // A location from a file is valid until the next load, too.
        let is_from_file = source == PathSource::File || remote.is_some_and(|remote| remote.group.is_zero());
        let preloaded = is_from_file.then(|| self.preload.loads());
        let mut history = History::new(source.origin(), cx.now());
        for account in lookup.accounts().filter(|account| *account != DAEMON) {
            history.used(cx.now(), cx.accounts.account(account));
        }
        let found = Ready::new(remote, path, self.epoch(endpoint));
        self.cache.enter(id, DestState::Ready(Ready { addr_until, route_until, preloaded, history, ..found }));
        self.note_path(endpoint, &path, lmc);
        let dest = self.cache.at_mut(id);
        dest.in_doubt &= dest.is_address();
        cx.log(ResolverEvent::RouteFound(endpoint, name).into());
        let responders = lookup.end(cx);
        self.publish(cx, id);
        cx.complete(Task::Lookup(id).token(), Ok(&path));
        for responder in &responders {
            Endpoints::respond(cx, endpoint, &path, responder);
        }
        self.settle_doubt(cx, id);
        self.stats.prefetch_used += u64::from(matches!(source, PathSource::Table(_)));
        self.stats.preload_used += u64::from(source == PathSource::File);
        Resolution::Ready(path)
    }

    /// Records the GID at the end of a path, so that datagrams of another GID there contradict it.
    pub(crate) fn note_path(&mut self, endpoint: EndpointId, path: &PathRecord, lmc: Lmc) {
        if let Some(state) = self.endpoints.get_mut(endpoint) {
            let _ = state.hosts.note(path.dlid.base(lmc), path.dgid);
        }
    }

    /// Fails the operation in progress of a destination.
    pub(crate) fn fail(&mut self, cx: &mut Context, id: DestId, failure: Failure) {
        let attempt = Attempt { failure, details: self.attempt_details_of(cx, id) };
        let lookup = self.end_operations(cx, id);
        self.give_up(cx, id, lookup, attempt);
    }

    /// Drops all cached data of a destination and ends its operations. Returns its lookup.
    pub(crate) fn end_operations(&mut self, cx: &mut Context, id: DestId) -> Lookup {
        match self.cache.enter(id, DestState::Unknown) {
            DestState::Locating(request) => self.end_request(cx, id, *request),
            DestState::Routing(routing) => {
                cx.sa_discard(routing.query);
                routing.lookup
            }
            DestState::Ready(mut ready) => {
                self.end_checks(cx, id, ready.checks());
                Lookup::default()
            }
            DestState::Unknown | DestState::Failed(_) | DestState::Located { .. } => Lookup::default(),
        }
    }

    /// Ends a lookup without a path. The next request starts with the address again, because its location may be the
    /// reason for the failure.
    pub(crate) fn give_up(&mut self, cx: &mut Context, id: DestId, lookup: Lookup, attempt: Attempt) -> Resolution {
        self.cache.enter(id, DestState::Unknown);
        let token = Task::Lookup(id).token();
        let waiting = cx.waiting_for(token);
        if waiting > 0 {
            let dest = self.cache.at(id);
            self.stats.lookups_failed += 1;
            cx.log(ResolverEvent::LookupFailed(dest.endpoint, dest.name(), attempt, waiting).into());
        }
        lookup.end(cx);
        cx.complete(token, Err(attempt));
        self.cache_failure(cx, id, attempt);
        self.cache.remove_if_not_found(id);
        Resolution::Failed(attempt)
    }

    /// Ends a lookup that no account needs. A cached location stays.
    pub(crate) fn drop_unneeded(&mut self, cx: &mut Context, id: DestId) {
        self.stats.lookups_unneeded += 1;
        match self.cache.enter(id, DestState::Unknown) {
            DestState::Locating(request) => {
                self.end_request(cx, id, *request).end(cx);
            }
            DestState::Routing(routing) => {
                routing.lookup.end(cx);
                if let Some(remote) = routing.remote {
                    self.cache.enter(id, DestState::Located { remote, addr_until: routing.addr_until });
                }
            }
            other => {
                self.cache.enter(id, other);
            }
        }
        self.cache.remove_if_not_found(id);
    }

    /// Ends all checks of a path without an outcome. The path is still served if it is still cached.
    pub(crate) fn end_checks(&mut self, cx: &mut Context, id: DestId, checks: Checks) {
        let (verification, renewal) = checks;
        if let Some(verification) = verification {
            // The reason for the check remains.
            self.cache.at_mut(id).in_doubt = true;
            self.end_request(cx, id, verification.request).end(cx);
        }
        if let Some(renewal) = renewal {
            cx.sa_discard(renewal.query);
            renewal.lookup.end(cx);
        }
    }
}
