//! Requests to a provider: queueing, calls, completion.
use super::{
    resolve_message::{self, Query},
    state::{External, MAX_CALLS, MAX_UNANSWERED, PendingRequest, Stage},
    token::{PendingRequestId, Task},
};
use crate::{
    accounts::{credit::QueuePositions, fair::Urgency},
    api::{
        ProviderCall,
        account::AccountId,
        failure::{Bound, Failure},
        id::{EndpointId, Token},
    },
    provider::{Context, IfPending, Need},
    retry::SENDER_MARGIN,
};
use acm_wire::client::Counters;
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// The result of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum End<'a> {
    Path(&'a PathRecord),
    Counters(&'a Counters),
    Failed(Failure),
}

/// Returns the time limit for a response: a multicast request and a query to the SA, each with all retries.
pub(super) fn response_time_limit(cx: &Context) -> Duration {
    cx.shared.config().sa_time().saturating_mul(2) + SENDER_MARGIN
}

impl External {
    /// Queues a request and returns its token.
    pub(super) fn queue_request(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        query: Query,
        need: Need,
    ) -> Result<Token, Failure> {
        if !self.endpoints.get(&endpoint).is_some_and(|state| state.serving) {
            return Err(Failure::ProviderDown);
        }
        if need.if_pending == IfPending::MayNotWait {
            return Err(Failure::TooMany(Bound::Requests));
        }
        cx.shared.charge_lookup(need.account).map_err(Failure::TooMany)?;
        let stage = Stage::Queued(QueuePositions::default());
        let id =
            self.requests.insert(PendingRequest { endpoint, account: need.account, query, stage, waited_for: true });
        if let Some(PendingRequest { stage: Stage::Queued(positions), .. }) = self.requests.get_mut(id) {
            self.queue.join(positions, need.account, need.urgency(), id);
        }
        let token = self.token(Task::Request(id));
        let deadline = cx.shared.now() + cx.shared.config().queue_deadline;
        cx.shared.set_timer(token, deadline);
        self.pump(cx);
        Ok(token)
    }

    /// Calls the provider for the next requests, within the limits.
    pub(super) fn pump(&mut self, cx: &mut Context) {
        while !self.hangs && self.calls.len() < MAX_CALLS {
            let Some((id, credit)) = self.queue.next(MAX_UNANSWERED) else { return };
            let Some(request) = cx.shared.existing(self.requests.get_mut(id)) else { continue };
            if let Stage::Queued(mut positions) = core::mem::replace(&mut request.stage, Stage::Called(credit)) {
                self.queue.leave_all(&mut positions);
            }
            let (external, endpoint) = (id.external_id(self.id), request.endpoint);
            let message = resolve_message::request(&request.query, external.to_bits().to_be_bytes());
            let what = match request.query {
                Query::Counters => ProviderCall::QueryCounters { request: external, endpoint },
                Query::Sa { source, .. } => ProviderCall::Query { request: external, endpoint, source, message },
                Query::Address { source, .. } | Query::Path { source, .. } => {
                    ProviderCall::Resolve { request: external, endpoint, source, message }
                }
            };
            let deadline = cx.shared.now() + response_time_limit(cx);
            cx.shared.set_timer(self.token(Task::Request(id)), deadline);
            self.call(cx, what, None);
        }
    }

    /// Handles the time-out of a request.
    pub(super) fn request_due(&mut self, cx: &mut Context, id: PendingRequestId) {
        let Some(request) = cx.shared.existing(self.requests.get(id)) else { return };
        let failure = match request.stage {
            Stage::Queued(_) => {
                cx.shared.stats.provider_no_turn += 1;
                Failure::NoTurn
            }
            Stage::Called(_) => {
                cx.shared.stats.provider_silent += 1;
                Failure::ProviderSilent
            }
        };
        self.end(cx, id, End::Failed(failure));
        self.pump(cx);
    }

    /// Ends a request: frees its queue position or credit, refunds the account, and answers the requester.
    pub(super) fn end(&mut self, cx: &mut Context, id: PendingRequestId, end: End<'_>) {
        let Some(request) = cx.shared.existing(self.requests.remove(id)) else { return };
        let token = self.token(Task::Request(id));
        cx.shared.clear_timer(token);
        match request.stage {
            Stage::Queued(mut positions) => self.queue.leave_all(&mut positions),
            Stage::Called(credit) => self.queue.give_back(credit),
        }
        cx.shared.refund_lookup(request.account);
        match (&request.query, end) {
            (Query::Counters, End::Counters(counters)) => cx.complete_counters(token, Ok(counters)),
            (Query::Counters, End::Failed(failure)) => cx.complete_counters(token, Err(failure)),
            (Query::Counters, End::Path(_)) => cx.complete_counters(token, Err(Failure::ProviderGarbage)),
            (_, End::Path(path)) => cx.complete(token, Ok(path)),
            (_, End::Failed(failure)) => cx.complete(token, Err(failure.into())),
            (_, End::Counters(_)) => cx.complete(token, Err(Failure::ProviderGarbage.into())),
        }
    }

    /// Fails the request that an account queued last with this urgency. Returns `false` if there is none.
    pub(super) fn cancel_last(&mut self, cx: &mut Context, account: AccountId, urgency: Urgency) -> bool {
        let last = self.queue.last(account, urgency);
        last.is_some_and(|id| {
            self.end(cx, id, End::Failed(Failure::TooMany(Bound::Lookups)));
            true
        })
    }

    /// Fails all requests of an endpoint.
    pub(super) fn fail_all(&mut self, cx: &mut Context, endpoint: EndpointId, failure: Failure) {
        let of_endpoint = self.requests.iter().filter(|(_, request)| request.endpoint == endpoint);
        let all: Vec<PendingRequestId> = of_endpoint.map(|(id, _)| id).collect();
        for id in all {
            self.end(cx, id, End::Failed(failure));
        }
    }

    /// Handles the disconnection of a requester. A request that the provider already has continues, charged to the
    /// account.
    pub(super) fn requester_left(&mut self, cx: &mut Context, id: PendingRequestId, ticket: bool) {
        let Some(request) = cx.shared.existing(self.requests.get_mut(id)) else { return };
        request.waited_for = false;
        match &mut request.stage {
            Stage::Queued(positions) if ticket => self.queue.join(positions, request.account, Urgency::Ticket, id),
            Stage::Queued(_) => self.end(cx, id, End::Failed(Failure::NotYet)),
            Stage::Called(_) => {}
        }
    }
}
