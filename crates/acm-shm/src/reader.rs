//! Lookups in a mapping whose contents may be arbitrary.
use crate::{
    entry::{At, Probe},
    key::Key,
    layout::{
        AT_CLOCK, AT_GENERATION, AT_HEARTBEAT, AT_MAGIC, AT_ROOM, AT_SEED, AT_VERSION, HEADER_WORDS, Header,
        LIFETIME_NS, Layout, MAGIC, Parts, Place, VERSION,
    },
    memory::Memory,
    sync::{AtomicU64, Ordering, fence, load},
    time::{CLOCK, Time},
};
use acm_wire::Address;
use core::hint::spin_loop;
use ib_mad::{Gid, Guid, Lid, sa::PathRecord};
use thiserror::Error;

/// Number of repeated reads of entries that the writer is changing, for one lookup.
pub const RETRIES: usize = 16;

/// Number of keys whose buckets are loaded from memory at the same time, and whose entries are.
const AHEAD: usize = 8;

/// Result of a lookup. For all but `Path`, the client requests the path by socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The path, which had not expired.
    Path(PathRecord),
    /// The cache has no path for the key.
    Miss,
    /// The writer was changing an entry for all of [`RETRIES`], or has ended during a change.
    Busy,
    /// The writer has ended the mapping, has sent no heartbeat for [`LIFETIME`](crate::LIFETIME), or uses a clock with
    /// another origin (a time namespace). The client may request another mapping.
    Stopped,
}

/// Reason why a mapping cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Invalid {
    /// The mapping does not begin with the format's first bytes.
    #[error("no cache of path records")]
    Magic,
    /// A daemon of another version has created the mapping.
    #[error("a cache of path records in version {0} of the format")]
    Version(u64),
    /// The header contradicts the length of the mapping, or names an unknown clock.
    #[error("a cache of path records with an invalid header")]
    Header,
}

/// A reader. It never writes, and never waits for the writer.
#[derive(Debug)]
pub struct Reader<M> {
    memory: M,
    generation: u64,
    seed: [u64; 2],
    layout: Layout,
}

impl<M: Memory> Reader<M> {
    /// Returns a reader of a mapping.
    ///
    /// # Errors
    /// If the header is that of another format or version, or contradicts the length of `memory`.
    pub fn new(memory: M) -> Result<Self, Invalid> {
        let words = memory.words();
        let header: &Header = words.first_chunk::<HEADER_WORDS>().ok_or(Invalid::Magic)?;
        if load(&header[AT_MAGIC]) != MAGIC {
            return Err(Invalid::Magic);
        }
        // The writer stores the magic last.
        fence(Ordering::Acquire);
        let version = load(&header[AT_VERSION]);
        if version != VERSION {
            return Err(Invalid::Version(version));
        }
        let room = usize::try_from(load(&header[AT_ROOM])).map_err(|_| Invalid::Header)?;
        let layout = Layout::new(room).ok_or(Invalid::Header)?;
        if load(&header[AT_CLOCK]) != CLOCK || words.len() < layout.words() {
            return Err(Invalid::Header);
        }
        let generation = load(&header[AT_GENERATION]);
        let seed = AT_SEED.map(|at| header.get(at).map_or(0, load));
        Ok(Self { memory, generation, seed, layout })
    }

