//! Address handles for UD sends, and their cache.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{Context, check, non_null};
use crate::Result;
use core::ptr::NonNull;
use ib_mad::AddressVector;
use ib_verbs_sys::{ibv_ah, ibv_ah_attr, ibv_create_ah, ibv_destroy_ah, ibv_gid, ibv_global_route};
use std::{collections::BTreeMap, sync::Arc};

/// An address handle, destroyed when its last owner drops it. Owners are the cache and each send without a completion.
#[derive(Debug)]
pub(super) struct AddressHandle {
    handle: NonNull<ibv_ah>,
    /// Keeps the protection domain alive.
    context: Context,
}

// SAFETY: libibverbs' objects may be used from any thread.
unsafe impl Send for AddressHandle {}
// SAFETY: the handle does not change after it was created.
unsafe impl Sync for AddressHandle {}

impl AddressHandle {
    fn new(context: &Context, port: u8, to: &AddressVector) -> Result<Self> {
        let grh = to.grh.unwrap_or_default();
        let mut attributes = ibv_ah_attr {
            grh: ibv_global_route {
                dgid: ibv_gid { raw: grh.dgid.get() },
                flow_label: grh.flow_label.get(),
                sgid_index: grh.sgid_index,
                hop_limit: grh.hop_limit,
                traffic_class: grh.traffic_class,
            },
            dlid: to.dlid.get(),
            sl: to.sl.get(),
            src_path_bits: to.path_bits,
            static_rate: to.static_rate.map_or(0, |rate| rate.get()),
            is_global: to.grh.is_some().into(),
            port_num: port,
        };
        // SAFETY: the protection domain lives as long as the context, of which `self` has a clone. The attributes are
        // read during the call only.
        let handle = unsafe { ibv_create_ah(context.pd(), &raw mut attributes) };
        Ok(Self { handle: non_null("ibv_create_ah", handle)?, context: context.clone() })
    }

    pub(super) const fn as_ptr(&self) -> *mut ibv_ah {
        self.handle.as_ptr()
    }
}

impl Drop for AddressHandle {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed only here. Every send that uses the handle is an owner of it, so no such
        // send waits for its completion.
        if check("ibv_destroy_ah", unsafe { ibv_destroy_ah(self.handle.as_ptr()) }).is_err() {
            self.context.count_leak();
        }
    }
}

/// A cache of address handles. It drops the least recently used handle first.
#[derive(Debug)]
pub(super) struct AddressHandles<T = AddressHandle> {
    handles: BTreeMap<AddressVector, Cached<T>>,
    /// Maximum number of handles, at least 1.
    limit: usize,
    /// Number of lookups so far, the clock of `last_use`.
    now: u64,
}

#[derive(Debug)]
struct Cached<T> {
    handle: Arc<T>,
    last_use: u64,
}

impl AddressHandles {
    /// Returns the handle for this address from the cache, or creates the handle.
    pub(super) fn get(&mut self, context: &Context, port: u8, to: &AddressVector) -> Result<Arc<AddressHandle>> {
        self.get_or_make(to, || AddressHandle::new(context, port, to))
    }
}

impl<T> AddressHandles<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self { handles: BTreeMap::new(), limit: limit.max(1), now: 0 }
    }

    fn get_or_make(&mut self, to: &AddressVector, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        self.now += 1;
        if let Some(cached) = self.handles.get_mut(to) {
            cached.last_use = self.now;
            return Ok(Arc::clone(&cached.handle));
        }
        let handle = Arc::new(make()?);
        if self.handles.len() >= self.limit {
            let oldest = self.handles.iter().min_by_key(|(_, cached)| cached.last_use).map(|(to, _)| *to);
            oldest.and_then(|to| self.handles.remove(&to));
        }
        self.handles.insert(*to, Cached { handle: Arc::clone(&handle), last_use: self.now });
        Ok(handle)
    }

    pub(super) fn clear(&mut self) {
        self.handles.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use ib_mad::{Lid, ServiceLevel};

    #[test]
    fn least_recently_used_handle_is_dropped() {
        let mut handles = AddressHandles::<u16>::new(2);
        let mut made = Vec::new();
        let mut get = |handles: &mut AddressHandles<u16>, lid: u16| {
            let to = AddressVector::local(Lid::new(lid), ServiceLevel::ZERO);
            let make = || {
                made.push(lid);
                Ok(lid)
            };
            assert_eq!(*handles.get_or_make(&to, make).unwrap(), lid);
            made.len()
        };
        // The first handle is used again, so that the third replaces the second.
        assert_eq!([1, 2, 1, 3, 1, 2, 1].map(|lid| get(&mut handles, lid)), [1, 2, 2, 3, 3, 4, 4]);
        handles.clear();
        assert_eq!(get(&mut handles, 1), 5);
        // If the handle cannot be created, no cached handle is dropped.
        let nowhere = AddressVector::local(Lid::new(9), ServiceLevel::ZERO);
        assert!(matches!(handles.get_or_make(&nowhere, || Err(Error::Gone)), Err(Error::Gone)));
        assert_eq!(get(&mut handles, 1), 5);
        assert_eq!(AddressHandles::<u16>::new(0).limit, 1, "a send needs one handle");
    }
}
