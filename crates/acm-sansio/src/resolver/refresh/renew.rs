//! Renewal in the background of entries in use, before they expire and after an event that may have made them wrong.
//! Renewals are charged to the daemon and have the lowest priority; `sa/pace.rs` determines their pace. The old path is
//! served meanwhile.
use crate::{
    Time,
    accounts::Holding,
    api::{
        ResolverEvent, SaError,
        account::DAEMON,
        config::RouteProtocol,
        id::{EndpointId, PortId},
    },
    provider::{Context, IfPending, Need},
    resolver::{
        dest::{
            Confirmation, DestState, EvictionClass, Lookup, MulticastRequest, Ready, Recheck, Renewal, Verification,
        },
        endpoint::EndpointState,
        paths,
        state::{Ibacmp, RenewalReason},
        token::{DestId, Task},
    },
};
use alloc::boxed::Box;
use core::time::Duration;
use ib_mad::sa::{PathRecord, SaMad};

/// No renewal starts while this many are in progress.
const UNDER_WAY: usize = 64;
/// Entries in use are renewed in the last eighth of their lifetime.
const LAST_PART: u32 = 8;

/// Reports whether an entry with this lifetime expires soon.
fn ends_soon(now: Time, until: Option<Time>, life: Option<Duration>) -> bool {
    until.zip(life).is_some_and(|(until, life)| now + life / LAST_PART >= until)
}

impl Ibacmp {
    /// Marks all entries of an endpoint as possibly wrong, so that those in use are renewed. The others are renewed when
    /// they are used.
    pub(crate) fn mark_stale(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.endpoints.entry(endpoint).or_default().mark_stale();
        // Every node of the subnet does the same now.
        if let Some(port) = cx.port_id(endpoint) {
            cx.sa.renewals_storm(&mut cx.cx, port);
            self.schedule_renewals(cx, port);
        }
        self.hurry_sweep(cx);
    }

    /// Queues a destination for renewal. Returns `false` if the queue is full.
    ///
    /// A client that used a stale path has it already. No account waits for the renewal, so it takes no account's turn;
    /// 10,000 nodes may use a path in the same second after the subnet manager restarted.
    pub(crate) fn queue_renewal(&mut self, cx: &mut Context, id: DestId, reason: RenewalReason) -> bool {
        let Some(dest) = self.cache.get_mut(id) else { return true };
        let endpoint = dest.endpoint;
        let Some(port) = cx.port_id(endpoint) else { return true };
        let queue = self.renewals.entry(port).or_default();
        let is_full = queue.len(reason) >= cx.config().limits.renewals;
        if let DestState::Ready(ready) = &mut dest.state {
            if ready.queued || ready.renewal.is_some() {
                return true;
            }
            ready.queued = !is_full;
        }
        if is_full {
            self.stats.renewals_put_off += 1;
            return false;
        }
        queue.push(reason, cx.move_slot(endpoint), id);
        self.schedule_renewals(cx, port);
        true
    }

    fn schedule_renewals(&self, cx: &mut Context, port: PortId) {
        let now = cx.now();
        if let Some(at) = self.renewals.get(&port).and_then(|queue| queue.next_time(now)) {
            let at = at.max(cx.sa.next_renewal(port));
            cx.set_timer(Task::Renewals(port).token(), at);
        }
    }

    /// Queues a destination for renewal, if it is stale or expires soon. Returns `false` if the sweep must wait for it.
    pub(crate) fn renew_if_due(&mut self, cx: &mut Context, id: DestId) -> bool {
        let (now, config) = (cx.now(), cx.config());
        let Some(dest) = self.cache.get(id) else { return true };
        let DestState::Ready(ready) = &dest.state else { return true };
        let ends = ready.served
            && (ends_soon(now, ready.addr_until, config.addr_timeout)
                || ends_soon(now, ready.route_until, config.route_timeout));
        match dest.class {
            EvictionClass::Requested if ends || ready.stale && ready.is_in_use() => {
                self.queue_renewal(cx, id, RenewalReason::Found)
            }
            // An entry that no local user requested is not worth a query.
            EvictionClass::Unsolicited if ready.stale => {
                self.drop_path(cx, id);
                true
            }
            _ => true,
        }
    }

