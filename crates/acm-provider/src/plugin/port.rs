//! A port of a provider.
#![allow(unsafe_code, reason = "structures of the daemon")]
use crate::abi;
use crate::abi::imports;
use core::{
    ffi::{CStr, c_int},
    ptr::NonNull,
};
use ib_mad::Gid;
use std::sync::{Arc, Mutex, PoisonError};

/// An active port. Clones refer to the same port.
#[derive(Clone, Debug)]
pub struct Port {
    device: Option<Arc<str>>,
    node_guid: [u8; 8],
    number: u8,
    open: Arc<Mutex<Option<Raw>>>,
}

/// The daemon's structure, valid while the port is open.
#[derive(Clone, Copy, Debug)]
struct Raw(NonNull<abi::Port>);
// SAFETY: the daemon's functions that take it may be called by any thread while the port is open.
unsafe impl Send for Raw {}

/// Offset of the device's name in libibverbs' `struct ibv_device`: behind two pointers and two enumerations
/// (`infiniband/verbs.h`).
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

    /// Returns the name of the port's device; `None` if the daemon has not opened the device.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Returns the node GUID.
    #[must_use]
    pub const fn node_guid(&self) -> [u8; 8] {
        self.node_guid
    }

    /// Returns the number of the port, from 1.
    #[must_use]
    pub const fn number(&self) -> u8 {
        self.number
    }

    /// Returns the GID at an index of the port's table; `None` if the table has no such index, or if the port is
    /// closed.
    #[must_use]
    pub fn gid(&self, index: u16) -> Option<Gid> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let raw = (*open)?;
        let mut gid = [0; 16];
        // SAFETY: the port is open, and cannot be closed before the lock is released.
        let status = unsafe { imports::acm_get_gid(raw.0.as_ptr(), index.into(), &raw mut gid) };
        (status == 0).then(|| Gid::new(gid))
    }

    /// Returns the GIDs of the port's table up to the first unused index; none if the port is closed.
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
    // SAFETY: the first field of an open device points to its `struct ibv_device`, which is valid as long as the
    // device.
    let device = unsafe { verbs.cast::<*const u8>().read() };
    if device.is_null() {
        return None;
    }
    // SAFETY: the name is a zero-terminated string in 64 bytes.
    let name = unsafe { CStr::from_ptr(device.add(NAME_OFFSET).cast()) };
    name.to_str().ok().map(Into::into)
}
