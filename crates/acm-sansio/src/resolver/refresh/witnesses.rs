//! Witnesses: at regular intervals each endpoint sends the group a request that shows two of its addresses. All nodes
//! together send at a constant rate. A receiver compares it with what is cached at the GID of the sender, so that missed
//! announcements are made good. A host that sent witnesses and sends none any more is doubted.
use crate::{
    api::id::EndpointId,
    provider::Context,
    resolver::{
        state::{Ibacmp, RenewalReason},
        token::Task,
    },
    retry,
};
use acm_wire::multicast;

/// A host is doubted after two of the longest intervals without a witness: 5/2 of the mean one. One witness may be lost.
const SILENCE: (u32, u32) = (5, 2);
/// The number of times in an interval that silent hosts are looked for.
const LOOKS: u32 = 4;

impl Ibacmp {
    /// Schedules the next witness of an endpoint, and the next look for silent hosts.
    pub(crate) fn schedule_witness(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let token = Task::Witness(endpoint).token();
        if !cx.config().witness || cx.timer(token).is_some() {
            return;
        }
        let (now, interval) = (cx.now(), retry::WITNESS.below(cx.fabric_size()));
        let next = &mut self.endpoints.at_mut(endpoint).announcement.next_witness;
        let at = match *next {
            Some(at) if at > now => at,
            _ => *next.insert(now + retry::jitter(interval, self.intervals.next())),
        };
        cx.set_timer(token, at.min(now + interval / LOOKS));
    }

    /// Sends the next witness of an endpoint if it is due, and doubts the hosts that send none any more.
    pub(crate) fn witness_due(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if !cx.config().witness {
            return;
        }
        if self.endpoints.at(endpoint).announcement.next_witness.is_none_or(|at| at <= cx.now()) {
            self.send_witness(cx, endpoint);
        }
        self.doubt_silent_hosts(cx, endpoint);
        self.schedule_witness(cx, endpoint);
    }

    fn send_witness(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.as_slice()).unwrap_or_default();
        let turn = &mut self.endpoints.at_mut(endpoint).announcement.turn;
        *turn = if *turn + 1 < addresses.len() { *turn + 1 } else { 0 };
        // C ibacm caches only the first address for the others. Later ones may move, which it does not follow.
        if let Some((first, also)) = addresses.first().copied().zip(addresses.get(*turn).copied()) {
            self.stats.witnesses += 1;
            self.send_to_group(cx, endpoint, |tid, groups| multicast::witness(tid, &first, &also, groups));
        }
    }

    /// Doubts what is cached at hosts that send no witnesses any more. If no host sends any, this node may have lost its
    /// groups, and joins them again.
    fn doubt_silent_hosts(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let silence = retry::WITNESS.below(cx.fabric_size()) * SILENCE.0 / SILENCE.1;
        let hosts = &mut self.endpoints.at_mut(endpoint).hosts;
        let silent = hosts.take_silent(cx.now(), silence);
        if silent.is_empty() {
            return;
        }
        if !hosts.sends_witnesses() {
            let at = cx.now() + cx.spread(retry::JOIN_SPREAD);
            cx.set_timer(Task::Rejoin(endpoint).token(), at);
        }
        for (lid, gid) in silent {
            for id in self.cached_at(cx, endpoint, lid, gid) {
                let dest = self.cache.at(id);
                if dest.is_address() {
                    self.doubt(cx, id);
                } else if dest.is_requested() {
                    self.queue_renewal(cx, id, RenewalReason::Found);
                }
            }
        }
        // Those for which there is no room now.
        self.start_confirmations(cx, retry::PROOF_SPREAD);
    }
}
