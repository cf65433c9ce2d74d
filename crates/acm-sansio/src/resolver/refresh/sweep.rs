//! The sweep, which removes expired cache entries in slices.
use crate::{
    provider::Context,
    resolver::{
        dest::{DestState, EvictionClass},
        state::{Ibacmp, RenewalReason, Sweep},
        token::{DestId, Task},
    },
};
use core::time::Duration;

/// The number of slots per slice, which takes a fraction of a millisecond.
const SLICE: usize = 1024;
/// The longest time for a sweep of the whole cache. A sweep also takes at most a sixteenth of the shortest lifetime, so
/// that entries are renewed in time before they expire.
const ROUND: Duration = Duration::from_secs(16 * 60);
const ROUNDS_OF_A_LIFE: u32 = 16;
/// The pause between two slices after an endpoint was closed, when its entries are useless.
const HURRY: Duration = Duration::from_millis(10);
/// The pause of a sweep that waits for room in the renewal queue. Renewals take longer than the sweep.
const STALL: Duration = Duration::from_millis(100);

impl Ibacmp {
    /// Schedules the next slice of the sweep, if anything in the cache can expire.
    pub(crate) fn schedule_sweep(&mut self, cx: &mut Context) {
        // Entries with a lifetime of zero are not renewed, so they need no frequent sweeps.
        let lives = [cx.shared.config().addr_timeout, cx.shared.config().route_timeout].into_iter().flatten();
        let shortest = lives.map(|life| if life.is_zero() { ROUND } else { life / ROUNDS_OF_A_LIFE }).min();
        if self.sweep.scheduled || self.cache.len() == 0 || shortest.is_none() && self.sweep.hurried_slots == 0 {
            return;
        }
        self.sweep.scheduled = true;
        let slices = u32::try_from(self.cache.slots().div_ceil(SLICE)).unwrap_or(u32::MAX).max(1);
        let round = shortest.map_or(ROUND, |shortest| shortest.min(ROUND));
        let pause = match &self.sweep {
            // The renewal queue is full.
            Sweep { stalled: true, .. } => STALL,
            Sweep { hurried_slots: 1.., .. } => HURRY,
            _ => (round / slices).max(HURRY),
        };
        let at = cx.shared.now() + pause;
        cx.shared.set_timer(Task::Sweep.token(), at);
    }

    /// Sweeps the whole cache soon, because an endpoint was closed or its paths became stale.
    pub(crate) fn hurry_sweep(&mut self, cx: &mut Context) {
        self.sweep.hurried_slots = self.cache.slots();
        self.sweep.scheduled = false;
        self.schedule_sweep(cx);
    }

    /// Sweeps one slice.
    pub(crate) fn sweep(&mut self, cx: &mut Context) {
        self.sweep.scheduled = false;
        let slots = self.cache.slots();
        self.sweep.stalled = false;
        for _ in 0..SLICE.min(slots) {
            let slot = self.sweep.next_slot % slots;
            if let Some(id) = self.cache.key_at(slot)
                && !self.sweep_dest(cx, id)
            {
                self.sweep.stalled = true;
                self.sweep.stalled_at = Some(id);
                break;
            }
            self.sweep.next_slot = slot + 1;
            self.sweep.hurried_slots = self.sweep.hurried_slots.saturating_sub(1);
        }
        self.schedule_sweep(cx);
    }

