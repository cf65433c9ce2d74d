//! Names of queue pairs.
use core::{ffi::c_void, ptr};

/// Names a queue pair among those of its context, in completions and events; never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueKey(usize);

impl QueueKey {
    pub(super) const fn new(key: usize) -> Self {
        Self(key)
    }
    /// The key, where libibverbs keeps a pointer of the program's.
    pub(super) const fn as_ptr(self) -> *mut c_void {
        ptr::without_provenance_mut(self.0)
    }
    /// The key in such a pointer.
    pub(super) fn from_ptr(pointer: *mut c_void) -> Self {
        Self(pointer.addr())
    }
}
