//! The C library's functions that this library replaces.
#![expect(unsafe_code, reason = "dlsym, errno")]
use core::{
    ffi::{CStr, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// A function in the libraries after this one in the loader's search order.
#[derive(Debug)]
pub(crate) struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the function's address, which is looked up once. If there is none, sets ENOSYS and returns `None`.
    pub(crate) fn address(&self) -> Option<*mut c_void> {
        let mut address = self.address.load(Ordering::Acquire);
        if address.is_null() {
            // SAFETY: the name ends with a zero byte. RTLD_NEXT has no other requirement.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            self.address.store(address, Ordering::Release);
        }
        if address.is_null() {
            // SAFETY: the variable belongs to the calling thread.
            unsafe { *libc::__errno_location() = libc::ENOSYS };
            return None;
        }
        Some(address)
    }
}

/// Calls the C library's function of this name and type; returns -1 if there is none.
///
/// The `unsafe` block around it states why the call is sound.
macro_rules! next {
    ($name:literal, fn($($arg:expr => $t:ty),* $(,)?) -> $ret:ty) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new($name);
        match NEXT.address() {
            Some(address) => {
                let function =
                    core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C-unwind" fn($($t),*) -> $ret>(address);
                function($($arg),*)
            }
            None => -1,
        }
    }};
}
pub(crate) use next;
