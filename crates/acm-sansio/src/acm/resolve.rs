//! RESOLVE requests: a path to an address, or to a port by LID or GID.
use crate::{
    acm::Acm,
    api::{
        ProviderId,
        account::AccountId,
        failure::{Bound, Failure},
        id::{EndpointId, PortId},
    },
    clients::{OpenRequest, RequestSubject, Requester, WaitingFor},
    cx::timers::TimerKey,
    provider::{IfPending, Need, Resolution},
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
};
use ib_mad::sa::PathRecord;

impl Acm {
    pub(crate) fn resolve(
        &mut self,
        requester: Requester,
        account: AccountId,
        source: &Address,
        chosen_source: Option<Address>,
        dest: &Address,
        no_delay: bool,
    ) {
        let Some(endpoint) = self.context.ports.by_address(source) else {
            return self.refuse(requester, Failure::NoSource, &RequestSubject::address(source, dest));
        };
        let provider = self.count_resolve(endpoint);
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, no_delay) };
        let resolution = self.providers.get_mut(provider).resolve(&mut self.context, endpoint, source, dest, need);
        self.finish_or_wait(requester, endpoint, *dest, chosen_source, resolution, need);
    }

    pub(crate) fn route(
        &mut self,
        requester: Requester,
        account: AccountId,
        port: Option<PortId>,
        path: &PathRecord,
        no_delay: bool,
    ) {
        if path.dlid.is_zero() && path.dgid.is_zero() {
            return self.refuse(requester, Failure::BadRequest(ClientStatus::EDESTADDR), &RequestSubject::path(path));
        }
        let Some(endpoint) = self.context.ports.by_path(port, path) else {
            return self.refuse(requester, Failure::NoSource, &RequestSubject::path(path));
        };
        let provider = self.count_resolve(endpoint);
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, no_delay) };
        let resolution = self.providers.get_mut(provider).route(&mut self.context, endpoint, path, need);
        let dest = if path.dlid.is_zero() { Address::Gid(path.dgid) } else { Address::Lid(path.dlid) };
        self.finish_or_wait(requester, endpoint, dest, None, resolution, need);
    }

    /// Counts a request on an endpoint and returns its provider.
    fn count_resolve(&mut self, endpoint: EndpointId) -> ProviderId {
        self.context.ports.endpoint_mut(endpoint).map_or(ProviderId::BUILT_IN, |endpoint| {
            endpoint.counters.count(Counter::Resolve);
            endpoint.provider
        })
    }

    /// Answers a request with the provider's result, or stores the request if the result is pending.
    fn finish_or_wait(
        &mut self,
        requester: Requester,
        endpoint: EndpointId,
        dest: Address,
        chosen_source: Option<Address>,
        resolution: Resolution,
        need: Need,
    ) {
        let result = match (&resolution, need.if_pending) {
            (Resolution::Ready(path), _) => Ok(path),
            (Resolution::Failed(attempt), _) => {
                if attempt.failure == Failure::TooMany(Bound::Requests) {
                    self.count_refused(need.account);
                }
                Err(*attempt)
            }
            (Resolution::Pending(token), IfPending::Waits | IfPending::AsksProvider) => {
                let waiting = WaitingFor::Lookup { endpoint, token: *token, dest, chosen_source };
                let request = self.context.keep_request(OpenRequest::new(requester, need.account, waiting));
                if matches!(requester, Requester::Kernel(_)) {
                    let deadline = self.context.now + self.context.kernel_deadline();
                    self.context.timers.set(TimerKey::Kernel(request), deadline);
                }
                return;
            }
            (Resolution::Pending(_), IfPending::LeavesTicket | IfPending::MayNotWait) => Err(Failure::NotYet.into()),
        };
        self.context.finish(requester, endpoint, &dest, chosen_source.as_ref(), result);
    }
}
