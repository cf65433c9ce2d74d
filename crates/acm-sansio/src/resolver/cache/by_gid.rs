//! Index of destinations by the GID at which they are, to find those of a port that appeared or disappeared, and a path
//! to it, without a scan of the cache.
use crate::{
    api::id::EndpointId,
    collections::{arena::Arena, list::List},
    resolver::{
        dest::{BY_GID, Dest, DestKey, EvictionClass, RouteKey},
        token::DestId,
    },
    shared::random::{Purpose, Random, Seed},
};
use core::hash::BuildHasher;
use hashbrown::HashTable;
use ib_mad::Gid;

/// The place of destinations: whose they are, and a GID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) of: Group,
    pub(crate) gid: Gid,
}

impl Place {
    /// Returns the place of a destination, if its GID is known.
    pub(crate) fn of(dest: &Dest) -> Option<Self> {
        let of = match (&dest.key, dest.class) {
            (DestKey::Address(_), EvictionClass::Unsolicited) => Group::Hints(dest.endpoint),
            (DestKey::Address(_), _) => Group::Addresses(dest.endpoint),
            (DestKey::Route(RouteKey { choice: None, .. }), _) => Group::Paths(dest.endpoint),
            (DestKey::Route(RouteKey { choice: Some(choice), .. }), _) => Group::ChosenPaths(*choice),
        };
        Some(Self { of, gid: dest.state.located_at(&dest.key)? })
    }

    /// Returns the places of the destinations at a GID that an endpoint's datagrams tell of.
    pub(crate) fn all(endpoint: EndpointId, choice: Option<u32>, gid: Gid) -> impl Iterator<Item = Self> {
        let of_endpoint = [Group::Addresses(endpoint), Group::Hints(endpoint), Group::Paths(endpoint)];
        of_endpoint.into_iter().chain(choice.map(Group::ChosenPaths)).map(move |of| Self { of, gid })
    }
}

/// The destinations that are found together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    /// The addresses of an endpoint. All of their paths were found under the same conditions.
    Addresses(EndpointId),
    /// The addresses that no local user has requested. A remote host may invent any number of them.
    Hints(EndpointId),
    /// The paths of an endpoint in its partition.
    Paths(EndpointId),
    /// The paths of a port in a partition of this choice of the subnet administrator
    /// ([`Context::partition_choice`](crate::provider::Context::partition_choice)): a datagram on any endpoint of the
    /// port tells of all of them.
    ChosenPaths(u32),
}

/// The destinations at one place. Insertion takes constant time.
#[derive(Debug)]
struct Bucket {
    hash: u64,
    place: Place,
    list: List<DestId, BY_GID>,
}

/// All destinations with a known GID.
#[derive(Debug)]
pub(crate) struct ByGid {
    buckets: HashTable<Bucket>,
    hasher: foldhash::fast::FixedState,
}

impl ByGid {
    pub(crate) fn new(seed: Seed) -> Self {
        let hasher = foldhash::fast::FixedState::with_seed(Random::new(seed, Purpose::MapOfGids).next());
        Self { buckets: HashTable::new(), hasher }
    }

    fn hash(&self, place: Place) -> u64 {
        self.hasher.hash_one(place)
    }

    /// Adds a destination that is in no bucket.
    pub(crate) fn insert(&mut self, dests: &mut Arena<DestId, Dest>, place: Place, id: DestId) {
        let hash = self.hash(place);
        let new = || Bucket { hash, place, list: List::default() };
        let bucket = self.buckets.entry(hash, |bucket| bucket.place == place, |bucket| bucket.hash);
        bucket.or_insert_with(new).get_mut().list.push_last(dests, id);
    }

    /// Removes a destination from its bucket.
    pub(crate) fn remove(&mut self, dests: &mut Arena<DestId, Dest>, place: Place, id: DestId) {
        if let Ok(mut bucket) = self.buckets.find_entry(self.hash(place), |bucket| bucket.place == place) {
            bucket.get_mut().list.remove(dests, id);
            if bucket.get().list.len() == 0 {
                bucket.remove();
            }
        }
    }

    /// Returns the first destination at a place.
    pub(crate) fn first(&self, place: Place) -> Option<DestId> {
        self.buckets.find(self.hash(place), |bucket| bucket.place == place)?.list.first()
    }

    /// Moves the first destinations at a place behind the others, if there are more than this many.
    pub(crate) fn turn(&mut self, dests: &mut Arena<DestId, Dest>, place: Place, count: usize) {
        let hash = self.hash(place);
        let bucket = self.buckets.find_mut(hash, |bucket| bucket.place == place);
        if let Some(list) = bucket.map(|bucket| &mut bucket.list).filter(|list| list.len() > count) {
            for _ in 0..count {
                list.first().into_iter().for_each(|id| list.move_last(dests, id));
            }
        }
    }

    /// Returns the number of destinations.
    pub(crate) fn len(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.list.len()).sum()
    }
}
