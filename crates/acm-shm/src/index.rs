//! The index: for each key a word with the number of its entry and a part of its hash.
use crate::{
    layout::{BUCKET, Bucket, Place},
    prefetch::prefetch,
    sync::{AtomicU64, Ordering, load, store},
};
use core::iter;

const NUMBER: u64 = 0xffff_ffff;

/// Returns the number of an entry in a word; `None` if the word is free.
#[inline]
fn number(word: u64) -> Option<u32> {
    u32::try_from(word & NUMBER).ok()?.checked_sub(1)
}

impl<'a> Place<'a> {
    /// Returns the entries that may have the key.
    #[inline]
    pub(crate) fn candidates(self) -> impl Iterator<Item = u32> + 'a {
        // A bit for each word, without a branch: the position of the key cannot be predicted.
        let equal = |word: &AtomicU64| u32::from((load(word) ^ self.tag) <= NUMBER);
        let mut members = (0..).zip(self.bucket).fold(0, |members, (number, word)| members | equal(word) << number);
        iter::from_fn(move || {
            let word = self.bucket.get(members.trailing_zeros() as usize)?;
            members &= members - 1;
            Some(number(load(word)))
        })
        .flatten()
    }

    /// Loads the cache line, for which nothing waits.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(&self.bucket[0]);
    }

    /// Returns the entries of all keys of this bucket.
    pub(crate) fn neighbours(self) -> [Option<u32>; BUCKET] {
        self.bucket.each_ref().map(|word| number(load(word)))
    }

    /// Returns a free word.
    pub(crate) fn free(self) -> Option<&'a AtomicU64> {
        self.bucket.iter().find(|word| load(word) == 0)
    }

    /// Stores the number of the key's entry in a free word.
    pub(crate) fn set(self, word: &AtomicU64, number: u32) {
        store(word, self.tag | (u64::from(number) + 1), Ordering::Relaxed);
    }
}

/// Removes an entry from its bucket.
pub(crate) fn remove(bucket: &Bucket, entry: u32) {
    if let Some(word) = bucket.iter().find(|word| number(load(word)) == Some(entry)) {
        store(word, 0, Ordering::Relaxed);
    }
}
