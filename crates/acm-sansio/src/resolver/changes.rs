//! Changes of endpoints, of their addresses and of their ports.
use super::{
    dest::{DestKey, DestState, EvictionClass, ServedPath, Stage},
    endpoint::JoinEnd,
    paths,
    state::Ibacmp,
    token::Task,
};
use crate::{
    api::{SaError, failure::Failure, id::EndpointId},
    provider::{Context, Endpoint, PortEvent},
    retry,
};
use acm_wire::{Address, multicast};
use ib_mad::sa::SaMad;

impl Ibacmp {
    /// Ends all operations in progress on an endpoint.
    fn fail_all(&mut self, cx: &mut Context, endpoint: EndpointId) {
        for id in self.cache.busy(endpoint) {
            match self.cache.change(id, ServedPath::checks) {
                // The served path stays.
                Some(checks) => self.end_checks(cx, id, checks),
                None => self.fail(cx, id, Failure::EndpointClosed),
            }
        }
    }

    pub(super) fn open_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        // A new queue pair must be attached to the group. The membership belongs to the port and stays.
        if let Some(base) = self.endpoints.base_mut(endpoint)
            && let Some(member) = base.member
        {
            (base.is_attached, base.repeats) = (false, false);
            cx.attach(endpoint, member.mgid, member.mlid);
        }
        // The port may have moved while the endpoint had no queue pair.
        self.update_origin_of(cx, endpoint);
        self.change_generation(endpoint);
        self.endpoints.join_all(cx, endpoint);
        self.refresh_loopback(cx, endpoint);
        self.endpoints.announce_if_moved(cx, endpoint);
    }

    pub(super) fn close_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.withdraw_all(cx, endpoint);
        self.fail_all(cx, endpoint);
        self.endpoints.leave_all(cx, endpoint);
        self.endpoints.prefetch_changed(cx, endpoint, PortEvent::Down);
        self.reset_service_ids(cx, endpoint);
        cx.shared.clear_timer(Task::Announce(endpoint).token());
        cx.shared.clear_timer(Task::Compare(endpoint).token());
        self.endpoints.remove(endpoint);
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.clone()).unwrap_or_default();
        addresses.iter().for_each(|address| self.endpoints.note_removed(cx, address));
        // Entries of the removed endpoint cannot be found any more; the sweep removes them.
        self.hurry_sweep(cx);
    }

    pub(super) fn add_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.change_generation(endpoint);
        self.add_loopback(cx, endpoint, address);
        // Peers may have cached another location. Addresses that were present from the start need no announcement:
        // peers learn of them from the first request.
        if self.endpoints.at(endpoint).announcement.has_joined {
            self.endpoints.announce(cx, endpoint);
        }
        self.endpoints.announce_if_moved(cx, endpoint);
    }

    pub(super) fn remove_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.change_generation(endpoint);
        // The endpoint may still have the name in another case.
        if cx.endpoint(endpoint).is_some_and(|endpoint| endpoint.has(address)) {
            return;
        }
        if let Some(id) = self.cache.find(endpoint, &DestKey::Address(*address)) {
            if self.cache.at(id).state.is_busy() {
                self.fail(cx, id, Failure::EndpointClosed);
            }
            self.cache.remove(id);
        }
        self.replace_source(cx, endpoint, address);
        self.endpoints.note_removed(cx, address);
    }

    pub(super) fn invalidate_address(&mut self, endpoint: EndpointId, address: &Address) {
        let Some(id) = self.cache.find(endpoint, &DestKey::Address(*address)) else { return };
        // An operation in progress will find the new location.
        if !self.cache.at(id).state.is_busy() {
            self.cache.remove(id);
        }
    }

    pub(super) fn port_event(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent) {
        self.withdraw_all(cx, endpoint);
        self.clear_failures(endpoint);
        self.endpoints.prefetch_changed(cx, endpoint, event);
        self.reset_service_ids(cx, endpoint);
        self.endpoints.entry(endpoint).topology.forget();
        if event != PortEvent::Down {
            self.mark_stale(cx, endpoint);
        }
        match event {
            PortEvent::Down => {
                self.fail_all(cx, endpoint);
                self.endpoints.drop_memberships(cx, endpoint);
            }
            PortEvent::Up | PortEvent::Moved => {
                self.update_origin_of(cx, endpoint);
                self.refresh_loopback(cx, endpoint);
                self.endpoints.join_all(cx, endpoint);
            }
            PortEvent::OtherLink => {
                self.endpoints.entry(endpoint).link_changed();
                self.refresh_loopback(cx, endpoint);
                self.endpoints.join_all_soon(cx, endpoint);
            }
            PortEvent::OtherManager | PortEvent::Reregister => self.endpoints.join_all_soon(cx, endpoint),
        }
    }

    /// Handles the result of a join.
    pub(super) fn join_done(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        index: u32,
        result: Result<&SaMad, SaError>,
    ) {
        match self.endpoints.join_done(cx, &mut self.stats, endpoint, index, result) {
            JoinEnd::Joined => {}
            // What is asked of one host needs no group.
            JoinEnd::WithoutGroup => self.fail_without_group(cx, endpoint),
            JoinEnd::Unchanged => return,
        }
        self.pump(cx, endpoint);
    }

    /// Fails the lookups that wait to ask the base group, because its join failed.
    fn fail_without_group(&mut self, cx: &mut Context, endpoint: EndpointId) {
        for id in self.cache.busy(endpoint) {
            if let DestState::Locating(request) = &self.cache.at(id).state
                && matches!(request.stage, Stage::Queued(_))
            {
                self.fail(cx, id, Failure::NoGroup);
            }
        }
    }

    /// Marks all entries of an endpoint as possibly wrong, so that those in use are renewed. The others are renewed
    /// when they are used.
    fn mark_stale(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.endpoints.entry(endpoint).mark_stale();
        // Every node of the subnet does the same now.
        if let Some(port) = cx.port_id(endpoint) {
            cx.sa.renewals_storm(&mut cx.shared, port);
            self.schedule_renewals(cx, port);
        }
        self.hurry_sweep(cx);
        self.start_confirmations(cx, retry::PROOF_SPREAD);
    }

    /// Adds a local address to the cache.
    fn add_loopback(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        if !cx.shared.config().loopback {
            return;
        }
        let Some(path) = paths::loopback(cx, endpoint) else { return };
        let Some(id) = self.acquire(cx, endpoint, DestKey::Address(*address)) else { return };
        self.cache.set_class(id, EvictionClass::Local);
        if self.cache.at(id).state.is_busy() {
            self.fail(cx, id, Failure::EndpointClosed);
        }
        self.cache.enter(id, DestState::Ready(ServedPath::new(None, path, 0)));
    }

    /// Replaces a removed source address in open multicast requests, because receivers cache the location of the
    /// source.
    fn replace_source(&mut self, cx: &Context, endpoint: EndpointId, removed: &Address) {
        let Some(other) = cx.endpoint(endpoint).and_then(|found| found.addresses.first().copied()) else { return };
        for id in self.cache.busy(endpoint) {
            if let Some(request) = self.cache.request_mut(id).filter(|request| request.source == *removed) {
                request.source = other;
            }
        }
    }

    /// Changes the generation of an endpoint's addresses, which its datagrams have.
    fn change_generation(&mut self, endpoint: EndpointId) {
        if let Some(state) = self.endpoints.get_mut(endpoint) {
            state.generation = state.generation % multicast::MOST_GENERATIONS + 1;
        }
    }

    /// Records the port's current GID and LIDs.
    fn update_origin_of(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if let Some((gid, lid, lmc)) = cx.port_of(endpoint).map(|port| (port.gid(), port.lid, port.lmc)) {
            let state = self.endpoints.entry(endpoint);
            let qpn = cx.endpoint(endpoint).and_then(Endpoint::qpn);
            let has_moved = state.update_origin(gid, lid, lmc);
            let announces = state.announcement.moves_to(qpn) || has_moved;
            if has_moved {
                self.withdraw_all(cx, endpoint);
            }
            if announces {
                self.endpoints.announce(cx, endpoint);
            }
        }
    }

    fn refresh_loopback(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.clone()).unwrap_or_default();
        for address in &addresses {
            self.add_loopback(cx, endpoint, address);
        }
    }
}
