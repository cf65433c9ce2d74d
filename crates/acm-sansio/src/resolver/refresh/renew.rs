//! The schedule of renewals: entries in use are renewed before they expire, and after an event that may have made them
//! wrong. Renewals are charged to the daemon and have the lowest priority; `sa/pace.rs` determines their pace. The old
//! path is served meanwhile.
use crate::{
    accounts::Holding,
    api::{account::DAEMON, id::PortId},
    provider::Context,
    resolver::{
        dest::{CheckReason, DestState, EvictionClass},
        state::{Ibacmp, RenewalReason},
        token::DestId,
    },
};

/// No renewal starts while this many are in progress.
const UNDER_WAY: usize = 64;
impl Ibacmp {
    /// Queues a destination for renewal, if it is stale or expires soon. Returns `false` if the sweep must wait for it.
    pub(crate) fn renew_if_due(&mut self, cx: &mut Context, id: DestId) -> bool {
        let dest = self.cache.at(id);
        let Some(ready) = dest.state.ready() else { return true };
        match dest.class {
            EvictionClass::Requested if ready.freshness.is_due(cx.shared.now(), cx.shared.config()) => {
                self.queue_renewal(cx, id, RenewalReason::Found)
            }
            // An entry that no local user requested is not worth a query.
            EvictionClass::Unsolicited if ready.freshness.stale => {
                self.drop_path(cx, id);
                true
            }
            _ => true,
        }
    }

    /// Starts the next renewal of a port, or waits for its next turn.
    pub(crate) fn renewals_due(&mut self, cx: &mut Context, port: PortId) {
        let is_busy = cx.shared.accounts.held(DAEMON, Holding::Lookups) >= UNDER_WAY;
        let mut is_over = is_busy || self.endpoints.is_joining(cx, port) || !cx.sa.may_renew(port);
        if is_over {
            cx.sa.renewal_started(&mut cx.shared, port);
        }
        // A destination that needs no query takes no turn.
        while !is_over {
            let now = cx.shared.now();
            let Some(id) = self.renewals.get_mut(&port).and_then(|queue| queue.next(now)) else { break };
            is_over = self.renew(cx, id);
            if is_over {
                cx.sa.renewal_started(&mut cx.shared, port);
            }
        }
        self.schedule_renewals(cx, port);
    }

    /// Starts the renewal of a destination, which may have been removed since it was queued. Returns `false` if it
    /// needs none.
    fn renew(&mut self, cx: &mut Context, id: DestId) -> bool {
        if self.cache.get(id).is_none() {
            return false;
        }
        self.drop_expired(cx, id);
        let before = cx.shared.accounts.held(DAEMON, Holding::Lookups);
        self.start_renewal(cx, id);
        cx.shared.accounts.held(DAEMON, Holding::Lookups) > before
    }

    fn start_renewal(&mut self, cx: &mut Context, id: DestId) {
        let Some(dest) = self.cache.at_mut(id) else { return };
        match (&mut dest.state, dest.class) {
            // It has become a local address.
            (_, EvictionClass::Local) => {}
            (DestState::Ready(ready), _) => {
                let is_queued = core::mem::take(&mut ready.freshness.queued);
                let reason = ready.check.as_ref().map(|check| check.reason);
                if !is_queued || reason == Some(CheckReason::Renewal) || ready.renewal.is_some() {
                    return;
                }
                ready.freshness.renewal_begins();
                if reason.is_none() && ready.remote.is_some_and(|remote| remote.can_respond()) {
                    self.check_before_renewal(cx, id);
                } else {
                    self.renew_path(cx, id);
                }
            }
            // The path was invalid and is already dropped.
            (DestState::Located { remote, .. }, EvictionClass::Requested) => {
                let remote = *remote;
                if let Ok(lookup) = Self::background(&mut cx.shared) {
                    self.find_route(cx, id, remote, lookup);
                }
            }
            _ => {}
        }
    }
}
