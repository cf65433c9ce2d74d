//! Witnesses: at regular intervals each endpoint sends the group a request that shows two of its addresses. All nodes
//! together send at a constant rate. A receiver compares it with what is cached at the GID of the sender, so that missed
//! announcements are made good. A host that sent witnesses and sends none any more is doubted.
use crate::{
    api::id::EndpointId,
    provider::Context,
    resolver::{
        doubts::MOST_DOUBTED,
        state::{Ibacmp, RenewalReason},
        token::{DestId, Task},
    },
    retry,
};
use acm_wire::multicast;
use alloc::vec::Vec;
use ib_mad::Gid;

/// The number of intervals without a witness after which a host is doubted. Each may be longer by a quarter.
const MISSED: u32 = 4;
/// The maximum number of hosts that are expected to send witnesses, for each endpoint. No fabric has more ports.
const MOST_HOSTS: usize = 49_151;

impl Ibacmp {
    /// Schedules the next witness of an endpoint, unless it is scheduled.
    pub(crate) fn schedule_witness(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let token = Task::Witness(endpoint).token();
        if cx.config().witness && cx.timer(token).is_none() {
            let interval = retry::WITNESS.below(cx.fabric_size());
            let at = cx.now() + retry::jitter(interval, self.intervals.next());
            cx.set_timer(token, at);
        }
    }

    /// Sends the next witness of an endpoint, and doubts the hosts that send none any more.
    pub(crate) fn witness_due(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if !cx.config().witness {
            return;
        }
        self.schedule_witness(cx, endpoint);
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.as_slice()).unwrap_or_default();
        let turn = &mut self.endpoints.at_mut(endpoint).announcement.turn;
        *turn = if *turn + 1 < addresses.len() { *turn + 1 } else { 0 };
        // C ibacm caches only the first address for the others. Later ones may move, which it does not follow.
        if let Some((first, also)) = addresses.first().copied().zip(addresses.get(*turn).copied()) {
            self.stats.witnesses += 1;
            self.send_to_group(cx, endpoint, |tid, groups| multicast::witness(tid, &first, &also, groups));
        }
        self.doubt_silent_hosts(cx, endpoint);
    }

    /// Records a witness of a host.
    pub(crate) fn note_witness(&mut self, cx: &Context, endpoint: EndpointId, host: Gid) {
        let now = cx.now();
        let heard = &mut self.endpoints.at_mut(endpoint).heard;
        if heard.len() < MOST_HOSTS || heard.contains_key(&host) {
            heard.insert(host, now);
        }
    }

    /// Doubts what is cached at hosts that send no witnesses any more. It is proven at the pace of confirmations.
    fn doubt_silent_hosts(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let (now, longest) = (cx.now(), retry::WITNESS.below(cx.fabric_size()) * MISSED);
        let heard = &mut self.endpoints.at_mut(endpoint).heard;
        let silent: Vec<Gid> = heard.iter().filter(|(_, at)| **at + longest < now).map(|(gid, _)| *gid).collect();
        for gid in &silent {
            self.endpoints.at_mut(endpoint).heard.remove(gid);
            for id in self.cache.at_gid(endpoint, *gid, MOST_DOUBTED) {
                self.doubt(cx, id);
            }
        }
        if !silent.is_empty() {
            self.start_confirmations(cx, retry::PROOF_SPREAD);
        }
    }

    fn doubt(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at_mut(id);
        dest.in_doubt = dest.is_address();
        if !dest.in_doubt && dest.is_requested() {
            self.queue_renewal(cx, id, RenewalReason::Found);
        }
    }
}
