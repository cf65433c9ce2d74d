//! The cache for administrators: facts about its entries, and their removal on request.
use super::{
    dest::{Dest, DestKey, DestState, EvictionClass, ServedPath},
    state::Ibacmp,
    token::DestId,
};
use crate::{
    api::{AddressOrigin, CacheEntry, CachedPath},
    provider::Context,
};

/// The number of slots of the cache that are visited at a time, which takes some ten microseconds.
pub(crate) const PAGE: usize = 256;

impl Ibacmp {
    /// Calls `emit` for the entries in the next slots from `from` on. Returns the slot after them, or `None` at the
    /// end.
    pub(crate) fn page_of_entries(&self, from: usize, emit: &mut dyn FnMut(CacheEntry)) -> Option<usize> {
        let end = from.saturating_add(PAGE).min(self.cache.slots());
        for id in (from..end).filter_map(|slot| self.cache.key_at(slot)) {
            emit(self.entry(id, self.cache.at(id)));
        }
        (end < self.cache.slots()).then_some(end)
    }

    /// Removes destinations, so that the next request for each starts a new lookup. A local address stays, and so does
    /// a destination whose lookup is in progress.
    pub(crate) fn flush_entries(&mut self, cx: &mut Context, ids: &[DestId]) {
        for id in ids {
            let Some(dest) = self.cache.get(*id) else { continue };
            let endpoint = dest.endpoint;
            match &dest.state {
                DestState::Locating(_) | DestState::Routing(_) => continue,
                _ if dest.class == EvictionClass::Local => continue,
                DestState::Ready(ready) => self.endpoints.refute_prefetched(&mut self.stats, endpoint, ready.path.dgid),
                DestState::Unknown | DestState::Failed(_) | DestState::Located { .. } => {}
            }
            self.end_operations(cx, *id).end(&mut cx.shared);
            self.cache.remove(*id);
            self.stats.destinations_flushed += 1;
        }
    }

    /// Returns the facts about a destination.
    fn entry(&self, id: DestId, dest: &Dest) -> CacheEntry {
        let (mut address_until, mut path, mut failure) = (None, None, None);
        match &dest.state {
            DestState::Located { addr_until, .. } => address_until = *addr_until,
            DestState::Ready(ready) => {
                address_until = ready.freshness.addr_until;
                path = Some(cached_path(ready));
            }
            DestState::Failed(failed) => failure = Some((failed.attempt, failed.until)),
            DestState::Unknown | DestState::Locating(_) | DestState::Routing(_) => {}
        }
        let gid = dest.state.located_at(&dest.key);
        let address_source = match &dest.key {
            DestKey::Route(_) => None,
            DestKey::Address(_) if dest.class == EvictionClass::Local => Some(AddressOrigin::Local),
            key => gid.map(|gid| if self.preload.has(key, gid) { AddressOrigin::File } else { AddressOrigin::Group }),
        };
        CacheEntry {
            id,
            endpoint: dest.endpoint,
            dest: dest.name(),
            state: dest.state.kind().name(),
            cause: match dest.class {
                EvictionClass::Local => "local address",
                EvictionClass::Probation | EvictionClass::Requested => "user",
                EvictionClass::Unsolicited => "remote host",
            },
            gid,
            address_source,
            address_until,
            path,
            failure,
            conflict: dest.conflict.as_deref().copied(),
        }
    }
}

