//! Lookups in a mapping whose contents may be arbitrary.
use crate::{
    key::Key,
    layout::{
        AT_CLOCK, AT_GENERATION, AT_HEARTBEAT, AT_MAGIC, AT_SEED, AT_SLOTS, AT_SUCCESSOR, AT_VERSION, HEADER_WORDS,
        Header, LIFETIME_NS, MAGIC, VERSION, WINDOW, home, slots, words_for,
    },
    memory::Memory,
    slot::{self, Probe, Slot, probe},
    sync::{AtomicU64, Ordering, fence, load},
    time::{CLOCK, Time},
};
use acm_wire::Address;
use core::hint::{black_box, spin_loop};
use ib_mad::{Gid, Guid, Lid, sa::PathRecord};
use thiserror::Error;

/// Number of repeated reads of slots that the writer is changing, for one lookup.
pub const RETRIES: usize = 16;

/// Number of keys whose slots are read from memory at the same time.
const BATCH: usize = 16;

/// Result of a lookup. For all but `Path`, the client requests the path by socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The path, which had not expired.
    Path(PathRecord),
    /// The cache has no path for the key.
    Miss,
    /// The writer was changing a slot for all of [`RETRIES`], or has ended during a change.
    Busy,
    /// The writer has replaced the mapping. The client requests the next one.
    Replaced,
    /// The writer has sent no heartbeat for [`LIFETIME`](crate::LIFETIME), or uses a clock with another origin (a time
    /// namespace).
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
    slots: usize,
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
        let slots = usize::try_from(load(&header[AT_SLOTS])).map_err(|_| Invalid::Header)?;
        let needed = words_for(slots).ok_or(Invalid::Header)?;
        if load(&header[AT_CLOCK]) != CLOCK || words.len() < needed {
            return Err(Invalid::Header);
        }
        let generation = load(&header[AT_GENERATION]);
        let seed = AT_SEED.map(|at| header.get(at).map_or(0, load));
        Ok(Self { memory, generation, seed, slots })
    }

    /// Returns the number of the mapping: a replacement and a restarted daemon have another.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the number of keys for which the mapping has room, as in [`slots_for`](crate::slots_for).
    #[must_use]
    pub const fn room(&self) -> usize {
        self.slots.saturating_sub(WINDOW - 1) / 2
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
        self.check(words, now, search(self.window(words, key), key, now))
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
        let [heartbeat, successor] = [AT_HEARTBEAT, AT_SUCCESSOR].map(|at| words.get(at).map_or(0, load));
        if successor != 0 {
            Lookup::Replaced
        } else if heartbeat.abs_diff(now.as_nanos()) > LIFETIME_NS {
            Lookup::Stopped
        } else {
            found
        }
    }

    /// Looks up many keys, and passes each result to `found` in the order of `keys`.
    ///
    /// In a cache that is larger than the processor's, this is faster than single lookups: the slots of the next keys
    /// are read from memory at the same time.
    pub fn lookup_all<'a>(&self, keys: &'a [Key], now: Time, mut found: impl FnMut(&'a Key, Lookup)) {
        for keys in keys.chunks(BATCH) {
            let words = self.memory.words();
            let mut windows: [&[Slot]; BATCH] = [&[]; BATCH];
            windows.iter_mut().zip(keys).for_each(|(window, key)| *window = self.window(words, key));
            // Nothing waits for these loads, and no other work is between them.
            let homes = windows.iter().filter_map(|window| window.first());
            black_box(homes.fold(0, |sum, home| sum ^ slot::members(home) ^ slot::touch(home)));
            let displaced = windows.iter().filter_map(|window| {
                let first = slot::members(window.first()?).trailing_zeros() as usize;
                window.get(first).filter(|_| first > 0)
            });
            black_box(displaced.fold(0, |sum, slot| sum ^ slot::members(slot) ^ slot::touch(slot)));
            for (key, window) in keys.iter().zip(windows) {
                found(key, self.check(words, now, search(window, key, now)));
            }
        }
    }

    #[inline]
    fn window<'a>(&self, words: &'a [AtomicU64], key: &Key) -> &'a [Slot] {
        let first = home(key, self.seed, self.slots);
        slots(words).get(first..).and_then(|rest| rest.get(..WINDOW)).unwrap_or_default()
    }
}

/// Searches the window of a key. Each key is in at most one slot.
#[inline]
fn search(window: &[Slot], key: &Key, now: Time) -> Lookup {
    let Some(home) = window.first() else { return Lookup::Miss };
    let mut members = slot::members(home);
    // The path is usually here. Its cache line is loaded while the first one is.
    black_box(slot::touch(home));
    let (mut retries, mut missed) = (RETRIES, Lookup::Miss);
    while members != 0 {
        let member = window.get(members.trailing_zeros() as usize);
        members &= members - 1;
        // Only an invalid mapping has members outside of the window.
        let Some(member) = member else { break };
        let found = loop {
            let found = probe(member, key);
            if found.is_some() || retries == 0 {
                break found;
            }
            retries -= 1;
            spin_loop();
        };
        match found {
            Some(Probe::Found(expiry, path)) if now < expiry => return Lookup::Path(path),
            Some(Probe::Found(..)) => return Lookup::Miss,
            Some(Probe::Other) => {}
            None => missed = Lookup::Busy,
        }
    }
    missed
}
