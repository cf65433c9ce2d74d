//! Implementation of the `Provider` trait.
use super::{
    cache::dest::{DestKey, DestState, EvictionClass, Ready, StateKind},
    routes::route,
    state::Ibacmp,
    token::Task,
};
use crate::{
    accounts::fair::Urgency,
    api::{
        DatagramSource, DisplayWith, GaugeScope, GaugeSink, Names, ResolverEvent, SaError, Waiting,
        account::AccountId,
        failure::{AttemptDetails, Failure},
        id::{EndpointId, PortId, Token},
        preload::Preload,
    },
    provider::{Context, Need, Notice, PortEvent, Provider, Resolution},
};
use acm_wire::{Address, multicast::MulticastMessage};
use alloc::string::String;
use core::fmt;
use ib_mad::{
    MadRef,
    acm::AcmMad,
    sa::{PathRecord, SaMad},
};

impl Ibacmp {
    /// Ends all operations in progress on an endpoint.
    fn fail_all(&mut self, cx: &mut Context, endpoint: EndpointId) {
        for id in self.cache.busy(endpoint) {
            match self.cache.get(id).map(|dest| &dest.state) {
                // The served path stays; its verification and renewal end.
                Some(DestState::Ready(_)) => {
                    self.end_verification(cx, id);
                    self.end_renewal(cx, id);
                }
                _ => self.fail(cx, id, Failure::EndpointClosed),
            }
        }
    }

    /// Adds a local address to the cache.
    fn add_loopback(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        if !cx.config().loopback {
            return;
        }
        let Some(path) = route::loopback(cx, endpoint) else { return };
        let Some(id) = self.acquire(cx, endpoint, DestKey::Address(*address)) else { return };
        self.cache.set_class(id, EvictionClass::Local);
        if self.cache.get(id).is_some_and(|dest| dest.state.is_busy()) {
            self.fail(cx, id, Failure::EndpointClosed);
        }
        self.cache.enter(id, DestState::Ready(Ready::new(None, path, 0)));
    }

    /// Replaces a removed source address in open multicast requests, because receivers cache the location of the
    /// source.
    fn replace_source(&mut self, cx: &Context, endpoint: EndpointId, removed: &Address) {
        let Some(other) = cx.endpoint(endpoint).and_then(|found| found.addresses.first().copied()) else { return };
        for id in self.cache.busy(endpoint) {
            let request = self.cache.get_mut(id).and_then(|dest| dest.state.multicast_request_mut());
            if let Some(request) = request.filter(|request| request.source == *removed) {
                request.source = other;
            }
        }
    }

    /// Records the port's current GID and LIDs.
    fn update_origin_of(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if let Some((gid, lid, lmc)) = cx.port_of(endpoint).map(|port| (port.gid(), port.lid, port.lmc)) {
            let state = self.endpoints.entry(endpoint).or_default();
            let qpn = cx.endpoint(endpoint).and_then(|endpoint| endpoint.qpn);
            let has_moved = state.update_origin(gid, lid, lmc);
            if state.announcement.moves_to(qpn) || has_moved {
                self.announce(cx, endpoint);
            }
        }
    }

    fn refresh_loopback(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.clone()).unwrap_or_default();
        for address in &addresses {
            self.add_loopback(cx, endpoint, address);
        }
    }

    fn bad_datagram(&mut self, cx: &mut Context, event: ResolverEvent) {
        self.stats.bad_datagrams += 1;
        cx.log(event.into());
    }
}

