//! What counts no more is forgotten: when somebody asks for it, and a slice of the cache at a time, so that it does not
//! stay until then.
use super::{
    dest::{Class, DestState, Ready},
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{Time, context::Context};
use core::time::Duration;

/// Places that are looked at in one go: a fraction of a millisecond.
const SLICE: usize = 1024;
/// The whole cache is looked through in this time.
const ROUND: Duration = Duration::from_secs(16 * 60);
/// Between two slices when an endpoint was closed: what was known on it is of no use.
const HURRY: Duration = Duration::from_millis(10);

impl Ibacmp {
    /// The ends of an address's and a route's time that begins now.
    pub(super) fn lifetimes(cx: &Context) -> (Option<Time>, Option<Time>) {
        let until = |timeout: Option<Duration>| timeout.map(|timeout| cx.now() + timeout);
        (until(cx.config().addr_timeout), until(cx.config().route_timeout))
    }

    /// Takes back what counts no more: what has had its time, and a route that does not fit the port any more.
    pub(super) fn freshen(&mut self, cx: &mut Context, id: DestId) {
        let now = cx.now();
        let over = |until: Option<Time>| until.is_some_and(|until| until <= now);
        let Some(dest) = self.cache.get_mut(id) else { return };
        let next = match &mut dest.state {
            DestState::Known { addr_until, .. } if over(*addr_until) => DestState::Unknown,
            DestState::Ready(ready) if dest.class != Class::Local => {
                let state = self.endpoints.get(&dest.endpoint);
                let fits = match state {
                    Some(state) if state.epoch() == ready.epoch => true,
                    Some(state) => {
                        let too_much = || cx.port_of(dest.endpoint).is_some_and(|port| port.is_too_much(&ready.path));
                        !state.is_void(ready.epoch) && !too_much()
                    }
                    None => false,
                };
                if fits {
                    ready.epoch = state.map_or(ready.epoch, |state| state.epoch());
                }
                let outdated = ready.preloaded.is_some_and(|load| load != self.preload.loads());
                if over(ready.addr_until) {
                    DestState::Unknown
                } else if outdated {
                    // What the group said stays.
                    let (remote, addr_until) =
                        (ready.remote.filter(|remote| !remote.group.is_zero()), ready.addr_until);
                    remote.map_or(DestState::Unknown, |remote| DestState::Known { remote, addr_until })
                } else if !fits || over(ready.route_until) {
                    let addr_until = ready.addr_until;
                    ready.remote.map_or(DestState::Unknown, |remote| DestState::Known { remote, addr_until })
                } else {
                    return;
                }
            }
            _ => return,
        };
        // A claim about what counts no more is of no use: the next asker asks the group.
        if let DestState::Ready(Ready { claim: Some(claim), .. }) = self.cache.enter(id, next) {
            self.end_asking(cx, id, claim.asking).end(cx);
        }
    }

    /// Makes sure that the sweep goes on, if there is anything that expires.
    pub(super) fn schedule_sweep(&mut self, cx: &mut Context) {
        let expires = cx.config().addr_timeout.is_some() || cx.config().route_timeout.is_some();
        if self.sweep.scheduled || self.cache.len() == 0 || !(expires || self.sweep.hurry > 0) {
            return;
        }
        self.sweep.scheduled = true;
        let slices = u32::try_from(self.cache.places().div_ceil(SLICE)).unwrap_or(u32::MAX).max(1);
        let pause = if self.sweep.hurry > 0 { HURRY } else { ROUND / slices };
        let at = cx.now() + pause;
        cx.set_timer(Task::Sweep.token(), at);
    }

    /// An endpoint is closed: all of its destinations go soon.
    pub(super) fn hurry_sweep(&mut self, cx: &mut Context) {
        self.sweep.hurry = self.cache.places();
        self.sweep.scheduled = false;
        self.schedule_sweep(cx);
    }

    /// Looks through one slice.
    pub(super) fn sweep(&mut self, cx: &mut Context) {
        self.sweep.scheduled = false;
        let places = self.cache.places();
        for _ in 0..SLICE.min(places) {
            let place = self.sweep.place % places;
            self.sweep.place = place + 1;
            let Some(id) = self.cache.key_at(place) else { continue };
            let Some(endpoint) = self.cache.get(id).map(|dest| dest.endpoint) else { continue };
            self.freshen(cx, id);
            let Some(dest) = self.cache.get(id) else { continue };
            let of_nobody = cx.endpoint(endpoint).is_none() && !dest.state.is_busy();
            if matches!(dest.state, DestState::Unknown) || of_nobody {
                self.cache.remove(id);
            }
        }
        self.sweep.hurry = self.sweep.hurry.saturating_sub(SLICE);
        self.schedule_sweep(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::super::dest::DestKey;
    use super::*;
    use crate::{Config, id::EndpointId};
    use acm_wire::Address;

    #[test]
    fn a_round_takes_its_time_unless_an_endpoint_was_closed() {
        let timeout = Some(Duration::from_secs(60));
        let config = Config { addr_timeout: timeout, route_timeout: None, ..Config::default() };
        let (mut cx, mut ibacmp) = (Context::new(config, 1.into()), Ibacmp::new(1));
        let due = |cx: &Context| cx.timer(Task::Sweep.token());
        ibacmp.schedule_sweep(&mut cx);
        assert_eq!(due(&cx), None, "nothing is known");
        let key = DestKey::Address(Address::from_text("a"));
        assert!(ibacmp.acquire(&mut cx, EndpointId::new(0, 0), key).is_some());
        assert_eq!(due(&cx), Some(Time::ZERO + ROUND));
        assert_eq!(ROUND, Duration::from_secs(960));
        ibacmp.hurry_sweep(&mut cx);
        assert_eq!(due(&cx), Some(Time::ZERO + HURRY));
    }

    fn known(addr_until: Option<Time>) -> DestState {
        DestState::Known { remote: super::super::remote::Remote::default(), addr_until }
    }

    #[test]
    fn the_sweep_takes_what_counts_no_more_and_leaves_the_rest() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let here = cx.ports.open(crate::PortId(0), 0, ib_mad::Pkey::DEFAULT_FULL);
        let gone = EndpointId::new(9, 9);
        let mut make = |endpoint, name, state| {
            let id = ibacmp.acquire(&mut cx, endpoint, DestKey::Address(Address::from_text(name))).unwrap();
            ibacmp.cache.enter(id, state);
            id
        };
        let over = make(here, "a", known(Some(Time::ZERO)));
        let kept = make(here, "b", known(None));
        let unknown = make(here, "c", DestState::Unknown);
        let of_nobody = make(gone, "d", known(None));
        let (question, lookup) = (crate::id::QuestionId::new(0, 0), super::super::lookup::Lookup::default());
        let routing = super::super::dest::Routing { remote: None, addr_until: None, question, lookup };
        let busy = make(gone, "e", DestState::Routing(routing));
        ibacmp.sweep(&mut cx);
        let there = [over, kept, unknown, of_nobody, busy].map(|id| ibacmp.cache.get(id).is_some());
        assert_eq!(there, [false, true, false, false, true]);
        // It begins anew, with the first.
        for name in ["x", "y", "z"] {
            let id = ibacmp.acquire(&mut cx, here, DestKey::Address(Address::from_text(name))).unwrap();
            ibacmp.sweep(&mut cx);
            assert!(ibacmp.cache.get(id).is_none());
        }
    }

    #[test]
    fn a_sweep_goes_on_where_the_last_one_ended() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let here = cx.ports.open(crate::PortId(0), 0, ib_mad::Pkey::DEFAULT_FULL);
        for number in 0..=SLICE {
            let name = alloc::format!("x{number}");
            ibacmp.acquire(&mut cx, here, DestKey::Address(Address::from_text(&name))).unwrap();
        }
        ibacmp.sweep(&mut cx);
        assert_eq!(ibacmp.cache.len(), 1);
        assert_eq!(cx.timer(Task::Sweep.token()), Some(Time::ZERO + ROUND / 2), "two slices");
        ibacmp.sweep(&mut cx);
        assert_eq!(ibacmp.cache.len(), 0);
    }

    #[test]
    fn where_nothing_expires_nothing_is_swept() {
        let config = Config { addr_timeout: None, route_timeout: None, ..Config::default() };
        let (mut cx, mut ibacmp) = (Context::new(config, 1.into()), Ibacmp::new(1));
        let key = DestKey::Address(Address::from_text("a"));
        assert!(ibacmp.acquire(&mut cx, EndpointId::new(0, 0), key).is_some());
        assert_eq!(cx.timer(Task::Sweep.token()), None);
        ibacmp.hurry_sweep(&mut cx);
        assert_eq!(cx.timer(Task::Sweep.token()), Some(Time::ZERO + HURRY));
        ibacmp.sweep(&mut cx);
        assert_eq!(ibacmp.cache.len(), 0, "what was known on an endpoint that is closed");
    }

    /// Subnet administration may grant more than the link has: that is its business as long as the link stays.
    #[test]
    fn a_route_of_this_epoch_is_served_whatever_it_needs() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let attributes = crate::port::PortAttributes { mtu: ib_mad::Mtu::B256, ..Default::default() };
        cx.ports.up(crate::PortId(0), &attributes);
        let here = cx.ports.open(crate::PortId(0), 0, ib_mad::Pkey::DEFAULT_FULL);
        let id = ibacmp.acquire(&mut cx, here, DestKey::Address(Address::from_text("a"))).unwrap();
        let mtu = ib_mad::Selected::exactly(ib_mad::Mtu::B4096);
        let path = ib_mad::sa::PathRecord { mtu, ..Default::default() };
        let (epoch, none) = (ibacmp.endpoints.entry(here).or_default().epoch(), None);
        let ready = Ready {
            remote: None,
            path,
            addr_until: none,
            route_until: none,
            epoch,
            claim: None,
            no_claim_until: none,
            preloaded: None,
        };
        ibacmp.cache.enter(id, DestState::Ready(ready));
        ibacmp.freshen(&mut cx, id);
        assert!(matches!(ibacmp.cache.get(id).unwrap().state, DestState::Ready(_)));
        ibacmp.endpoints.entry(here).or_default().link_changed();
        ibacmp.freshen(&mut cx, id);
        assert!(matches!(ibacmp.cache.get(id).unwrap().state, DestState::Unknown), "the link is another now");
    }
}
