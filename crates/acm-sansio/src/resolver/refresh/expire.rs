//! Drops what has expired of a destination, before it is used.
use crate::{
    api::{Time, port::PortAttributes},
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, EvictionClass, Ready},
        endpoint::EndpointState,
        state::Ibacmp,
        token::DestId,
    },
};

impl Ibacmp {
    /// Drops what has expired of a destination, and a path that no longer matches the port.
    pub(crate) fn drop_expired(&mut self, cx: &mut Context, id: DestId) {
        let now = cx.now();
        let over = |until: Option<Time>| until.is_some_and(|until| until <= now);
        let dest = self.cache.at_mut(id);
        let next = match &mut dest.state {
            DestState::Failed(failed) if !failed.is_valid(now, self.endpoints.at(dest.endpoint).failures_epoch()) => {
                DestState::Unknown
            }
            DestState::Located { addr_until, .. } if over(*addr_until) => DestState::Unknown,
            // The location came only from a table of hosts, which no longer contains it.
            DestState::Located { remote, .. } if remote.group.is_zero() && !self.preload.has(&dest.key, remote.gid) => {
                DestState::Unknown
            }
            DestState::Ready(ready) if dest.class != EvictionClass::Local => {
                let fits = match self.endpoints.get(dest.endpoint) {
                    Some(state) if state.epoch() == ready.epoch => true,
                    Some(state) => {
                        dest.in_doubt |= matches!(dest.key, DestKey::Address(_)) && state.is_stale(ready.epoch);
                        follow_epoch(ready, state, cx.port_of(dest.endpoint))
                    }
                    None => false,
                };
                let outdated = ready.preloaded.is_some_and(|load| load != self.preload.loads());
                if over(ready.addr_until) {
                    DestState::Unknown
                } else if outdated {
                    // A location from a multicast response stays.
                    let remote = ready.remote.filter(|remote| !remote.group.is_zero());
                    DestState::without_path(remote, ready.addr_until)
                } else if !fits || over(ready.route_until) {
                    // Announcements may have been missed while this port moved.
                    dest.in_doubt |= !fits;
                    DestState::without_path(ready.remote, ready.addr_until)
                } else {
                    return;
                }
            }
            _ => return,
        };
        // A verification or renewal of the dropped state is useless: the next request starts a new lookup.
        if let DestState::Ready(mut ready) = self.cache.enter(id, next) {
            self.end_checks(cx, id, ready.checks());
        }
    }
}

/// Brings a path of an earlier epoch to the current epoch of its endpoint. Returns `false` if it no longer matches the
/// port.
#[cold]
fn follow_epoch(ready: &mut Ready, state: &EndpointState, port: Option<&PortAttributes>) -> bool {
    if state.is_void(ready.epoch) || port.is_some_and(|port| port.is_too_much(&ready.path)) {
        return false;
    }
    ready.stale |= state.is_stale(ready.epoch);
    ready.epoch = state.epoch();
    true
}
