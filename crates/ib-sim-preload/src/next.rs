//! The C library's own functions, behind ours.
#![expect(unsafe_code, reason = "dlsym")]
use core::{
    ffi::{CStr, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// A function of this name in the libraries behind this one.
pub(crate) struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address; null if the C library has none. Looked up once.
    pub(crate) fn address(&self) -> *mut c_void {
        let known = self.found.load(Ordering::Acquire);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero byte; RTLD_NEXT needs nothing else.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Release);
        found
    }
}

/// Sets errno.
pub(crate) fn set_errno(number: i32) {
    // SAFETY: the place is the calling thread's own.
    unsafe { *libc::__errno_location() = number };
}

/// Calls the C library's function of this name and type; where it has none, sets ENOSYS and gives `$missing`.
///
/// To be used in an `unsafe` block whose reason holds for the called function.
macro_rules! next {
    ($name:literal, fn($($arg:expr => $t:ty),* $(,)?) -> $ret:ty, $missing:expr) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new($name);
        let address = NEXT.address();
        if address.is_null() {
            $crate::next::set_errno(libc::ENOSYS);
            $missing
        } else {
            let function = core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($t),*) -> $ret>(address);
            function($($arg),*)
        }
    }};
}
pub(crate) use next;
