//! Failed requests: log events and counts.
use super::{Clients, requests::Requester};
use crate::{
    api::{
        Event, FailedRequest, Level, RequestedBy, ServedAddresses,
        account::DAEMON,
        failure::{Attempt, Failure, FailureKind, FailureSummary},
        id::EndpointId,
    },
    ports::Ports,
    retry::FAILURE_REPORT,
    shared::{Shared, timers::TimerKey},
};
use acm_wire::Address;
use ib_mad::{Gid, Lid, sa::PathRecord};

/// The subject of a failed request, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestSubject {
    pub(crate) dest: Option<Address>,
    pub(crate) source: Option<Address>,
    pub(crate) endpoint: Option<EndpointId>,
}

impl RequestSubject {
    pub(crate) fn dest(dest: &Address) -> Self {
        Self { dest: Some(*dest), ..Self::default() }
    }

    /// Creates the subject of a request for the path to an address.
    pub(crate) fn address(source: &Address, dest: &Address) -> Self {
        Self { source: Some(*source), ..Self::dest(dest) }
    }

    /// Creates the subject of a request for a path between ports.
    pub(crate) fn path(path: &PathRecord) -> Self {
        let port = |lid: Lid, gid: Gid| match (lid.is_zero(), gid.is_zero()) {
            (false, _) => Some(Address::Lid(lid)),
            (true, false) => Some(Address::Gid(gid)),
            (true, true) => None,
        };
        // The source GID takes precedence over the source LID.
        let source = port(Lid::default(), path.sgid).or_else(|| port(path.slid, path.sgid));
        Self { dest: port(path.dlid, path.dgid), source, endpoint: None }
    }
}

impl Clients {
    /// Counts a failed request and logs it.
    pub(crate) fn request_failed(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        requester: Requester,
        attempt: Attempt,
        subject: &RequestSubject,
    ) {
        let kind = attempt.failure.kind();
        // A NODELAY request that finds nothing in the cache is not a failure.
        if kind != FailureKind::NotYet {
            if self.failed.counts.total() == 0 {
                self.failed.since = shared.now;
                shared.timers.set(TimerKey::Failures, shared.now + FAILURE_REPORT);
            }
            self.failed.counts.count(kind);
        }
        if !shared.logs(Level::Verbose) {
            return;
        }
        let is_source = attempt.failure == Failure::NoSource;
        let served = if is_source { served(ports, subject.source.as_ref()) } else { ServedAddresses::default() };
        let source = subject.source.filter(|_| is_source);
        let (by, dest, endpoint) = (self.requested_by(shared, requester), subject.dest, subject.endpoint);
        shared.log(Event::Failed(FailedRequest { by, dest, source, endpoint, attempt, served }.into()));
    }

    /// Logs the number of failed requests since the last summary, if there are any.
    pub(crate) fn report_failures(&mut self, shared: &mut Shared) {
        shared.timers.clear(TimerKey::Failures);
        let FailureSummary { counts, since } = core::mem::take(&mut self.failed);
        if counts.total() > 0 {
            shared.log(Event::Failures(counts, shared.now.since(since)));
        }
    }

    pub(crate) fn requested_by(&self, shared: &Shared, requester: Requester) -> RequestedBy {
        match requester {
            Requester::Client { id, .. } => {
                let account = self.connections.account(id).unwrap_or(DAEMON);
                RequestedBy::Client(id, shared.accounts.account(account))
            }
            Requester::Kernel(id) => RequestedBy::Kernel(id),
        }
    }
}

/// Returns the sources that would have been accepted: addresses, or ports in the form of the given source.
fn served(ports: &Ports, source: Option<&Address>) -> ServedAddresses {
    let active = ports.iter().filter(|(_, up, _)| *up).map(|(_, _, port)| port);
    match source {
        Some(Address::Lid(_)) => active.map(|port| Address::Lid(port.lid)).collect(),
        Some(Address::Gid(_)) | None => active.map(|port| Address::Gid(port.gid())).collect(),
        Some(_) => ports.active(0).flat_map(|(_, endpoint)| &endpoint.addresses).copied().collect(),
    }
}
