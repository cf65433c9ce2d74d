//! The queue of renewals. Renewals are charged to the daemon and have the lowest priority; `sa/pace.rs` determines their
//! pace. The old path is served meanwhile.
use crate::{
    api::{account::DAEMON, failure::Failure, id::PortId},
    provider::{Context, IfPending, Need},
    resolver::{
        dest::{DestState, Lookup},
        state::{Ibacmp, RenewalReason},
        token::{DestId, Task},
    },
    shared::Shared,
};

impl Ibacmp {
    /// Queues a destination for renewal. Returns `false` if the queue is full.
    ///
    /// A client that used a stale path has it already. No account waits for the renewal, so it takes no account's turn;
    /// 10,000 nodes may use a path in the same second after the subnet manager restarted.
    pub(crate) fn queue_renewal(&mut self, cx: &mut Context, id: DestId, reason: RenewalReason) -> bool {
        let Some(dest) = self.cache.at_mut(id) else { return true };
        let endpoint = dest.endpoint;
        let Some(port) = cx.port_id(endpoint) else { return true };
        let queue = self.renewals.entry(port).or_default();
        let is_full = queue.len(reason) >= cx.shared.config().limits.renewals;
        if let DestState::Ready(ready) = &mut dest.state {
            if ready.freshness.queued || ready.renewal.is_some() {
                return true;
            }
            ready.freshness.queued = !is_full;
        }
        if is_full {
            self.stats.renewals_put_off += 1;
            return false;
        }
        queue.push(reason, cx.move_slot(endpoint), id);
        self.schedule_renewals(cx, port);
        true
    }

    pub(crate) fn schedule_renewals(&self, cx: &mut Context, port: PortId) {
        let now = cx.shared.now();
        if let Some(at) = self.renewals.get(&port).and_then(|queue| queue.next_time(now)) {
            let at = at.max(cx.sa.next_renewal(port));
            cx.shared.set_timer(Task::Renewals(port).token(), at);
        }
    }

    /// Creates a lookup that only the daemon needs.
    pub(crate) fn background(shared: &mut Shared) -> Result<Lookup, Failure> {
        Lookup::begin(shared, Need { account: DAEMON, if_pending: IfPending::LeavesTicket })
    }
}
