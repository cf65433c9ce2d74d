//! Keys of cache entries, as words of a slot.
use acm_wire::{Address, address::ADDRESS_SIZE};
use core::hash::Hasher as _;
use ib_mad::{sa::PathRecord, wire::Reserved};
use siphasher::sip::SipHasher13;
use zerocopy::transmute;

/// Kind of a key that is a query. Kinds of addresses are those of `AcmAddressType`.
const QUERY: u8 = 0x10;

/// A source endpoint and a destination. Keys are compared in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Byte 0 is the kind, byte 1 the length in bytes, bytes 4 to 7 the source endpoint.
    meta: u64,
    /// The destination, padded with zeros.
    dest: [u64; 8],
}

impl Key {
    /// Returns the key of the path from an endpoint to an address. Names are compared without regard to ASCII case.
    ///
    /// `source` is the number of the endpoint, which the writer assigns. 0 is for [sources](crate#sources).
    #[must_use]
    #[inline]
    pub fn new(source: u32, to: &Address) -> Self {
        let length = match to {
            Address::Name(name) => name.as_bytes().len(),
            Address::Ip4(_) => 4,
            Address::Ip6(_) | Address::Gid(_) => 16,
            Address::Lid(_) => 2,
        };
        let (kind, bytes) = to.canonical().encode();
        Self::of(source, kind.get(), length, bytes)
    }

    /// Returns the key of the path that a query describes: a LID or GID with all constraints, except the reserved
    /// bytes.
    #[must_use]
    pub fn query(source: u32, query: &PathRecord) -> Self {
        let query = PathRecord { reserved: Reserved::ZERO, ..*query };
        Self::of(source, QUERY, ADDRESS_SIZE, transmute!(query))
    }

    #[inline]
    fn of(source: u32, kind: u8, length: usize, bytes: [u8; ADDRESS_SIZE]) -> Self {
        let dest: [u64; 8] = transmute!(bytes);
        let meta = u64::from(source) << 32 | (length as u64) << 8 | u64::from(kind);
        Self { meta, dest: dest.map(u64::from_le) }
    }

    /// Returns the key with these words of a slot; `None` for a free slot.
    pub(crate) fn from_words(meta: u64, dest: [u64; 8]) -> Option<Self> {
        (meta != 0).then_some(Self { meta, dest })
    }

    /// Returns the first word: kind, length and source endpoint. It is not 0.
    #[inline]
    pub(crate) const fn meta(&self) -> u64 {
        self.meta
    }

    /// Returns the source endpoint.
    #[inline]
    pub(crate) const fn source(&self) -> u32 {
        let [_, _, _, _, s0, s1, s2, s3] = self.meta.to_le_bytes();
        u32::from_le_bytes([s0, s1, s2, s3])
    }

    /// Returns the two halves of the destination.
    #[inline]
    pub(crate) const fn dest(&self) -> ([u64; 4], [u64; 4]) {
        let [h0, h1, h2, h3, t0, t1, t2, t3] = self.dest;
        ([h0, h1, h2, h3], [t0, t1, t2, t3])
    }

    /// Returns the number of words of the destination that are not padding.
    #[inline]
    fn used(&self) -> usize {
        usize::from(self.meta.to_le_bytes()[1]).div_ceil(8)
    }

    /// True if the destination has more than 32 bytes.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.used() > 4
    }

    /// SipHash-1-3 of the words without padding, each in little-endian order.
    #[inline]
    pub(crate) fn hash(&self, seed: [u64; 2]) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(seed[0], seed[1]);
        hasher.write_u64(self.meta.to_le());
        self.dest.iter().take(self.used()).for_each(|word| hasher.write_u64(word.to_le()));
        hasher.finish()
    }
}