    /// Starts the next renewal of a port, or waits for its next turn.
    pub(crate) fn renewals_due(&mut self, cx: &mut Context, port: PortId) {
        let is_busy = cx.accounts.held(DAEMON, Holding::Lookups) >= UNDER_WAY;
        let mut is_over = is_busy || self.is_joining(cx, port) || !cx.sa.may_renew(port);
        if is_over {
            cx.sa.renewal_started(&mut cx.cx, port);
        }
        // A destination that needs no query takes no turn.
        while !is_over {
            let now = cx.now();
            let Some(id) = self.renewals.get_mut(&port).and_then(|queue| queue.next(now)) else { break };
            self.drop_expired(cx, id);
            is_over = self.renew(cx, id);
            if is_over {
                cx.sa.renewal_started(&mut cx.cx, port);
            }
        }
        self.schedule_renewals(cx, port);
    }

    /// Starts the renewal of a destination. Returns `false` if it needs none.
    fn renew(&mut self, cx: &mut Context, id: DestId) -> bool {
        let before = cx.accounts.held(DAEMON, Holding::Lookups);
        self.start_renewal(cx, id);
        cx.accounts.held(DAEMON, Holding::Lookups) > before
    }

    fn start_renewal(&mut self, cx: &mut Context, id: DestId) {
        let now = cx.now();
        let Some(dest) = self.cache.get_mut(id) else { return };
        let class = dest.class;
        // It has become a local address.
        if class == EvictionClass::Local {
            return;
        }
        match &mut dest.state {
            DestState::Ready(ready) => {
                ready.queued = false;
                let is_probed = ready.verification.as_ref().is_some_and(|check| matches!(check.check, Recheck::Probe));
                if is_probed || ready.renewal.is_some() {
                    return;
                }
                let is_checked = ready.verification.is_some();
                // It is not renewed again until it is used. A confirmation does not count as a renewal: a path in use
                // is still renewed before it expires.
                if core::mem::replace(&mut ready.confirmation, Confirmation::NotNeeded) != Confirmation::Queued {
                    (ready.served, ready.renewed) = (false, true);
                }
                let by_address = ready.remote.is_some() && !is_checked;
                if by_address && ends_soon(now, ready.addr_until, cx.config().addr_timeout) {
                    self.probe(cx, id);
                } else {
                    self.renew_path(cx, id);
                }
            }
            // The path was invalid and is already dropped.
            DestState::Located { remote, .. } if class == EvictionClass::Requested => {
                let remote = *remote;
                if let Ok(lookup) = Self::background(cx) {
                    self.find_route(cx, id, remote, lookup);
                }
            }
            _ => {}
        }
    }

    fn background(cx: &mut Context) -> Result<Lookup, crate::api::failure::Failure> {
        Lookup::begin(cx, Need { account: DAEMON, if_pending: IfPending::LeavesTicket })
    }