    /// Returns the number of the mapping: a replacement and a restarted daemon have another.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the number of keys for which the mapping has room.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.layout.room()
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) const fn memory(&self) -> &M {
        &self.memory
    }

    /// Returns the path for `key` at the time `now`, which may be that of a batch of lookups.
    #[must_use]
    #[inline]
    pub fn lookup(&self, key: &Key, now: Time) -> Lookup {
        let words = self.memory.words();
        let found =
            self.layout.parts(words).map_or(Lookup::Miss, |parts| search(&parts, self.place(&parts, key), key, now));
        self.check(words, now, found)
    }

    /// Returns the number of the endpoint at which a request begins: a request from a local address, or a request that
    /// has nothing but a destination GID or LID. `None` if the client must send the request.
    #[must_use]
    #[inline]
    pub fn endpoint(&self, source: Option<&Address>, dest: &Address, now: Time) -> Option<u32> {
        let source = match (dest, source) {
            (Address::Gid(gid), _) => Address::Gid(Gid::from_parts(gid.prefix(), Guid::default())),
            (Address::Lid(_), _) => Address::Lid(Lid::NONE),
            // No local address has another form.
            (_, Some(Address::Gid(_) | Address::Lid(_)) | None) => return None,
            (_, Some(source)) => *source,
        };
        match self.lookup(&Key::new(0, &source), now) {
            Lookup::Path(path) => u32::try_from(path.service_id.get()).ok(),
            _ => None,
        }
    }

    /// Reports whether the mapping is in use at the time `now`.
    #[must_use]
    pub fn is_in_use(&self, now: Time) -> bool {
        self.check(self.memory.words(), now, Lookup::Miss) == Lookup::Miss
    }

    /// Returns `found` if the mapping is in use.
    #[inline]
    fn check(&self, words: &[AtomicU64], now: Time, found: Lookup) -> Lookup {
        // Whatever was found was valid before the header is read.
        fence(Ordering::Acquire);
        let heartbeat = words.get(AT_HEARTBEAT).map_or(0, load);
        if heartbeat.abs_diff(now.as_nanos()) > LIFETIME_NS { Lookup::Stopped } else { found }
    }

    #[inline]
    fn place<'a>(&self, parts: &Parts<'a>, key: &Key) -> Option<Place<'a>> {
        parts.place(key.hash(self.seed))
    }

    /// Looks up many keys, and passes each result to `found` in the order of `keys`.
    ///
    /// In a cache that is larger than the processor's, this is faster than single lookups: the entries of the next keys
    /// are read from memory at the same time.
    pub fn lookup_all<'a>(&self, keys: &'a [Key], now: Time, mut found: impl FnMut(&'a Key, Lookup)) {
        let words = self.memory.words();
        let Some(parts) = self.layout.parts(words) else { return };
        let mut places: [Option<Place<'_>>; 2 * AHEAD] = [None; 2 * AHEAD];
        for step in 0..keys.len() + 2 * AHEAD {
            // The key of 16 steps ago: its bucket and its entry have been loaded.
            let place = places
                .get_mut(step % (2 * AHEAD))
                .map(|place| core::mem::replace(place, keys.get(step).and_then(|key| self.place(&parts, key))));
            if let Some(key) = step.checked_sub(2 * AHEAD).and_then(|step| keys.get(step)) {
                found(key, self.check(words, now, search(&parts, place.flatten(), key, now)));
            }
            places.get(step % (2 * AHEAD)).into_iter().flatten().for_each(|place| place.prefetch());
            let bucket = places.get((step + AHEAD) % (2 * AHEAD)).copied().flatten();
            let entry = bucket.and_then(|place| parts.at(place.candidates().next()?));
            entry.into_iter().for_each(At::prefetch);
        }
    }
}

/// Searches the bucket of a key. Each key is in at most one entry.
#[inline]
fn search(parts: &Parts<'_>, place: Option<Place<'_>>, key: &Key, now: Time) -> Lookup {
    let (mut retries, mut missed) = (RETRIES, Lookup::Miss);
    let candidates = place.into_iter().flat_map(Place::candidates);
    for entry in candidates.filter_map(|number| parts.at(number)) {
        match probe(entry, key, &mut retries) {
            // The epoch is read after the entry: whoever removes the endpoint's keys changes it first.
            Some(Probe::Found(content)) if now < content.expiry && load(parts.epoch(key.source())) == content.epoch => {
                return Lookup::Path(content.path);
            }
            Some(Probe::Found(_)) => return Lookup::Miss,
            Some(Probe::Other) => {}
            None => missed = Lookup::Busy,
        }
    }
    missed
}

/// Compares the key of an entry. `None` if the writer is changing the entry, and no retries are left.
#[inline]
fn probe(entry: At<'_>, key: &Key, retries: &mut usize) -> Option<Probe> {
    loop {
        let found = entry.probe(key);
        if found.is_some() || *retries == 0 {
            return found;
        }
        *retries -= 1;
        spin_loop();
    }
}
