//! Index of destinations by the GID at which they are, to find those of a port that appeared or disappeared without a
//! scan of the cache.
use crate::{
    api::id::EndpointId,
    collections::{arena::Arena, list::List},
    cx::random::{Purpose, Random, Seed},
    resolver::{
        dest::{BY_GID, Dest},
        token::DestId,
    },
};
use core::hash::{BuildHasher, Hash, Hasher};
use hashbrown::HashTable;
use ib_mad::Gid;

/// The destinations of one endpoint at one GID. Insertion takes constant time.
#[derive(Debug)]
struct Bucket {
    hash: u64,
    endpoint: EndpointId,
    gid: Gid,
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

    fn hash(&self, endpoint: EndpointId, gid: Gid) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        endpoint.hash(&mut hasher);
        gid.hash(&mut hasher);
        hasher.finish()
    }

    /// Adds a destination that is in no bucket.
    pub(crate) fn insert(&mut self, dests: &mut Arena<DestId, Dest>, endpoint: EndpointId, gid: Gid, id: DestId) {
        let hash = self.hash(endpoint, gid);
        let is_it = |bucket: &Bucket| bucket.endpoint == endpoint && bucket.gid == gid;
        let new = || Bucket { hash, endpoint, gid, list: List::default() };
        let mut bucket = self.buckets.entry(hash, is_it, |bucket| bucket.hash).or_insert_with(new);
        bucket.get_mut().list.push_last(dests, id);
    }

    /// Removes a destination from its bucket.
    pub(crate) fn remove(&mut self, dests: &mut Arena<DestId, Dest>, endpoint: EndpointId, gid: Gid, id: DestId) {
        let hash = self.hash(endpoint, gid);
        let is_it = |bucket: &Bucket| bucket.endpoint == endpoint && bucket.gid == gid;
        if let Ok(mut bucket) = self.buckets.find_entry(hash, is_it) {
            bucket.get_mut().list.remove(dests, id);
            if bucket.get().list.len() == 0 {
                bucket.remove();
            }
        }
    }

    /// Returns the first destination of an endpoint at a GID.
    pub(crate) fn first(&self, endpoint: EndpointId, gid: Gid) -> Option<DestId> {
        let is_it = |bucket: &Bucket| bucket.endpoint == endpoint && bucket.gid == gid;
        self.buckets.find(self.hash(endpoint, gid), is_it)?.list.first()
    }

    /// Returns the number of destinations.
    pub(crate) fn len(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.list.len()).sum()
    }
}
