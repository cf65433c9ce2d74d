//! Requests that failed: told one by one to who wants to know, and by kind once a minute to everybody.
use super::{
    about::{About, FailedRequests},
    requests::Asker,
};
use crate::{
    context::Context,
    door::{Event, FailedRequest, Level, RequestedBy, Served},
    failure::{Attempt, Failure, FailureKind},
    retry::FAILURES_TOLD,
    timers::TimerKey,
};
use acm_wire::Address;

impl Context {
    /// Counts a request that failed, and tells why.
    pub(crate) fn request_failed(&mut self, asker: Asker, attempt: Attempt, about: &About) {
        let kind = attempt.failure.kind();
        // Who does not wait is told so, and nothing is wrong.
        if kind != FailureKind::NotYet {
            if self.failed.counts.total() == 0 {
                self.failed.since = self.now;
                self.timers.set(TimerKey::Failures, self.now + FAILURES_TOLD);
            }
            self.failed.counts.count(kind);
        }
        if !self.logs(Level::Verbose) {
            return;
        }
        let is_source = attempt.failure == Failure::NoSource;
        let served = if is_source { self.served(about.source.as_ref()) } else { Served::default() };
        let source = about.source.filter(|_| is_source);
        let (by, dest, endpoint) = (self.requested_by(asker), about.dest, about.endpoint);
        self.log(Event::Failed(FailedRequest { by, dest, source, endpoint, attempt, served }.into()));
    }

    /// Tells how many requests failed since that was told last, if any.
    pub(crate) fn tell_failures(&mut self) {
        self.timers.clear(TimerKey::Failures);
        let FailedRequests { counts, since } = core::mem::take(&mut self.failed);
        if counts.total() > 0 {
            self.log(Event::Failures(counts, self.now.since(since)));
        }
    }

    /// What could have been asked from: addresses, or ports by what the source was given as.
    fn served(&self, source: Option<&Address>) -> Served {
        let active = self.ports.iter().filter(|(_, up, _)| *up).map(|(_, _, port)| port);
        match source {
            Some(Address::Lid(_)) => active.map(|port| Address::Lid(port.lid)).collect(),
            Some(Address::Gid(_)) | None => active.map(|port| Address::Gid(port.gid())).collect(),
            Some(_) => {
                let endpoints = self.ports.active(0).filter_map(|id| self.ports.endpoint(id));
                endpoints.flat_map(|endpoint| &endpoint.addresses).copied().collect()
            }
        }
    }

    pub(crate) fn requested_by(&self, asker: Asker) -> RequestedBy {
        match asker {
            Asker::Client { id, .. } => {
                let account = self.connections.account(id).unwrap_or(crate::account::DAEMON);
                RequestedBy::Client(id, self.accounts.account(account))
            }
            Asker::Kernel(id) => RequestedBy::Kernel(id),
        }
    }
}
