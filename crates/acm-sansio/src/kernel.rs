//! The kernel's requests and their deadline.
use crate::{
    account::KERNEL,
    acm::Acm,
    client::{Asker, Waiting},
    context::Context,
    failure::{Attempt, Failure},
    id::{KernelRequestId, PortId, RequestId},
};
use acm_wire::{Address, client::Counter};
use core::{net::IpAddr, time::Duration};
use ib_mad::sa::PathRecord;

/// So many parts of the time that the kernel waits are ours, of [`PARTS`]: the rest is for what may hold us up.
const OURS: u32 = 9;
const PARTS: u32 = 10;

impl Context {
    /// How long a request of the kernel may wait for its answer.
    pub(crate) fn kernel_deadline(&self) -> Duration {
        self.kernel_waits.map_or(self.config.kernel_deadline, |waits| waits * OURS / PARTS)
    }
}

impl Acm {
    pub(crate) fn kernel_request(&mut self, id: KernelRequestId, port: Option<PortId>, wanted: &PathRecord) {
        self.context.counters.count(Counter::Resolve);
        self.route(Asker::Kernel(id), KERNEL, port, wanted, false);
    }

    pub(crate) fn kernel_address_request(&mut self, id: KernelRequestId, source: IpAddr, dest: IpAddr) {
        self.context.counters.count(Counter::Resolve);
        let (source, dest) = (Address::from(source), Address::from(dest));
        self.resolve(Asker::Kernel(id), KERNEL, &source, None, &dest, false);
    }

    /// The kernel gets its answer, whoever is late; what it asked for is still looked up, for the next time.
    pub(crate) fn kernel_late(&mut self, id: RequestId) {
        let Some(request) = self.context.take_request(id) else { return };
        self.context.request_took(&request);
        let Waiting::Lookup { endpoint, token, dest, .. } = request.waiting else { return };
        self.context.stats.kernel_late += 1;
        let tried = self.providers.get(token.provider).tried(&self.context, token);
        let late = Attempt { failure: Failure::KernelDeadline, tried };
        self.context.finish(request.asker, endpoint, &dest, None, Err(late));
        self.providers.get_mut(token.provider).waiter_left(&mut self.context, token, request.account, true);
    }
}
