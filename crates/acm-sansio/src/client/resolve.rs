//! RESOLVE: a path to an address, or to a port by LID or GID.
use super::{
    about::About,
    requests::{Asker, OpenRequest, Waiting},
};
use crate::{
    account::AccountId,
    acm::Acm,
    door::ProviderId,
    failure::{Bound, Failure},
    id::{EndpointId, PortId},
    provider::{Answer, IfPending, Need},
    timers::TimerKey,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
};
use ib_mad::sa::PathRecord;

impl Acm {
    pub(crate) fn resolve(
        &mut self,
        asker: Asker,
        account: AccountId,
        source: &Address,
        chosen_source: Option<Address>,
        dest: &Address,
        no_delay: bool,
    ) {
        let Some(endpoint) = self.context.ports.by_address(source) else {
            return self.refuse(asker, Failure::NoSource, &About::address(source, dest));
        };
        let provider = self.count_resolve(endpoint);
        let need = Need { account, if_pending: self.if_pending(asker, account, provider, no_delay) };
        let answer = self.providers.get_mut(provider).resolve(&mut self.context, endpoint, source, dest, need);
        self.answer(asker, endpoint, *dest, chosen_source, answer, need);
    }

    pub(crate) fn route(
        &mut self,
        asker: Asker,
        account: AccountId,
        port: Option<PortId>,
        path: &PathRecord,
        no_delay: bool,
    ) {
        if path.dlid.is_zero() && path.dgid.is_zero() {
            return self.refuse(asker, Failure::BadRequest(ClientStatus::EDESTADDR), &About::path(path));
        }
        let Some(endpoint) = self.context.ports.by_path(port, path) else {
            return self.refuse(asker, Failure::NoSource, &About::path(path));
        };
        let provider = self.count_resolve(endpoint);
        let need = Need { account, if_pending: self.if_pending(asker, account, provider, no_delay) };
        let answer = self.providers.get_mut(provider).route(&mut self.context, endpoint, path, need);
        let dest = if path.dlid.is_zero() { Address::Gid(path.dgid) } else { Address::Lid(path.dlid) };
        self.answer(asker, endpoint, dest, None, answer, need);
    }

    /// Counts a request of an endpoint; who serves it.
    fn count_resolve(&mut self, endpoint: EndpointId) -> ProviderId {
        self.context.ports.endpoint_mut(endpoint).map_or(ProviderId::BUILT_IN, |endpoint| {
            endpoint.counters.count(Counter::Resolve);
            endpoint.provider
        })
    }

    /// Answers with what the provider says, or lets the request wait.
    fn answer(
        &mut self,
        asker: Asker,
        endpoint: EndpointId,
        dest: Address,
        chosen_source: Option<Address>,
        answer: Answer,
        need: Need,
    ) {
        let result = match (&answer, need.if_pending) {
            (Answer::Ready(path), _) => Ok(path),
            (Answer::Failed(attempt), _) => {
                if attempt.failure == Failure::TooMany(Bound::Requests) {
                    self.count_refused(need.account);
                }
                Err(*attempt)
            }
            (Answer::Pending(token), IfPending::Waits | IfPending::Asks) => {
                let waiting = Waiting::Lookup { endpoint, token: *token, dest, chosen_source };
                let request = self.context.keep_request(OpenRequest::new(asker, need.account, waiting));
                if matches!(asker, Asker::Kernel(_)) {
                    let deadline = self.context.now + self.context.kernel_deadline();
                    self.context.timers.set(TimerKey::Kernel(request), deadline);
                }
                return;
            }
            (Answer::Pending(_), IfPending::LeavesTicket | IfPending::HasNoRoom) => Err(Failure::NotYet.into()),
        };
        self.context.finish(asker, endpoint, &dest, chosen_source.as_ref(), result);
    }
}
