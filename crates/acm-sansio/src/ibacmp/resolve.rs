//! Asking: from a request to a path.
use super::{
    Ibacmp,
    dest::{AskPhase, Asking, DestKey, DestState, Remote},
    dest_token, group,
};
use crate::{
    id::{DestId, EndpointId},
    input::DatagramSource,
    provider::{Answer, Context},
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
    multicast::{self, AddressResponse},
};
use alloc::vec::Vec;
use ib_mad::Gid;

impl Ibacmp {
    /// The path to an address.
    pub(super) fn resolve_address(
        &mut self,
        cx: &mut Context<'_>,
        endpoint: EndpointId,
        source: &Address,
        address: &Address,
    ) -> Answer {
        // GIDs and LIDs are nobody's addresses: they are asked for as paths.
        if matches!(address, Address::Gid(_) | Address::Lid(_)) {
            return Answer::Failed(ClientStatus::ENODATA);
        }
        let Some(id) = self.acquire(cx, endpoint, DestKey::Address(*address), true) else {
            return Answer::Failed(ClientStatus::ENOMEM);
        };
        let now = cx.now();
        let Some(dest) = self.cache.get_mut(id) else { return Answer::Failed(ClientStatus::ENOMEM) };
        dest.used = true;
        dest.expire(now);
        match &dest.state {
            DestState::Ready { path, .. } => {
                let path = *path;
                cx.count(endpoint, Counter::RouteCache);
                Answer::Ready(path)
            }
            DestState::Asking(_) | DestState::Routing { .. } => Answer::Pending(dest_token(id)),
            DestState::Known { remote, .. } => {
                let remote = *remote;
                cx.count(endpoint, Counter::AddrCache);
                self.find_route(cx, id, remote, Vec::new());
                self.answer_now(id)
            }
            DestState::Unknown => self.ask(cx, id, endpoint, source),
        }
    }

    /// The answer that the destination's state gives.
    fn answer_now(&self, id: DestId) -> Answer {
        match self.cache.get(id).map(|dest| &dest.state) {
            Some(DestState::Ready { path, .. }) => Answer::Ready(*path),
            Some(state) if state.is_busy() => Answer::Pending(dest_token(id)),
            _ => Answer::Failed(ClientStatus::ENODATA),
        }
    }

    fn ask(&mut self, cx: &mut Context<'_>, id: DestId, endpoint: EndpointId, source: &Address) -> Answer {
        // Who is in no group can ask nobody.
        if self.base_group(endpoint).is_none() {
            return Answer::Failed(ClientStatus::ENODATA);
        }
        let limit = cx.config().limits.resolve_queue;
        let (tid, retries_left) = (cx.transaction_id(), cx.config().retries);
        let Some(ep) = self.endpoints.get_mut(&endpoint) else { return Answer::Failed(ClientStatus::ENODATA) };
        if ep.queue.len() >= limit {
            cx.stats().requests_refused += 1;
            return Answer::Failed(ClientStatus::ENOMEM);
        }
        ep.queue.push_back(id);
        if let Some(dest) = self.cache.get_mut(id) {
            let asking = Asking { tid, source: *source, retries_left, phase: AskPhase::Queued };
            dest.enter(DestState::Asking(asking));
        }
        cx.count(endpoint, Counter::AddrQuery);
        self.pump(cx, endpoint);
        Answer::Pending(dest_token(id))
    }

    /// Sends what the endpoint's credits allow.
    pub(super) fn pump(&mut self, cx: &mut Context<'_>, endpoint: EndpointId) {
        loop {
            let depth = cx.config().resolve_depth.max(1);
            let Some(ep) = self.endpoints.get_mut(&endpoint) else { return };
            if ep.in_flight >= depth {
                return;
            }
            let Some(id) = ep.queue.pop_front() else { return };
            let Some(DestState::Asking(asking)) = self.cache.get_mut(id).map(|dest| &mut dest.state) else { continue };
            if asking.phase == AskPhase::Queued {
                asking.phase = AskPhase::Sent;
                self.asked.insert(asking.tid.get(), id);
                ep.in_flight += 1;
                self.send_request(cx, id);
            }
        }
    }

