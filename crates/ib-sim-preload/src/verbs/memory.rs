//! Protection domains, memory regions, address handles.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{context::Context, number, object, regions::Region};
use core::{
    ffi::{c_int, c_uint, c_void},
    sync::atomic::{AtomicU32, Ordering},
};
use ib_mad::Gid;
use ib_sim::Port;
use ib_verbs_sys::{ibv_ah, ibv_ah_attr, ibv_context, ibv_mr, ibv_pd};

/// A protection domain.
#[repr(C)]
pub(super) struct Domain {
    abi: ibv_pd,
    /// Number of objects in the domain.
    pub(super) users: AtomicU32,
}

/// An address handle.
#[repr(C)]
pub(super) struct AddressHandle {
    abi: ibv_ah,
    pub(super) attributes: ibv_ah_attr,
    /// For a global route: the GID that was at `sgid_index` when the handle was made. The kernel keeps that table entry
    /// for the handle.
    source: Option<Gid>,
}

impl AddressHandle {
    /// True if another GID is at the handle's index now.
    pub(super) fn is_stale(&self, port: &Port) -> bool {
        let index = usize::from(self.attributes.grh.sgid_index);
        self.source.is_some_and(|source| port.gids.get(index) != Some(&source))
    }
}

/// Allocates a protection domain.
///
/// # Safety
/// The context is open.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    object(Ok(Box::new(Domain { abi: ibv_pd { context, handle: 0 }, users: AtomicU32::new(0) })))
}

/// Frees a protection domain; EBUSY if an object is in it.
///
/// # Safety
/// The domain was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: by the caller's promise the domain lives; `ibv_alloc_pd` allocated it.
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
    // SAFETY: by the caller's promise the domain lives; the context of a living domain is open.
    let (domain, context) = unsafe { (&*pd.cast::<Domain>(), Context::of((*pd).context)) };
    let start = addr.addr() as u64;
    let Some(end) = start.checked_add(length as u64) else { return object::<ibv_mr, _>(Err(libc::EINVAL)) };
    domain.users.fetch_add(1, Ordering::AcqRel);
    let region = Region { start, end, domain: pd.addr(), writable: access & LOCAL_WRITE != 0 };
    let key = context.regions.insert(region);
    object(Ok(Box::new(ibv_mr { context: domain.abi.context, pd, addr, length, handle: key, lkey: key, rkey: key })))
}

/// Registers memory.
///
/// # Safety
/// The domain lives.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_reg_mr(pd: *mut ibv_pd, addr: *mut c_void, length: usize, access: c_int) -> *mut ibv_mr {
    // SAFETY: by the caller's promise the domain lives.
    unsafe { register(pd, addr, length, access.cast_unsigned()) }
}

/// Registers memory. Datagrams use local addresses only, so that `iova` must be the address of the memory.
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
    // SAFETY: by the caller's promise the domain lives.
    unsafe { ibv_reg_mr_iova2(pd, addr, length, iova, access.cast_unsigned()) }
}

/// Registers memory like `ibv_reg_mr_iova`.
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
    // SAFETY: by the caller's promise the domain lives.
    unsafe { register(pd, addr, length, access) }
}

/// Deregisters memory.
///
/// # Safety
/// The region was not deregistered before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: by the caller's promise the region lives; `register` allocated it. Its domain and context live.
    unsafe {
        let mr = Box::from_raw(mr);
        Context::of(mr.context).regions.remove(mr.lkey);
        (*mr.pd.cast::<Domain>()).users.fetch_sub(1, Ordering::AcqRel);
    }
    0
}

/// Creates an address handle; null and EINVAL if the port or the GID index does not exist, or if the port requires a
/// global route and there is none.
///
/// # Safety
/// The domain lives, the attributes can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_create_ah(pd: *mut ibv_pd, attributes: *mut ibv_ah_attr) -> *mut ibv_ah {
    // SAFETY: by the caller's promise the domain lives; the context of a living domain is open.
    let (domain, attributes, context) = unsafe { (&*pd.cast::<Domain>(), *attributes, Context::of((*pd).context)) };
    let index = usize::from(attributes.grh.sgid_index);
    let port = context
        .port(attributes.port_num)
        .filter(|port| attributes.sl < 16 && (attributes.is_global != 0 || !port.grh_required));
    let source = port.map(|port| port.gids.get(index).copied().filter(|gid| !gid.is_zero()));
    let source = match (source, attributes.is_global != 0) {
        (None, _) | (Some(None), true) => return object::<ibv_ah, _>(Err(libc::EINVAL)),
        (Some(source), true) => source,
        (Some(_), false) => None,
    };
    domain.users.fetch_add(1, Ordering::AcqRel);
    let abi = ibv_ah { context: domain.abi.context, pd: core::ptr::from_ref(domain).cast_mut().cast(), handle: 0 };
    object(Ok(Box::new(AddressHandle { abi, attributes, source })))
}

/// Destroys an address handle. A posted send does not use the handle any longer: it copied the address.
///
/// # Safety
/// The handle was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_ah(handle: *mut ibv_ah) -> c_int {
    // SAFETY: by the caller's promise the handle lives; `ibv_create_ah` allocated it. Its domain lives.
    unsafe {
        let handle = Box::from_raw(handle.cast::<AddressHandle>());
        (*handle.abi.pd.cast::<Domain>()).users.fetch_sub(1, Ordering::AcqRel);
    }
    number(Ok(()))
}
