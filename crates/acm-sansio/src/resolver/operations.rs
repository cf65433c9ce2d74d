//! The operations in progress of destinations: credits, timers and datagrams of their multicast requests, and the end of
//! what is in progress. The renewal of a path that is served is in `refresh/checks.rs`.
use super::{
    dest::{Checks, DestState, Freshness, Lookup, MulticastRequest, Remote, ServedPath, Stage},
    endpoint::group_share::handling_time,
    paths,
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{
    accounts::fair::Urgency,
    api::{ResolverEvent, SendTo, account::AccountId, id::EndpointId, port::PortAttributes},
    provider::Context,
    retry::RequestRetry,
};
use acm_wire::{client::Counter, multicast};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::Gid;

impl Ibacmp {
    /// Returns the policy of the open request of a destination. A host that is asked in order to check a claim about a
    /// path in use has less time than the group.
    pub(crate) fn retry(&self, cx: &Context, id: DestId) -> RequestRetry {
        let (dest, config) = (self.cache.at(id), cx.shared.config());
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
        let Some(dest) = self.cache.at_mut(id) else { return };
        let endpoint = dest.endpoint;
        if let Some(MulticastRequest { stage: Stage::Queued(positions), lookup, tid, .. }) =
            dest.state.multicast_request_mut()
        {
            // A host was asked before.
            self.by_tid.remove(&tid.get());
            if let Some(state) = self.endpoints.at_mut(endpoint) {
                for (account, urgency) in lookup.needs() {
                    state.queue.join(positions, account, urgency, id);
                }
            }
        }
        cx.count(endpoint, Counter::AddrQuery);
        let deadline = cx.shared.now() + cx.shared.config().queue_deadline;
        cx.shared.set_timer(Task::Lookup(id).token(), deadline);
        self.pump(cx, endpoint);
    }

    /// Sends queued requests as long as the endpoint has credits, unless they wait for the endpoint's first join.
    pub(crate) fn pump(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if self.endpoints.awaits_base_group(cx, endpoint) {
            return;
        }
        let least_credit = handling_time(cx.shared.fabric_size());
        while let Some(state) = self.endpoints.at_mut(endpoint)
            && let Some((id, credit)) = state.queue.next(state.depth(cx))
        {
            state.window.request_sent(cx.shared.now());
            let likely = state.round_trip.likely(least_credit, cx.shared.config().timeout);
            let Some(request) = self.cache.request_mut(id) else {
                state.queue.give_back(credit);
                continue;
            };
            if let Stage::Queued(positions) = &mut request.stage {
                state.queue.leave_all(positions);
            }
            request.stage = Stage::Sent(credit);
            self.by_tid.insert(request.tid.get(), id);
            let at = cx.shared.now() + likely;
            cx.shared.set_timer(Task::Credit(id).token(), at);
            self.send_request(cx, id);
        }
    }

    /// Sends a request to a host that claims to have the address, or has proven it before.
    pub(crate) fn ask_host(&mut self, cx: &mut Context, id: DestId, host: Remote, is_known: bool) {
        let Some(dest) = self.cache.at_mut(id) else { return };
        let endpoint = dest.endpoint;
        if let Some(request) = dest.state.multicast_request_mut() {
            request.turn_to(Some(host));
            request.is_known = is_known;
            if let Stage::Queued(mut positions) = core::mem::replace(&mut request.stage, Stage::Late) {
                self.endpoints.leave_queue(endpoint, &mut positions);
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
        let Some(dest) = self.cache.at_mut(id) else { return };
        let (name, doubts) = (dest.name(), dest.doubts.number());
        let Some(request) = dest.state.multicast_request_mut() else { return };
        request.sent(cx.shared.now(), doubts);
        let MulticastRequest { tid, times_sent, source, to: host, .. } = *request;
        self.stats.requests_repeated += u64::from(times_sent > 1);
        let deadline = cx.shared.now() + retry.timeout(times_sent);
        cx.shared.set_timer(Task::Lookup(id).token(), deadline);
        cx.shared.log(ResolverEvent::RequestSent(endpoint, name, times_sent).into());
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
            (Some(host), DestState::Ready(ServedPath { path, .. }))
                if path.dgid == host.gid && host.is_at_end_of(path, port.lmc) =>
            {
                Some(paths::send_to(path, &host, port))
            }
            (Some(host), _) => Some(paths::send_to(&paths::from_group(by_group()?, &host, port.lid), &host, port)),
        }
    }

    /// Returns the credit of a request whose response is late.
    pub(crate) fn credit_due(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.at_mut(id) else { return };
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
            Stage::Queued(mut positions) => self.endpoints.leave_queue(endpoint, &mut positions),
            Stage::Sent(credit) => {
                if let Some(state) = self.endpoints.at_mut(endpoint) {
                    state.queue.give_back(credit);
                }
                self.pump(cx, endpoint);
            }
            Stage::Paused | Stage::Late => {}
        }
    }

    /// Ends a request: frees what it holds, and its timers. Returns its lookup.
    pub(crate) fn end_request(&mut self, cx: &mut Context, id: DestId, request: MulticastRequest) -> Lookup {
        cx.shared.clear_timer(Task::Lookup(id).token());
        cx.shared.clear_timer(Task::Credit(id).token());
        self.by_tid.remove(&request.tid.get());
        let endpoint = self.cache.at(id).endpoint;
        self.release(cx, endpoint, request.stage);
        request.lookup
    }

    /// Adds a queue position for an account to the operation that waits for its turn, or moves the account's position
    /// to this urgency.
    pub(crate) fn join_queue(&mut self, cx: &mut Context, id: DestId, account: AccountId, urgency: Urgency) {
        let Some(dest) = self.cache.at_mut(id) else { return };
        match &mut dest.state {
            DestState::Routing(routing) => cx.sa_join(routing.query, account, urgency),
            other => {
                if let Some(MulticastRequest { stage: Stage::Queued(positions), .. }) = other.multicast_request_mut()
                    && let Some(state) = self.endpoints.at_mut(dest.endpoint)
                {
                    state.queue.join(positions, account, urgency, id);
                }
            }
        }
    }

    /// Removes the queue position of an account that no longer needs a lookup, and ends the lookup if it is no longer
    /// needed.
    pub(crate) fn leave_queue(&mut self, cx: &mut Context, id: DestId, account: AccountId) {
        let Some(dest) = self.cache.at_mut(id) else { return };
        let needed = dest.state.lookup_mut().is_some_and(|lookup| lookup.is_needed());
        let queued = match &mut dest.state {
            DestState::Locating(request) => match &mut request.stage {
                Stage::Queued(positions) => {
                    if let Some(state) = self.endpoints.at_mut(dest.endpoint) {
                        state.queue.leave(positions, account);
                    }
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

    /// Ends a lookup that no account needs. A cached location stays.
    pub(crate) fn drop_unneeded(&mut self, cx: &mut Context, id: DestId) {
        self.stats.lookups_unneeded += 1;
        match self.cache.enter(id, DestState::Unknown) {
            DestState::Locating(request) => {
                self.end_request(cx, id, *request).end(&mut cx.shared);
            }
            DestState::Routing(routing) => {
                routing.lookup.end(&mut cx.shared);
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
        if let Some(check) = checks.check {
            self.end_request(cx, id, check.request).end(&mut cx.shared);
        }
        if let Some(renewal) = checks.renewal {
            cx.sa_discard(renewal.query);
            renewal.lookup.end(&mut cx.shared);
        }
    }

    /// Drops the path of a destination and keeps its location.
    pub(crate) fn drop_path(&mut self, cx: &mut Context, id: DestId) {
        if let Some(&ServedPath { remote, freshness: Freshness { addr_until, .. }, .. }) =
            self.cache.at(id).state.ready()
            && let DestState::Ready(mut ready) = self.cache.enter(id, DestState::without_path(remote, addr_until))
        {
            self.end_checks(cx, id, ready.checks());
        }
    }
}
