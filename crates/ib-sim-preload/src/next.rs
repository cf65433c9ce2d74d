//! The C library's functions that this library replaces.
#![expect(unsafe_code, reason = "dlsym")]
use core::{
    ffi::{CStr, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// A function in the libraries after this one in the loader's search order.
pub(crate) struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the function's address, or null if there is none. The address is looked up once.
    pub(crate) fn address(&self) -> *mut c_void {
        let cached = self.address.load(Ordering::Acquire);
        if !cached.is_null() {
            return cached;
        }
        // SAFETY: the name ends with a zero byte. RTLD_NEXT has no other requirement.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Release);
        found
    }
}

/// Calls the C library's function of this name and type. If there is none, sets ENOSYS and returns `$missing`.
///
/// The `unsafe` block around it states why the call is sound.
macro_rules! next {
    ($name:literal, fn($($arg:expr => $t:ty),* $(,)?) -> $ret:ty, $missing:expr) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new($name);
        let address = NEXT.address();
        if address.is_null() {
            $crate::errno::set_errno(libc::ENOSYS);
            $missing
        } else {
            let function = core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($t),*) -> $ret>(address);
            function($($arg),*)
        }
    }};
}
pub(crate) use next;
