//! The one writer of a mapping.
use crate::{
    entry::{Content, Probe},
    index,
    key::Key,
    layout::{
        AT_CLOCK, AT_GENERATION, AT_HEARTBEAT, AT_MAGIC, AT_ROOM, AT_SEED, AT_VERSION, Layout, MAGIC, Parts, Place,
        VERSION,
    },
    memory::Memory,
    sync::{AtomicU64, Ordering, load, store},
    time::{CLOCK, Time},
};
use acm_wire::Address;
use core::{iter, num::NonZeroU64};
use ib_mad::{ServiceId, sa::PathRecord};
use std::sync::Arc;
use thiserror::Error;

/// Number of entries that are examined if a new key finds none free: those that readers cannot use become free.
const SWEEP: usize = 8;

/// Identity of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Number of the mapping. A replacement and a restarted daemon have another.
    pub generation: NonZeroU64,
    /// Seed of the hash, random for each mapping. Readers can see it.
    pub seed: [u64; 2],
}

/// A key is not stored: there is no free entry, or the key's part of the index has [`BUCKET`](crate::BUCKET) other keys.
/// Clients get this path by socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no room for the key")]
pub struct NotStored;

/// The writer of a mapping. It never waits for readers.
///
/// A change is visible to each lookup that begins after it. Lookups that overlap it return the old or the new state,
/// or [`Busy`](crate::Lookup::Busy). The time of a call does not depend on the number of keys.
#[derive(Debug)]
pub struct Writer<M> {
    memory: M,
    identity: Identity,
    layout: Layout,
    /// Number of entries that ever had a key: the first ones.
    used: usize,
    /// Entries before `used` without a key.
    free: Vec<u32>,
    /// Number of keys of the source endpoints of each epoch, without removed ones.
    counts: [usize; 64],
    /// The next entry to examine.
    hand: usize,
    /// Time of the last heartbeat. Paths that expired before it are not used by readers.
    now: Time,
}

impl Writer<Arc<[AtomicU64]>> {
    /// Returns a writer and its memory with room for `room` keys, for readers in the same process; `None` if that is
    /// 0 or too large.
    pub fn in_process(room: usize, identity: Identity, now: Time) -> Option<(Self, Arc<[AtomicU64]>)> {
        let layout = Layout::new(room)?;
        let memory: Arc<[AtomicU64]> = iter::repeat_with(|| AtomicU64::new(0)).take(layout.words()).collect();
        Some((Self::new(memory.clone(), layout, identity, now), memory))
    }
}

impl<M: Memory> Writer<M> {
    /// Writes the header of zeroed memory.
    pub(crate) fn new(memory: M, layout: Layout, identity: Identity, now: Time) -> Self {
        // The list never grows: that would copy it.
        let free = Vec::with_capacity(layout.room());
        let mut writer = Self { memory, identity, layout, used: 0, free, counts: [0; 64], hand: 0, now };
        writer.set_header(AT_VERSION, VERSION);
        writer.set_header(AT_GENERATION, identity.generation.get());
        AT_SEED.into_iter().zip(identity.seed).for_each(|(at, seed)| writer.set_header(at, seed));
        writer.set_header(AT_ROOM, layout.room() as u64);
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

    /// Returns the number of stored keys, also of expired ones whose entries have not been used again.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns the number of keys for which there is room.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.layout.room()
    }

    #[cfg(not(loom))]
    pub(crate) const fn memory(&self) -> &M {
        &self.memory
    }

    /// Returns all parts of the mapping, and the place of a key.
    fn find(&self, key: &Key) -> Option<(Parts<'_>, Place<'_>)> {
        let parts = self.layout.parts(self.memory.words())?;
        Some((parts, parts.place(key.hash(self.identity.seed))?))
    }

    /// Returns the number of a key's entry, and its content.
    fn get(&self, key: &Key) -> Option<(u32, Content)> {
        let (parts, place) = self.find(key)?;
        place.candidates().find_map(|number| match parts.at(number)?.probe(key)? {
            Probe::Found(content) => Some((number, content)),
            Probe::Other => None,
        })
    }

    /// Reports whether readers may still get a path from an entry of the key with this content.
    fn is_removed(parts: &Parts<'_>, key: &Key, content: &Content) -> bool {
        load(parts.epoch(key.source())) != content.epoch
    }

