//! A slot: a key, its path, and the expiry of the path. It also lists the slots of the keys that belong here.
use crate::{
    key::Key,
    seqlock,
    sync::{AtomicU64, Ordering, load, store},
    time::Time,
};
use core::array;
use ib_mad::sa::PathRecord;
use zerocopy::transmute;

/// Three cache lines. The third is used by long keys only.
pub(crate) type Slot = [AtomicU64; 24];
const AT_MEMBERS: usize = 0;
const AT_SEQUENCE: usize = 1;
const AT_EXPIRY: usize = 2;
const AT_META: usize = 3;
const AT_DEST_HEAD: usize = 4;
const AT_PATH: usize = 8;
const AT_DEST_TAIL: usize = 16;
/// Number of words from the expiry to the end of the destination.
const ENTRY: usize = 18;

#[inline]
fn words<const N: usize>(slot: &Slot, first: usize) -> [u64; N] {
    array::from_fn(|number| slot.get(first + number).map_or(0, load))
}

/// Returns the slots whose keys have their home in this slot: bit n stands for the n-th slot after it.
#[inline]
pub(crate) fn members(home: &Slot) -> u64 {
    load(&home[AT_MEMBERS])
}

/// Changes the slots whose keys have their home in this slot.
pub(crate) fn set_members(home: &Slot, members: u64) {
    store(&home[AT_MEMBERS], members, Ordering::Relaxed);
}

/// Loads the path's cache line, and returns a word of it.
#[inline]
pub(crate) fn touch(slot: &Slot) -> u64 {
    load(&slot[AT_PATH])
}

/// Content of a slot, for a search.
#[derive(Debug)]
pub(crate) enum Probe {
    Other,
    Found(Time, PathRecord),
}

/// Compares the key of a slot. `None` if the writer is changing the slot.
#[inline]
pub(crate) fn probe(slot: &Slot, key: &Key) -> Option<Probe> {
    seqlock::read(&slot[AT_SEQUENCE], || {
        let (head, tail) = key.dest();
        let is_equal = load(&slot[AT_META]) == key.meta()
            && words(slot, AT_DEST_HEAD) == head
            && (!key.is_long() || words(slot, AT_DEST_TAIL) == tail);
        if !is_equal {
            return Probe::Other;
        }
        let path: [u64; 8] = words(slot, AT_PATH);
        Probe::Found(Time::from_nanos(load(&slot[AT_EXPIRY])), transmute!(path.map(u64::to_le)))
    })
}

/// Replaces the key, the expiry and the path of a slot.
pub(crate) fn put(slot: &Slot, key: &Key, expiry: Time, path: &PathRecord) {
    let ([h0, h1, h2, h3], [t0, t1, t2, t3]) = key.dest();
    let path: [u64; 8] = transmute!(*path);
    let [p0, p1, p2, p3, p4, p5, p6, p7] = path.map(u64::from_le);
    let expiry = expiry.as_nanos();
    let entry: [u64; ENTRY] = [expiry, key.meta(), h0, h1, h2, h3, p0, p1, p2, p3, p4, p5, p6, p7, t0, t1, t2, t3];
    seqlock::write(&slot[AT_SEQUENCE], || {
        slot.iter().skip(AT_EXPIRY).zip(entry).for_each(|(to, word)| store(to, word, Ordering::Relaxed));
    });
}

/// Returns the key, the expiry and the path of a slot; `None` if the slot is free. Only the writer calls this.
pub(crate) fn entry(slot: &Slot) -> Option<(Key, Time, PathRecord)> {
    let [expiry, meta, h0, h1, h2, h3, path @ .., t0, t1, t2, t3]: [u64; ENTRY] = words(slot, AT_EXPIRY);
    let path: [u64; 8] = path;
    let key = Key::from_words(meta, [h0, h1, h2, h3, t0, t1, t2, t3])?;
    Some((key, Time::from_nanos(expiry), transmute!(path.map(u64::to_le))))
}

/// True if the slot has a key of this source endpoint, or if it is free and `source` is 0. Only the writer calls this.
pub(crate) fn has_source(slot: &Slot, source: u32) -> bool {
    load(&slot[AT_META]) >> 32 == u64::from(source)
}

/// True if the slot has no key. Only the writer calls this.
pub(crate) fn is_free(slot: &Slot) -> bool {
    load(&slot[AT_META]) == 0
}

/// Makes a slot free. One store needs no sequence counter.
pub(crate) fn clear(slot: &Slot) {
    store(&slot[AT_META], 0, Ordering::Relaxed);
}

/// Changes the expiry. One store needs no sequence counter.
pub(crate) fn set_expiry(slot: &Slot, expiry: Time) {
    store(&slot[AT_EXPIRY], expiry.as_nanos(), Ordering::Relaxed);
}
