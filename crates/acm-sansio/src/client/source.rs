//! The source of a path to an address, when the client names none: what the routing table gives.
use super::{
    about::About,
    requests::{Asker, OpenRequest, Waiting},
};
use crate::{
    account::AccountId,
    acm::Acm,
    door::Output,
    failure::{Bound, Failure},
    id::RequestId,
};
use acm_wire::{Address, client::ClientStatus};
use core::net::IpAddr;

impl Acm {
    pub(crate) fn select_source(&mut self, asker: Asker, account: AccountId, dest: Address, no_delay: bool) {
        let about = About::dest(&dest);
        let Some(ip) = dest.ip() else {
            return self.refuse(asker, Failure::BadRequest(ClientStatus::EDESTTYPE), &about);
        };
        // Whether there is room to wait is seen once it is clear that it must: the answer may be known.
        if !self.asker_may_wait(asker) {
            self.count_refused(account);
            return self.refuse(asker, Failure::TooMany(Bound::Requests), &about);
        }
        let request = self.context.keep_request(OpenRequest::new(asker, account, Waiting::Source { dest, no_delay }));
        self.context.output(Output::SelectSource { request, dest: ip });
    }

    pub(crate) fn source_selected(&mut self, request: RequestId, source: Option<IpAddr>) {
        let waiting = self.context.requests.all.get(request).map(|request| request.waiting);
        let (Some(Waiting::Source { dest, no_delay }), Some(request)) = (waiting, self.take_source(request)) else {
            self.context.stats.stale_inputs += 1;
            return;
        };
        match source.map(Address::from) {
            None => self.refuse(request.asker, Failure::NoRoute, &About::dest(&dest)),
            Some(source) => self.resolve(request.asker, request.account, &source, Some(source), &dest, no_delay),
        }
    }

    /// Takes a request that waits for its source; others stay.
    fn take_source(&mut self, id: RequestId) -> Option<OpenRequest> {
        matches!(self.context.requests.all.get(id)?.waiting, Waiting::Source { .. })
            .then(|| self.context.take_request(id))
            .flatten()
    }
}
