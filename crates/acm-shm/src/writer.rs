//! The one writer of a mapping.
use crate::{
    key::Key,
    layout::{
        AT_CLOCK, AT_GENERATION, AT_HEARTBEAT, AT_MAGIC, AT_SEED, AT_SLOTS, AT_SUCCESSOR, AT_VERSION, MAGIC, VERSION,
        WINDOW, home, slots, words_for,
    },
    memory::Memory,
    slot::{Probe, Slot, clear, entry, has_source, is_free, members, probe, put, set_expiry, set_members},
    sync::{AtomicU64, Ordering, store},
    time::{CLOCK, Time},
};
use acm_wire::Address;
use core::{iter, num::NonZeroU64};
use ib_mad::{ServiceId, sa::PathRecord};
use std::sync::Arc;
use thiserror::Error;

/// Identity of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Number of the mapping. A replacement and a restarted daemon have another.
    pub generation: NonZeroU64,
    /// Seed of the hash, random for each mapping. Readers can see it.
    pub seed: [u64; 2],
}

/// All slots in the window of the key have other keys. Clients get this path by socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no free slot for the key")]
pub struct NotStored;

/// The writer of a mapping. It never waits for readers.
///
/// A change is visible to each lookup that begins after it. Lookups that overlap it return the old or the new state,
/// or [`Busy`](crate::Lookup::Busy).
#[derive(Debug)]
pub struct Writer<M> {
    memory: M,
    identity: Identity,
    slots: usize,
    entries: usize,
}

impl Writer<Arc<[AtomicU64]>> {
    /// Returns a writer and its memory, for readers in the same process; `None` if there are fewer than [`WINDOW`]
    /// slots.
    pub fn in_process(slots: usize, identity: Identity, now: Time) -> Option<(Self, Arc<[AtomicU64]>)> {
        let memory: Arc<[AtomicU64]> = iter::repeat_with(|| AtomicU64::new(0)).take(words_for(slots)?).collect();
        Some((Self::new(memory.clone(), slots, identity, now), memory))
    }
}

impl<M: Memory> Writer<M> {
    /// Writes the header of zeroed memory for `slots` slots.
    pub(crate) fn new(memory: M, slots: usize, identity: Identity, now: Time) -> Self {
        let writer = Self { memory, identity, slots, entries: 0 };
        writer.set_header(AT_VERSION, VERSION);
        writer.set_header(AT_GENERATION, identity.generation.get());
        AT_SEED.into_iter().zip(identity.seed).for_each(|(at, seed)| writer.set_header(at, seed));
        writer.set_header(AT_SLOTS, slots as u64);
        writer.set_header(AT_CLOCK, CLOCK);
        writer.heartbeat(now);
        // Release: a reader that finds the magic finds the whole header.
        writer.set_header(AT_MAGIC, MAGIC);
        writer
    }

    fn set_header(&self, at: usize, value: u64) {
        if let Some(word) = self.memory.words().get(at) {
            store(word, value, Ordering::Release);
        }
    }

    /// Returns the number of the mapping.
    #[must_use]
    pub const fn generation(&self) -> NonZeroU64 {
        self.identity.generation
    }

    /// Returns the number of stored keys.
    #[must_use]
    pub const fn entries(&self) -> usize {
        self.entries
    }

    #[cfg(not(loom))]
    pub(crate) const fn memory(&self) -> &M {
        &self.memory
    }

    fn slots(&self) -> &[Slot] {
        slots(self.memory.words())
    }

    /// Returns the window of a key.
    fn window(&self, key: &Key) -> &[Slot] {
        let first = home(key, self.identity.seed, self.slots);
        self.slots().get(first..).and_then(|rest| rest.get(..WINDOW)).unwrap_or_default()
    }

    /// Stores the path for a key until `expiry`, in place of an earlier path.
    ///
    /// # Errors
    /// [`NotStored`] if the key is not stored and there is no room for it.
    pub fn insert(&mut self, key: &Key, path: &PathRecord, expiry: Time) -> Result<(), NotStored> {
        let window = self.window(key);
        if let Some((_, slot)) = find(window, key) {
            put(slot, key, expiry, path);
            return Ok(());
        }
        let (number, slot) = (0..).zip(window).find(|(_, slot)| is_free(slot)).ok_or(NotStored)?;
        put(slot, key, expiry, path);
        if let Some(home) = window.first() {
            set_members(home, members(home) | 1 << number);
        }
        self.entries += 1;
        Ok(())
    }

    /// Stores the number of the endpoint at which the paths from a source begin. It does not expire.
    ///
    /// # Errors
    /// As [`Writer::insert`].
    pub fn insert_source(&mut self, source: &Address, endpoint: u32) -> Result<(), NotStored> {
        let path = PathRecord { service_id: ServiceId::new(endpoint.into()), ..PathRecord::ZERO };
        self.insert(&Key::new(0, source), &path, Time::from_nanos(u64::MAX))
    }

    /// Changes the expiry of a key. Returns true if the key is stored.
    pub fn set_expiry(&mut self, key: &Key, expiry: Time) -> bool {
        find(self.window(key), key).map(|(_, slot)| set_expiry(slot, expiry)).is_some()
    }

    /// Removes a key. Returns true if the key was stored.
    pub fn remove(&mut self, key: &Key) -> bool {
        let window = self.window(key);
        let (Some(home), Some((number, slot))) = (window.first(), find(window, key)) else { return false };
        set_members(home, members(home) & !(1 << number));
        clear(slot);
        self.entries -= 1;
        true
    }

    /// Removes all keys of a source endpoint, and returns their number. The time is proportional to the number of
    /// slots.
    pub fn remove_source(&mut self, source: u32) -> usize {
        let mut removed = 0;
        for index in 0..self.slots {
            let slot = self.slots().get(index).filter(|slot| has_source(slot, source));
            if let Some((key, ..)) = slot.and_then(entry) {
                removed += usize::from(self.remove(&key));
            }
        }
        removed
    }

    /// Keeps the mapping in use for another [`LIFETIME`](crate::LIFETIME). Half of that is a good interval.
    pub fn heartbeat(&self, now: Time) {
        self.set_header(AT_HEARTBEAT, now.as_nanos());
    }

    /// Copies all keys to `next`, and then marks this mapping as replaced. Returns the number of keys that were not
    /// stored in `next`.
    pub fn replace<N: Memory>(self, next: &mut Writer<N>) -> usize {
        let entries = self.slots().iter().filter_map(entry);
        let copied = entries.map(|(key, expiry, path)| next.insert(&key, &path, expiry));
        let lost = copied.filter(Result::is_err).count();
        self.set_header(AT_SUCCESSOR, next.generation().get());
        lost
    }
}

/// Returns the slot of a key, and its number in the key's window.
fn find<'a>(window: &'a [Slot], key: &Key) -> Option<(u32, &'a Slot)> {
    let members = members(window.first()?);
    let mut slots = (0..).zip(window).filter(|(number, _)| members & 1 << number != 0);
    slots.find(|(_, slot)| matches!(probe(slot, key), Some(Probe::Found(..))))
}
