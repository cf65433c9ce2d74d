//! Implementation of the `Provider` trait.
use super::{dest::StateKind, state::Ibacmp, token::Task};
use crate::{
    accounts::fair::Urgency,
    api::{
        CacheEntry, DatagramSource, DisplayWith, GaugeScope, GaugeSink, Names, ResolverEvent, SaError, Waiting,
        account::AccountId,
        failure::AttemptDetails,
        id::{DestId, EndpointId, PortId, Token},
        preload::Preload,
    },
    provider::{Context, Endpoint, EndpointChange, Need, Observe, PortChange, Provider, Resolution, Target, single},
};
use acm_wire::{Address, multicast::MulticastMessage};
use alloc::string::String;
use core::fmt;
use ib_mad::{Gid, MadRef, acm::AcmMad, sa::PathRecord};

impl Ibacmp {
    fn bad_datagram(&mut self, cx: &mut Context, event: ResolverEvent) {
        self.stats.bad_datagrams += 1;
        cx.shared.log(event.into());
    }
}

impl Provider for Ibacmp {
    fn port_changed(&mut self, cx: &mut Context, port: PortId, change: PortChange) {
        if let PortChange::Noticed(notice) = change {
            self.handle_notice(cx, port, notice);
        }
    }

    fn endpoint_changed(&mut self, cx: &mut Context, endpoint: EndpointId, change: EndpointChange<'_>) {
        match change {
            EndpointChange::Opened => self.open_endpoint(cx, endpoint),
            EndpointChange::Attached(mgid, mlid) => self.endpoints.attached(cx, endpoint, mgid, mlid),
            EndpointChange::Closing => self.close_endpoint(cx, endpoint),
            EndpointChange::AddressAdded(address) => self.add_address(cx, endpoint, address),
            EndpointChange::AddressRemoved(address) => self.remove_address(cx, endpoint, address),
            EndpointChange::AddressMoved(address) => self.invalidate_address(endpoint, address),
            EndpointChange::Port(event) => self.port_event(cx, endpoint, event),
            EndpointChange::NoPath(query) => self.path_refuted(cx, endpoint, query),
        }
    }

    fn resolve(&mut self, cx: &mut Context, endpoint: EndpointId, target: Target<'_>, need: Need) -> Resolution {
        self.path_to(cx, endpoint, target, need)
    }

    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool) -> AttemptDetails {
        let Task::Lookup(id) = Task::of(token) else { return AttemptDetails::default() };
        let details = self.attempt_details_of(cx, id);
        self.remove_waiter(cx, id, account, ticket);
        details
    }

    fn cancel_queued(&mut self, cx: &mut Context, account: AccountId, urgency: Urgency) -> bool {
        self.cancel_last(cx, account, urgency)
    }

    fn preload(&mut self, cx: &mut Context, preload: Preload) {
        self.load(cx, preload);
    }

    fn flush(&mut self, cx: &mut Context, ids: &[DestId]) {
        self.flush_entries(cx, ids);
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

    fn sa_done(&mut self, cx: &mut Context, endpoint: EndpointId, token: Token, result: Result<MadRef<'_>, SaError>) {
        match Task::of(token) {
            Task::Route(id) => self.route_done(cx, id, single(result)),
            Task::Group(_, index) => self.join_done(cx, endpoint, index, single(result)),
            Task::Renew(id) => self.renewal_done(cx, id, single(result)),
            Task::Prefetch(endpoint) => self.prefetch_done(cx, endpoint, result),
            Task::Capabilities(endpoint) => self.capabilities_done(cx, endpoint, single(result)),
            Task::Compare(endpoint) => self.compare_done(cx, endpoint, single(result)),
            Task::Lookup(_)
            | Task::Credit(_)
            | Task::Rejoin(_)
            | Task::Witness(_)
            | Task::Sweep
            | Task::StaleGids
            | Task::Confirm
            | Task::Negatives
            | Task::Renewals(_)
            | Task::Announce(_) => {}
        }
    }

    fn timeout(&mut self, cx: &mut Context, token: Token) {
        match Task::of(token) {
            Task::Lookup(id) => self.request_due(cx, id),
            Task::Credit(id) => self.credit_due(cx, id),
            Task::Group(endpoint, index) => self.endpoints.join(cx, endpoint, index),
            Task::Rejoin(endpoint) => self.endpoints.rejoin(cx, endpoint),
            Task::Witness(endpoint) => self.witness_due(cx, endpoint),
            Task::Sweep => self.sweep(cx),
            Task::StaleGids => self.invalidate_stale_gids(cx),
            Task::Confirm => self.confirm_due(cx),
            Task::Negatives => self.negatives_due(cx),
            Task::Renewals(port) => self.renewals_due(cx, port),
            Task::Announce(endpoint) => self.endpoints.announce_due(cx, &mut self.stats, endpoint),
            Task::Prefetch(endpoint) => self.prefetch_due(cx, endpoint),
            Task::Compare(endpoint) => self.compare_due(cx, endpoint),
            Task::Route(_) | Task::Renew(_) | Task::Capabilities(_) => {}
        }
    }

    fn emit_publications(&mut self, cx: &mut Context) {
        self.emit_changes(cx);
    }
}

