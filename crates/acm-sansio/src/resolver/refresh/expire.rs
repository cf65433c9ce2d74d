//! Served parts of a destination: the rest is dropped before it is used.
use crate::{
    api::Time,
    provider::Context,
    resolver::{
        dest::{Dest, DestState, EvictionClass, ServedPath},
        endpoint::EndpointState,
        state::Ibacmp,
        token::DestId,
    },
};

impl Ibacmp {
    /// Reports whether a cached path is served: it has not expired, and still matches the files, and the port, which may
    /// have moved, or have got another link.
    pub(crate) fn is_served(&self, cx: &Context, dest: &Dest, ready: &ServedPath) -> bool {
        let ServedPath { path, freshness, .. } = ready;
        let is_too_much = || cx.port_of(dest.endpoint).is_some_and(|port| port.is_too_much(path));
        let fits = |state: &EndpointState| {
            state.epoch() == freshness.epoch || !state.is_void(freshness.epoch) && !is_too_much()
        };
        dest.class == EvictionClass::Local
            || freshness.is_lasting(cx.shared.now(), self.preload.loads())
                && self.endpoints.get(dest.endpoint).is_some_and(fits)
    }

    /// Drops what has expired of a destination, and a path that no longer matches the port.
    pub(crate) fn drop_expired(&mut self, cx: &mut Context, id: DestId) {
        let over = |until: Option<Time>| until.is_some_and(|until| until <= cx.shared.now());
        let dest = self.cache.at(id);
        let is_over = match &dest.state {
            DestState::Ready(ready) if dest.class != EvictionClass::Local => {
                let is_current =
                    self.endpoints.get(dest.endpoint).is_some_and(|state| state.epoch() == ready.freshness.epoch);
                if !is_current || !ready.freshness.is_lasting(cx.shared.now(), self.preload.loads()) {
                    self.follow_events(cx, id);
                }
                return;
            }
            DestState::Failed(failed) => {
                !failed.is_valid(cx.shared.now(), self.endpoints.at(dest.endpoint).failures_epoch())
            }
            // A location from a table of hosts is dropped if the table no longer contains it.
            DestState::Located { remote, addr_until } => {
                over(*addr_until) || remote.is_from_file() && !self.preload.has(&dest.key, remote.gid)
            }
            _ => false,
        };
        if is_over {
            self.cache.enter(id, DestState::Unknown);
        }
    }

    /// Brings a path to the current epoch of its endpoint. Drops it if it is no longer served.
    #[cold]
    fn follow_events(&mut self, cx: &mut Context, id: DestId) {
        let dest = self.cache.at(id);
        let DestState::Ready(ready) = &dest.state else { return };
        let state = self.endpoints.at(dest.endpoint);
        let (is_stale, epoch) = (state.is_stale(ready.freshness.epoch), state.epoch());
        let is_served = self.is_served(cx, dest, ready);
        let is_outdated = ready.freshness.is_outdated(self.preload.loads());
        let (remote, addr_until) = (ready.remote, ready.freshness.addr_until);
        let Some(dest) = self.cache.at_mut(id) else { return };
        // Announcements may have been missed.
        dest.doubts.raise_if(is_stale && dest.is_address());
        if is_served {
            if let DestState::Ready(ready) = &mut dest.state {
                (ready.freshness.stale, ready.freshness.epoch) = (ready.freshness.stale || is_stale, epoch);
            }
            return;
        }
        let next = if addr_until.is_some_and(|until| until <= cx.shared.now()) {
            DestState::Unknown
        } else if is_outdated {
            // A location from a multicast response stays.
            DestState::without_path(remote.filter(|remote| !remote.is_from_file()), addr_until)
        } else {
            DestState::without_path(remote, addr_until)
        };
        // A check or renewal of the dropped state is useless: the next request starts a new lookup.
        if let DestState::Ready(mut ready) = self.cache.enter(id, next) {
            self.end_checks(cx, id, ready.checks());
        }
    }
}
