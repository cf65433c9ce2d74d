//! Carries out the action that follows an event of a destination: the only place in which a lookup changes its state, is
//! answered, or fails.
use super::{
    dest::{Action, DestState, History, Lookup, Origin, Remote, Routing, ServedPath},
    endpoint::Endpoints,
    paths::{Known, PathSource},
    sources::Way,
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{
    api::{
        ResolverEvent, Time,
        account::{AccountId, DAEMON},
        failure::{Attempt, AttemptDetails, Failure},
        id::EndpointId,
    },
    provider::{Context, Resolution},
};
use acm_wire::client::Counter;
use ib_mad::sa::PathRecord;

impl Ibacmp {
    /// Carries out an action, and those that follow from it.
    pub(crate) fn perform(&mut self, cx: &mut Context, id: DestId, action: Action) {
        let mut next = action;
        while next != Action::Nothing {
            next = self.perform_one(cx, id, next);
        }
    }

    /// Carries out one action, and returns the next.
    fn perform_one(&mut self, cx: &mut Context, id: DestId, action: Action) -> Action {
        match action {
            Action::Nothing => {}
            Action::Queue => self.queue_request(cx, id),
            Action::Send => self.send_request(cx, id),
            Action::AskHost(host) => self.ask_host(cx, id, host, false),
            Action::FindRoute(remote) => {
                let lookup = self.located(cx, id, remote);
                self.find_route(cx, id, remote, lookup);
            }
            Action::QueryRoute(remote) => {
                let (lookup, addr_until) = (self.located(cx, id, remote), cx.addr_end());
                self.query_route(cx, id, Some(remote), addr_until, lookup);
            }
            Action::Fail(failure) => self.fail(cx, id, failure),
            Action::Drop => self.drop_unneeded(cx, id),
            Action::CheckClaim(claimant) => self.check_claim(cx, id, claimant),
            Action::EndCheck(outcome) => return self.end_check(cx, id, outcome),
            Action::KeepOwner { has_changed, renews } => self.keep_owner(cx, id, has_changed, renews),
            Action::CacheClaim(remote) => self.cache_claim(cx, id, remote),
            Action::DropLocation => {
                self.cache.enter(id, DestState::Unknown);
                self.stats.claims_ignored += 1;
            }
            Action::IgnoreClaim => self.stats.claims_ignored += 1,
            Action::IgnoreResponse => self.stats.unexpected_responses += 1,
        }
        Action::Nothing
    }

    /// Stores the location of a destination, and ends its request and the renewal of its path. Returns the lookup of the
    /// request.
    fn located(&mut self, cx: &mut Context, id: DestId, remote: Remote) -> Lookup {
        let addr_until = cx.addr_end();
        match self.cache.enter(id, DestState::Located { remote, addr_until }) {
            DestState::Locating(request) => self.end_request(cx, id, *request),
            DestState::Ready(mut ready) => {
                let check = ready.check.take();
                self.end_checks(cx, id, ready.checks());
                check.map_or_else(Lookup::default, |check| self.end_request(cx, id, check.request))
            }
            _ => Lookup::default(),
        }
    }

    /// Completes a destination whose location is known, or queries the subnet administrator (SA) for the path.
    pub(crate) fn find_route(&mut self, cx: &mut Context, id: DestId, remote: Remote, lookup: Lookup) -> Resolution {
        let addr_until = cx.addr_end();
        match self.way_to(cx, self.cache.at(id).endpoint, &remote, &lookup) {
            Way::Known(known) => self.make_ready(cx, id, Some(remote), addr_until, known, lookup),
            Way::Queried(by_gid) => self.take_over_query(cx, id, by_gid, remote, lookup),
            Way::Query => self.query_route(cx, id, Some(remote), addr_until, lookup),
            Way::NoGroup => {
                let details = AttemptDetails { found: Some(remote.lid), ..AttemptDetails::default() };
                self.give_up(cx, id, lookup, Attempt { failure: Failure::NoSharedGroup, details })
            }
        }
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
            lookup.end(&mut cx.shared);
            self.cache.remove_if_not_found(id);
            return Failure::EndpointClosed.into();
        };
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let Some(query) = self.path_query(cx, id, remote.as_ref()) else {
            return self.give_up(cx, id, lookup, Failure::EndpointClosed.into());
        };
        cx.count(endpoint, Counter::RouteQuery);
        cx.shared.log(ResolverEvent::RouteRequested(endpoint, name).into());
        match cx.sa_query(endpoint, Task::Route(id).token(), query, first) {
            Err(error) => self.give_up(cx, id, lookup, Failure::Sa(error).into()),
            Ok(query) => {
                for (account, urgency) in lookup.needs() {
                    cx.sa_join(query, account, urgency);
                }
                let asked = self.cache.at(id).doubts.number();
                let routing = Routing { asked, ..Routing::new(remote, addr_until, query, cx.shared.now(), lookup) };
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
            lookup.absorb(&mut cx.shared, routing.lookup);
            let remote = Some(remote);
            self.cache.enter(id, DestState::Routing(Routing { remote, addr_until, lookup, ..routing }));
        }
        Resolution::Pending(Task::Lookup(id).token())
    }

    /// Stores the path of a destination and answers all waiting requests, local and remote.
    pub(crate) fn make_ready(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<Remote>,
        addr_until: Option<Time>,
        known: Known,
        lookup: Lookup,
    ) -> Resolution {
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let (path, lmc, by_default) = (known.path, cx.lmc_of(endpoint), cx.route_end());
        self.compare_soon(cx, endpoint, &path, known.source);
        // The peer may have moved since its location was found, and was not asked at this LID.
        let has_moved = remote.is_some_and(|remote| !remote.may_be_at_end_of(&path, lmc));
        let remote = remote.map(|remote| remote.at_end_of(&path, lmc));
        if has_moved {
            self.cache.raise_doubt(id);
        }
        self.enter_ready(cx, id, remote, addr_until, known, by_default);
        for account in lookup.accounts().filter(|account| *account != DAEMON) {
            self.note_user(cx, id, account);
        }
        self.endpoints.note_path(endpoint, &path, lmc);
        cx.shared.log(ResolverEvent::RouteFound(endpoint, name).into());
        let responders = lookup.end(&mut cx.shared);
        self.publish(cx, id);
        cx.complete(Task::Lookup(id).token(), Ok(&path));
        for responder in &responders {
            Endpoints::respond(cx, endpoint, &path, responder);
        }
        self.settle_doubt(cx, id);
        Resolution::Ready(path)
    }

    /// Fills a destination of which no path is cached from the table of all paths, or from files. Returns the path if it
    /// is complete; otherwise, at most the location is set.
    pub(crate) fn fill(&mut self, cx: &mut Context, id: DestId) -> Option<PathRecord> {
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let (remote, known) = self.listed(cx, dest)?;
        let mut addr_until = None;
        if let DestState::Located { addr_until: until, .. } = dest.state {
            addr_until = until;
        } else if let Some(dest) = self.cache.at_mut(id) {
            dest.origin = Origin::Asked;
        }
        let Some(known) = known else {
            let remote = remote?;
            self.cache.enter(id, DestState::Located { remote, addr_until });
            return None;
        };
        match known.source {
            PathSource::Table(_) => addr_until = cx.addr_end(),
            _ => cx.shared.log(ResolverEvent::Preloaded(endpoint, name).into()),
        }
        self.enter_ready(cx, id, remote, addr_until, known, None);
        Some(known.path)
    }

    /// Enters the state for a path. It expires at `by_default`, unless its source determines another time.
    fn enter_ready(
        &mut self,
        cx: &Context,
        id: DestId,
        remote: Option<Remote>,
        addr_until: Option<Time>,
        known: Known,
        by_default: Option<Time>,
    ) {
        let Known { path, source, .. } = known;
        let dest = self.cache.at(id);
        let (endpoint, is_contradicted) = (dest.endpoint, !dest.is_address() && dest.doubts.are_open());
        let route_until = match source {
            PathSource::Sa | PathSource::Group => by_default,
            PathSource::Copy { until, .. } | PathSource::Table(until) => until,
            PathSource::File => None,
        };
        // A location from a file is valid until the next load, too.
        let is_from_file = source == PathSource::File || remote.is_some_and(|remote| remote.is_from_file());
        let preloaded = is_from_file.then(|| self.preload.loads());
        let history = History::new(source.origin(), cx.shared.now());
        self.note_source(endpoint, source);
        self.stats.preload_used += u64::from(source == PathSource::File);
        let mut ready = ServedPath { history, ..ServedPath::new(remote, path, self.epoch(endpoint)) };
        let freshness = &mut ready.freshness;
        freshness.stale = is_contradicted;
        (freshness.addr_until, freshness.route_until, freshness.preloaded) = (addr_until, route_until, preloaded);
        self.cache.enter(id, DestState::Ready(ready));
    }

    /// Records the use of a source.
    pub(crate) fn note_source(&mut self, endpoint: EndpointId, source: PathSource) {
        match source {
            PathSource::Table(_) => {
                self.stats.prefetch_used += 1;
                if let Some(table) = self.endpoints.get_mut(endpoint).and_then(|state| state.prefetch.table.as_mut()) {
                    table.used = true;
                }
            }
            PathSource::Copy { of, .. } => {
                if let Some(dest) = self.cache.get_mut(of) {
                    dest.used = true;
                }
            }
            PathSource::Sa | PathSource::Group | PathSource::File => {}
        }
    }

    /// Records that a request of an account got the path of a destination, if there is one.
    pub(crate) fn note_user(&mut self, cx: &Context, id: DestId, account: AccountId) {
        if let Some(DestState::Ready(ready)) = self.cache.get_mut(id).map(|dest| &mut dest.state) {
            ready.history.used(cx.shared.now(), cx.shared.accounts.account(account));
        }
    }

    /// Fails the operation in progress of a destination.
    pub(crate) fn fail(&mut self, cx: &mut Context, id: DestId, failure: Failure) {
        let attempt = Attempt { failure, details: self.attempt_details_of(cx, id) };
        let lookup = self.end_operations(cx, id);
        self.give_up(cx, id, lookup, attempt);
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
            cx.shared.log(ResolverEvent::LookupFailed(dest.endpoint, dest.name(), attempt, waiting).into());
        }
        lookup.end(&mut cx.shared);
        cx.complete(token, Err(attempt));
        self.cache_failure(cx, id, attempt);
        self.cache.remove_if_not_found(id);
        Resolution::Failed(attempt)
    }
}
