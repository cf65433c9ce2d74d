//! Protection domains, memory regions, address handles.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{context::Context, lock, number, object};
use core::{
    ffi::{c_int, c_uint, c_void},
    sync::atomic::{AtomicU32, Ordering},
};
use ib_mad::Gid;
use ib_sim::Port;
use rdma_sys::{ibv_ah, ibv_ah_attr, ibv_context, ibv_mr, ibv_pd};

/// A protection domain.
#[repr(C)]
pub(super) struct Domain {
    shown: ibv_pd,
    /// Objects in it.
    pub(super) users: AtomicU32,
}

/// A memory region, as work requests name it by its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    start: u64,
    end: u64,
    domain: usize,
    writable: bool,
}

impl Region {
    /// Whether all of these bytes are in it, and may be used so.
    pub(super) fn admits(&self, domain: *mut ibv_pd, addr: u64, length: u32, write: bool) -> bool {
        let inside = addr >= self.start && addr.checked_add(length.into()).is_some_and(|end| end <= self.end);
        inside && self.domain == domain.addr() && (self.writable || !write)
    }
}

/// An address handle.
#[repr(C)]
pub(super) struct AddressHandle {
    shown: ibv_ah,
    pub(super) attributes: ibv_ah_attr,
    /// The GID that stood at its index, if it has a global route: the kernel holds that entry for a handle.
    source: Option<Gid>,
}

impl AddressHandle {
    /// Whether another GID is at its index now.
    pub(super) fn is_stale(&self, port: &Port) -> bool {
        let index = usize::from(self.attributes.grh.sgid_index);
        self.source.is_some_and(|source| port.gids.get(index) != Some(&source))
    }
}

/// As in libibverbs.
///
/// # Safety
/// The context is open.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    object(Ok(Box::new(Domain { shown: ibv_pd { context, handle: 0 }, users: AtomicU32::new(0) })))
}

/// As in libibverbs: EBUSY if something is left in it.
///
/// # Safety
/// The domain was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the caller's promise: it lives, and it is ours.
    unsafe {
        if (*pd.cast::<Domain>()).users.load(Ordering::Acquire) != 0 {
            return libc::EBUSY;
        }
        drop(Box::from_raw(pd.cast::<Domain>()));
    }
    0
}

const LOCAL_WRITE: c_uint = 1;

/// # Safety
/// The domain lives.
unsafe fn register(pd: *mut ibv_pd, addr: *mut c_void, length: usize, access: c_uint) -> *mut ibv_mr {
    static KEYS: AtomicU32 = AtomicU32::new(1);
    // SAFETY: the caller's promise: the domain lives; the context of a living domain is open.
    let (domain, context) = unsafe { (&*pd.cast::<Domain>(), Context::of((*pd).context)) };
    let start = addr.addr() as u64;
    let Some(end) = start.checked_add(length as u64) else { return object::<ibv_mr, _>(Err(libc::EINVAL)) };
    let key = KEYS.fetch_add(1, Ordering::Relaxed);
    domain.users.fetch_add(1, Ordering::AcqRel);
    let region = Region { start, end, domain: pd.addr(), writable: access & LOCAL_WRITE != 0 };
    lock(&context.regions).insert(key, region);
    object(Ok(Box::new(ibv_mr { context: domain.shown.context, pd, addr, length, handle: key, lkey: key, rkey: key })))
}

/// As in libibverbs.
///
/// # Safety
/// The domain lives.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_reg_mr(pd: *mut ibv_pd, addr: *mut c_void, length: usize, access: c_int) -> *mut ibv_mr {
    // SAFETY: the caller's promise: the domain lives.
    unsafe { register(pd, addr, length, access.cast_unsigned()) }
}

/// As in libibverbs. Datagrams have local addresses only, so that `iova` must be that of the memory.
///
/// # Safety
/// The domain lives.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_reg_mr_iova(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller's promise: the domain lives.
    unsafe { ibv_reg_mr_iova2(pd, addr, length, iova, access.cast_unsigned()) }
}

/// As `ibv_reg_mr_iova`.
///
/// # Safety
/// The domain lives.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_reg_mr_iova2(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: c_uint,
) -> *mut ibv_mr {
    if iova != addr.addr() as u64 {
        return object::<ibv_mr, _>(Err(libc::EOPNOTSUPP));
    }
    // SAFETY: the caller's promise: the domain lives.
    unsafe { register(pd, addr, length, access) }
}

/// As in libibverbs.
///
/// # Safety
/// The region was not deregistered before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: the caller's promise: it is ours, and its domain and context live.
    unsafe {
        let mr = Box::from_raw(mr);
        lock(&Context::of(mr.context).regions).remove(&mr.lkey);
        (*mr.pd.cast::<Domain>()).users.fetch_sub(1, Ordering::AcqRel);
    }
    0
}

/// As in libibverbs: null and EINVAL if the port or its GID index is not there.
///
/// # Safety
/// The domain lives, the attributes can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_create_ah(pd: *mut ibv_pd, attributes: *mut ibv_ah_attr) -> *mut ibv_ah {
    // SAFETY: the caller's promise: the domain lives; the context of a living domain is open.
    let (domain, attributes, context) = unsafe { (&*pd.cast::<Domain>(), *attributes, Context::of((*pd).context)) };
    let index = usize::from(attributes.grh.sgid_index);
    let port = context.port(attributes.port_num).filter(|_| attributes.sl < 16);
    let source = port.map(|port| port.gids.get(index).copied().filter(|gid| !gid.is_zero()));
    let source = match (source, attributes.is_global != 0) {
        (None, _) | (Some(None), true) => return object::<ibv_ah, _>(Err(libc::EINVAL)),
        (Some(source), true) => source,
        (Some(_), false) => None,
    };
    domain.users.fetch_add(1, Ordering::AcqRel);
    let shown = ibv_ah { context: domain.shown.context, pd: core::ptr::from_ref(domain).cast_mut().cast(), handle: 0 };
    object(Ok(Box::new(AddressHandle { shown, attributes, source })))
}

/// As in libibverbs. Sends take what they need when they are posted.
///
/// # Safety
/// The handle was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_ah(handle: *mut ibv_ah) -> c_int {
    // SAFETY: the caller's promise: it is ours, and its domain lives.
    unsafe {
        let handle = Box::from_raw(handle.cast::<AddressHandle>());
        (*handle.shown.pd.cast::<Domain>()).users.fetch_sub(1, Ordering::AcqRel);
    }
    number(Ok(()))
}
