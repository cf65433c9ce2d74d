//! Being asked: learning from requests, responding.
use super::{
    Ibacmp,
    dest::{DestKey, DestState, Pin, Remote, Responder},
    dest_token, route,
};
use crate::{
    Event,
    config::RouteProtocol,
    id::{DestId, EndpointId},
    input::DatagramSource,
    provider::Context,
};
use acm_wire::{
    client::ClientStatus,
    multicast::{self, AddressRequest},
};
use alloc::{vec, vec::Vec};
use ib_mad::{Gid, TransactionId, sa::PathRecord};

impl Ibacmp {
    /// Somebody asks the group for an address. Every listener learns where the asker is; the owner responds.
    pub(super) fn asked_by(
        &mut self,
        cx: &mut Context<'_>,
        endpoint: EndpointId,
        source: &DatagramSource,
        gid: Gid,
        request: &AddressRequest<'_>,
    ) {
        let Some(own) = cx.endpoint(endpoint) else { return };
        // Our own request, come back from the switch.
        if own.qpn == Some(source.qpn) && cx.port_of(endpoint).is_some_and(|port| port.gids.contains(&gid)) {
            return;
        }
        let is_ours = request.dest.is_some_and(|dest| own.has(&dest));
        let Some(id) = self.acquire(cx, endpoint, DestKey::Address(request.source), false) else { return };
        let Some(dest) = self.cache.get(id) else { return };
        // Somebody claims an address of ours; what we know of ourselves stays.
        if dest.pin == Pin::Local {
            return;
        }
        let Some(group) = self.best_shared(endpoint, request.groups) else {
            cx.stats().no_shared_group += 1;
            cx.log(Event::NoSharedGroup(endpoint, request.source));
            if matches!(dest.state, DestState::Asking(_)) {
                self.fail(cx, id, ClientStatus::ENODATA);
            }
            return;
        };
        let remote = Remote { gid, lid: source.lid, path_bits: source.path_bits, qpn: source.qpn, group };
        self.learn(cx, id, remote, is_ours.then_some(request.tid));
    }

    /// What an asker's request says of where it is; with `respond`, it waits for our response.
    fn learn(&mut self, cx: &mut Context<'_>, id: DestId, remote: Remote, respond: Option<TransactionId>) {
        let limit = cx.config().limits.responders;
        let now = cx.now();
        let Some(dest) = self.cache.get_mut(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        dest.expire(now);
        let same = |old: &Remote| (old.gid, old.lid, old.qpn) == (remote.gid, remote.lid, remote.qpn);
        match &mut dest.state {
            DestState::Ready { remote: Some(old), path, .. } if same(old) => {
                if let Some(tid) = respond {
                    let path = *path;
                    Self::respond(cx, endpoint, &path, &remote, tid);
                }
                return;
            }
            DestState::Routing { remote: Some(old), responders, .. } if same(old) => {
                // A repeated request is one asker still.
                if let Some(tid) = respond.filter(|tid| responders.iter().all(|other| other.tid != *tid)) {
                    if responders.len() < limit {
                        responders.push(Responder { tid });
                    } else {
                        cx.stats().responders_refused += 1;
                    }
                }
                return;
            }
            DestState::Ready { .. } | DestState::Routing { .. } => cx.log(Event::PeerChanged(endpoint, name)),
            DestState::Unknown | DestState::Asking(_) | DestState::Known { .. } => {}
        }
        let responders: Vec<Responder> = respond.map_or_else(Vec::new, |tid| vec![Responder { tid }]);
        let (addr_until, _) = Self::lifetimes(cx);
        // With subnet administration a route costs a query: only for those who need it.
        let needed =
            respond.is_some() || cx.is_waited_for(dest_token(id)) || cx.config().route_protocol == RouteProtocol::Acm;
        if needed {
            self.located(cx, id, remote, responders);
        } else if let Some(dest) = self.cache.get_mut(id)
            && let DestState::Asking(asking) = dest.enter(DestState::Known { remote, addr_until })
        {
            self.stop_asking(cx, id, endpoint, &asking);
        }
    }

    /// Tells an asker that the address is ours.
    pub(super) fn respond(
        cx: &mut Context<'_>,
        endpoint: EndpointId,
        path: &PathRecord,
        remote: &Remote,
        tid: TransactionId,
    ) {
        cx.send(endpoint, route::send_to(path, remote), multicast::response(tid, remote.group));
    }
}
