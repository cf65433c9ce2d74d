//! The memory regions of a device.
use super::lock;
use core::sync::atomic::{AtomicU32, Ordering};
use ib_verbs_sys::{ibv_pd, ibv_sge};
use std::{collections::BTreeMap, sync::Mutex};

/// The registered memory of a device by key. Work requests name a region by its key.
#[derive(Debug, Default)]
pub(super) struct Regions(Mutex<BTreeMap<u32, Region>>);

/// A memory region: the addresses from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Address of the protection domain.
    pub(super) domain: usize,
    /// True if the device may write to it.
    pub(super) writable: bool,
}

impl Regions {
    /// Adds a region and returns its key. No key is used twice in a process.
    pub(super) fn insert(&self, region: Region) -> u32 {
        static KEYS: AtomicU32 = AtomicU32::new(1);
        let key = KEYS.fetch_add(1, Ordering::Relaxed);
        lock(&self.0).insert(key, region);
        key
    }

    pub(super) fn remove(&self, key: u32) {
        lock(&self.0).remove(&key);
    }

    /// True if the whole entry is in a region of the protection domain that allows the access. An empty entry needs no
    /// region.
    pub(super) fn allow(&self, domain: *mut ibv_pd, sge: &ibv_sge, write: bool) -> bool {
        let region = lock(&self.0).get(&sge.lkey).copied();
        sge.length == 0 || region.is_some_and(|region| region.allows(domain, sge, write))
    }
}

impl Region {
    fn allows(&self, domain: *mut ibv_pd, sge: &ibv_sge, write: bool) -> bool {
        let end = sge.addr.checked_add(sge.length.into());
        let inside = sge.addr >= self.start && end.is_some_and(|end| end <= self.end);
        inside && self.domain == domain.addr() && (self.writable || !write)
    }
}
