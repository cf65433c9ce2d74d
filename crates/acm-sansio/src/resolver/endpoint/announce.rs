//! Announcements after this port moved: a multicast request for each local address, sent by its owner. Every receiver
//! learns the new location from it, as from any request; no peer responds. C ibacm's receivers handle it in the same
//! way. An address that another host claims is announced, too.
use super::{EndpointState, Endpoints, announced::Announcement};
use crate::{
    api::{ResolverEvent, id::EndpointId, port::PortAttributes},
    provider::Context,
    resolver::{paths, stats::IbacmpStats, token::Task},
    retry,
};
use acm_wire::{Address, multicast};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::{Gid, TransactionId, acm::AcmMad};

/// The number of addresses per announcement, and the pause after it.
const AT_A_TIME: usize = 16;
const PAUSE: Duration = Duration::from_millis(100);
/// The maximum number of removed local addresses that are kept because they may reappear at another port.
const REMEMBERED: usize = 64;

impl Endpoints {
    /// Schedules the announcement of all addresses of an endpoint.
    pub(crate) fn announce(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if let Some(state) = self.at_mut(endpoint) {
            state.announcement.next = Some(0);
            self.announce_soon(cx, endpoint);
        }
    }

    /// Handles the removal of a local address. Peers still have its old location in their caches, so it is announced
    /// from its new endpoint, now or when it reappears.
    pub(crate) fn note_removed(&mut self, cx: &mut Context, address: &Address) {
        let has = |endpoint: &EndpointId| cx.endpoint(*endpoint).is_some_and(|endpoint| endpoint.has(address));
        let found = self.ids().find(has);
        if let Some(endpoint) = found {
            return self.announce(cx, endpoint);
        }
        if self.removed.len() >= REMEMBERED {
            self.removed.pop_front();
        }
        self.removed.push_back(*address);
    }

    /// Announces an endpoint that got an address of another endpoint.
    pub(crate) fn announce_if_moved(&mut self, cx: &mut Context, endpoint: EndpointId) {
        // An endpoint without a queue pair announces its addresses when it is open.
        let is_open = self.get(endpoint).is_some();
        let Some(found) = cx.endpoint(endpoint).filter(|_| is_open && !self.removed.is_empty()) else { return };
        let before = self.removed.len();
        self.removed.retain(|address| !found.has(address));
        if self.removed.len() < before {
            self.announce(cx, endpoint);
        }
    }

    /// Starts the timer of a scheduled announcement, if the endpoint is in its base group.
    pub(crate) fn announce_soon(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let token = Task::Announce(endpoint).token();
        let Announcement { next, not_before, .. } = self.at(endpoint).announcement;
        if next.is_none() || self.at(endpoint).base_group().is_none() || cx.shared.timer(token).is_some() {
            return;
        }
        let at = cx.shared.now() + cx.shared.spread(retry::ANNOUNCE_SPREAD);
        cx.shared.set_timer(token, not_before.map_or(at, |time| time.max(at)));
    }

    /// Announces a local address that another host claims, so that the other nodes keep their paths to this port.
    pub(crate) fn defend(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        address: &Address,
        other: Gid,
    ) {
        let now = cx.shared.now();
        let state = self.get_mut(endpoint);
        if !state.is_some_and(|state| state.defences.on_claim(now, address)) {
            return;
        }
        // With this node's own GID, the claim is forged or late.
        if !self.has_port(cx, |port| port.gids.contains(&other)) {
            stats.address_conflicts += 1;
            let here = cx.port_of(endpoint).map(PortAttributes::gid).unwrap_or_default();
            cx.shared.log(ResolverEvent::AddressConflict(endpoint, *address, here, other).into());
        }
        stats.defences += 1;
        self.send_announcement(cx, endpoint, address);
    }

    /// Announces a local address that a node checks, because another host claims it.
    pub(crate) fn defend_checked(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        address: &Address,
    ) {
        let now = cx.shared.now();
        let state = self.get_mut(endpoint);
        if state.is_some_and(|state| state.defences.on_check(now, address)) {
            stats.defences += 1;
            self.send_announcement(cx, endpoint, address);
        }
    }

    /// Sends the announcement of one address.
    fn send_announcement(&self, cx: &mut Context, endpoint: EndpointId, address: &Address) {
        self.send_to_group(cx, endpoint, |tid, groups| multicast::request(tid, address, address, groups));
    }

    /// Sends the base group a request for an own address.
    pub(super) fn send_to_group(
        &self,
        cx: &mut Context,
        endpoint: EndpointId,
        mad: impl FnOnce(TransactionId, &[Gid]) -> AcmMad,
    ) {
        let groups: Vec<Gid> = self.at(endpoint).joined().map(|member| member.mgid).collect();
        if let Some((member, port)) = self.at(endpoint).base_group().zip(cx.port_of(endpoint)) {
            let to = paths::send_to_group(member, port);
            let mad = mad(cx.shared.transaction_id(), &groups);
            self.send(cx, endpoint, to, mad);
        }
    }

    pub(crate) fn announce_due(&mut self, cx: &mut Context, stats: &mut IbacmpStats, endpoint: EndpointId) {
        if self.at(endpoint).base_group().is_none() {
            return;
        }
        let addresses = cx.endpoint(endpoint).map(|endpoint| endpoint.addresses.clone()).unwrap_or_default();
        let now = cx.shared.now();
        let Some(EndpointState { announcement, .. }) = self.at_mut(endpoint) else { return };
        let Some(first) = announcement.next.take() else { return };
        let rest = addresses.get(first..).unwrap_or_default();
        if rest.len() > AT_A_TIME {
            announcement.next = Some(first + AT_A_TIME);
            cx.shared.set_timer(Task::Announce(endpoint).token(), now + PAUSE);
        } else {
            announcement.not_before = Some(now + retry::ANNOUNCE_PAUSE);
        }
        for address in rest.iter().take(AT_A_TIME) {
            stats.announcements += 1;
            self.send_announcement(cx, endpoint, address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::config::Config;
    use alloc::format;

    #[test]
    fn removed_addresses_are_limited() {
        let (mut cx, mut endpoints) = (Context::new(Config::default(), 1.into()), Endpoints::new(1.into()));
        let address = |number: usize| Address::from_text(&format!("gone{number}"));
        for number in 0..65 {
            endpoints.note_removed(&mut cx, &address(number));
            assert_eq!(endpoints.removed.front(), Some(&address(number / 64)));
        }
        assert_eq!(endpoints.removed.len(), 64);
    }
}