impl Provider for Ibacmp {
    fn name(&self) -> &'static str {
        "ibacmp"
    }

    fn open_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        // A new queue pair must be attached to the group. The membership belongs to the port and stays.
        if let Some((mgid, mlid)) = self.base_group(endpoint).map(|member| (member.mgid, member.mlid)) {
            cx.attach(endpoint, mgid, mlid);
        }
        // The port may have moved while the endpoint had no queue pair.
        self.update_origin_of(cx, endpoint);
        self.join_all(cx, endpoint);
        self.refresh_loopback(cx, endpoint);
        self.announce_if_moved(cx, endpoint);
    }

    fn close_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.fail_all(cx, endpoint);
        self.leave_all(cx, endpoint);
        self.prefetch_changed(cx, endpoint, PortEvent::Down);
        cx.clear_timer(Task::Announce(endpoint).token());
        self.endpoints.remove(&endpoint);
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.clone()).unwrap_or_default();
        addresses.iter().for_each(|address| self.note_removed(cx, address));
        // Entries of the removed endpoint cannot be found any more; the sweep removes them.
        self.hurry_sweep(cx);
    }

    fn add_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.add_loopback(cx, endpoint, address);
        // Peers may have cached another location. Addresses that were present from the start need no announcement:
        // peers learn of them from the first request.
        if self.base_group(endpoint).is_some() {
            self.announce(cx, endpoint);
        }
        self.announce_if_moved(cx, endpoint);
    }

    fn remove_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        // The endpoint may still have the name in another case.
        if cx.endpoint(endpoint).is_some_and(|endpoint| endpoint.has(address)) {
            return;
        }
        if let Some(id) = self.cache.find(endpoint, &DestKey::Address(*address)) {
            if self.cache.get(id).is_some_and(|dest| dest.state.is_busy()) {
                self.fail(cx, id, Failure::EndpointClosed);
            }
            self.cache.remove(id);
        }
        self.replace_source(cx, endpoint, address);
        self.note_removed(cx, address);
    }

    fn invalidate_address(&mut self, _cx: &mut Context, endpoint: EndpointId, address: &Address) {
        let Some(id) = self.cache.find(endpoint, &DestKey::Address(*address)) else { return };
        // An operation in progress will find the new location.
        if self.cache.get(id).is_some_and(|dest| !dest.state.is_busy()) {
            self.cache.remove(id);
        }
    }

    fn resolve(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &Address,
        dest: &Address,
        need: Need,
    ) -> Resolution {
        self.resolve_address(cx, endpoint, source, dest, need)
    }

    fn route(&mut self, cx: &mut Context, endpoint: EndpointId, path: &PathRecord, need: Need) -> Resolution {
        self.resolve_route(cx, endpoint, path, need)
    }

    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool) {
        self.remove_waiter(cx, token, account, ticket);
    }

    fn cancel_queued(&mut self, cx: &mut Context, account: AccountId, urgency: Urgency) -> bool {
        self.cancel_last(cx, account, urgency)
    }

    fn attempt_details(&self, cx: &Context, token: Token) -> AttemptDetails {
        match Task::of(token) {
            Task::Lookup(id) => self.attempt_details_of(cx, id),
            _ => AttemptDetails::default(),
        }
    }

    fn preload(&mut self, cx: &mut Context, preload: Preload) {
        self.load(cx, preload);
    }

    fn datagram(&mut self, cx: &mut Context, endpoint: EndpointId, source: &DatagramSource, payload: &[u8]) {
        let Some(gid) = source.gid else { return self.bad_datagram(cx, ResolverEvent::NoGrh(endpoint)) };
        if payload.len() > size_of::<AcmMad>() {
            return self.bad_datagram(cx, ResolverEvent::LongDatagram(endpoint, payload.len()));
        }
        match MulticastMessage::parse(payload) {
            Err(error) => self.bad_datagram(cx, ResolverEvent::BadDatagram(endpoint, error)),
            Ok(MulticastMessage::Request(request)) => self.handle_request(cx, endpoint, source, gid, &request),
            Ok(MulticastMessage::Response(response)) => self.handle_response(cx, endpoint, source, gid, &response),
        }
    }

    fn sa_done(&mut self, cx: &mut Context, endpoint: EndpointId, token: Token, result: Result<&SaMad, SaError>) {
        match Task::of(token) {
            Task::Route(id) => self.route_done(cx, id, result),
            Task::Group(_, index) => self.join_done(cx, endpoint, index, result),
            Task::Renew(id) => self.renewal_done(cx, id, result),
            Task::Prefetch(endpoint) => {
                if let Err(error) = result {
                    self.prefetch_failed(cx, endpoint, error);
                }
            }
            Task::Lookup(_)
            | Task::Credit(_)
            | Task::Sweep
            | Task::StaleGids
            | Task::Negatives
            | Task::Renewals(_)
            | Task::Announce(_) => {}
        }
    }

    fn sa_table(&mut self, cx: &mut Context, endpoint: EndpointId, _token: Token, table: MadRef<'_>) {
        self.prefetch_done(cx, endpoint, table);
    }

    fn timeout(&mut self, cx: &mut Context, token: Token) {
        match Task::of(token) {
            Task::Lookup(id) => self.request_due(cx, id),
            Task::Credit(id) => self.credit_due(cx, id),
            Task::Group(endpoint, index) => self.join(cx, endpoint, index),
            Task::Sweep => self.sweep(cx),
            Task::StaleGids => self.invalidate_stale_gids(cx),
            Task::Negatives => self.negatives_due(cx),
            Task::Renewals(port) => self.renewals_due(cx, port),
            Task::Announce(endpoint) => self.announce_due(cx, endpoint),
            Task::Prefetch(endpoint) => self.prefetch_due(cx, endpoint),
            Task::Route(_) | Task::Renew(_) => {}
        }
    }

    fn timer_name(&self, token: Token) -> &'static str {
        match Task::of(token) {
            Task::Lookup(_) => "a multicast request",
            Task::Credit(_) => "a credit of a multicast request",
            Task::Route(_) => "a route",
            Task::Group(..) => "joining a group",
            Task::Sweep => "the sweep of the cache",
            Task::StaleGids => "forgetting who left",
            Task::Negatives => "what failed just now",
            Task::Renew(_) => "a route that is asked for anew",
            Task::Renewals(_) => "routes that are to be asked for anew",
            Task::Announce(_) => "telling the group of a move",
            Task::Prefetch(_) => "the table of all paths",
        }
    }

    fn port_event(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent) {
        self.clear_failures(endpoint);
        self.prefetch_changed(cx, endpoint, event);
        if event != PortEvent::Down {
            self.mark_stale(cx, endpoint);
        }
        match event {
            PortEvent::Down => {
                self.fail_all(cx, endpoint);
                self.drop_memberships(cx, endpoint);
            }
            PortEvent::Up | PortEvent::Moved => {
                self.update_origin_of(cx, endpoint);
                self.refresh_loopback(cx, endpoint);
                self.join_all(cx, endpoint);
            }
            PortEvent::OtherLink => {
                self.endpoints.entry(endpoint).or_default().link_changed();
                self.refresh_loopback(cx, endpoint);
                self.join_all_soon(cx, endpoint);
            }
            PortEvent::OtherManager | PortEvent::Reregister => self.join_all_soon(cx, endpoint),
        }
    }

    fn noticed(&mut self, cx: &mut Context, port: PortId, notice: Notice) {
        self.handle_notice(cx, port, notice);
    }

    fn each_stat(&self, emit: &mut dyn FnMut(&'static str, u64)) {
        self.stats.each(|name, _, value| emit(name, value));
    }

    fn each_gauge(&self, cx: &Context, emit: GaugeSink<'_>) {
        for kind in StateKind::ALL {
            emit("destinations", GaugeScope::State(kind.name()), self.cache.count_of(kind));
        }
        for (id, state) in &self.endpoints {
            let Some(endpoint) = cx.endpoint(*id) else { continue };
            let (port, pkey) = (endpoint.port, endpoint.pkey);
            let (local, remote) = state.queue.waiting();
            emit("multicast_waiting", GaugeScope::EndpointQueue(port, pkey, Waiting::Local), local);
            emit("multicast_waiting", GaugeScope::EndpointQueue(port, pkey, Waiting::Remote), remote);
            emit("multicast_in_flight", GaugeScope::Endpoint(port, pkey), state.queue.held() as usize);
            emit("multicast_depth", GaugeScope::Endpoint(port, pkey), state.depth(cx) as usize);
            let joined = state.groups.iter().filter(|group| group.member.is_some()).count();
            emit("groups_joined", GaugeScope::Endpoint(port, pkey), joined);
            emit("groups_wanted", GaugeScope::Endpoint(port, pkey), state.groups.len());
            emit("prefetched", GaugeScope::Endpoint(port, pkey), state.prefetch.paths());
        }
    }

    fn report(&self, _cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "cache: destinations {}", self.cache.len())?;
        write!(f, "{}", self.preload)?;
        for (id, state) in &self.endpoints {
            let (local, remote) = state.queue.waiting();
            let groups = state.groups.iter().filter(|group| group.member.is_some()).count();
            writeln!(
                f,
                "{}: groups {groups} of {} lookups {} asking {} waiting {local} strangers {remote} prefetched {}",
                id.named(names),
                state.groups.len(),
                self.cache.busy_count(*id),
                state.queue.held(),
                state.prefetch.paths(),
            )?;
        }
        Ok(())
    }

    fn each_lookup(&self, emit: &mut dyn FnMut(AccountId)) {
        super::check::each_lookup(self, emit);
    }

    fn check(&self, cx: &Context) -> Result<(), String> {
        super::check::ibacmp(self, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::DestId;

    #[test]
    fn each_timer_has_a_name() {
        let id = DestId::new(1, 2);
        let tasks =
            [Task::Lookup(id), Task::Credit(id), Task::Route(id), Task::Group(EndpointId::new(1, 2), 0), Task::Sweep];
        let names = [
            "a multicast request",
            "a credit of a multicast request",
            "a route",
            "joining a group",
            "the sweep of the cache",
        ];
        let ibacmp = Ibacmp::new(1);
        assert_eq!(tasks.map(|task| ibacmp.timer_name(task.token())), names);
        assert_eq!(ibacmp.name(), "ibacmp");
    }
}
