//! Memory that the device reads and writes: slots of equal size, registered once.
#![expect(unsafe_code, reason = "memory shared with a device")]
use super::{Context, check, non_null};
use crate::{Error, Result};
use core::{alloc::Layout, ptr::NonNull};
use nix::errno::Errno;
use rdma_sys::{ibv_access_flags, ibv_dereg_mr, ibv_mr, ibv_reg_mr, ibv_sge};
use std::alloc::{alloc_zeroed, dealloc};

/// Slots start on cache lines.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// Registered memory. Who hands a slot to the device must not touch it until its completion.
#[derive(Debug)]
pub(super) struct Region {
    memory: NonNull<u8>,
    layout: Layout,
    region: NonNull<ibv_mr>,
    /// Bytes from one slot to the next.
    stride: usize,
    /// Bytes of a slot that are used.
    slot_len: u32,
    slots: u32,
    /// Whether the device may still use it, so that it must never be freed.
    leaked: bool,
    /// Keeps the protection domain.
    context: Context,
}

// SAFETY: the memory belongs to this value alone, and libibverbs' objects may be used from any thread.
unsafe impl Send for Region {}

impl Region {
    pub(super) fn new(context: &Context, slots: u32, slot_len: u32) -> Result<Self> {
        let too_big = || Error::Call { call: "ibv_reg_mr", errno: Errno::ENOMEM };
        let stride = usize::try_from(slot_len).ok().and_then(|len| len.max(1).checked_next_multiple_of(LINE));
        let stride = stride.ok_or_else(too_big)?;
        let bytes = usize::try_from(slots.max(1)).ok().and_then(|slots| slots.checked_mul(stride));
        let layout = bytes.and_then(|bytes| Layout::from_size_align(bytes, PAGE).ok()).ok_or_else(too_big)?;
        // SAFETY: the layout's size is not 0, for both of its factors are at least 1.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(too_big)?;
        let access = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0 as i32;
        // SAFETY: the protection domain lives as long as the context, which we hold; the memory is ours, as long as
        // said, and outlives the registration (see `drop`).
        let region = unsafe { ibv_reg_mr(context.pd(), memory.as_ptr().cast(), layout.size(), access) };
        match non_null("ibv_reg_mr", region) {
            Ok(region) => {
                let context = context.clone();
                Ok(Self { memory, layout, region, stride, slot_len, slots, leaked: false, context })
            }
            Err(error) => {
                // SAFETY: allocated above with this layout, and nobody else knows it.
                unsafe { dealloc(memory.as_ptr(), layout) };
                Err(error)
            }
        }
    }

    pub(super) const fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) const fn slot_len(&self) -> u32 {
        self.slot_len
    }

    /// The slot's place, checked.
    fn at(&self, slot: u32) -> NonNull<u8> {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: below `slots * stride` (just asserted), which is the allocation's size.
        unsafe { self.memory.add(slot as usize * self.stride) }
    }

    /// The first `len` bytes of the slot, as the device wants to hear it.
    pub(super) fn sge(&self, slot: u32, len: u32) -> ibv_sge {
        // SAFETY: the registration lives as long as `self`; its key never changes.
        let lkey = unsafe { (*self.region.as_ptr()).lkey };
        ibv_sge { addr: self.at(slot).as_ptr() as u64, length: len.min(self.slot_len), lkey }
    }

    /// The slot's bytes.
    ///
    /// # Safety
    /// The device does not have the slot, and does not get it while the reference lives.
    pub(super) unsafe fn read(&self, slot: u32) -> &[u8] {
        // SAFETY: in the allocation (`at`, `slot_len <= stride`), initialized (zeroed at first), not written to by
        // the device (by contract), nor by us while `self` is borrowed.
        unsafe { core::slice::from_raw_parts(self.at(slot).as_ptr(), self.slot_len as usize) }
    }

    /// The slot's bytes, to be written.
    ///
    /// # Safety
    /// As [`Self::read`].
    pub(super) unsafe fn write(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: as in `read`; `self` is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.at(slot).as_ptr(), self.slot_len as usize) }
    }

    /// Never frees the memory: the device may still write to it.
    pub(super) const fn leak(&mut self) {
        self.leaked = true;
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if self.leaked {
            return self.context.count_leak();
        }
        // SAFETY: registered in `new`, and not deregistered before.
        let freed = check("ibv_dereg_mr", unsafe { ibv_dereg_mr(self.region.as_ptr()) });
        if freed.is_err() {
            self.context.count_leak();
        }
        if matches!(freed, Ok(()) | Err(Error::Gone)) {
            // SAFETY: allocated in `new` with this layout; the device does not know it any more.
            unsafe { dealloc(self.memory.as_ptr(), self.layout) };
        }
    }
}
