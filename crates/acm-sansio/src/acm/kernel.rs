//! Kernel requests and their deadline.
use crate::{
    acm::Acm,
    api::{
        account::KERNEL,
        failure::{Attempt, Failure},
        id::{KernelRequestId, PortId, RequestId},
    },
    clients::{Requester, WaitingFor},
    provider::Context,
};
use acm_wire::{Address, client::Counter};
use core::{net::IpAddr, time::Duration};
use ib_mad::sa::PathRecord;

/// The core's part of the kernel's time-out, in [`PARTS`]. The rest covers delays outside of the core.
const OUR_PARTS: u32 = 9;
const PARTS: u32 = 10;

impl Context {
    /// Returns the time within which a kernel request must be answered.
    pub(crate) fn kernel_deadline(&self) -> Duration {
        self.kernel_timeout.map_or(self.config.kernel_deadline, |timeout| timeout * OUR_PARTS / PARTS)
    }
}

impl Acm {
    pub(crate) fn kernel_request(&mut self, id: KernelRequestId, port: Option<PortId>, path: &PathRecord) {
        self.context.counters.count(Counter::Resolve);
        self.route(Requester::Kernel(id), KERNEL, port, path, false);
    }

    pub(crate) fn kernel_address_request(&mut self, id: KernelRequestId, source: IpAddr, dest: IpAddr) {
        self.context.counters.count(Counter::Resolve);
        let (source, dest) = (Address::from(source), Address::from(dest));
        self.resolve(Requester::Kernel(id), KERNEL, &source, None, &dest, false);
    }

    /// Answers a kernel request whose deadline has passed. Its lookup continues for later requests.
    pub(crate) fn kernel_late(&mut self, id: RequestId) {
        let Some(request) = self.context.take_request(id) else { return };
        self.context.record_request_latency(&request);
        let WaitingFor::Lookup { endpoint, token, dest, .. } = request.waiting else { return };
        self.context.stats.kernel_late += 1;
        let details = self.providers.get(token.provider).attempt_details(&self.context, token);
        let late = Attempt { failure: Failure::KernelDeadline, details };
        self.context.finish(request.requester, endpoint, &dest, None, Err(late));
        self.providers.get_mut(token.provider).waiter_left(&mut self.context, token, request.account, true);
    }
}