    /// Sends a request to the peer itself, to find out whether it still has the address.
    fn probe(&mut self, cx: &mut Context, id: DestId) {
        let Some(endpoint) = self.cache.get(id).map(|dest| dest.endpoint) else { return };
        let Some(source) = cx.endpoint(endpoint).and_then(|endpoint| endpoint.addresses.first().copied()) else {
            return;
        };
        let Ok(lookup) = Self::background(cx) else { return };
        let mut request = MulticastRequest::new(cx.now(), cx.transaction_id(), source, lookup);
        self.stats.renewals += 1;
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                request.to = ready.remote;
                ready.verification = Some(Box::new(Verification { request, check: Recheck::Probe }));
            }
        });
        self.queue_request(cx, id, endpoint);
    }

    /// Extends the lifetime of an address after the peer's response, and renews the path.
    pub(crate) fn probe_answered(&mut self, cx: &mut Context, id: DestId) {
        let until = Self::addr_end(cx);
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                ready.addr_until = until;
            }
        });
        self.renew_path(cx, id);
    }

    fn renew_path(&mut self, cx: &mut Context, id: DestId) {
        if let Some(path) = self.group_path(cx, id) {
            return self.apply_renewal(cx, id, &path);
        }
        if cx.config().route_protocol == RouteProtocol::Acm && self.cache.get(id).is_some_and(|dest| dest.is_address())
        {
            return;
        }
        if let Ok(lookup) = Self::background(cx) {
            self.request_renewal(cx, id, lookup);
        }
    }

    /// Returns the path from the shared group's parameters, with `route_prot acm`.
    fn group_path(&self, cx: &Context, id: DestId) -> Option<PathRecord> {
        let dest = self.cache.get(id)?;
        let DestState::Ready(Ready { remote: Some(remote), .. }) = &dest.state else { return None };
        if cx.config().route_protocol != RouteProtocol::Acm {
            return None;
        }
        let member = self.joined(dest.endpoint).find(|member| member.mgid == remote.group)?;
        Some(paths::from_group(member, remote, cx.port_of(dest.endpoint)?.lid))
    }

    /// Queries the subnet administrator for the path of a destination whose old path is served meanwhile.
    pub(crate) fn request_renewal(&mut self, cx: &mut Context, id: DestId, lookup: Lookup) {
        let Some((endpoint, remote)) = self.cache.get(id).and_then(|dest| match &dest.state {
            DestState::Ready(ready) if ready.renewal.is_none() => Some((dest.endpoint, ready.remote)),
            _ => None,
        }) else {
            lookup.end(cx);
            return;
        };
        let query = self.path_query(cx, id, remote.as_ref()).zip(lookup.accounts().next());
        let token = Task::Renew(id).token();
        let Some(Ok(query)) = query.map(|(query, first)| cx.sa_query(endpoint, token, query, first)) else {
            lookup.end(cx);
            return;
        };
        let epoch = self.endpoints.get(&endpoint).map_or(0, EndpointState::epoch);
        self.stats.renewals += 1;
        self.cache.change(id, |state| {
            if let DestState::Ready(ready) = state {
                ready.renewal = Some(Box::new(Renewal { query, lookup, epoch }));
            }
        });
    }

    /// Handles the result of a renewal query.
    pub(crate) fn renewal_done(&mut self, cx: &mut Context, id: DestId, result: Result<&SaMad, SaError>) {
        let renewal = self.cache.change(id, |state| match state {
            DestState::Ready(ready) => ready.renewal.take(),
            _ => None,
        });
        let Some(Some(renewal)) = renewal else { return };
        let Renewal { lookup, epoch, .. } = *renewal;
        let responders = lookup.end(cx);
        let result = result.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::BadResponse));
        let remote = self.cache.get(id).and_then(|dest| match &dest.state {
            DestState::Ready(ready) => ready.remote,
            _ => None,
        });
        if let Some((endpoint, key)) = self.route_key(id, remote.as_ref()) {
            self.compare_prefetched(endpoint, &key, result);
        }
        match result {
            Ok(path) => {
                self.set_epoch(id, epoch);
                self.compare_path(cx, id, remote.as_ref(), Ok(path));
                self.apply_renewal(cx, id, path);
                self.move_confirmed(cx, id, path);
                let Some(dest) = self.cache.get(id) else { return };
                let lmc = cx.lmc_of(dest.endpoint);
                let DestState::Ready(Ready { path, .. }) = &dest.state else { return };
                let (endpoint, path) = (dest.endpoint, *path);
                // Remote hosts at another LID get no response.
                for responder in responders.iter().filter(|responder| responder.remote.is_at_end_of(&path, lmc)) {
                    Self::respond(cx, endpoint, &path, responder);
                }
            }
            // The path no longer exists.
            Err(error) if error.is_no_path() => {
                self.stats.renewals_failed += 1;
                if let Some(dest) = self.cache.get(id) {
                    cx.log(ResolverEvent::RouteRemoved(dest.endpoint, dest.name()).into());
                }
                self.drop_path(cx, id);
                self.cache.enter(id, DestState::Unknown);
            }
            Err(_) => self.renewal_failed(cx, id),
        }
    }

    /// Keeps the old path after a failed query, and retries later.
    fn renewal_failed(&mut self, cx: &mut Context, id: DestId) {
        self.stats.renewals_failed += 1;
        let Some(dest) = self.cache.get(id) else { return };
        let is_stale = matches!(&dest.state, DestState::Ready(ready) if ready.stale);
        if let Some(port) = cx.port_id(dest.endpoint) {
            cx.sa.renewal_failed(&mut cx.cx, port);
            self.schedule_renewals(cx, port);
        }
        if is_stale {
            self.queue_renewal(cx, id, RenewalReason::Found);
        }
    }

    fn set_epoch(&mut self, id: DestId, epoch: u32) {
        if let Some(DestState::Ready(ready)) = self.cache.get_mut(id).map(|dest| &mut dest.state) {
            ready.epoch = epoch;
        }
    }

    /// Replaces the path of a destination.
    fn apply_renewal(&mut self, cx: &mut Context, id: DestId, path: &PathRecord) {
        let (addr_end, route_until) = (Self::addr_end(cx), Self::route_end(cx));
        let Some(dest) = self.cache.get(id).filter(|dest| matches!(dest.state, DestState::Ready(_))) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        let lmc = cx.lmc_of(endpoint);
        // Through `Cache::enter`, because the GID may change.
        let DestState::Ready(mut ready) = self.cache.enter(id, DestState::Unknown) else { return };
        let moved = ready.path.dlid.base(lmc) != path.dlid.base(lmc);
        (ready.path, ready.stale, ready.route_until) = (*path, false, route_until);
        match &mut ready.remote {
            None => ready.addr_until = addr_end,
            Some(remote) => *remote = remote.at_end_of(path, lmc),
        }
        // Only an entry whose location comes from a file depends on the file.
        ready.preloaded = ready.preloaded.filter(|_| ready.remote.is_some_and(|remote| remote.group.is_zero()));
        self.cache.enter(id, DestState::Ready(ready));
        if moved {
            cx.log(ResolverEvent::PeerChanged(endpoint, name).into());
        } else {
            cx.log(ResolverEvent::RouteFound(endpoint, name).into());
        }
    }

    /// Ends all operations of a destination whose path was cached.
    pub(crate) fn end_ready(&mut self, cx: &mut Context, id: DestId, ready: Ready) {
        if let Some(verification) = ready.verification {
            self.end_multicast_request(cx, id, verification.request).end(cx);
        }
        if let Some(renewal) = ready.renewal {
            cx.sa_discard(renewal.query);
            renewal.lookup.end(cx);
        }
    }

    /// Drops the path of a destination and keeps its location.
    pub(crate) fn drop_path(&mut self, cx: &mut Context, id: DestId) {
        let Some(DestState::Ready(ready)) = self.cache.get(id).map(|dest| &dest.state) else { return };
        let addr_until = ready.addr_until;
        let next = ready.remote.map_or(DestState::Unknown, |remote| DestState::Located { remote, addr_until });
        if let DestState::Ready(ready) = self.cache.enter(id, next) {
            self.end_ready(cx, id, ready);
        }
    }

    /// Ends the renewal of a destination. The old path stays.
    pub(crate) fn end_renewal(&mut self, cx: &mut Context, id: DestId) {
        let renewal = self.cache.change(id, |state| match state {
            DestState::Ready(ready) => ready.renewal.take(),
            _ => None,
        });
        if let Some(Some(renewal)) = renewal {
            cx.sa_discard(renewal.query);
            renewal.lookup.end(cx);
        }
    }
}
