//! Witnesses: at regular intervals each endpoint sends the group a request that shows two of its addresses. All nodes
//! together send at a constant rate. A receiver compares it with what is cached at the GID of the sender, so that missed
//! announcements are made good. A host that sends witnesses has a generation in each datagram: it is doubted if none
//! arrives any more.
use super::{EndpointState, Endpoints, announced::Announcement};
use crate::{
    api::id::EndpointId,
    provider::Context,
    resolver::{stats::IbacmpStats, token::Task},
    retry,
};
use acm_wire::multicast;
use alloc::vec::Vec;
use ib_mad::{Gid, Lid};

/// The longest interval, of the mean one. After it without a witness of any host, the membership is in doubt. A host is
/// doubted after two of them: one witness may be lost.
const LONGEST: (u32, u32) = (5, 4);
/// The number of times in an interval that silent hosts are looked for.
const LOOKS: u32 = 4;

impl Endpoints {
    /// Schedules the next witness of an endpoint, and the next look for silent hosts.
    pub(crate) fn schedule_witness(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let token = Task::Witness(endpoint).token();
        if !cx.shared.config().witness || cx.shared.timer(token).is_some() {
            return;
        }
        let (now, interval) = (cx.shared.now(), retry::WITNESS.below(cx.shared.fabric_size()));
        let before = self.at(endpoint).announcement.next_witness.filter(|at| *at > now);
        let at = before.unwrap_or_else(|| now + retry::jitter(interval, self.intervals.next()));
        let Some(state) = self.at_mut(endpoint) else { return };
        state.announcement.next_witness = Some(at);
        cx.shared.set_timer(token, at.min(now + interval / LOOKS));
    }

    /// Sends the next witness of an endpoint if it is due. Returns the hosts that send none any more, with their LIDs.
    pub(crate) fn witness_due(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
    ) -> Vec<(Lid, Gid)> {
        if !cx.shared.config().witness {
            return Vec::new();
        }
        if self.at(endpoint).announcement.next_witness.is_none_or(|at| at <= cx.shared.now()) {
            self.send_witness(cx, stats, endpoint);
        }
        let silent = self.take_silent_hosts(cx, endpoint);
        self.schedule_witness(cx, endpoint);
        silent
    }

    fn send_witness(&mut self, cx: &mut Context, stats: &mut IbacmpStats, endpoint: EndpointId) {
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.as_slice()).unwrap_or_default();
        let Some(EndpointState { announcement: Announcement { turn, .. }, .. }) = self.at_mut(endpoint) else { return };
        *turn = if *turn + 1 < addresses.len() { *turn + 1 } else { 0 };
        // C ibacm caches only the first address for the others. Later ones may move, which it does not follow.
        if let Some((first, also)) = addresses.first().copied().zip(addresses.get(*turn).copied()) {
            stats.witnesses += 1;
            self.send_to_group(cx, endpoint, |tid, groups| multicast::witness(tid, &first, &also, groups));
        }
    }

    /// Returns the hosts that send no witnesses any more. If no host sends any, this node may have lost its groups, and
    /// joins them again.
    fn take_silent_hosts(&mut self, cx: &mut Context, endpoint: EndpointId) -> Vec<(Lid, Gid)> {
        let (now, mean) = (cx.shared.now(), retry::WITNESS.below(cx.shared.fabric_size()));
        let longest = mean * LONGEST.0 / LONGEST.1;
        let Some(EndpointState { hosts, .. }) = self.at_mut(endpoint) else { return Vec::new() };
        if hosts.take_silence(now, longest) {
            let at = now + cx.shared.spread(retry::JOIN_SPREAD);
            cx.shared.set_timer(Task::Rejoin(endpoint).token(), at);
        }
        hosts.take_silent(now, longest * 2)
    }
}
