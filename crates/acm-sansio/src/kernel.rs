//! The kernel's requests and their deadline.
use crate::{
    account::KERNEL,
    acm::Acm,
    client::{Asker, Waiting},
    failure::Failure,
    id::{KernelRequestId, PortId, RequestId},
};
use acm_wire::client::Counter;
use ib_mad::sa::PathRecord;

impl Acm {
    pub(crate) fn kernel_request(&mut self, id: KernelRequestId, port: Option<PortId>, wanted: &PathRecord) {
        self.context.counters.count(Counter::Resolve);
        self.route(Asker::Kernel(id), KERNEL, port, wanted, false);
    }

    /// The kernel gets its answer, whoever is late; what it asked for is still looked up, for the next time.
    pub(crate) fn kernel_late(&mut self, id: RequestId) {
        let Some(request) = self.context.take_request(id) else { return };
        self.context.request_took(&request);
        let Waiting::Lookup { endpoint, token, dest, .. } = request.waiting else { return };
        self.context.stats.kernel_late += 1;
        self.context.finish(request.asker, endpoint, &dest, None, Err(Failure::KernelDeadline));
        self.provider.waiter_left(&mut self.context, token, request.account, true);
    }
}