    fn send_request(&mut self, cx: &mut Context<'_>, id: DestId) {
        let Some(dest) = self.cache.get(id) else { return };
        let (DestState::Asking(asking), DestKey::Address(address)) = (&dest.state, &dest.key) else { return };
        let endpoint = dest.endpoint;
        let subnet_time = cx.port_of(endpoint).map(crate::ports::PortAttributes::subnet_time).unwrap_or_default();
        let deadline = cx.now() + cx.config().timeout + subnet_time;
        if let Some(member) = self.base_group(endpoint) {
            let groups: Vec<Gid> = self.joined(endpoint).map(|member| member.mgid).collect();
            let mad = multicast::request(asking.tid, address, &asking.source, &groups);
            cx.send(endpoint, group::send_to(member), mad);
        }
        cx.set_timer(dest_token(id), deadline);
    }

    /// No response came in time.
    pub(super) fn ask_again(&mut self, cx: &mut Context<'_>, id: DestId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let DestState::Asking(asking) = &mut dest.state else { return };
        if asking.retries_left == 0 {
            return self.fail(cx, id, ClientStatus::ETIMEDOUT);
        }
        asking.retries_left -= 1;
        // The first silence frees the credit: a name that nobody has must not hold up all others.
        if core::mem::replace(&mut asking.phase, AskPhase::Repeated) == AskPhase::Sent
            && let Some(ep) = self.endpoints.get_mut(&endpoint)
        {
            ep.in_flight -= 1;
        }
        self.send_request(cx, id);
        self.pump(cx, endpoint);
    }

    /// Takes back all that a multicast request holds.
    pub(super) fn stop_asking(&mut self, cx: &mut Context<'_>, id: DestId, endpoint: EndpointId, asking: &Asking) {
        cx.clear_timer(dest_token(id));
        self.asked.remove(&asking.tid.get());
        let Some(ep) = self.endpoints.get_mut(&endpoint) else { return };
        match asking.phase {
            AskPhase::Queued => ep.queue.retain(|other| *other != id),
            AskPhase::Sent => {
                ep.in_flight -= 1;
                self.pump(cx, endpoint);
            }
            AskPhase::Repeated => {}
        }
    }

    /// Somebody says that an address is theirs.
    pub(super) fn responded(
        &mut self,
        cx: &mut Context<'_>,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        response: &AddressResponse,
    ) {
        let asked = self.asked.get(&response.tid.get()).copied();
        let Some((id, dest)) = asked.and_then(|id| Some((id, self.cache.get_mut(id)?))) else {
            cx.stats().unexpected_responses += 1;
            return;
        };
        if dest.endpoint != endpoint || !matches!(dest.state, DestState::Asking(_)) {
            cx.stats().unexpected_responses += 1;
            return;
        }
        if response.status != 0 {
            return self.fail(cx, id, ClientStatus::new(response.status));
        }
        let shared = response.group.and_then(|mgid| self.best_shared(endpoint, &[mgid]));
        let Some(group) = shared else {
            cx.stats().no_shared_group += 1;
            return self.fail(cx, id, ClientStatus::ENODATA);
        };
        let remote = Remote { gid, lid: source.lid, path_bits: source.path_bits, qpn: source.qpn, group };
        self.located(cx, id, remote, Vec::new());
    }

    /// It is known where a destination is: the multicast request for it ends, and the way to it is looked for.
    pub(super) fn located(
        &mut self,
        cx: &mut Context<'_>,
        id: DestId,
        remote: Remote,
        responders: Vec<super::dest::Responder>,
    ) {
        let (addr_until, _) = Self::lifetimes(cx);
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        if let DestState::Asking(asking) = dest.enter(DestState::Known { remote, addr_until }) {
            self.stop_asking(cx, id, endpoint, &asking);
        }
        self.find_route(cx, id, remote, responders);
    }
}
