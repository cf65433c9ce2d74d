//! Memory that the device reads and writes: slots of equal size in one registration.
#![expect(unsafe_code, reason = "memory shared with a device")]
use super::{Context, check, non_null};
use crate::{Error, Result};
use core::{alloc::Layout, ptr::NonNull};
use ib_verbs_sys::{ibv_access_flags, ibv_dereg_mr, ibv_mr, ibv_reg_mr, ibv_sge};
use nix::errno::Errno;
use std::alloc::{alloc_zeroed, dealloc};

/// Alignment of slots in bytes: a cache line.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// Registered memory. A slot must not be accessed between its posting and its completion.
#[derive(Debug)]
pub(super) struct Region {
    memory: NonNull<u8>,
    layout: Layout,
    region: NonNull<ibv_mr>,
    /// Distance between two slots in bytes.
    stride: usize,
    /// Used bytes of a slot.
    slot_len: u32,
    slots: u32,
    /// True if the device may still use the memory, which must then never be freed.
    leaked: bool,
    /// Keeps the protection domain alive.
    context: Context,
}

// SAFETY: the memory belongs to this value alone; libibverbs' objects may be used from any thread.
unsafe impl Send for Region {}

impl Region {
    pub(super) fn new(context: &Context, slots: u32, slot_len: u32) -> Result<Self> {
        let too_big = || Error::Call { call: "ibv_reg_mr", errno: Errno::ENOMEM };
        let stride = usize::try_from(slot_len).ok().and_then(|len| len.max(1).checked_next_multiple_of(LINE));
        let stride = stride.ok_or_else(too_big)?;
        let bytes = usize::try_from(slots.max(1)).ok().and_then(|slots| slots.checked_mul(stride));
        let layout = bytes.and_then(|bytes| Layout::from_size_align(bytes, PAGE).ok()).ok_or_else(too_big)?;
        // SAFETY: the layout's size is not 0, because both of its factors are at least 1.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(too_big)?;
        let access = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE;
        // SAFETY: the protection domain lives as long as the context, of which `self` has a clone. The memory has this
        // length and outlives the registration (see `drop`).
        let region = unsafe { ibv_reg_mr(context.pd(), memory.as_ptr().cast(), layout.size(), access) };
        match non_null("ibv_reg_mr", region) {
            Ok(region) => {
                let context = context.clone();
                Ok(Self { memory, layout, region, stride, slot_len, slots, leaked: false, context })
            }
            Err(error) => {
                // SAFETY: allocated above with this layout; the device has not registered it.
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

    /// Returns the address of a slot. Panics if there is no such slot.
    fn at(&self, slot: u32) -> NonNull<u8> {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the offset is below `slots * stride` (asserted above), which is the size of the allocation.
        unsafe { self.memory.add(slot as usize * self.stride) }
    }

    /// Returns a scatter/gather entry for the first `len` bytes of the slot.
    pub(super) fn sge(&self, slot: u32, len: u32) -> ibv_sge {
        // SAFETY: the registration lives as long as `self`; its key never changes.
        let lkey = unsafe { (*self.region.as_ptr()).lkey };
        ibv_sge { addr: self.at(slot).as_ptr() as u64, length: len.min(self.slot_len), lkey }
    }

    /// Returns the bytes of the slot.
    ///
    /// # Safety
    /// The slot is not posted, and is not posted while the reference lives.
    pub(super) unsafe fn read(&self, slot: u32) -> &[u8] {
        // SAFETY: the bytes are in the allocation (`at`, `slot_len <= stride`) and initialized (zeroed at first). By
        // the caller's promise the device does not write to them. While `self` is borrowed, the program does not
        // either.
        unsafe { core::slice::from_raw_parts(self.at(slot).as_ptr(), self.slot_len as usize) }
    }

    /// Returns the bytes of the slot for writing.
    ///
    /// # Safety
    /// The requirements of [`Self::read`].
    pub(super) unsafe fn write(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: the reasons in `read`; `self` is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.at(slot).as_ptr(), self.slot_len as usize) }
    }

    /// Keeps the memory until the process ends, because the device may still write to it.
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
            // SAFETY: allocated in `new` with this layout; the device no longer uses it.
            unsafe { dealloc(self.memory.as_ptr(), self.layout) };
        }
    }
}
