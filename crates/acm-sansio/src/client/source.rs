//! The source of a path to an address, when the client names none: what the routing table gives.
use super::{
    failures::RequestSubject,
    requests::{OpenRequest, Requester, WaitingFor},
};
use crate::{
    account::AccountId,
    acm::Acm,
    api::Output,
    failure::{Bound, Failure},
    id::RequestId,
};
use acm_wire::{Address, client::ClientStatus};
use core::net::IpAddr;

impl Acm {
    pub(crate) fn select_source(&mut self, requester: Requester, account: AccountId, dest: Address, no_delay: bool) {
        let subject = RequestSubject::dest(&dest);
        let Some(ip) = dest.ip() else {
            return self.refuse(requester, Failure::BadRequest(ClientStatus::EDESTTYPE), &subject);
        };
        // Whether there is room to wait is seen once it is clear that it must: the answer may be known.
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

    /// Takes a request that waits for its source; others stay.
    fn take_source(&mut self, id: RequestId) -> Option<OpenRequest> {
        matches!(self.context.requests.all.get(id)?.waiting, WaitingFor::Source { .. })
            .then(|| self.context.take_request(id))
            .flatten()
    }
}