    /// Stores the path for a key until `expiry`, in place of an earlier path.
    ///
    /// # Errors
    /// [`NotStored`] if the key is not stored and there is no room for it.
    pub fn insert(&mut self, key: &Key, path: &PathRecord, expiry: Time) -> Result<(), NotStored> {
        let stored = self.get(key);
        let number = match &stored {
            Some((number, _)) => *number,
            None => self.make_room(key)?,
        };
        let (parts, place) = self.find(key).ok_or(NotStored)?;
        let epoch = load(parts.epoch(key.source()));
        parts.at(number).ok_or(NotStored)?.put(key, &Content { expiry, epoch, path: *path });
        if stored.is_none() {
            place.set(place.free().ok_or(NotStored)?, number);
        }
        let is_new = stored.is_none_or(|(_, before)| before.epoch != epoch);
        self.count(key, |count| *count += usize::from(is_new));
        Ok(())
    }

    fn count(&mut self, key: &Key, change: impl FnOnce(&mut usize)) {
        self.counts.get_mut(Parts::epoch_number(key.source())).map(change);
    }

    /// Returns a free entry for a key whose bucket has a free word.
    fn make_room(&mut self, key: &Key) -> Result<u32, NotStored> {
        let (_, place) = self.find(key).ok_or(NotStored)?;
        if place.free().is_none() {
            place.neighbours().into_iter().flatten().for_each(|number| self.free_unusable(number));
        }
        let examined = if self.free.is_empty() { SWEEP.min(self.used) } else { 0 };
        for _ in 0..examined {
            self.hand = (self.hand + 1) % self.used;
            u32::try_from(self.hand).into_iter().for_each(|number| self.free_unusable(number));
        }
        self.find(key).and_then(|(_, place)| place.free()).ok_or(NotStored)?;
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        let number = u32::try_from(self.used).ok().filter(|_| self.used < self.room()).ok_or(NotStored)?;
        self.used += 1;
        Ok(number)
    }

    /// Makes an entry free if readers cannot use its path.
    fn free_unusable(&mut self, number: u32) {
        let Some(parts) = self.layout.parts(self.memory.words()) else { return };
        let Some((key, content)) = parts.at(number).and_then(|at| at.get()) else { return };
        if content.expiry <= self.now || Self::is_removed(&parts, &key, &content) {
            self.free(number, &key, &content);
        }
    }

    /// Makes the entry of a key free. Returns true if the key was stored.
    fn free(&mut self, number: u32, key: &Key, content: &Content) -> bool {
        let Some((parts, place)) = self.find(key) else { return false };
        let is_removed = Self::is_removed(&parts, key, content);
        index::remove(place.bucket, number);
        parts.at(number).into_iter().for_each(|at| at.clear());
        self.free.push(number);
        self.count(key, |count| *count -= usize::from(!is_removed));
        !is_removed
    }

    /// Stores the number of the endpoint at which the paths from a source begin. It does not expire.
    ///
    /// # Errors
    /// As [`Writer::insert`].
    pub fn insert_source(&mut self, source: &Address, endpoint: u32) -> Result<(), NotStored> {
        let path = PathRecord { service_id: ServiceId::new(endpoint.into()), ..PathRecord::ZERO };
        self.insert(&Key::new(0, source), &path, Time::from_nanos(u64::MAX))
    }

    /// Removes a key. Returns true if the key was stored.
    pub fn remove(&mut self, key: &Key) -> bool {
        self.get(key).is_some_and(|(number, content)| self.free(number, key, &content))
    }

    /// Removes all keys of a source endpoint, and those of other endpoints with the same epoch. Source 0 cannot be
    /// removed. Returns the number of removed keys. Their entries become free when further keys are stored.
    pub fn remove_source(&mut self, source: u32) -> usize {
        let Some(parts) = self.layout.parts(self.memory.words()).filter(|_| source != 0) else { return 0 };
        let epoch = parts.epoch(source);
        store(epoch, load(epoch) + 1, Ordering::Release);
        self.counts.get_mut(Parts::epoch_number(source)).map_or(0, core::mem::take)
    }

    /// Keeps the mapping in use for another [`LIFETIME`](crate::LIFETIME). Half of that is a good interval.
    pub fn heartbeat(&mut self, now: Time) {
        self.now = now;
        self.set_header(AT_HEARTBEAT, now.as_nanos());
    }

    /// Ends the mapping. Readers do not use it any more.
    pub fn end(&mut self) {
        self.set_header(AT_HEARTBEAT, 0);
    }
}
