//! Selection of the source address by the routing table, if the client names no source.
use crate::{
    acm::Acm,
    api::{
        Output,
        account::AccountId,
        failure::{Bound, Failure},
        id::RequestId,
    },
    clients::{OpenRequest, RequestSubject, Requester, WaitingFor},
};
use acm_wire::{Address, client::ClientStatus};
use core::net::IpAddr;

impl Acm {
    pub(crate) fn select_source(&mut self, requester: Requester, account: AccountId, dest: Address, no_delay: bool) {
        let subject = RequestSubject::dest(&dest);
        let Some(ip) = dest.ip() else {
            return self.refuse(requester, Failure::BadRequest(ClientStatus::EDESTTYPE), &subject);
        };
        // The account's limit is checked later, when it is clear that the request must wait: the result may be cached.
        if !self.requester_may_wait(requester) {
            self.count_refused(account);
            return self.refuse(requester, Failure::TooMany(Bound::Requests), &subject);
        }
        let request =
            self.context.keep_request(OpenRequest::new(requester, account, WaitingFor::Source { dest, no_delay }));
        self.context.output(Output::SelectSource { request, dest: ip });
    }

    pub(crate) fn source_selected(&mut self, request: RequestId, source: Option<IpAddr>) {
        let waiting = self.context.requests.all.get(request).map(|request| request.waiting);
        let (Some(WaitingFor::Source { dest, no_delay }), Some(request)) = (waiting, self.take_source(request)) else {
            self.context.stats.stale_inputs += 1;
            return;
        };
        match source.map(Address::from) {
            None => self.refuse(request.requester, Failure::NoRoute, &RequestSubject::dest(&dest)),
            Some(source) => self.resolve(request.requester, request.account, &source, Some(source), &dest, no_delay),
        }
    }

    /// Removes a request that waits for its source. Other requests stay.
    fn take_source(&mut self, id: RequestId) -> Option<OpenRequest> {
        matches!(self.context.requests.all.get(id)?.waiting, WaitingFor::Source { .. })
            .then(|| self.context.take_request(id))
            .flatten()
    }
}
