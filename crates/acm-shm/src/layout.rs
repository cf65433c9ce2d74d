//! Places of a mapping's words: the header, the epochs, the index, the entries, and the ends of long destinations.
use crate::sync::AtomicU64;
use core::time::Duration;

/// Number of keys that can share a part of the index, and the most entries that a lookup reads.
pub const BUCKET: usize = 8;
/// Time without a heartbeat after which a mapping is not used.
pub const LIFETIME: Duration = Duration::from_nanos(LIFETIME_NS);
pub(crate) const LIFETIME_NS: u64 = 1_000_000_000;

/// The first eight bytes of a mapping.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"ibacmshm");
/// Version of the format.
pub(crate) const VERSION: u64 = 2;

/// The header: two cache lines. The first does not change.
pub(crate) type Header = [AtomicU64; HEADER_WORDS];
pub(crate) const HEADER_WORDS: usize = 16;
pub(crate) const AT_MAGIC: usize = 0;
pub(crate) const AT_VERSION: usize = 1;
pub(crate) const AT_GENERATION: usize = 2;
pub(crate) const AT_SEED: [usize; 2] = [3, 4];
pub(crate) const AT_ROOM: usize = 5;
pub(crate) const AT_CLOCK: usize = 6;
pub(crate) const AT_HEARTBEAT: usize = 8;

/// Epochs of source endpoints. The first is for source 0, and stays 0.
pub(crate) type Epochs = [AtomicU64; 64];
/// A cache line of the index.
pub(crate) type Bucket = [AtomicU64; BUCKET];
/// Two neighbouring cache lines.
pub(crate) type Entry = [AtomicU64; 16];
/// Bytes 32 to 63 of a destination.
pub(crate) type Tail = [AtomicU64; 4];

/// Sizes of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    room: usize,
    buckets: usize,
    words: usize,
}

/// The parts of a mapping behind the header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) epochs: &'a Epochs,
    pub(crate) buckets: &'a [Bucket],
    pub(crate) entries: &'a [Entry],
    pub(crate) tails: &'a [Tail],
}

impl Layout {
    /// Returns the layout of a mapping with room for `room` keys; `None` if it would be empty or too large.
    pub(crate) fn new(room: usize) -> Option<Self> {
        let number = u32::try_from(room).ok().filter(|number| (1..u32::MAX).contains(number))?;
        let room = usize::try_from(number).ok()?;
        // An even number: the entries begin at a multiple of their size.
        let buckets = room.div_ceil(4) * 2;
        let words = room.checked_mul(size_of::<Entry>() / 8 + size_of::<Tail>() / 8)?;
        let words = words.checked_add(buckets.checked_mul(BUCKET)?)?.checked_add(Self::INDEX)?;
        words.checked_mul(8)?;
        Some(Self { room, buckets, words })
    }

    /// Number of the index's first word.
    const INDEX: usize = HEADER_WORDS + size_of::<Epochs>() / 8;

    pub(crate) const fn room(self) -> usize {
        self.room
    }

    /// Returns the number of words of the mapping.
    pub(crate) const fn words(self) -> usize {
        self.words
    }

    /// Returns the parts of a mapping of this layout.
    #[inline]
    pub(crate) fn parts(self, words: &[AtomicU64]) -> Option<Parts<'_>> {
        let (epochs, rest) = words.get(HEADER_WORDS..)?.split_first_chunk()?;
        let (buckets, rest) = rest.split_at_checked(self.buckets * BUCKET)?;
        let (entries, tails) = rest.split_at_checked(self.room * 16)?;
        Some(Parts {
            epochs,
            buckets: buckets.as_chunks().0,
            entries: entries.as_chunks().0,
            tails: tails.as_chunks().0,
        })
    }
}

/// A place in the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) bucket: &'a Bucket,
    /// Upper half of the index's word for a key.
    pub(crate) tag: u64,
}

impl<'a> Parts<'a> {
    /// Returns the place of a key with this hash.
    #[inline]
    pub(crate) fn place(&self, hash: u64) -> Option<Place<'a>> {
        let product = u128::from(hash) * self.buckets.len() as u128;
        let bucket = self.buckets.get(usize::try_from(product >> 64).ok()?)?;
        Some(Place { bucket, tag: hash << 32 })
    }

    /// Returns the number of a source endpoint's epoch.
    #[inline]
    pub(crate) const fn epoch_number(source: u32) -> usize {
        if source == 0 { 0 } else { 1 + (source % 63) as usize }
    }

    /// Returns the epoch of a source endpoint.
    #[inline]
    pub(crate) fn epoch(&self, source: u32) -> &'a AtomicU64 {
        self.epochs.get(Self::epoch_number(source)).unwrap_or(&self.epochs[0])
    }
}