fn cached_path(ready: &ServedPath) -> CachedPath {
    let history = &ready.history;
    CachedPath {
        record: ready.path,
        source: history.origin,
        found: history.found,
        confirmed: history.confirmed,
        until: ready.freshness.route_until,
        is_stale: ready.freshness.stale,
        uses: history.uses,
        last_use: history.last_use,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::{
            config::Config,
            id::{EndpointId, PortId, ProviderId, SaQueryId},
            preload::{Hosts, Preload},
        },
        resolver::dest::{Lookup, Remote, RouteKey, Routing},
    };
    use acm_wire::Address;
    use alloc::{format, vec::Vec};
    use ib_mad::{Gid, Lid, Pkey, sa::PathRecord};

    fn provider() -> (Context, Ibacmp, EndpointId) {
        let mut cx = Context::new(Config::default(), 1.into());
        let here = cx.ports.open(PortId(0), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
        (cx, Ibacmp::new(1), here)
    }

    fn make(cx: &mut Context, ibacmp: &mut Ibacmp, here: EndpointId, name: &str, state: DestState) -> DestId {
        let id = ibacmp.acquire(cx, here, DestKey::Address(Address::from_text(name))).unwrap();
        ibacmp.cache.enter(id, state);
        id
    }

    fn ready() -> DestState {
        DestState::Ready(ServedPath::new(Some(Remote::default()), PathRecord::default(), 0))
    }

    #[test]
    fn page_visits_256_slots() {
        let (mut cx, mut ibacmp, here) = provider();
        for (entries, pages) in [(256, [256, 0]), (257, [256, 1])] {
            (ibacmp.cache.len()..entries).for_each(|number| {
                make(&mut cx, &mut ibacmp, here, &format!("n{number}"), ready());
            });
            let mut found = Vec::new();
            let next = ibacmp.page_of_entries(0, &mut |entry| found.push(entry.dest));
            let (first, is_last) = (found.len(), next.is_none());
            let end = ibacmp.page_of_entries(next.unwrap_or(entries), &mut |entry| found.push(entry.dest));
            assert_eq!(([first, found.len() - first], is_last, end), (pages, entries == 256, None));
            found.sort_by_key(|dest| format!("{dest}"));
            found.dedup();
            assert_eq!(found.len(), entries);
        }
    }

    #[test]
    fn address_source_is_this_node_the_host_file_or_the_group() {
        let (mut cx, mut ibacmp, here) = provider();
        let gid: Gid = "fe80::7".parse().unwrap();
        let located = || DestState::Located { remote: Remote { gid, ..Remote::default() }, addr_until: None };
        let mut hosts = Hosts::builder();
        hosts.host(&Address::from_text("file"), gid);
        hosts.host(&Address::from_text("moved"), "fe80::8".parse().unwrap());
        ibacmp.preload.take(Preload::Hosts(hosts.finish().into()));
        let mut source = |name: &str, state, class| {
            let id = make(&mut cx, &mut ibacmp, here, name, state);
            ibacmp.cache.set_class(id, class);
            ibacmp.entry(id, ibacmp.cache.at(id)).address_source
        };
        let user = EvictionClass::Requested;
        assert_eq!(source("file", located(), user), Some(AddressOrigin::File));
        assert_eq!(source("moved", located(), user), Some(AddressOrigin::Group));
        assert_eq!(source("group", located(), user), Some(AddressOrigin::Group));
        assert_eq!(source("own", ready(), EvictionClass::Local), Some(AddressOrigin::Local));
        assert_eq!(source("unknown", DestState::Unknown, user), None);
        let lid = DestKey::Route(RouteKey { dlid: Lid::new(7), ..RouteKey::default() });
        let id = ibacmp.acquire(&mut cx, here, lid).unwrap();
        ibacmp.cache.enter(id, ready());
        assert_eq!(ibacmp.entry(id, ibacmp.cache.at(id)).address_source, None, "a LID has no address");
    }

    #[test]
    fn flush_removes_what_is_cached_but_no_lookup_and_no_local_address() {
        let (mut cx, mut ibacmp, here) = provider();
        let routing = Routing::new(None, None, SaQueryId::new(0, 0), crate::api::Time::ZERO, Lookup::default());
        let located = DestState::Located { remote: Remote::default(), addr_until: None };
        let ids = [("a", ready()), ("b", located), ("c", DestState::Routing(routing)), ("d", ready()), ("e", ready())]
            .map(|(name, state)| make(&mut cx, &mut ibacmp, here, name, state));
        ibacmp.cache.set_class(ids[3], EvictionClass::Local);
        ibacmp.endpoints.entry(here);
        // An id may be stale, and may be given twice.
        ibacmp.flush_entries(&mut cx, &[ids[0], ids[0], ids[1], ids[2], ids[3], DestId::new(99, 0)]);
        assert_eq!(ids.map(|id| ibacmp.cache.get(id).is_some()), [false, false, true, true, true]);
        assert_eq!(ibacmp.stats.destinations_flushed, 2);
    }
}
