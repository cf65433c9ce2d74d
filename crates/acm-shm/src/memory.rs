//! Memory of a cache: a mapping of a file, or words in the process.
use crate::sync::AtomicU64;
use std::sync::Arc;

/// Memory that a [`Writer`](crate::Writer) or a [`Reader`](crate::Reader) uses: [`Shared`](crate::Shared),
/// [`ReadOnly`](crate::ReadOnly), or `Arc<[AtomicU64]>` inside one process.
///
/// Only this crate implements it: a store to read-only words would end the program.
pub trait Memory: Words {}

/// Access to the words, for this crate only.
pub trait Words {
    /// Returns all words. Their number does not change.
    fn words(&self) -> &[AtomicU64];
}

impl Memory for Arc<[AtomicU64]> {}
impl Words for Arc<[AtomicU64]> {
    fn words(&self) -> &[AtomicU64] {
        self
    }
}
