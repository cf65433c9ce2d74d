//! Requests: each waits for its turn, is asked, and ends once.
use super::{
    bounds::{CALLS, UNANSWERED},
    message::{self, Wanted},
    state::External,
    token::{AskId, Task},
    under_way::{Asked, Stage},
};
use crate::{
    context::Context,
    credit::Places,
    door::ProviderCall,
    failure::{Bound, Failure},
    id::{EndpointId, Token},
    provider::{IfPending, Need},
    retry::SENDER_MARGIN,
};
use acm_wire::client::Counters;
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// How a request ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End<'a> {
    Path(&'a PathRecord),
    Counters(&'a Counters),
    Failed(Failure),
}

/// How long a provider may take: what it may ask the group and then subnet administration, with all repetitions.
pub(super) fn answer_time(cx: &Context) -> Duration {
    cx.config().sa_time().saturating_mul(2) + SENDER_MARGIN
}

impl External {
    /// Lets a request wait for its turn; what it waits for.
    pub(super) fn ask(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        wanted: Wanted,
        need: Need,
    ) -> Result<Token, Failure> {
        if !self.endpoints.get(&endpoint).is_some_and(|state| state.serves) {
            return Err(Failure::ProviderDown);
        }
        if need.if_pending == IfPending::HasNoRoom {
            return Err(Failure::TooMany(Bound::Requests));
        }
        cx.charge_lookup(need.account).map_err(Failure::TooMany)?;
        let stage = Stage::Queued(Places::default());
        let id = self.asked.insert(Asked { endpoint, account: need.account, wanted, stage, waits: true });
        if let Some(Asked { stage: Stage::Queued(places), .. }) = self.asked.get_mut(id) {
            self.queue.join(places, need.account, id);
        }
        let token = self.token(Task::Ask(id));
        cx.set_timer(token, cx.now() + cx.config().queue_deadline);
        self.pump(cx);
        Ok(token)
    }

    /// Asks what has its turn.
    pub(super) fn pump(&mut self, cx: &mut Context) {
        while !self.hangs && self.calls.len() < CALLS {
            let Some((id, credit)) = self.queue.next(UNANSWERED) else { return };
            let Some(asked) = self.asked.get_mut(id) else { continue };
            if let Stage::Queued(mut places) = core::mem::replace(&mut asked.stage, Stage::Called(credit)) {
                self.queue.leave_all(&mut places);
            }
            let (request, endpoint) = (id.at_door(self.id), asked.endpoint);
            let what = match &asked.wanted {
                Wanted::Counters => ProviderCall::QueryCounters { request, endpoint },
                wanted @ (Wanted::Address { source, .. } | Wanted::Path { source, .. }) => {
                    let message = message::request(wanted, request.to_bits().to_be_bytes());
                    ProviderCall::Resolve { request, endpoint, source: *source, message }
                }
            };
            cx.set_timer(self.token(Task::Ask(id)), cx.now() + answer_time(cx));
            self.call(cx, what, None);
        }
    }

    /// A request's time is over.
    pub(super) fn ask_due(&mut self, cx: &mut Context, id: AskId) {
        let Some(asked) = self.asked.get(id) else { return };
        let failure = match asked.stage {
            Stage::Queued(_) => {
                cx.stats.provider_no_turn += 1;
                Failure::NoTurn
            }
            Stage::Called(_) => {
                cx.stats.provider_silent += 1;
                Failure::ProviderSilent
            }
        };
        self.end(cx, id, End::Failed(failure));
        self.pump(cx);
    }

    /// Ends a request: its place or credit is free, nobody pays any more, and who waits is answered.
    pub(super) fn end(&mut self, cx: &mut Context, id: AskId, end: End<'_>) {
        let Some(asked) = self.asked.remove(id) else { return };
        let token = self.token(Task::Ask(id));
        cx.clear_timer(token);
        match asked.stage {
            Stage::Queued(mut places) => self.queue.leave_all(&mut places),
            Stage::Called(credit) => self.queue.give_back(credit),
        }
        cx.refund_lookup(asked.account);
        match (&asked.wanted, end) {
            (Wanted::Counters, End::Counters(counters)) => cx.complete_counters(token, Ok(counters)),
            (Wanted::Counters, End::Failed(failure)) => cx.complete_counters(token, Err(failure)),
            (Wanted::Counters, End::Path(_)) => cx.complete_counters(token, Err(Failure::ProviderGarbage)),
            (_, End::Path(path)) => cx.complete(token, Ok(path)),
            (_, End::Failed(failure)) => cx.complete(token, Err(failure.into())),
            (_, End::Counters(_)) => cx.complete(token, Err(Failure::ProviderGarbage.into())),
        }
    }

    /// Ends all requests of an endpoint.
    pub(super) fn fail_all(&mut self, cx: &mut Context, endpoint: EndpointId, failure: Failure) {
        let of_endpoint = self.asked.iter().filter(|(_, asked)| asked.endpoint == endpoint);
        let all: Vec<AskId> = of_endpoint.map(|(id, _)| id).collect();
        for id in all {
            self.end(cx, id, End::Failed(failure));
        }
    }

    /// The asker left. What the provider was asked already it answers all the same, and so long the account pays.
    pub(super) fn left(&mut self, cx: &mut Context, id: AskId, ticket: bool) {
        let Some(asked) = self.asked.get_mut(id) else { return };
        asked.waits = false;
        if matches!(asked.stage, Stage::Queued(_)) && !ticket {
            self.end(cx, id, End::Failed(Failure::NotYet));
        }
    }
}
