//! The deadline of kernel requests.
use super::{
    Clients,
    requests::{OpenRequest, Requester},
};
use crate::{
    api::id::RequestId,
    shared::{Shared, timers::TimerKey},
};
use core::time::Duration;

/// The core's part of the kernel's time-out, in [`PARTS`]. The rest covers delays outside of the core.
const OUR_PARTS: u32 = 9;
const PARTS: u32 = 10;

impl Clients {
    /// Sets the kernel's time-out.
    pub(crate) const fn set_kernel_timeout(&mut self, timeout: Duration) {
        self.kernel_timeout = Some(timeout);
    }

    /// Sets the deadline of a request, if the kernel sent it.
    pub(crate) fn set_deadline(&self, shared: &mut Shared, requester: Requester, request: RequestId) {
        if matches!(requester, Requester::Kernel(_)) {
            let ours = |timeout| timeout * OUR_PARTS / PARTS;
            let deadline = self.kernel_timeout.map_or(shared.config.kernel_deadline, ours);
            shared.timers.set(TimerKey::Kernel(request), shared.now + deadline);
        }
    }

    /// Removes a kernel request whose deadline has passed.
    pub(crate) fn take_late(&mut self, shared: &mut Shared, id: RequestId) -> Option<OpenRequest> {
        let request = self.take_request(shared, id)?;
        Self::record_request_latency(shared, &request);
        Some(request)
    }
}
