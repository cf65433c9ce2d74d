//! A cache of path records in memory that one writer and many readers share.
//!
//! The writer is a daemon, and the readers are its clients. A reader finds a path without a system call. It only reads,
//! so it can neither delay nor disturb the writer or other readers. If a reader finds no path, it requests the path
//! over the daemon's socket.
//!
//! | type | use |
//! |---|---|
//! | [`Writer`] | creates a mapping; inserts and removes paths |
//! | [`Reader`] | maps the file of a writer, and looks up paths by [`Key`] |
//!
//! # Format
//!
//! A mapping is an array of words of 8 bytes, each in little-endian order. Words without a name are zero. Times are
//! nanoseconds of `CLOCK_MONOTONIC_COARSE`. A reader maps the whole file; nothing in it is an address.
//!
//! | byte | part |
//! |---|---|
//! | 0 | header, 128 bytes |
//! | 128 | epochs of source endpoints, 64 words |
//! | 640 | index: buckets of 64 bytes. Their number is a quarter of the number of entries, rounded up, times 2 |
//! | then | entries, 128 bytes each |
//! | then | for each entry, bytes 32 to 63 of its destination |
//!
//! The header:
//!
//! | byte | word |
//! |---|---|
//! | 0 | magic: the bytes `ibacmshm` |
//! | 8 | version of the format: 2 |
//! | 16 | generation of the mapping; another for each mapping, never 0 |
//! | 24 | seed of the hash, 16 bytes |
//! | 40 | number of entries, 1 to 2^32 - 2 |
//! | 48 | clock: 6, `CLOCK_MONOTONIC_COARSE` |
//! | 64 | heartbeat: time; changes at least once in [`LIFETIME`]. 0: the mapping has ended |
//!
//! A word of the index is 0 or has the number of an entry, plus 1, in its lower half. Its upper half is the lower half
//! of the hash of the entry's key. An entry:
//!
//! | byte | word |
//! |---|---|
//! | 0 | sequence counter; odd while the writer changes the following words |
//! | 8 | expiry: time from which the path is not used |
//! | 16 | meta: kind of the key (1 byte), its length in bytes (1), zero (2), source endpoint (4) |
//! | 24 | epoch of the source endpoint when the path was stored |
//! | 32 | the first 32 bytes of the destination, padded with zeros |
//! | 64 | path record, 64 bytes, as in the ACM protocol (IBTA 15.2.5.16) |
//!
//! | kind | destination |
//! |---|---|
//! | 0 | none: the entry is free, and the other bytes of meta are zero |
//! | 1 | name in lower case, up to 64 bytes |
//! | 2, 3 | IPv4 address, IPv6 address |
//! | 4, 5 | GID; LID in network order |
//! | 16 | query: a path record, 64 bytes, with a LID or GID and all constraints |
//!
//! The second half of a destination has arbitrary contents if the destination has no more than 32 bytes.
//!
//! # Sources
//!
//! The paths of a request begin at an endpoint of the daemon. A key with source endpoint 0 is for such a source. The
//! service id in its path record is the number of the endpoint, and the rest of the record is zero.
//!
//! | request | key |
//! |---|---|
//! | from a local address to a name or an IP address | the local address |
//! | nothing but a destination GID | a GID: the first 8 bytes of the destination, and zeros |
//! | nothing but a destination LID | LID 0 |
//!
//! All other requests are sent to the daemon.
//!
//! # Search
//!
//! The hash of a key is SipHash-1-3 of meta and the destination (in whole words). Its bucket is the hash, multiplied by
//! the number of buckets and divided by 2^64. A search reads the entries whose words in the bucket have the lower half
//! of the hash, and compares their keys in full, also the constraints of a query: equal hashes cannot cause a wrong
//! path. A key never moves, so a removal does not hide another key.
//!
//! A lookup reads one cache line of the index and two neighbouring ones of an entry, or one more for a destination of
//! more than 32 bytes. For an unknown key it usually reads one. In a full mapping, about 2 of 10,000 keys do not fit,
//! because their bucket has [`BUCKET`] other keys.
//!
//! A user who chooses keys can fill a bucket, because the seed is visible. Then the writer reports [`NotStored`], and the
//! path is available by socket only. A lookup never reads more than [`BUCKET`] entries.
//!
//! # Epochs
//!
//! All keys of a source endpoint are removed by one store, which increments the endpoint's epoch. A reader uses a path
//! only if the epoch of its entry is that of its source endpoint, which it reads after the entry. Source endpoint 0 has
//! the first epoch, which stays 0, and endpoint n has the one behind it by 1 + n modulo 63. Endpoints with the same
//! epoch are removed together.
//!
//! The entries of removed and of expired keys become free in slices: a new key that finds no free entry examines a few.
//!
//! # Memory
//!
//! The file has its full size from the start, and all of its memory is allocated before a reader has it. Otherwise a
//! reader could allocate a page: it would pay for it, and could page it out. The writer makes no system call that takes
//! the lock of the file, which readers can hold. It uses the entry with the lowest number that never had a key if no
//! other is free.
//!
//! # Concurrency
//!
//! The writer makes the sequence counter of an entry odd, changes the entry, and makes the counter even. A reader uses
//! what it has read only if the counter was even before and is the same afterwards; otherwise it reads again, at most
//! [`RETRIES`] times in a lookup. A new word of the index, its removal and a new epoch are one store each. A writer
//! that is killed leaves at most one odd counter: lookups that meet it return [`Lookup::Busy`] if they do not find their
//! key elsewhere.
//!
//! # Trust
//!
//! The writer seals the file: nobody else can change or truncate it. A reader does not depend on that, except that the
//! file must not become shorter. It copies the number of entries when it maps the file, computes the places of all parts
//! from its copy, and checks the numbers in the index. Any contents give some [`Lookup`].
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod entry;
#[cfg(not(loom))]
#[cfg(test)]
mod fault;
mod index;
#[cfg(loom)]
#[cfg(test)]
mod interleavings;
mod key;
mod layout;
#[cfg(not(loom))]
mod mapping;
mod memory;
mod prefetch;
mod reader;
mod seqlock;
mod sync;
mod time;
mod writer;

#[cfg(not(loom))]
#[cfg(test)]
mod tests;

pub use key::Key;
pub use layout::{BUCKET, LIFETIME};
#[cfg(not(loom))]
pub use mapping::{MapError, ReadOnly, Shared};
pub use memory::Memory;
pub use reader::{Invalid, Lookup, RETRIES, Reader};
pub use time::Time;
pub use writer::{Identity, NotStored, Writer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
