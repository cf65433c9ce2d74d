//! A port, as a provider sees it.
#![allow(unsafe_code, reason = "structures of the daemon")]
use crate::abi;
use crate::abi::imports;
use core::{
    ffi::{CStr, c_int},
    ptr::NonNull,
};
use ib_mad::Gid;
use std::sync::{Arc, Mutex, PoisonError};

/// An active port. Clones are the same port.
#[derive(Clone, Debug)]
pub struct Port {
    device: Option<Arc<str>>,
    node_guid: [u8; 8],
    number: u8,
    open: Arc<Mutex<Option<Raw>>>,
}

/// The daemon's own structure, for as long as the port is open.
#[derive(Clone, Copy, Debug)]
struct Raw(NonNull<abi::Port>);
// SAFETY: the daemon's functions that take it may be called by any thread while the port is open.
unsafe impl Send for Raw {}

/// Where libibverbs' `struct ibv_device` has the device's name, and how much room there is (`infiniband/verbs.h`: behind
/// two pointers and two enumerations).
const NAME_OFFSET: usize = 2 * size_of::<usize>() + 2 * size_of::<c_int>();

impl Port {
    /// # Safety
    /// `raw` is a port of the daemon that is valid until [`Port::close`].
    pub(super) unsafe fn new(raw: NonNull<abi::Port>) -> Self {
        // SAFETY: the port is valid, and so is its device.
        let (device, number) = unsafe { (raw.as_ref().device, raw.as_ref().port_number) };
        // SAFETY: as above.
        let device = unsafe { device.as_ref() };
        // SAFETY: `verbs` is null or an open device of libibverbs.
        let name = device.and_then(|device| unsafe { device_name(device.verbs) });
        let node_guid = device.map_or([0; 8], |device| device.guid);
        Self { device: name, node_guid, number, open: Arc::new(Mutex::new(Some(Raw(raw)))) }
    }

    /// Name of the device that has it; `None` if the daemon has none.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Its node GUID.
    #[must_use]
    pub const fn node_guid(&self) -> [u8; 8] {
        self.node_guid
    }

    /// Its number, from 1.
    #[must_use]
    pub const fn number(&self) -> u8 {
        self.number
    }

    /// The GID at a place of its table; `None` if there is none, or the port is closed.
    #[must_use]
    pub fn gid(&self, index: u16) -> Option<Gid> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let raw = (*open)?;
        let mut gid = [0; 16];
        // SAFETY: the port is open, and is not closed before the lock is let go.
        let status = unsafe { imports::acm_get_gid(raw.0.as_ptr(), index.into(), &raw mut gid) };
        (status == 0).then(|| Gid::new(gid))
    }

    /// The GIDs of its table up to the first unused place; none if the port is closed.
    #[must_use]
    pub fn gids(&self) -> Vec<Gid> {
        (0..=u16::MAX).map_while(|index| self.gid(index)).collect()
    }

    pub(super) fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// # Safety
/// `verbs` is null or an open device of libibverbs.
unsafe fn device_name(verbs: *mut abi::VerbsContext) -> Option<Arc<str>> {
    if verbs.is_null() {
        return None;
    }
    // SAFETY: the first field of an open device points to its `struct ibv_device`, which lives as long.
    let device = unsafe { verbs.cast::<*const u8>().read() };
    if device.is_null() {
        return None;
    }
    // SAFETY: the name is there, in 64 bytes, and ends with a zero byte.
    let name = unsafe { CStr::from_ptr(device.add(NAME_OFFSET).cast()) };
    name.to_str().ok().map(Into::into)
}
