//! Confirmation of paths in use by their peers and the subnet administrator (SA), in the background.
//!
//! Nothing notifies this node when a peer loses a partition, or when the SA gets another policy. So a hand passes over
//! the cache again and again. It queues each path that was used since it was found or last confirmed for a renewal,
//! which replaces or drops the path. The interval between two of them grows with the fabric, so that the confirmations
//! of all nodes take a few percent of the SA's time.
use crate::{
    provider::Context,
    resolver::{
        dest::ServedPath,
        state::{Ibacmp, RenewalReason},
        token::Task,
    },
    retry::CONFIRM_INTERVAL,
};
use core::time::Duration;

/// The number of slots that the hand passes at a time, which takes a fraction of a millisecond.
const SLICE: usize = 1024;
/// The pause between two slices without a path in use.
const PAUSE: Duration = Duration::from_millis(10);

impl Ibacmp {
    /// Begins a pass about this time from now, because a path is used, or an event may have made paths wrong. During a
    /// pass, the next one does it.
    pub(crate) fn start_confirmations(&mut self, cx: &mut Context, after: Duration) {
        if self.confirmations.is_under_way() {
            return self.confirmations.found();
        }
        let at = cx.shared.now() + self.confirmations.jitter(after);
        self.confirmations.start(at);
        cx.shared.set_timer(Task::Confirm.token(), at);
    }

    /// Moves the hand to the next path in use.
    pub(crate) fn confirm_due(&mut self, cx: &mut Context) {
        let mut pause = PAUSE;
        for _ in 0..SLICE {
            let Some(slot) = self.confirmations.next(self.cache.slots()) else {
                let at = self.confirmations.end_pass(cx.shared.now() + pause);
                at.into_iter().for_each(|at| cx.shared.set_timer(Task::Confirm.token(), at));
                return;
            };
            let Some(id) = self.cache.key_at(slot) else { continue };
            let Some(dest) = self.cache.get(id).filter(|dest| dest.is_requested()) else { continue };
            let is_idle = |ready: &&ServedPath| !ready.freshness.queued && ready.renewal.is_none();
            let Some(ready) = dest.state.ready().filter(is_idle) else { continue };
            if ready.freshness.needs_confirmation() {
                self.confirmations.found();
                if self.queue_renewal(cx, id, RenewalReason::Found) {
                    self.cache.change(id, |ready| ready.freshness.confirmation_queued());
                }
                pause = CONFIRM_INTERVAL.below(cx.shared.fabric_size());
                break;
            }
            // An event may have moved an address that is not in use. The host is asked, and not the SA.
            if dest.is_doubtful() {
                self.confirmations.found();
                self.settle_doubt(cx, id);
                break;
            }
        }
        let at = cx.shared.now() + self.confirmations.jitter(pause);
        cx.shared.set_timer(Task::Confirm.token(), at);
    }
}
