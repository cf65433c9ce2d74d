//! Asking the group where an address is: send, repeat, give up.
use super::{
    asking::{Asking, Stage},
    dest::{DestKey, DestState, Ready},
    event::Event,
    group,
    lookup::Lookup,
    remote::Remote,
    renewals::Why,
    route,
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{
    account::AccountId,
    context::Context,
    door::DatagramSource,
    failure::{Bound, Failure},
    histogram::Phase,
    id::{EndpointId, Token},
    port::PortAttributes,
    provider::{Answer, IfPending, Need},
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
    multicast::{self, AddressResponse},
};
use alloc::{boxed::Box, vec::Vec};
use ib_mad::Gid;

impl Ibacmp {
    /// The path to an address.
    pub(super) fn resolve_address(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &Address,
        address: &Address,
        need: Need,
    ) -> Answer {
        // GIDs and LIDs are nobody's addresses: they are asked for as paths.
        if matches!(address, Address::Gid(_) | Address::Lid(_)) {
            return Failure::NotAnAddress.into();
        }
        let Some(id) = self.acquire(cx, endpoint, DestKey::Address(*address)) else {
            return Failure::TooMany(Bound::Destinations).into();
        };
        if let Some(answer) = self.known_answer(cx, id, endpoint, need) {
            return answer;
        }
        if let Some(answer) = self.preloaded_answer(cx, id, endpoint) {
            return answer;
        }
        let lookup = match Lookup::begin(cx, need) {
            Ok(lookup) => lookup,
            Err(failure) => return failure.into(),
        };
        match self.cache.get(id).map(|dest| &dest.state) {
            Some(DestState::Known { remote, .. }) => {
                let remote = *remote;
                cx.count(endpoint, Counter::AddrCache);
                self.find_route(cx, id, remote, lookup);
            }
            _ => self.ask(cx, id, endpoint, *source, lookup),
        }
        self.answer_now(id)
    }

    /// The answer if the destination is ready or being looked up; then the asker needs that lookup, too.
    pub(super) fn known_answer(
        &mut self,
        cx: &mut Context,
        id: DestId,
        endpoint: EndpointId,
        need: Need,
    ) -> Option<Answer> {
        self.freshen(cx, id);
        let dest = self.cache.get_mut(id)?;
        dest.used = true;
        match &mut dest.state {
            DestState::Ready(ready) => {
                let (path, doubted) = (ready.path, ready.doubted);
                ready.served = true;
                cx.count(endpoint, Counter::RouteCache);
                if doubted {
                    self.renew_soon(cx, id, Why::Used);
                }
                Some(Answer::Ready(path))
            }
            DestState::Asking(_) | DestState::Routing(_) => Some(match self.share_lookup(cx, id, need) {
                Ok(()) => Answer::Pending(Task::Lookup(id).token()),
                // The lookup goes on without it.
                Err(_) if need.if_pending == IfPending::LeavesTicket => Answer::Pending(Task::Lookup(id).token()),
                Err(failure) => failure.into(),
            }),
            DestState::Failed(failed) => {
                let attempt = failed.again(cx.now());
                self.stats.negative_answers += 1;
                Some(Answer::Failed(attempt))
            }
            DestState::Unknown | DestState::Known { .. } => None,
        }
    }

    /// The answer that the destination's state gives after something was begun for it.
    pub(super) fn answer_now(&mut self, id: DestId) -> Answer {
        match self.cache.get(id).map(|dest| &dest.state) {
            Some(DestState::Ready(ready)) => Answer::Ready(ready.path),
            Some(state) if state.is_busy() => Answer::Pending(Task::Lookup(id).token()),
            _ => Answer::Failed(self.last_failure.take().unwrap_or(Failure::EndpointClosed.into())),
        }
    }

    /// An asker needs what is under way.
    fn share_lookup(&mut self, cx: &mut Context, id: DestId, need: Need) -> Result<(), Failure> {
        let Some(dest) = self.cache.get_mut(id) else { return Ok(()) };
        let endpoint = dest.endpoint;
        let Some(lookup) = dest.state.lookup_mut() else { return Ok(()) };
        if lookup.join(cx, need)? {
            self.take_place(cx, id, endpoint, need.account);
        }
        Ok(())
    }

    /// The turns of another account count for what waits.
    pub(super) fn take_place(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId, account: AccountId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        match &mut dest.state {
            DestState::Routing(routing) => cx.sa_join(routing.question, account),
            other => {
                // An endpoint without a queue pair has routes to ask for, and no group.
                if let Some(Asking { stage: Stage::Queued(places), .. }) = other.asking_mut()
                    && let Some(state) = self.endpoints.get_mut(&endpoint)
                {
                    state.queue.join(places, account, id);
                }
            }
        }
    }

    /// One request less of an account waits.
    pub(super) fn left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool) {
        let Task::Lookup(id) = Task::of(token) else { return };
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let Some(lookup) = dest.state.lookup_mut() else { return };
        if !lookup.leave(cx, account, ticket) {
            return;
        }
        let needed = lookup.is_needed();
        let queued = match (&mut dest.state, self.endpoints.get_mut(&endpoint)) {
            (DestState::Asking(asking), Some(state)) => match &mut asking.stage {
                Stage::Queued(places) => {
                    state.queue.leave(places, account);
                    true
                }
                // It ends at its first silence.
                Stage::Sent(_) | Stage::Late => false,
            },
            (DestState::Routing(routing), _) => {
                cx.sa_leave(routing.question, account);
                !needed && cx.sa_cancel(routing.question)
            }
            _ => false,
        };
        if !needed && queued {
            self.drop_unneeded(cx, id);
        }
    }

    /// Ends a lookup that nobody needs; what is known stays.
    pub(super) fn drop_unneeded(&mut self, cx: &mut Context, id: DestId) {
        self.stats.lookups_unneeded += 1;
        match self.cache.enter(id, DestState::Unknown) {
            DestState::Asking(asking) => {
                self.end_asking(cx, id, *asking).end(cx);
            }
            DestState::Routing(routing) => {
                routing.lookup.end(cx);
                if let Some(remote) = routing.remote {
                    self.cache.enter(id, DestState::Known { remote, addr_until: routing.addr_until });
                }
            }
            other => {
                self.cache.enter(id, other);
            }
        }
    }

    /// Asks the group for a destination.
    pub(super) fn ask(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId, source: Address, lookup: Lookup) {
        let asking = Box::new(Asking::new(cx.now(), cx.transaction_id(), source, lookup));
        self.cache.enter(id, DestState::Asking(asking));
        // Who is in no group can ask nobody.
        if self.base_group(endpoint).is_none() {
            return self.fail(cx, id, Failure::NoGroup);
        }
        self.queue_up(cx, id, endpoint);
    }

    /// Lets a multicast request wait for its turn, which may be now.
    pub(super) fn queue_up(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) {
        let (Some(dest), Some(state)) = (self.cache.get_mut(id), self.endpoints.get_mut(&endpoint)) else { return };
        let Some(Asking { stage: Stage::Queued(places), lookup, .. }) = dest.state.asking_mut() else { return };
        for account in lookup.accounts() {
            state.queue.join(places, account, id);
        }
        cx.count(endpoint, Counter::AddrQuery);
        let deadline = cx.now() + cx.config().queue_deadline;
        cx.set_timer(Task::Lookup(id).token(), deadline);
        self.pump(cx, endpoint);
    }

    /// Sends what the endpoint's credits allow.
    pub(super) fn pump(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let depth = cx.config().resolve_depth;
        while let Some(state) = self.endpoints.get_mut(&endpoint)
            && let Some((id, credit)) = state.queue.next(depth)
        {
            let likely = state.round_trip.likely(cx.config().timeout);
            let Some(asking) = self.cache.get_mut(id).and_then(|dest| dest.state.asking_mut()) else {
                state.queue.give_back(credit);
                continue;
            };
            if let Stage::Queued(places) = &mut asking.stage {
                state.queue.leave_all(places);
            }
            asking.stage = Stage::Sent(credit);
            self.asked.insert(asking.tid.get(), id);
            let at = cx.now() + likely;
            cx.set_timer(Task::Credit(id).token(), at);
            self.send_request(cx, id);
        }
    }

    pub(super) fn send_request(&mut self, cx: &mut Context, id: DestId) {
        let groups: Vec<Gid> = match self.cache.get(id) {
            Some(dest) => self.joined(dest.endpoint).map(|member| member.mgid).collect(),
            None => return,
        };
        let Some(dest) = self.cache.get_mut(id) else { return };
        let (endpoint, name, DestKey::Address(address)) = (dest.endpoint, dest.name(), dest.key) else { return };
        let Some(asking) = dest.state.asking_mut() else { return };
        asking.asked += 1;
        asking.sent_at = cx.now();
        if asking.asked == 1 {
            asking.since = cx.now();
        }
        let (tid, asked, source) = (asking.tid, asking.asked, asking.source);
        self.stats.requests_repeated += u64::from(asked > 1);
        let subnet_time = cx.port_of(endpoint).map(PortAttributes::subnet_time).unwrap_or_default();
        let deadline = cx.now() + cx.config().timeout + subnet_time;
        cx.set_timer(Task::Lookup(id).token(), deadline);
        cx.log(Event::Asked(endpoint, name, asked).into());
        let Some(port) = cx.port_of(endpoint) else { return };
        let to = match self.cache.get(id).map(|dest| &dest.state) {
            Some(DestState::Ready(Ready { claim: Some(claim), remote: Some(remote), path, .. })) if claim.probe => {
                Some(route::send_to(path, remote, port))
            }
            _ => self.base_group(endpoint).map(|member| group::send_to(member, port)),
        };
        if let Some(to) = to {
            cx.send(endpoint, to, multicast::request(tid, &address, &source, &groups));
        }
    }

    /// An answer is late: the credit is for another.
    pub(super) fn credit_due(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        let Some(asking) = dest.state.asking_mut() else { return };
        if let Stage::Sent(credit) = core::mem::replace(&mut asking.stage, Stage::Late)
            && let Some(state) = self.endpoints.get_mut(&endpoint)
        {
            state.queue.give_back(credit);
        }
        self.decide_claim(cx, id);
        self.pump(cx, endpoint);
    }

    /// No answer came in time, or no turn.
    pub(super) fn ask_due(&mut self, cx: &mut Context, id: DestId) {
        let retries = cx.config().retries;
        let Some(dest) = self.cache.get_mut(id) else { return };
        let is_claim = matches!(dest.state, DestState::Ready(_));
        let Some(asking) = dest.state.asking_mut() else { return };
        let failure = match &asking.stage {
            Stage::Queued(_) => Failure::NoTurn,
            _ if asking.asked > retries => asking.refused.unwrap_or(Failure::NoResponse),
            _ if !asking.lookup.is_needed() => return self.drop_unneeded(cx, id),
            _ => return self.send_request(cx, id),
        };
        if is_claim { self.end_claim(cx, id, None) } else { self.fail(cx, id, failure) }
    }

    /// Takes back all that a multicast request holds; gives back its lookup.
    pub(super) fn end_asking(&mut self, cx: &mut Context, id: DestId, asking: Asking) -> Lookup {
        cx.clear_timer(Task::Lookup(id).token());
        cx.clear_timer(Task::Credit(id).token());
        self.asked.remove(&asking.tid.get());
        let endpoint = self.cache.get(id).map(|dest| dest.endpoint);
        if let Some(endpoint) = endpoint
            && let Some(state) = self.endpoints.get_mut(&endpoint)
        {
            match asking.stage {
                Stage::Queued(mut places) => state.queue.leave_all(&mut places),
                Stage::Sent(credit) => {
                    state.queue.give_back(credit);
                    self.pump(cx, endpoint);
                }
                Stage::Late => {}
            }
        }
        asking.lookup
    }

    /// Somebody says that an address is theirs.
    pub(super) fn responded(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        response: &AddressResponse,
    ) {
        let shared = response.group.and_then(|mgid| self.best_shared(endpoint, &[mgid]));
        let asked = self.asked.get(&response.tid.get()).copied();
        let dest = asked.and_then(|id| Some((id, self.cache.get_mut(id)?)));
        let Some((id, dest)) = dest.filter(|(_, dest)| dest.endpoint == endpoint) else {
            self.stats.unexpected_responses += 1;
            return;
        };
        let name = dest.name();
        let Some(asking) = dest.state.asking_mut() else {
            self.stats.unexpected_responses += 1;
            return;
        };
        let refused = match shared {
            _ if response.status != 0 => Some(Failure::PeerRefused(ClientStatus::new(response.status))),
            None => Some(Failure::NoSharedGroup),
            Some(_) => None,
        };
        if let Some(failure) = refused {
            asking.refused = Some(failure);
            self.stats.refusals += 1;
            return cx.log(Event::Refused(endpoint, name, failure).into());
        }
        let Some(group) = shared else { return };
        let once = (asking.asked == 1).then_some(asking.sent_at);
        if let (Some(sent_at), Some(state)) = (once, self.endpoints.get_mut(&endpoint)) {
            state.round_trip.sample(cx.now().since(sent_at));
            cx.took(Phase::MulticastRoundTrip, cx.now().since(sent_at));
        }
        let remote = Remote { gid, lid: source.lid, path_bits: source.path_bits, qpn: source.qpn, group };
        cx.log(Event::Located(endpoint, name, gid, source.lid).into());
        if matches!(self.cache.get(id).map(|dest| &dest.state), Some(DestState::Asking(_))) {
            self.located(cx, id, remote);
        } else {
            self.claim_answered(cx, id, remote);
        }
    }

    /// It is known where a destination is: the multicast request for it ends, and the way to it is looked for, if
    /// somebody needs it.
    pub(super) fn located(&mut self, cx: &mut Context, id: DestId, remote: Remote) {
        let addr_until = Self::addr_end(cx);
        let before = self.cache.enter(id, DestState::Known { remote, addr_until });
        let lookup = match before {
            DestState::Asking(asking) => self.end_asking(cx, id, *asking),
            _ => Lookup::default(),
        };
        self.find_route(cx, id, remote, lookup);
    }
}