    /// Sweeps one destination. Returns `false` if the sweep must wait.
    fn sweep_dest(&mut self, cx: &mut Context, id: DestId) -> bool {
        let dest = self.cache.at(id);
        let endpoint = dest.endpoint;
        // An entry that expired unused is not renewed.
        let had_path = dest.state.ready().is_some_and(|ready| {
            ready.freshness.is_in_use() && ready.freshness.route_until.is_none_or(|until| until > cx.shared.now())
        });
        let had_path = had_path || self.sweep.stalled_at.take() == Some(id);
        self.drop_expired(cx, id);
        let dest = self.cache.at(id);
        let orphaned = cx.endpoint(endpoint).is_none() && !dest.state.is_busy();
        if matches!(dest.state, DestState::Unknown) || orphaned {
            self.cache.remove(id);
            return true;
        }
        match dest.state {
            // The path was in use and is invalid, but the location is still cached.
            DestState::Located { .. } if had_path && dest.class == EvictionClass::Requested => {
                self.queue_renewal(cx, id, RenewalReason::Found)
            }
            DestState::Ready(_) => self.renew_if_due(cx, id),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::{Time, config::Config, id::EndpointId, port::PortAttributes},
        resolver::dest::{DestKey, ServedPath},
    };
    use acm_wire::Address;
    use alloc::vec::Vec;

    #[test]
    fn sweep_takes_its_time_unless_an_endpoint_was_closed() {
        assert_eq!(ROUND, Duration::from_secs(960));
        let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
        for (addr_timeout, route_timeout, round) in [
            (minutes(1440), None, ROUND),
            (minutes(0), None, ROUND),
            (None, minutes(160), Duration::from_secs(600)),
            (minutes(16), minutes(160), Duration::from_secs(60)),
        ] {
            let config = Config { addr_timeout, route_timeout, ..Config::default() };
            let (mut cx, mut ibacmp) = (Context::new(config, 1.into()), Ibacmp::new(1));
            let due = |cx: &Context| cx.shared.timer(Task::Sweep.token());
            ibacmp.schedule_sweep(&mut cx);
            assert_eq!(due(&cx), None, "the cache is empty");
            let key = DestKey::Address(Address::from_text("a"));
            assert!(ibacmp.acquire(&mut cx, EndpointId::new(0, 0), key).is_some());
            assert_eq!(due(&cx), Some(Time::ZERO + round));
            ibacmp.hurry_sweep(&mut cx);
            assert_eq!(due(&cx), Some(Time::ZERO + HURRY));
        }
    }

    #[test]
    fn entries_found_together_expire_within_an_eighth_of_their_lifetime() {
        let life = Duration::from_secs(800);
        let config = Config { addr_timeout: Some(life), route_timeout: Some(life), ..Config::default() };
        let mut cx = Context::new(config, 1.into());
        let mut ends: Vec<u64> = (0..500)
            .flat_map(|_| [cx.addr_end(), cx.route_end()])
            .map(|end| end.unwrap().since_start().as_secs())
            .collect();
        assert!(ends.iter().all(|end| (700..800).contains(end)), "{ends:?}");
        // A tenth of the last eighth contains about a hundred of a thousand expiry times.
        ends.retain(|end| (700..710).contains(end));
        assert!((70..130).contains(&ends.len()), "{}", ends.len());
    }

    fn located(addr_until: Option<Time>) -> DestState {
        let group = "ff15::1".parse().unwrap();
        DestState::Located {
            remote: crate::resolver::dest::Remote { group: Some(group), ..Default::default() },
            addr_until,
        }
    }

    #[test]
    fn sweep_removes_only_expired_entries() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let here =
            cx.ports.open(crate::api::id::PortId(0), 0, ib_mad::Pkey::DEFAULT_FULL, crate::api::ProviderId::BUILT_IN);
        let gone = EndpointId::new(9, 9);
        let mut make = |endpoint, name, state| {
            let id = ibacmp.acquire(&mut cx, endpoint, DestKey::Address(Address::from_text(name))).unwrap();
            ibacmp.cache.enter(id, state);
            id
        };
        let over = make(here, "a", located(Some(Time::ZERO)));
        let kept = make(here, "b", located(None));
        let unknown = make(here, "c", DestState::Unknown);
        let orphaned = make(gone, "d", located(None));
        let (query, lookup) = (crate::api::id::SaQueryId::new(0, 0), crate::resolver::dest::Lookup::default());
        let routing = crate::resolver::dest::Routing::new(None, None, query, Time::ZERO, lookup);
        let busy = make(gone, "e", DestState::Routing(routing));
        ibacmp.sweep(&mut cx);
        let there = [over, kept, unknown, orphaned, busy].map(|id| ibacmp.cache.get(id).is_some());
        assert_eq!(there, [false, true, false, false, true]);
        // The next sweep begins with the first slot.
        for name in ["x", "y", "z"] {
            let id = ibacmp.acquire(&mut cx, here, DestKey::Address(Address::from_text(name))).unwrap();
            ibacmp.sweep(&mut cx);
            assert!(ibacmp.cache.get(id).is_none());
        }
    }

    #[test]
    fn sweep_continues_where_the_last_slice_ended() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let here =
            cx.ports.open(crate::api::id::PortId(0), 0, ib_mad::Pkey::DEFAULT_FULL, crate::api::ProviderId::BUILT_IN);
        for number in 0..=1024 {
            let name = alloc::format!("x{number}");
            ibacmp.acquire(&mut cx, here, DestKey::Address(Address::from_text(&name))).unwrap();
        }
        ibacmp.sweep(&mut cx);
        assert_eq!(ibacmp.cache.len(), 1);
        assert_eq!(cx.shared.timer(Task::Sweep.token()), Some(Time::ZERO + ROUND / 2), "two slices");
        ibacmp.sweep(&mut cx);
        assert_eq!(ibacmp.cache.len(), 0);
    }

    #[test]
    fn nothing_is_swept_without_lifetimes() {
        let config = Config { addr_timeout: None, route_timeout: None, ..Config::default() };
        let (mut cx, mut ibacmp) = (Context::new(config, 1.into()), Ibacmp::new(1));
        let key = DestKey::Address(Address::from_text("a"));
        assert!(ibacmp.acquire(&mut cx, EndpointId::new(0, 0), key).is_some());
        assert_eq!(cx.shared.timer(Task::Sweep.token()), None);
        ibacmp.hurry_sweep(&mut cx);
        assert_eq!(cx.shared.timer(Task::Sweep.token()), Some(Time::ZERO + HURRY));
        ibacmp.sweep(&mut cx);
        assert_eq!(ibacmp.cache.len(), 0, "entries of a closed endpoint are removed");
    }

    /// The subnet administrator may grant more than the link has. The path is served as long as the link does not
    /// change.
    #[test]
    fn path_beyond_the_link_is_served_until_the_link_changes() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let attributes = PortAttributes { mtu: ib_mad::Mtu::B256, ..Default::default() };
        cx.ports.up(crate::api::id::PortId(0), &attributes);
        let here =
            cx.ports.open(crate::api::id::PortId(0), 0, ib_mad::Pkey::DEFAULT_FULL, crate::api::ProviderId::BUILT_IN);
        let id = ibacmp.acquire(&mut cx, here, DestKey::Address(Address::from_text("a"))).unwrap();
        let mtu = ib_mad::Selected::exactly(ib_mad::Mtu::B4096);
        let path = ib_mad::sa::PathRecord { mtu, ..Default::default() };
        let epoch = ibacmp.endpoints.entry(here).epoch();
        let ready = ServedPath::new(None, path, epoch);
        ibacmp.cache.enter(id, DestState::Ready(ready));
        ibacmp.drop_expired(&mut cx, id);
        assert!(matches!(ibacmp.cache.get(id).unwrap().state, DestState::Ready(_)));
        ibacmp.endpoints.entry(here).link_changed();
        ibacmp.drop_expired(&mut cx, id);
        assert!(matches!(ibacmp.cache.get(id).unwrap().state, DestState::Unknown), "the link has changed");
    }
}
