//! An entry: a key, its path, the expiry of the path, and the epoch of its source endpoint.
use crate::{
    key::Key,
    layout::{Entry, Parts, Tail},
    prefetch::prefetch,
    seqlock,
    sync::{AtomicU64, Ordering, load, store},
    time::Time,
};
use core::array;
use ib_mad::sa::PathRecord;
use zerocopy::transmute;

const AT_SEQUENCE: usize = 0;
const AT_EXPIRY: usize = 1;
const AT_META: usize = 2;
const AT_EPOCH: usize = 3;
const AT_HEAD: usize = 4;
const AT_PATH: usize = 8;

/// Contents of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) expiry: Time,
    pub(crate) epoch: u64,
    pub(crate) path: PathRecord,
}

/// The place of an entry in the mapping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'a> {
    entry: &'a Entry,
    tail: &'a Tail,
}

impl<'a> Parts<'a> {
    /// Returns an entry. Only an invalid mapping has words in its index that are no numbers of entries.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Option<At<'a>> {
        let number = number as usize;
        Some(At { entry: self.entries.get(number)?, tail: self.tails.get(number)? })
    }
}

#[inline]
fn words<const N: usize>(entry: &[AtomicU64], first: usize) -> [u64; N] {
    array::from_fn(|number| entry.get(first + number).map_or(0, load))
}

/// Content of an entry, for a search.
#[derive(Debug)]
pub(crate) enum Probe {
    Other,
    Found(Content),
}

impl At<'_> {
    /// Loads both cache lines, for which nothing waits.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(&self.entry[AT_SEQUENCE]);
        prefetch(&self.entry[AT_PATH]);
    }

    /// Compares the key. `None` if the writer is changing the entry.
    #[inline]
    pub(crate) fn probe(self, key: &Key) -> Option<Probe> {
        let Self { entry, tail } = self;
        seqlock::read(&entry[AT_SEQUENCE], || {
            let (key_head, key_tail) = key.dest();
            let is_equal = load(&entry[AT_META]) == key.meta()
                && words(entry, AT_HEAD) == key_head
                && (!key.is_long() || words(tail, 0) == key_tail);
            if is_equal { Probe::Found(self.content()) } else { Probe::Other }
        })
    }

    #[inline]
    fn content(self) -> Content {
        let path: [u64; 8] = words(self.entry, AT_PATH);
        Content {
            expiry: Time::from_nanos(load(&self.entry[AT_EXPIRY])),
            epoch: load(&self.entry[AT_EPOCH]),
            path: transmute!(path.map(u64::to_le)),
        }
    }

    /// Replaces the key and the content.
    pub(crate) fn put(self, key: &Key, content: &Content) {
        let ([h0, h1, h2, h3], key_tail) = key.dest();
        let path: [u64; 8] = transmute!(content.path);
        let [p0, p1, p2, p3, p4, p5, p6, p7] = path.map(u64::from_le);
        let Content { expiry, epoch, .. } = *content;
        let entry = [expiry.as_nanos(), key.meta(), epoch, h0, h1, h2, h3, p0, p1, p2, p3, p4, p5, p6, p7];
        let Self { entry: to, tail } = self;
        seqlock::write(&to[AT_SEQUENCE], || {
            to.iter().skip(AT_EXPIRY).zip(entry).for_each(|(to, word)| store(to, word, Ordering::Relaxed));
            let long = tail.iter().zip(key_tail).take(if key.is_long() { tail.len() } else { 0 });
            long.for_each(|(to, word)| store(to, word, Ordering::Relaxed));
        });
    }

    /// Returns the key and the content; `None` if the entry is free. Only the writer calls this.
    pub(crate) fn get(self) -> Option<(Key, Content)> {
        let [h0, h1, h2, h3] = words(self.entry, AT_HEAD);
        let [t0, t1, t2, t3] = words(self.tail, 0);
        let key = Key::from_words(load(&self.entry[AT_META]), [h0, h1, h2, h3, t0, t1, t2, t3])?;
        Some((key, self.content()))
    }

    /// Makes the entry free. One store needs no sequence counter.
    pub(crate) fn clear(self) {
        store(&self.entry[AT_META], 0, Ordering::Relaxed);
    }
}
