//! Index of destinations by the GID at which they are, to find those of a port that appeared or disappeared, and a path
//! to it, without a scan of the cache.
use crate::{
    api::id::EndpointId,
    collections::{arena::Arena, list::List},
    resolver::{
        dest::{BY_GID, Dest},
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

/// The destinations that are found together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    /// The addresses of an endpoint. All of their paths were found under the same conditions.
    Addresses(EndpointId),
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
        let bucket = self.buckets.find_mut(self.hasher.hash_one(place), |bucket| bucket.place == place);
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
