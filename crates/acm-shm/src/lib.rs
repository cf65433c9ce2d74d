//! A cache of path records in memory that one writer and many readers share.
//!
//! The writer is a daemon, and the readers are its clients. A reader finds a path without a system call. It only reads,
//! so it can neither delay nor disturb the writer or other readers. If a reader finds no path, it requests the path
//! over the daemon's socket.
//!
//! | type | use |
//! |---|---|
//! | [`Writer`] | creates a mapping; inserts and removes paths; replaces the mapping by a larger one |
//! | [`Reader`] | maps the file of a writer, and looks up paths by [`Key`] |
//!
//! # Format
//!
//! A mapping is an array of words of 8 bytes, each in little-endian order. Words without a name are zero. Times are
//! nanoseconds of `CLOCK_MONOTONIC_COARSE`. A reader maps the whole file; nothing in it is an address.
//!
//! The header, 128 bytes:
//!
//! | byte | word |
//! |---|---|
//! | 0 | magic: the bytes `ibacmshm` |
//! | 8 | version of the format: 1 |
//! | 16 | generation of the mapping; another for each mapping, never 0 |
//! | 24 | seed of the hash, 16 bytes |
//! | 40 | number of slots, at least 16 |
//! | 48 | clock: 6, `CLOCK_MONOTONIC_COARSE` |
//! | 64 | heartbeat: time; changes at least once in [`LIFETIME`] |
//! | 72 | generation of the mapping that replaces this one; 0 while this one is in use |
//!
//! The slots follow, 192 bytes each:
//!
//! | byte | word |
//! |---|---|
//! | 0 | members: bit n is set if a key with its home in this slot is stored in the n-th slot after it, n < 16 |
//! | 8 | sequence counter; odd while the writer changes the following words |
//! | 16 | expiry: time from which the path is not used |
//! | 24 | meta: kind of the key (1 byte), its length in bytes (1), zero (2), source endpoint (4) |
//! | 32 | the first 32 bytes of the destination, padded with zeros |
//! | 64 | path record, 64 bytes, as in the ACM protocol (IBTA 15.2.5.16) |
//! | 128 | the other 32 bytes of the destination |
//!
//! | kind | destination |
//! |---|---|
//! | 0 | none: the slot is free, and the other bytes of meta are zero |
//! | 1 | name in lower case, up to 64 bytes |
//! | 2, 3 | IPv4 address, IPv6 address |
//! | 4, 5 | GID; LID in network order |
//! | 16 | query: a path record, 64 bytes, with a LID or GID and all constraints |
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
//! A key is stored in one of [`WINDOW`] neighbouring slots. The first of them is its home. The index of the home is
//! SipHash-1-3 of meta and the destination (in whole words), multiplied by the number of homes (slots - 15) and divided
//! by 2^64. A search reads the members of the home and compares their keys in full, also the constraints of a query:
//! equal hashes cannot cause a wrong path. A key never moves, so a removal does not hide another key.
//!
//! In a mapping that is half full, three of four keys are stored in their home. Then a lookup reads two cache lines, or
//! three for a destination of more than 32 bytes. For an unknown key it usually reads one.
//!
//! Who chooses keys can fill a window, because the seed is visible. Then the writer reports [`NotStored`], and the path
//! is available by socket only. A lookup never costs more than [`WINDOW`] slots.
//!
//! # Concurrency
//!
//! The writer makes the sequence counter of a slot odd, changes the slot, and makes the counter even. A reader uses
//! what it has read only if the counter was even before and is the same afterwards; otherwise it reads again, at most
//! [`RETRIES`] times in a lookup. A new member, its removal and a new expiry are one store each. A writer that is
//! killed leaves at most one odd counter: lookups that meet it return [`Lookup::Busy`] if they do not find their key
//! elsewhere.
//!
//! # Trust
//!
//! The writer seals the file: nobody else can change or truncate it. A reader does not depend on that, except that the
//! file must not become shorter. It copies the number of slots when it maps the file, and computes all indexes from
//! its copy. Any contents give some [`Lookup`].
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
#[cfg(not(loom))]
#[cfg(test)]
mod fault;
#[cfg(loom)]
#[cfg(test)]
mod interleavings;
mod key;
mod layout;
#[cfg(not(loom))]
mod mapping;
mod memory;
mod reader;
mod seqlock;
mod slot;
mod sync;
mod time;
mod writer;

#[cfg(not(loom))]
#[cfg(test)]
mod tests;

pub use key::Key;
pub use layout::{LIFETIME, WINDOW, slots_for};
#[cfg(not(loom))]
pub use mapping::{MapError, ReadOnly, Shared};
pub use memory::Memory;
pub use reader::{Invalid, Lookup, RETRIES, Reader};
pub use time::Time;
pub use writer::{Identity, NotStored, Writer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
