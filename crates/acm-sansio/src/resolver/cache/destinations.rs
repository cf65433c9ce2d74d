//! The cache of destinations: lookup by key, counts, and state changes.
use super::by_gid::{ByGid, Group, Place};
use crate::{
    api::{Publication, id::EndpointId},
    collections::{arena::Arena, list::List},
    resolver::{
        dest::{
            BY_CLASS, Dest, DestKey, DestState, EvictionClass, Lookup, MulticastRequest, Proof, RouteKey, Routing,
            ServedPath, StateKind,
        },
        token::DestId,
    },
    shared::random::{Purpose, Random, Seed},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::{
    cell::Cell,
    hash::{BuildHasher, Hash, Hasher},
};
use hashbrown::HashTable;
use ib_mad::Gid;

/// All destinations. The index is never iterated, so its order has no effect.
#[derive(Debug)]
pub(crate) struct Cache {
    dests: Arena<DestId, Dest>,
    /// Entries with their hash, so that growing reads no destination.
    index: HashTable<(u64, DestId)>,
    hasher: foldhash::fast::FixedState,
    /// Eviction clocks: the hand is at the front; an element that it passes moves to the end.
    requested: List<DestId, BY_CLASS>,
    unsolicited: List<DestId, BY_CLASS>,
    /// Destinations that were not found so far.
    probation: List<DestId, BY_CLASS>,
    by_gid: ByGid,
    /// Number of destinations in each state.
    counts: [usize; StateKind::ALL.len()],
    /// Destinations with an operation in progress, by endpoint.
    busy: BTreeMap<EndpointId, BTreeSet<DestId>>,
    /// Changes of what clients read without a request, oldest first.
    pub(crate) publications: Vec<Publication>,
    /// Returned for a destination that should exist and does not: nothing is cached of it.
    absent: Dest,
    /// How often a destination should have existed and did not.
    lost: Cell<u64>,
}

impl Cache {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            dests: Arena::new(),
            index: HashTable::new(),
            hasher: foldhash::fast::FixedState::with_seed(Random::new(seed, Purpose::Maps).next()),
            requested: List::default(),
            unsolicited: List::default(),
            probation: List::default(),
            by_gid: ByGid::new(seed),
            counts: Default::default(),
            busy: BTreeMap::new(),
            publications: Vec::new(),
            absent: Dest::new(
                EndpointId::new(u32::MAX, u32::MAX),
                DestKey::Route(RouteKey::default()),
                EvictionClass::Local,
            ),
            lost: Cell::new(0),
        }
    }

    /// Returns a destination that must exist: an operation, a timer or an index refers to it. If it does not exist,
    /// this is a defect of this module, which is counted, and nothing is cached of the returned destination.
    pub(crate) fn at(&self, id: DestId) -> &Dest {
        match self.dests.get(id) {
            Some(dest) => dest,
            None => {
                self.note_lost(id);
                &self.absent
            }
        }
    }

    /// Returns a destination that must exist, like [`Self::at`]. If it does not exist, this is counted.
    pub(crate) fn at_mut(&mut self, id: DestId) -> Option<&mut Dest> {
        let dest = self.dests.get_mut(id);
        if dest.is_none() {
            note_lost(&self.lost, id);
        }
        dest
    }

    /// Returns the open multicast request of a destination that must exist.
    pub(crate) fn request_mut(&mut self, id: DestId) -> Option<&mut MulticastRequest> {
        self.at_mut(id)?.state.multicast_request_mut()
    }

    /// Returns the lookup of the operation in progress of a destination that must exist.
    pub(crate) fn lookup_mut(&mut self, id: DestId) -> Option<&mut Lookup> {
        self.at_mut(id)?.state.lookup_mut()
    }

    /// Records that an event may have moved the address of a destination, or contradicted its path. A path to a GID or
    /// LID is not served in doubt.
    pub(crate) fn raise_doubt(&mut self, id: DestId) {
        let Some(dest) = self.dests.get_mut(id) else { return note_lost(&self.lost, id) };
        dest.doubts.raise();
        if !dest.is_address() {
            withdraw(&mut self.publications, dest);
        }
    }

    /// Records a proof, whose request was sent after this number of doubts.
    pub(crate) fn prove(&mut self, id: DestId, by: Proof, asked: u32) {
        if let Some(dest) = self.at_mut(id) {
            dest.prove(by, asked);
        }
    }

    /// Counts the result of an operation that a destination does not have.
    pub(crate) fn note_lost(&self, id: DestId) {
        note_lost(&self.lost, id);
    }

    /// Returns how often a destination should have existed and did not.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// Returns a destination, which may have been removed since its id was noted.
    pub(crate) fn get(&self, id: DestId) -> Option<&Dest> {
        self.dests.get(id)
    }

    /// Returns a destination, which may have been removed since its id was noted.
    pub(crate) fn get_mut(&mut self, id: DestId) -> Option<&mut Dest> {
        self.dests.get_mut(id)
    }

    pub(crate) const fn len(&self) -> usize {
        self.dests.len()
    }

    /// Returns the number of destinations that no local user requested.
    pub(crate) const fn unsolicited(&self) -> usize {
        self.unsolicited.len()
    }

    /// Returns the number of destinations that were found.
    pub(crate) const fn found(&self) -> usize {
        self.dests.len() - self.probation.len()
    }

    pub(crate) fn slots(&self) -> usize {
        self.dests.slots()
    }

    pub(crate) fn key_at(&self, slot: usize) -> Option<DestId> {
        self.dests.key_at(slot)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (DestId, &Dest)> {
        self.dests.iter()
    }

    fn hash(&self, endpoint: EndpointId, key: &DestKey) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        endpoint.hash(&mut hasher);
        key.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the destination with a key. Allocates no memory.
    pub(crate) fn find(&self, endpoint: EndpointId, key: &DestKey) -> Option<DestId> {
        let canonical = key.canonical();
        let is_it = |(_, id): &(u64, DestId)| {
            self.dests.get(*id).is_some_and(|dest| dest.endpoint == endpoint && dest.key.matches_canonical(&canonical))
        };
        self.index.find(self.hash(endpoint, &canonical), is_it).map(|(_, id)| *id)
    }

    /// Adds a destination. There must be none with this key.
    pub(crate) fn insert(&mut self, endpoint: EndpointId, key: DestKey, class: EvictionClass) -> DestId {
        let id = self.dests.insert(Dest::new(endpoint, key, class));
        self.add_to_list(id);
        self.note_kind(None, Some(StateKind::Unknown));
        let hash = self.hash(endpoint, &key.canonical());
        self.index.insert_unique(hash, (hash, id), |(hash, _)| *hash);
        id
    }

    /// Sets the eviction class of a destination.
    pub(crate) fn set_class(&mut self, id: DestId, class: EvictionClass) {
        if self.dests.get(id).is_some_and(|dest| dest.class != class) {
            self.remove_from_list(id);
            if let Some(dest) = self.dests.get_mut(id) {
                let left = Place::of(dest);
                dest.class = class;
                let entered = Place::of(dest);
                self.change_place(id, left, entered);
            }
            self.add_to_list(id);
        }
    }

    /// Returns the destinations of a class: the eviction clock with its hand at the front. Local addresses have none.
    pub(crate) fn list_of(
        &mut self,
        class: EvictionClass,
    ) -> Option<(&mut List<DestId, BY_CLASS>, &mut Arena<DestId, Dest>)> {
        match class {
            EvictionClass::Local => None,
            EvictionClass::Probation => Some((&mut self.probation, &mut self.dests)),
            EvictionClass::Requested => Some((&mut self.requested, &mut self.dests)),
            EvictionClass::Unsolicited => Some((&mut self.unsolicited, &mut self.dests)),
        }
    }

    fn add_to_list(&mut self, id: DestId) {
        let class = self.dests.get(id).map_or(EvictionClass::Local, |dest| dest.class);
        if let Some((list, dests)) = self.list_of(class) {
            list.push_last(dests, id);
        }
    }

    fn remove_from_list(&mut self, id: DestId) {
        let class = self.dests.get(id).map_or(EvictionClass::Local, |dest| dest.class);
        if let Some((list, dests)) = self.list_of(class) {
            list.remove(dests, id);
        }
    }

    fn change_place(&mut self, id: DestId, left: Option<Place>, entered: Option<Place>) {
        if left != entered {
            left.into_iter().for_each(|place| self.by_gid.remove(&mut self.dests, place, id));
            entered.into_iter().for_each(|place| self.by_gid.insert(&mut self.dests, place, id));
        }
    }

    /// Changes the state of a destination and returns the previous state. All changes of state happen here. The
    /// probation of a destination ends when it is found.
    pub(crate) fn enter(&mut self, id: DestId, state: DestState) -> DestState {
        let Some(dest) = self.dests.get_mut(id) else {
            self.note_lost(id);
            return DestState::Unknown;
        };
        let endpoint = dest.endpoint;
        let (was_busy, is_busy) = (dest.state.is_busy(), state.is_busy());
        let (was, is) = (dest.state.kind(), state.kind());
        let left = Place::of(dest);
        let before = core::mem::replace(&mut dest.state, state);
        let entered = Place::of(dest);
        withdraw(&mut self.publications, dest);
        let ends_probation =
            dest.class == EvictionClass::Probation && matches!(is, StateKind::Located | StateKind::Ready);
        self.change_place(id, left, entered);
        self.note_kind(Some(was), Some(is));
        self.note_busy(endpoint, id, was_busy, is_busy);
        if ends_probation {
            self.set_class(id, EvictionClass::Requested);
        }
        before
    }

    /// Changes a cached path in place, or the checks of it. Its GID must not change. Returns `None` if no path is
    /// cached.
    pub(crate) fn change<R>(&mut self, id: DestId, change: impl FnOnce(&mut ServedPath) -> R) -> Option<R> {
        let dest = self.at_mut(id)?;
        let endpoint = dest.endpoint;
        let DestState::Ready(ready) = &mut dest.state else { return None };
        let was_busy = ready.is_busy();
        let published = dest.published.then_some(ready.path);
        let result = change(ready);
        let is_busy = ready.is_busy();
        let is_other = published.is_some_and(|path| path != ready.path || ready.freshness.stale);
        self.note_busy(endpoint, id, was_busy, is_busy);
        if is_other && let Some(dest) = self.dests.get_mut(id) {
            withdraw(&mut self.publications, dest);
        }
        Some(result)
    }

    /// Ends the state of a destination whose path is being queried. Only such a destination gets the result of a query.
    pub(crate) fn take_routing(&mut self, id: DestId) -> Option<Routing> {
        if self.at(id).state.kind() != StateKind::Routing {
            self.note_lost(id);
            return None;
        }
        match self.enter(id, DestState::Unknown) {
            DestState::Routing(routing) => Some(routing),
            _ => None,
        }
    }

    fn note_busy(&mut self, endpoint: EndpointId, id: DestId, was_busy: bool, is_busy: bool) {
        match (was_busy, is_busy) {
            (false, true) => {
                self.busy.entry(endpoint).or_default().insert(id);
            }
            (true, false) => {
                if let Some(busy) = self.busy.get_mut(&endpoint) {
                    busy.remove(&id);
                    if busy.is_empty() {
                        self.busy.remove(&endpoint);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the first address of an endpoint at a GID.
    pub(crate) fn first_address_at(&self, endpoint: EndpointId, gid: Gid) -> Option<DestId> {
        self.by_gid.first(Place { of: Group::Addresses(endpoint), gid })
    }

    /// Returns the addresses of an endpoint at a GID and the paths to it, and the paths of its port in a partition of this
    /// choice of the subnet administrator: at most this many of each.
    pub(crate) fn at_gid(
        &self,
        endpoint: EndpointId,
        choice: Option<u32>,
        gid: Gid,
        most: usize,
    ) -> impl Iterator<Item = DestId> {
        let next = |id: &DestId| self.get(*id).and_then(|dest| dest.gid_links.next());
        let first = move |place| core::iter::successors(self.by_gid.first(place), next).take(most);
        Place::all(endpoint, choice, gid).flat_map(first)
    }

    /// Returns the destinations at a GID like [`Self::at_gid`], and others the next time if there are more.
    pub(crate) fn next_at_gid(
        &mut self,
        endpoint: EndpointId,
        choice: Option<u32>,
        gid: Gid,
        most: usize,
    ) -> Vec<DestId> {
        let found: Vec<DestId> = self.at_gid(endpoint, choice, gid, most).collect();
        if found.len() >= most {
            Place::all(endpoint, choice, gid).for_each(|place| self.by_gid.turn(&mut self.dests, place, most));
        }
        found
    }

    /// Returns the number of destinations with a known GID.
    pub(crate) fn located_count(&self) -> usize {
        self.by_gid.len()
    }

    pub(crate) fn note_kind(&mut self, was: Option<StateKind>, is: Option<StateKind>) {
        if let Some(count) = was.and_then(|kind| self.counts.get_mut(kind as usize)) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = is.and_then(|kind| self.counts.get_mut(kind as usize)) {
            *count += 1;
        }
    }

    /// Returns the number of destinations in a state.
    pub(crate) fn count_of(&self, kind: StateKind) -> usize {
        self.counts.get(kind as usize).copied().unwrap_or(0)
    }

    /// Returns the destinations of an endpoint with an operation in progress.
    pub(crate) fn busy(&self, endpoint: EndpointId) -> Vec<DestId> {
        self.busy.get(&endpoint).map(|busy| busy.iter().copied().collect()).unwrap_or_default()
    }

    /// Returns the number of destinations of an endpoint with an operation in progress.
    pub(crate) fn busy_count(&self, endpoint: EndpointId) -> usize {
        self.busy.get(&endpoint).map_or(0, BTreeSet::len)
    }

    /// Removes a destination that was not found, unless its lookup is in progress or its failure is cached.
    pub(crate) fn remove_if_not_found(&mut self, id: DestId) {
        let is_over = |dest: &&Dest| dest.class == EvictionClass::Probation && matches!(dest.state, DestState::Unknown);
        if self.dests.get(id).filter(is_over).is_some() {
            self.remove(id);
        }
    }

    /// Removes a destination without an operation in progress.
    pub(crate) fn remove(&mut self, id: DestId) {
        let Some(dest) = self.dests.get(id) else { return };
        let hash = self.hash(dest.endpoint, &dest.key.canonical());
        if let Ok(entry) = self.index.find_entry(hash, |(_, other)| *other == id) {
            entry.remove();
        }
        self.remove_from_list(id);
        self.enter(id, DestState::Unknown);
        self.note_kind(Some(StateKind::Unknown), None);
        self.dests.remove(id);
    }
}

#[cold]
fn note_lost(lost: &Cell<u64>, id: DestId) {
    debug_assert!(false, "{id} does not exist, or has no such operation");
    lost.set(lost.get() + 1);
}

/// Withdraws the path of a destination, if it is published.
fn withdraw(publications: &mut Vec<Publication>, dest: &mut Dest) {
    if core::mem::take(&mut dest.published)
        && let Some(address) = dest.plain_dest()
    {
        publications.push(Publication::Withdrawn { endpoint: dest.endpoint, dest: address });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::Address;
    use core::net::Ipv4Addr;

    const HERE: EndpointId = EndpointId::new(0, 0);
    const THERE: EndpointId = EndpointId::new(1, 0);

    fn key(number: u32) -> DestKey {
        DestKey::Address(Address::Ip4(Ipv4Addr::from(number)))
    }

    #[test]
    fn destination_is_found_only_by_its_endpoint_and_key() {
        let mut cache = Cache::new(1.into());
        let ids: Vec<DestId> =
            (0..3000).map(|number| cache.insert(HERE, key(number), EvictionClass::Requested)).collect();
        let there = cache.insert(THERE, key(7), EvictionClass::Requested);
        assert!((0..).zip(&ids).all(|(number, id)| cache.find(HERE, &key(number)) == Some(*id)));
        assert_eq!((cache.find(THERE, &key(7)), cache.find(THERE, &key(8))), (Some(there), None));
        cache.remove(ids[7]);
        assert_eq!((cache.find(HERE, &key(7)), cache.find(THERE, &key(7))), (None, Some(there)));
        assert_eq!((cache.len(), cache.slots()), (3000, 3001));
    }

    #[test]
    fn names_are_found_in_any_case() {
        let mut cache = Cache::new(1.into());
        let id = cache.insert(HERE, DestKey::Address(Address::from_text("Node1")), EvictionClass::Requested);
        assert_eq!(cache.find(HERE, &DestKey::Address(Address::from_text("nODE1"))), Some(id));
    }

    /// A remote host may invent any number of addresses at the GID of another host.
    #[test]
    fn addresses_that_nobody_requested_do_not_hide_those_of_users() {
        let mut cache = Cache::new(1.into());
        let gid: Gid = "fe80::7".parse().unwrap();
        let remote = crate::resolver::dest::Remote { gid, ..Default::default() };
        let mut insert = |number, class| {
            let id = cache.insert(HERE, key(number), class);
            cache.enter(id, DestState::Located { remote, addr_until: None });
            id
        };
        (0..9).for_each(|number| _ = insert(number, EvictionClass::Unsolicited));
        let (found, used) = (insert(10, EvictionClass::Probation), insert(11, EvictionClass::Unsolicited));
        cache.set_class(used, EvictionClass::Requested);
        let at_gid: Vec<DestId> = cache.at_gid(HERE, None, gid, 2).collect();
        assert_eq!((at_gid.len(), at_gid.starts_with(&[found, used])), (4, true));
        cache.remove(used);
        assert_eq!((cache.first_address_at(HERE, gid), cache.located_count()), (Some(found), 10));
    }

    #[test]
    fn published_path_to_a_gid_is_withdrawn_when_it_is_in_doubt() {
        let mut cache = Cache::new(1.into());
        let route = DestKey::Route(RouteKey { dgid: "fe80::7".parse().unwrap(), ..RouteKey::default() });
        for (key, withdrawn) in [(key(1), 0), (route, 1)] {
            let id = cache.insert(HERE, key, EvictionClass::Requested);
            cache.at_mut(id).unwrap().published = true;
            cache.raise_doubt(id);
            assert_eq!(cache.publications.len(), withdrawn);
        }
    }

    /// Different hashes matter for speed only: a single bucket would be correct, too.
    #[test]
    fn hash_depends_on_endpoint_key_and_seed() {
        let cache = Cache::new(1.into());
        let hashes = [(HERE, 1), (HERE, 2), (THERE, 1)].map(|(endpoint, number)| cache.hash(endpoint, &key(number)));
        assert_eq!(BTreeSet::from(hashes).len(), 3);
        assert_ne!(hashes[0], Cache::new(2.into()).hash(HERE, &key(1)), "hashes are unpredictable");
    }

    #[test]
    fn removed_destination_is_in_no_index() {
        let mut cache = Cache::new(1.into());
        let ids = [0, 1, 2].map(|number| cache.insert(HERE, key(number), EvictionClass::Requested));
        cache.remove(ids[1]);
        cache.remove(ids[1]);
        assert_eq!((cache.index.len(), cache.len()), (2, 2));
        let left = [0, 1, 2].map(|slot| cache.key_at(slot));
        assert_eq!(left, [Some(ids[0]), None, Some(ids[2])]);
    }

    #[test]
    fn probation_ends_when_a_destination_is_found() {
        use crate::resolver::dest::{Remote, ServedPath};
        let mut cache = Cache::new(1.into());
        let ids = [0, 1, 2, 3].map(|number| cache.insert(HERE, key(number), EvictionClass::Probation));
        assert_eq!((cache.len(), cache.found()), (4, 0));
        cache.enter(ids[0], DestState::Located { remote: Remote::default(), addr_until: None });
        cache.enter(ids[1], DestState::Ready(ServedPath::new(None, ib_mad::sa::PathRecord::default(), 0)));
        cache.enter(ids[2], DestState::Unknown);
        cache.set_class(ids[3], EvictionClass::Local);
        assert_eq!((cache.len(), cache.found()), (4, 3));
        // A destination that was found stays, even if nothing of it is cached any more.
        cache.enter(ids[0], DestState::Unknown);
        ids.iter().for_each(|id| cache.remove_if_not_found(*id));
        assert_eq!(ids.map(|id| cache.get(id).is_some()), [true, true, false, true]);
    }
}