impl Observe for Ibacmp {
    fn timer_name(&self, token: Token) -> &'static str {
        match Task::of(token) {
            Task::Lookup(_) => "a multicast request",
            Task::Credit(_) => "a credit of a multicast request",
            Task::Route(_) => "a route",
            Task::Group(..) => "joining a group",
            Task::Rejoin(_) => "joining all groups again",
            Task::Witness(_) => "showing the addresses to the group",
            Task::Sweep => "the sweep of the cache",
            Task::StaleGids => "forgetting who left",
            Task::Confirm => "the confirmation of paths in use",
            Task::Negatives => "what failed just now",
            Task::Renew(_) => "a route that is asked for anew",
            Task::Renewals(_) => "routes that are to be asked for anew",
            Task::Announce(_) => "telling the group of a move",
            Task::Prefetch(_) => "the table of all paths",
            Task::Capabilities(_) => "the capabilities of the SA",
            Task::Compare(_) => "the comparison of a path",
        }
    }

    fn each_stat(&self, emit: &mut dyn FnMut(&'static str, u64)) {
        self.stats.each(|name, _, value| emit(name, value));
        emit("missing_destinations", self.cache.lost() + self.endpoints.lost());
    }

    fn each_gauge(&self, cx: &Context, emit: GaugeSink<'_>) {
        for kind in StateKind::ALL {
            emit("destinations", GaugeScope::State(kind.name()), self.cache.count_of(kind));
        }
        for (id, state) in self.endpoints.iter() {
            let Some(endpoint) = cx.endpoint(id) else { continue };
            let (port, pkey) = (endpoint.port, endpoint.pkey);
            let (local, remote) = state.queue.waiting();
            emit("multicast_waiting", GaugeScope::EndpointQueue(port, pkey, Waiting::Local), local);
            emit("multicast_waiting", GaugeScope::EndpointQueue(port, pkey, Waiting::Remote), remote);
            emit("multicast_in_flight", GaugeScope::Endpoint(port, pkey), state.queue.held() as usize);
            emit("multicast_depth", GaugeScope::Endpoint(port, pkey), state.depth(cx) as usize);
            let joined = state.joined_groups(endpoint.is_open());
            emit("groups_joined", GaugeScope::Endpoint(port, pkey), joined);
            emit("groups_wanted", GaugeScope::Endpoint(port, pkey), state.groups.len());
            emit("prefetched", GaugeScope::Endpoint(port, pkey), state.prefetch.paths());
        }
    }

    fn fresh_path(&self, cx: &Context, endpoint: EndpointId, dest: &Address) -> Option<PathRecord> {
        self.fresh_path_to(cx, endpoint, dest)
    }

    fn entries(&self, from: usize, emit: &mut dyn FnMut(CacheEntry)) -> Option<usize> {
        self.page_of_entries(from, emit)
    }

    fn host_in_file(&self, address: &Address) -> Option<Gid> {
        self.preload.gid_of(address)
    }

    fn report(&self, cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "cache: destinations {}", self.cache.len())?;
        write!(f, "{}", self.preload)?;
        for (id, state) in self.endpoints.iter() {
            let (local, remote) = state.queue.waiting();
            let groups = state.joined_groups(cx.endpoint(id).is_some_and(Endpoint::is_open));
            writeln!(
                f,
                "{}: groups {groups} of {} lookups {} asking {} waiting {local} strangers {remote} prefetched {}",
                id.named(names),
                state.groups.len(),
                self.cache.busy_count(id),
                state.queue.held(),
                state.prefetch.paths(),
            )?;
        }
        Ok(())
    }

    fn check(&self, cx: &Context, charged: &mut dyn FnMut(AccountId)) -> Result<(), String> {
        super::check::each_lookup(self, charged);
        super::check::ibacmp(self, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
