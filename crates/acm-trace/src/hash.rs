//! A number for a configuration: two traces of the same options have the same.
use core::hash::Hasher as _;
use siphasher::sip::SipHasher24;

/// SipHash-2-4 under a key of zeros. It finds mistakes, not forgeries.
pub(crate) fn of(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new();
    hasher.write(bytes);
    hasher.finish()
}
